"""The function behind a call whose program is in memory: guard, allocation and native call in one, without a loop.

It is generated per program, from the same pieces as `ttnn_jit.runtime.caller`. It returns `STALE` where it does not
apply: a guard fails, tensors have other metadata or lie on several devices, or one was deallocated. Its caller then
takes the long way, which finds the reason or another program.

Bound: about 20 ns per guarded read before the native call, two objects per result after it.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ttnn_jit.diagnostics.errors import TtnnJitError
from ttnn_jit.guards.reads import GUARD_ERRORS, GuardText
from ttnn_jit.runtime.buffer import HOST_POOL, POOLED_RESULT_BYTES, Buffer
from ttnn_jit.runtime.l1 import in_l1
from ttnn_jit.runtime.plan import ProgramPlan
from ttnn_jit.runtime.run_log import run_recorder
from ttnn_jit.runtime.tensor import Tensor, numpy_array, torch_wrapper
from ttnn_jit.runtime.threads import HELPERS
from ttnn_jit.specs.target import SystemDesc

if TYPE_CHECKING:
    from ttnn_jit.runtime.runnable import Runnable


class _Stale(enum.Enum):
    STALE = "stale"


STALE = _Stale.STALE
"""What a warm call returns that does not apply any more."""

Rebuild = Callable[[tuple[Any, ...]], Any]
"""From a program's results to what the user's function returns."""


def warm_tensor_caller(
    program: Runnable, guard: GuardText, rebuild: Rebuild | None, counters: Any, target: SystemDesc | None
) -> Callable[..., Any]:
    """The function of any tensors, which applies to those on a device of `target` that have the program's specs.

    Args:
        program: Of at least one input.
        guard: When the program still is that of the user's function.
        rebuild: None if the function returns its one result.
        counters: Its ``memory_hits`` counts the calls; None: nobody counts them.
        target: What the program was compiled for; None: the caller says that it is the device's.
    """
    plan = program.plan
    inputs = range(len(plan.inputs))
    same = [f"a{i}.spec is S{i}" for i in inputs]
    opened = "== OPEN_TARGET" if target else "!= 0"
    same += [f"(device := a0._device).open_target {opened}", *(f"a{i}._device is device" for i in inputs[1:])]
    lines = _head(plan, [*same, *guard.conditions], [f"p{i} = a{i}._buffer.address" for i in inputs])
    lines += _device_allocations(plan, program.circular_buffer_bytes)
    lines += _native_call(program)
    for i in dict.fromkeys(index for index in plan.results if index not in inputs):
        lines += [f" r{i} = new(Tensor)", f" r{i}.spec = S{i}", f" r{i}._device = device", f" r{i}._buffer = b{i}"]
    # The target itself stands there too, so that no other can come to have its identity.
    scope = _scope(guard, rebuild, counters) | {"OPEN_TARGET": id(target), "TARGET": target}
    return _generate(program, [*lines, *_return(plan, rebuild, counters)], scope)


def warm_torch_caller(
    program: Runnable, guard: GuardText, rebuild: Rebuild | None, counters: Any, _: SystemDesc
) -> Callable[..., Any]:
    """The function of torch tensors that are dense on the CPU, whose shapes, strides and dtypes were compared already.

    Arguments as for `warm_tensor_caller`; the target was compared by the choice of the jitted function.
    """
    from ttnn_jit.foreign.torch_private import empty_strided

    plan = program.plan
    inputs = range(len(plan.inputs))
    visible = range(len(plan.inputs) + len(plan.outputs))
    pooled = [i for i in visible[len(inputs) :] if plan.buffers[i].nbytes >= POOLED_RESULT_BYTES]
    # A tensor without memory is refused on the long way.
    addresses = [f"if not (p{i} := a{i}.data_ptr()): return STALE" for i in inputs]
    lines = _head(plan, guard.conditions, addresses)
    for i in visible[len(inputs) :]:
        if i in pooled:
            lines += [*_allocations([i]), f" r{i} = wrap{i}(b{i})"]
        else:
            fresh = f"empty_strided({tuple(plan.buffers[i].shape)}, {plan.buffers[i].element_strides}, D{i})"
            lines += [f" r{i} = {fresh}", f" p{i} = r{i}.data_ptr()"]
    lines += _allocations(range(len(visible), len(plan.buffers)))
    lines += _native_call(program)
    scope = _scope(guard, rebuild, counters) | {
        "empty_strided": empty_strided(),
        **{f"wrap{i}": torch_wrapper(plan.buffers[i]) for i in pooled},
        **{f"D{i}": plan.buffers[i].dtype.torch for i in visible},
    }
    return _generate(program, [*lines, *_return(plan, rebuild, counters)], scope)


def warm_numpy_caller(
    program: Runnable, guard: GuardText, rebuild: Rebuild | None, counters: Any, _: SystemDesc
) -> Callable[..., Any]:
    """The function of any numpy arrays, which applies to those that have the program's shapes and strides.

    Arguments as for `warm_torch_caller`.
    """
    import numpy

    plan = program.plan
    inputs = range(len(plan.inputs))
    same = []
    for i in inputs:
        spec = plan.inputs[i]
        strides = tuple(stride * spec.dtype.itemsize for stride in spec.element_strides)
        same += [f"type(a{i}) is Array and a{i}.dtype is F32", f"a{i}.shape == {tuple(spec.shape)}"]
        same += [f"a{i}.strides == {strides}"]
    addresses = [f"p{i} = a{i}.__array_interface__['data'][0]" for i in inputs]
    lines = _head(plan, [*same, *guard.conditions], addresses)
    for i in range(len(inputs), len(inputs) + len(plan.outputs)):
        if plan.buffers[i].nbytes >= POOLED_RESULT_BYTES:
            lines += [*_allocations([i]), f" r{i} = wrap(S{i}, b{i})"]
        else:
            lines += [f" r{i} = empty({tuple(plan.buffers[i].shape)}, F32)"]
            lines += [f" p{i} = r{i}.__array_interface__['data'][0]"]
    lines += _allocations(range(len(inputs) + len(plan.outputs), len(plan.buffers)))
    lines += _native_call(program)
    scope = _scope(guard, rebuild, counters)
    scope |= {"Array": numpy.ndarray, "F32": numpy.dtype(numpy.float32), "empty": numpy.empty, "wrap": numpy_array}
    return _generate(program, [*lines, *_return(plan, rebuild, counters)], scope)


def _head(plan: ProgramPlan, conditions: Sequence[str], addresses: Sequence[str]) -> list[str]:
    """From the ``def`` to the addresses of the inputs."""
    return [
        f"def {_identifier(plan.name)}({', '.join(f'a{i}' for i in range(len(plan.inputs)))}):",
        " try:",
        f"  if not ({' and '.join(f'({condition})' for condition in conditions)}): return STALE",
        *(f"  {line}" for line in addresses),
        " except TtnnJitError:",  # a tensor that was deallocated says so
        "  raise",
        f" except {GUARD_ERRORS}:",
        "  return STALE",
    ]


def _return(plan: ProgramPlan, rebuild: Rebuild | None, counters: Any) -> list[str]:
    results = [f"a{i}" if i < len(plan.inputs) else f"r{i}" for i in plan.results]
    value = results[0] if rebuild is None else f"rebuild(({', '.join(results)},))"
    counting = [] if counters is None else [" counters.memory_hits += 1"]
    return [*counting, f" return {value}"]


def _scope(guard: GuardText, rebuild: Rebuild | None, counters: Any) -> dict[str, Any]:
    return {**guard.constants, "STALE": STALE, "TtnnJitError": TtnnJitError, "rebuild": rebuild, "counters": counters}


def _allocations(indices: Iterable[int]) -> list[str]:
    """Lines that make buffers ``b<index>`` at addresses ``p<index>``: `SizeClass.take`, written out."""
    lines = []
    for i in indices:
        lines += [f" b{i} = Buffer()", f" b{i}._home = class{i}"]
        lines += [" try:", f"  for p{i} in fresh{i}:", f"   b{i}.address = p{i}", "   break"]
        lines += [" except IndexError:", f"  class{i}.fill(b{i})", f"  p{i} = b{i}.address"]
    return lines


def _device_allocations(plan: ProgramPlan, buffer_bytes: int) -> list[str]:
    """Lines that count a program on ``device`` and make the buffers that it owns there, L1 accounted for."""
    owned = range(len(plan.inputs), len(plan.buffers))
    in_account = [i for i in owned if in_l1(plan.buffers[i])]
    lines = [" if HASH not in device.programs:", "  device.programs.add(HASH)"]
    lines += [f" l{i} = device.l1.lease(S{i})" for i in in_account]
    lines += [f" u{i} = device.l1.lease(U{i})" for i in range(len(plan.unstored))]
    if any(map(in_l1, (*plan.buffers, *plan.unstored))):
        lines += [f" device.l1.require({buffer_bytes}, CIRCULAR_BUFFERS)"]
    return [*lines, *_allocations(owned), *(f" b{i}.lease = l{i}" for i in in_account)]


def _native_call(program: Runnable) -> list[str]:
    """The lines that run a program's kernels on addresses ``p<index>``, and log that where somebody wants to know."""
    call = program.native
    record = [" record_run()"] if run_recorder(program) else []
    if call is None:
        return record
    addresses = ", ".join(f"p{index}" for index in range(len(program.plan.buffers)))
    return [*record, f" native(TABLE, {'lend_helpers()' if call.shares else '0'}, {addresses})"]


