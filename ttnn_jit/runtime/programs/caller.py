"""Runs of a program on addresses or tensors: the general, slow path.

Repeated runs use the generated functions of `ttnn_jit.runtime.programs.warm_caller`, which do the same without loops.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.diagnostics.origin import type_name
from ttnn_jit.runtime.device import Device, implicit_cpu_device
from ttnn_jit.runtime.libraries import TTNN
from ttnn_jit.runtime.libraries.runnable import Runnable
from ttnn_jit.runtime.memory.buffer import ALIGNMENT, HOST_POOL, POOLED_RESULT_BYTES
from ttnn_jit.runtime.memory.l1 import in_l1
from ttnn_jit.runtime.memory.replicas import own_memory
from ttnn_jit.runtime.native.native_call import NativeCall
from ttnn_jit.runtime.native.panels import memory_of
from ttnn_jit.runtime.plans.plan import ProgramPlan
from ttnn_jit.runtime.programs.rank_calls import launch_on
from ttnn_jit.runtime.tensors.tensor import Tensor, write_elements
from ttnn_jit.specs.tensor_spec import BufferType

if TYPE_CHECKING:
    from ttnn_jit.runtime.ranks.mesh_ranks import MeshRanks


def run_on_addresses(plan: ProgramPlan, call: NativeCall | None, addresses: Sequence[int]) -> None:
    """Run on the memory at these addresses, inputs then outputs; the caller keeps it alive.

    Raises:
        ArgumentError: The number of addresses is wrong, or the memory of a large output is not aligned.
    """
    visible = [*plan.inputs, *plan.outputs]
    if len(addresses) != len(visible):
        raise_wrong_count(plan, "addresses", len(visible), len(addresses))
    for i, spec in enumerate(plan.outputs):
        if spec.nbytes >= POOLED_RESULT_BYTES and addresses[len(plan.inputs) + i] % ALIGNMENT:
            raise ArgumentError(
                f"{plan.name}: the memory for output {i} does not start at a multiple of {ALIGNMENT} bytes",
                help=f"kernels count on that from {POOLED_RESULT_BYTES} bytes on; `Program.allocate_outputs` gives "
                "such memory",
            )
    storages = [HOST_POOL.allocate(spec.nbytes) for spec in plan.scratch]
    if call is not None:
        call.run([*addresses, *(buffer.address for buffer in storages)])


def run_on_tensors(program: Runnable, tensors: Sequence[Tensor], into: Tensor | None = None) -> Any:
    """Run on input tensors; returns the result, or a tuple of several, on the device of the first input.

    Without inputs, results are on the implicit cpu device. Other arguments and errors are those of `run_on_devices`.
    """
    _check_inputs(program.plan, tensors)  # a tensor on the host has no device
    device = tensors[0].device() if tensors else implicit_cpu_device()
    assert device is not None, "it was checked"
    results = run_on_devices(program, [device], tensors, into)
    return results[0] if len(results) == 1 else tuple(results)


def run_on_devices(
    program: Runnable,
    devices: Sequence[Device],
    tensors: Sequence[Tensor],
    into: Tensor | None = None,
    ranks: MeshRanks | None = None,
) -> Sequence[Any]:
    """Run on input tensors; returns the plan's results. While the devices record a trace, the run is recorded.

    Args:
        program: The program.
        devices: The devices of the program.
        tensors: The inputs.
        into: A tensor of the spec of the single result, whose memory the result gets. If an input shares that memory,
            the result is computed in other memory and copied.
        ranks: The ranks that share the mesh.

    Raises:
        ArgumentError: The number of tensors is wrong; or one has another spec, is on the host, or is on a device of
            another target.
        DeallocatedError: A tensor was deallocated.
        DeviceError: The device is closed.
        L1CapacityError: A result does not fit.
    """
    plan, device = program.plan, devices[0]
    if plan.devices is not None:
        _check_inputs(plan, tensors)
    TTNN.check_updates(plan, tensors)
    for each in devices:
        each.require_device_access(plan.name)
        each.programs.add(plan.hash)
    # `check_updates` refused inputs that share memory with an updated one, so new values may be made in place.
    in_place = plan.made_in_place if plan.has_warm_calls else {}
    factors = program.factors if device.recorder is None else {}
    _elided = [each.l1.lease(spec) for spec in plan.elided for each in devices]
    made = _allocated(program, devices, in_place, is_written_to=into is not None)
    made |= {i: tensors[index] for i, index in in_place.items()}
    if into is not None and not any(TTNN.share_memory(into, each, into.spec, each.spec) for each in tensors):
        own_memory(into.memory(plan.name))
        made |= dict.fromkeys(plan.results, into)
    every = [*tensors, *(made[i] for i in range(len(plan.inputs), len(plan.memory)))]
    # The references keep the memory: other threads may deallocate or pack the tensors.
    packed = {i: memory_of(every[i], factor) for i, factor in factors.items()}
    calls = program.native_for(sum(bit for _, bit in packed.values()), in_place=bool(in_place))
    if device.recorder is not None:
        device.recorder.note_circular_buffers(program.circular_buffer_bytes)
    if any(calls) or plan.exchanges:
        found = {i: buffer for i, (buffer, _) in packed.items()}
        buffers = [found.get(i) or tensor.memory(plan.name) for i, tensor in enumerate(every)]
        launch_on(plan, calls, device, buffers, ranks)
    results = TTNN.after_updates(plan, tensors, every)
    if into is not None and results[0] is not into:
        write_elements(results[0], into)
        return [into]
    return results


def _allocated(
    program: Runnable, devices: Sequence[Device], in_place: Container[int], *, is_written_to: bool
) -> dict[int, Tensor]:
    """The tensors of the outputs and storages that are not made in place, charged to the L1 of their devices.

    Args:
        program: The program.
        devices: The devices of the program.
        in_place: The outputs that are made in the memory of inputs.
        is_written_to: Whether the result is written to a tensor of the caller's.

    Raises:
        L1CapacityError: One of them, or a circular buffer, does not fit.
    """
    plan = program.plan
    homes = [devices[position] for position in plan.memory_positions or (0,) * len(plan.memory)]
    owned = {i: plan.memory[i] for i in range(len(plan.inputs), len(plan.memory)) if i not in in_place}
    # A chip writes such an output to the memory of the input.
    written_over = {*plan.results} if is_written_to else plan.written_over_inputs
    specs_in_l1 = {i: spec for i, spec in owned.items() if in_l1(spec) and i not in written_over}
    leases = {i: homes[i].l1.lease(spec) for i, spec in specs_in_l1.items()}
    for each in devices if plan.uses_l1 else ():
        each.l1.require(program.circular_buffer_bytes, f"the circular buffers of {plan.name}")
    made = {i: Tensor(spec, homes[i], homes[i].memory_for(spec)) for i, spec in owned.items()}
    for i, lease in leases.items():
        made[i].memory(plan.name).lease = lease
    return made


def _check_inputs(plan: ProgramPlan, tensors: Sequence[Tensor]) -> None:
    if len(tensors) != len(plan.inputs):
        raise_wrong_count(plan, "tensors", len(plan.inputs), len(tensors))
    _require_fitting(plan, tensors)


def _require_fitting(plan: ProgramPlan, tensors: Sequence[Any]) -> None:
    for index, (tensor, spec) in enumerate(zip(tensors, plan.inputs, strict=True)):
        if not isinstance(tensor, Tensor):
            _refuse_foreign(plan, index, tensor)
        if tensor.spec is not spec:
            raise ArgumentError(f"{plan.name}: argument {index} is {tensor.spec}; compiled for {spec}")
        if tensor.device() is None:
            raise ArgumentError(
                f"{plan.name}: argument {index} is on the host",
                help="move it to a device: `ttnn.from_torch(..., device=device)`",
            )
        tensor.check_usable(plan.name)
    if any(tensor.device().target != tensors[0].device().target for tensor in tensors):
        named = dict.fromkeys(repr(tensor.device()) for tensor in tensors)
        raise ArgumentError(f"{plan.name}: the tensors lie on devices of different targets: {', '.join(named)}")


def _refuse_foreign(plan: ProgramPlan, index: int, value: object) -> NoReturn:
    kind = type_name(value)
    if plan.inputs[index].memory_config.buffer_type is BufferType.SYSTEM_MEMORY:
        raise ArgumentError(
            f"{plan.name}: argument {index} is a {kind}; the program was compiled for torch or numpy memory, of which "
            "it takes addresses only",
            help="call the jitted function itself, without `compile_only`; or give addresses to `Program.run`",
        )
    raise ArgumentError(
        f"{plan.name}: argument {index} is a {kind}, not a ttnn tensor",
        help="make it with `ttnn.from_torch(..., device=device)`",
    )


def raise_wrong_count(plan: ProgramPlan, what: str, expected: int, got: int) -> NoReturn:
    """Raise an `ArgumentError` about the number of arguments of a call."""
    raise ArgumentError(f"{plan.name} takes {expected} {what}, got {got}")
