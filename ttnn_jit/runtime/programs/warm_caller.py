"""Generates the function of a warm call, whose program is in memory: guards, allocation and native call, unrolled.

Each program has its own function, equivalent to `ttnn_jit.runtime.programs.caller`. It returns `MISS` if a guard fails,
tensors have other metadata or are on several devices, or one was deallocated. Its caller then takes the slow path,
which raises an error or finds another program.

Bound: a look-up per guarded read before the native call, two objects per result after it.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ttnn_jit.diagnostics.errors import TtnnJitError
from ttnn_jit.guards.reads import GUARD_ERRORS, NO_GUARD, GuardText
from ttnn_jit.runtime.libraries import TensorLibrary, WarmCall
from ttnn_jit.runtime.memory.buffer import HOST_POOL
from ttnn_jit.runtime.memory.overlap import ranges_overlap
from ttnn_jit.runtime.native.generated import MISS, define
from ttnn_jit.runtime.native.panels import memory_of
from ttnn_jit.runtime.native.threads import HELPERS
from ttnn_jit.runtime.plans.plan import ProgramPlan
from ttnn_jit.runtime.programs.rank_calls import runner_of
from ttnn_jit.runtime.programs.run_log import run_recorder
from ttnn_jit.specs.target import SystemDesc
from ttnn_jit.specs.tensor_spec import TensorSpec

if TYPE_CHECKING:
    from ttnn_jit.runtime.libraries.runnable import Runnable

PAIRS = 64
"""The most pairs of an updated input and another one that are compared by an expression each, which is quicker than a
sort. The text of thousands of pairs takes long to compile, and tens of megabytes (benchmarks/programs/model_costs.py:
memory).
"""

Rebuild = Callable[[tuple[Any, ...]], Any]
"""From a program's results to the return value of the user's function."""


def warm_caller(
    program: Runnable,
    library: TensorLibrary,
    *,
    guard: GuardText = NO_GUARD,
    hidden: Sequence[Any] = (),
    rebuild: Rebuild | None = None,
    counters: Any = None,
    target: SystemDesc | None = None,
) -> WarmCall:
    """The function that runs a program on tensors of one library that have its specs.

    Args:
        program: A program of at least one input; its last inputs are the hidden ones, which the guard reads.
        library: The library of the tensors.
        guard: The conditions under which the program is valid for the user's function.
        hidden: Examples of the hidden inputs; they are not kept.
        rebuild: Makes the return value; None if the function returns its single result.
        counters: Its ``memory_hits`` counts the calls; None: calls are not counted.
        target: The target that the device of the tensors must have; None: it is not checked.
    """
    plan = program.plan
    name = _identifier(plan.name)
    arguments = len(plan.arguments) - len(guard.tensors)
    examples = dict(zip(range(arguments, len(plan.arguments)), hidden, strict=True))
    named = zip(map(library.tensor_name, examples), guard.tensors, strict=True)
    fetched = [f"({tensor} := {found}) is not None" for tensor, found in named]
    conditions = [*guard.conditions, *fetched, *library.conditions_of_hidden(plan, examples)]
    conditions += [condition for index in plan.in_place for condition in library.writable(index)]
    lines = [
        f"def {name}({', '.join(map(library.tensor_name, range(arguments)))}):",
        *_checks(program, library, [*library.conditions(plan, range(arguments), target), *conditions]),
        *library.account(program),
        *(f" {line}" for index in plan.in_place for line in library.note_write(index)),
        *_buffers(plan, library),
        *_native_call(program, library),
        *_return(plan, library, rebuild, counters),
    ]
    scope = {
        **guard.constants,
        **library.names(plan),
        **library.names_of_hidden(plan, examples),
        **_memory(plan, library),
        **_spans(plan),
        **_native_names(program, library),
        "MISS": MISS,
        "ranges_overlap": ranges_overlap,
        "TtnnJitError": TtnnJitError,
        # The reference keeps the target, so that no other object can get its id.
        "OPEN_TARGET": id(target),
        "TARGET": target,
        "rebuild": rebuild,
        "counters": counters,
    }
    return define(name, lines, scope, shown=f"call of {plan.name}")


def _checks(program: Runnable, library: TensorLibrary, conditions: Iterable[str]) -> list[str]:
    """Lines that check the `conditions` and assign the addresses of the inputs."""
    plan, factors = program.plan, library.factors(program)
    return [
        " try:",
        f"  if not ({' and '.join(f'({condition})' for condition in conditions) or True}): return MISS",
        *(f"  {_in_panels(i) if i in factors else library.address_of(i)}" for i in range(len(plan.inputs))),
        *(f"  if {condition}: return MISS" for condition in _overlap_conditions(plan, factors)),
        " except TtnnJitError:",  # raised for a deallocated tensor
        "  raise",
        f" except {GUARD_ERRORS}:",
        "  return MISS",
    ]


def _in_panels(i: int) -> str:
    """The statement that assigns memory, mask bit and address of an input that may be in panels."""
    return f"h{i}, m{i} = memory_of(a{i}, F{i}); p{i} = h{i}.address"


def _overlap_conditions(plan: ProgramPlan, factors: Container[int]) -> Iterator[str]:
    """Expressions that are true if an input that is updated in place may share memory with another input.

    Memory in panels is never shared with another tensor. Few tensors are compared pairwise; a model that updates the
    caches of all its layers would have thousands of pairs.
    """
    written, read = plan.in_place, [index for index in plan.used_inputs if index not in plan.in_place]
    packed = [index for index in plan.used_inputs if index in factors]
    if len(written) * len(plan.used_inputs) <= PAIRS:
        yield from (f"a{index} is a{other}" for index in written for other in packed if other != index)
        for k, index in enumerate(written):
            for other in (*written[k + 1 :], *read):
                low, high = f"p{index} + low{index}", f"p{index} + high{index}"
                yield f"{low} < p{other} + high{other} and p{other} + low{other} < {high}"
        return
    if packed:
        identities = ["".join(f"id(a{index}), " for index in each) for each in (written, {*packed} - {*written})]
        yield f"not {{{identities[0]}}}.isdisjoint(({identities[1]}))"
        yield f"len({{{identities[0]}}}) < {len(written)}"
    ends = ["".join(f"(p{i} + low{i}, p{i} + high{i}), " for i in each) for each in (written, read)]
    yield f"ranges_overlap(({ends[0]}), ({ends[1]}))"


def _spans(plan: ProgramPlan) -> dict[str, int]:
    """The names that `_overlap_conditions` uses."""
    spans = {index: _span(plan.inputs[index]) for index in (plan.used_inputs if plan.in_place else ())}
    lows = {f"low{index}": low for index, (low, _) in spans.items()}
    return lows | {f"high{index}": high for index, (_, high) in spans.items()}


def _span(spec: TensorSpec) -> tuple[int, int]:
    """The byte offsets of a tensor's begin and end from its address."""
    if spec.strides is None:
        return 0, spec.nbytes
    low, high = spec.span
    return low * spec.dtype.itemsize, (high + 1) * spec.dtype.itemsize