def _generate(program: Runnable, lines: list[str], names: Mapping[str, Any]) -> Callable[..., Any]:
    """The function that `lines` define under the plan's `_identifier`, over the names of this module and `names`."""
    plan, call = program.plan, program.native
    classes = [HOST_POOL.size_class(spec.nbytes) for spec in plan.buffers]
    scope: dict[str, Any] = {
        "Buffer": Buffer,
        "HASH": plan.hash,
        "CIRCULAR_BUFFERS": f"the circular buffers of {plan.name}",
        "Tensor": Tensor,
        "new": object.__new__,
        "record_run": run_recorder(program),
        **{f"S{index}": spec for index, spec in enumerate(plan.buffers)},
        **{f"U{index}": spec for index, spec in enumerate(plan.unstored)},
        **{f"class{index}": size_class for index, size_class in enumerate(classes)},
        **{f"fresh{index}": size_class.addresses for index, size_class in enumerate(classes)},
        **names,
    }
    if call is not None:
        scope |= {"native": call.function, "TABLE": call.table, "KEEPS": call.keeps}
        scope["lend_helpers"] = HELPERS.lend
    exec(compile("\n".join(lines), f"<ttnn_jit call of {plan.name}>", "exec"), scope)
    generated: Callable[..., Any] = scope[_identifier(plan.name)]
    return generated


def _identifier(name: str) -> str:
    """A name for the generated function of the program `name`."""
    return "call_" + "".join(character if character.isalnum() and character.isascii() else "_" for character in name)
