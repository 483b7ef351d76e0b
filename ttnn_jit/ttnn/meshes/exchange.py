"""Eager runs of collectives: their expressions are evaluated (`exchange_evaluation`), or known steps are repeated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, TypeAlias

from ttnn_jit.diagnostics.errors import ArgumentError, ShapeError
from ttnn_jit.ops.families.collective import Collective, Results
from ttnn_jit.runtime.device import Device
from ttnn_jit.runtime.meshes.device_numbers import coordinates_of
from ttnn_jit.runtime.meshes.mesh import MeshDevice
from ttnn_jit.runtime.meshes.mesh_tensor import MeshTensor
from ttnn_jit.runtime.tensors.tensor import Tensor
from ttnn_jit.specs.meshes.mesh_devices import MeshDevices
from ttnn_jit.specs.meshes.mesh_shape import MeshCoordinate
from ttnn_jit.specs.meshes.tensor_topology import TensorTopology
from ttnn_jit.specs.tensor_spec import DRAM_MEMORY_CONFIG, MemoryConfig, TensorSpec
from ttnn_jit.ttnn.calling.rank_exchange import Plan, planned
from ttnn_jit.ttnn.meshes.exchange_evaluation import Evaluation
from ttnn_jit.ttnn.meshes.exchange_tapes import Tape


def exchange(name: str, collective: Collective, tensor: Tensor, *statics: Any, **options: Any) -> Tensor:
    """The result of a collective with one result; the arguments are those of `exchanged`."""
    (result,) = exchanged(name, collective, tensor, *statics, **options)
    return result


def exchanged(  # noqa: PLR0913 - what all collectives take
    name: str,
    collective: Collective,
    tensor: Tensor,
    *statics: Any,
    cluster_axis: int | None = None,
    mesh_device: Device | None = None,
    memory_config: MemoryConfig | None = None,
    output: Tensor | None = None,
    receivers: Sequence[int] | None = None,
    others: Sequence[Tensor] = (),
) -> list[Tensor]:
    """The results of a collective on the devices of the tensor's mesh.

    Args:
        name: The name of the called function, for errors.
        collective: The declaration.
        tensor: The operand: a tensor of a mesh, or of one device, which is a mesh of one.
        *statics: The attributes.
        cluster_axis: The axis along which devices exchange; None for all devices.
        mesh_device: The mesh that the call names, if it names one.
        memory_config: Memory config of the result; that of `output` or of the operand when omitted.
        output: The tensor that receives the result, and is returned.
        receivers: The devices whose part of `output` is written; None for all.
        others: The other operands, which are on the devices of the first.

    Raises:
        ArgumentError: The operand is on the host or on another mesh than the call names, or the mesh has no such axis.
        ShapeError: The attributes do not fit the operand, or `output` does not fit the result.
    """
    if (in_program := getattr(tensor, "__ttnn_exchange__", None)) is not None:
        written: list[Tensor] = in_program(
            name, collective, others, statics, cluster_axis, (memory_config, output, receivers)
        )
        return written
    device = device_of(name, tensor)
    if mesh_device is not None and mesh_device is not device:
        raise ArgumentError(f"{name}: `mesh_device` is {mesh_device}, and the tensor is on {device}")
    operands = (tensor, *others)
    into = None if output is None else (output, receivers)
    call = name, collective, statics, cluster_axis, memory_config
    key = None
    if output is None and device.members()[0].recorder is None:
        key = (*call, device.shape, *map(_placed, operands))
    with counted_as_one_program(name, tensor, cluster_axis, statics, memory_config):
        repeated = device.collectives.get(key)
        if repeated is not None:
            results: list[Tensor] = repeated(operands)
            return results
        results, tape = _evaluated(call, device, operands, into)
    if key is not None:
        if len(device.collectives) >= MAX_REPEATED:
            device.collectives.clear()
        device.collectives[key] = tape.repeated(results)
    return results


_Call: TypeAlias = "tuple[str, Collective, tuple[Any, ...], int | None, MemoryConfig | None]"
"""The name, the collective, its attributes, the axis, and the memory config of the result."""


def _evaluated(
    call: _Call,
    device: Device,
    operands: Sequence[Tensor],
    into: tuple[Tensor, Sequence[int] | None] | None,
) -> tuple[list[Tensor], Tape]:
    """The results of a collective, which are written to a tensor if there is one, and the steps."""
    name, collective, statics, cluster_axis, memory_config = call
    ranks = device.ranks if isinstance(device, MeshDevice) else None
    expansion, plan = _planned(name, collective, device, operands, statics, cluster_axis, memory_config)
    evaluation = Evaluation(device, operands)
    if ranks is not None and plan is not None:
        if plan.first is not None:
            evaluation.exchange(ranks, plan.first, None, DRAM_MEMORY_CONFIG)
            evaluation.add_operand(plan.first.part.results, plan.operand)
        evaluation.exchange(ranks, plan, None if into is None else into[0], memory_config)
        whole, expansion = expansion, plan.part.results
    if into is not None:
        return [_into(name, evaluation, expansion, *into)], evaluation.tape
    made = [evaluation.results(number, results, memory_config) for number, results in expansion.items()]
    if not made:  # only devices of other ranks have results
        made.append(evaluation.stand_ins(next(iter(whole.values())), memory_config))
    joined = [_joined(collective, operands[0], statics, same) for same in zip(*made, strict=True)]
    return joined, evaluation.tape


def _placed(tensor: Tensor) -> tuple[object, ...]:
    """The part of the key of a call that stands for an operand."""
    return (tensor.spec, tensor.topology) if isinstance(tensor, MeshTensor) else (tensor.spec,)


def _planned(
    name: str,
    collective: Collective,
    device: Device,
    operands: Sequence[Tensor],
    statics: tuple[Any, ...],
    cluster_axis: int | None,
    memory_config: MemoryConfig | None,
) -> tuple[Mapping[int, Results], Plan | None]:
    """The results of a collective on each device, and what this rank does; None if there are no other ranks."""
    placed = tuple(operands[0].placed) if isinstance(operands[0], MeshTensor) else (0,)
    ranks = device.ranks if isinstance(device, MeshDevice) else None
    try:
        expansion = collective.expansion(device.shape, placed, cluster_axis, tuple(operands[0].shape), statics)
        if ranks is None:
            return expansion, None
        specs = tuple(each.spec for each in operands)
        every = (name, collective, device.shape, placed, cluster_axis, statics, specs, memory_config)
        return expansion, planned(*every, ranks.owners, ranks.rank)
    except (ArgumentError, ShapeError) as error:
        raise type(error)(f"{name}: {error.message}", help=error.help) from None


def _joined(collective: Collective, tensor: Tensor, statics: Sequence[Any], same: Sequence[Tensor]) -> Tensor:
    if not isinstance(tensor, MeshTensor):
        return same[0]
    coordinates = coordinates_of(tensor.mesh, tensor.placed)
    topology = _topology(collective, tensor.topology, coordinates, tensor.spec, tuple(statics))
    return MeshTensor(tensor.mesh, same, topology)


@lru_cache(maxsize=512)
def _topology(
    collective: Collective,
    operand: TensorTopology,
    coordinates: tuple[MeshCoordinate, ...],
    spec: TensorSpec,
    statics: tuple[Any, ...],
) -> TensorTopology:
    return collective.topology(operand.on(coordinates), spec, statics)


def _into(
    name: str,
    evaluation: Evaluation,
    expansion: Mapping[int, Results],
    output: Tensor,
    receivers: Sequence[int] | None,
) -> Tensor:
    """Writes the results into a tensor of the same mesh, which may have more shards."""
    if output.device() is not evaluation.mesh:
        raise ArgumentError(f"{name}: `output_tensor` is on {output.device()}, the operand on {evaluation.mesh}")
    written = {number: results for number, results in expansion.items() if receivers is None or number in receivers}
    for number, (result,) in written.items():
        if isinstance(output, MeshTensor) and number not in output.numbers:
            raise ArgumentError(f"{name}: `output_tensor` has no part on device {number}")
        evaluation.check_output(name, result, output.spec)
    for number, (result,) in written.items():
        evaluation.write(number, result, output.on(number) if isinstance(output, MeshTensor) else output)
    return output


MAX_REPEATED = 256
"""The most collectives of a mesh whose steps are kept."""


def device_of(name: str, tensor: Tensor) -> Device:
    """The device or the mesh of an operand of the function `name`.

    Raises:
        ArgumentError: It is on the host.
    """
    device = tensor.device()
    if device is None:
        raise ArgumentError(f"{name}: the tensor is on the host", help="move it to a device: `ttnn.to_device`")
    return device


def devices_of(name: str, tensor: Tensor) -> MeshDevices:
    """The devices that have a part of an operand of the function `name`.

    Raises:
        ArgumentError: It is on the host.
    """
    device: Any = device_of(name, tensor)
    if hasattr(tensor, "__ttnn_exchange__"):
        devices: MeshDevices = device.devices
        return devices
    return MeshDevices(device.shape, tuple(tensor.placed) if isinstance(tensor, MeshTensor) else (0,))


@contextmanager
def counted_as_one_program(name: str, tensor: Tensor, *key: object) -> Iterator[None]:
    """A block whose programs count as one on every device of a tensor's mesh.

    Args:
        name: The function that runs them; a part of the key of the program.
        tensor: The first operand, whose spec is a part of the key.
        *key: What else the program depends on.

    Raises:
        ArgumentError: The tensor is on the host.
    """
    device = device_of(name, tensor)
    # A jitted function, whose device stands for others, is one program itself.
    members = device.members() if issubclass(type(device), Device) else ()
    counts = [(member, member.programs) for member in members]
    for member, _ in counts:
        member.programs = set()
    try:
        yield
    finally:
        for member, programs in counts:
            member.programs = programs
    counted = _text_of((name, tensor.spec, *key))
    for _, programs in counts:
        if counted not in programs:  # a disabled cache holds everything
            programs.add(counted)


@lru_cache(maxsize=512)
def _text_of(key: tuple[object, ...]) -> str:
    return repr(key)