def _buffers(plan: ProgramPlan, library: TensorLibrary) -> Iterator[str]:
    """Lines that make outputs, and storages of intermediates."""
    outputs, allocated = len(plan.inputs) + len(plan.outputs), {*_allocated(plan, library)}
    for i in range(len(plan.inputs), len(plan.memory)):
        spec = plan.memory[i]
        if i in plan.made_in_place:
            yield f" p{i}, r{i} = p{plan.made_in_place[i]}, a{plan.made_in_place[i]}"
            continue
        if i not in allocated:
            yield from library.make(i, spec)
            continue
        yield from _allocation(i, library)
        if library.is_leased(spec):
            yield f" b{i}.lease = l{i}"
        if i < outputs:
            yield from library.wrap(i)


def _allocated(plan: ProgramPlan, library: TensorLibrary) -> Iterator[int]:
    """The memory that the call allocates; the library makes other outputs in its own memory."""
    first, end = len(plan.inputs), len(plan.inputs) + len(plan.outputs)
    for i in range(first, len(plan.memory)):
        if i not in plan.made_in_place and (i >= end or library.is_pooled(plan.memory[i])):
            yield i


def _allocation(i: int, library: TensorLibrary) -> list[str]:
    """Lines that allocate buffer ``bi`` at address ``pi``: `SizeClass.take`, inlined."""
    return [
        f" b{i} = Buffer{i}()",
        f" b{i}._home = class{i}",
        " try:",
        f"  for p{i} in fresh{i}:",
        f"   b{i}.address = p{i}",
        "   break",
        " except IndexError:",
        *(f"  {line}" for line in library.admit(i)),
        f"  class{i}.fill(b{i})",
        f"  p{i} = b{i}.address",
    ]


def _memory(plan: ProgramPlan, library: TensorLibrary) -> dict[str, Any]:
    """The specs of the memory, and the names that the lines of `_allocation` use."""
    classes = {index: HOST_POOL.size_class(plan.memory[index].nbytes) for index in _allocated(plan, library)}
    return {
        **{f"S{index}": spec for index, spec in enumerate(plan.memory)},
        **{f"class{index}": size_class for index, size_class in classes.items()},
        **{f"Buffer{index}": size_class.buffer for index, size_class in classes.items()},
        **{f"fresh{index}": size_class.addresses for index, size_class in classes.items()},
    }


def _native_call(program: Runnable, library: TensorLibrary) -> list[str]:
    """The lines that run a program's kernels on addresses ``pi``, and log the run if runs are logged."""
    calls = program.native_in_place
    record = [" record_run()"] if run_recorder(program) else []
    addresses = ", ".join(f"p{index}" for index in range(len(program.plan.memory)))
    mask = " | ".join(f"m{i}" for i in library.factors(program))
    if program.plan.exchanges:
        own = f"native_for({mask}, in_place=True)" if mask else "CALLS"
        return [*record, f" run_calls(mesh.ranks, {own}, ({addresses},))"]
    (call,) = calls
    if call is None:
        return record
    table = f"(native_for(mask, in_place=True)[0].table if (mask := {mask}) else TABLE)" if mask else "TABLE"
    return [*record, f" native({'helper_pool_address()' if call.is_parallel else '0'}, {table}, {addresses})"]


def _native_names(program: Runnable, library: TensorLibrary) -> dict[str, Any]:
    """The names that the lines of `_native_call` and `_in_panels` use."""
    names: dict[str, Any] = {"record_run": run_recorder(program), "helper_pool_address": HELPERS.pool_address}
    if factors := library.factors(program):
        names |= {"memory_of": memory_of, "native_for": program.native_for}
        names |= {f"F{i}": factor for i, factor in factors.items()}
    if program.plan.exchanges:
        return names | {"run_calls": runner_of(program.plan), "CALLS": program.native_in_place}
    (call,) = program.native_in_place
    return names if call is None else names | {"native": call.function, "TABLE": call.table, "KEEPS": call.keeps}


def _return(plan: ProgramPlan, library: TensorLibrary, rebuild: Rebuild | None, counters: Any) -> list[str]:
    results = [f"a{i}" if i < len(plan.inputs) else library.result_text(i, plan.memory[i]) for i in plan.results]
    lines, values = library.returned(plan, results)
    value = values[0] if rebuild is None else f"rebuild(({', '.join(values)},))"
    counting = [] if counters is None else [" counters.memory_hits += 1"]
    return [*lines, *counting, f" return {value}"]


def _identifier(name: str) -> str:
    """A name for the generated function of the program `name`."""
    return "call_" + "".join(character if character.isalnum() and character.isascii() else "_" for character in name)
