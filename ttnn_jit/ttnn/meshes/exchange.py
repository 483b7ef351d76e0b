"""Eager runs of collectives: the expressions of an expansion are evaluated by operations on the devices' memory.

A tensor on another device is read through a view: a tensor of the reading device with the memory of the other. An
expression that several devices need is computed on the first of them, and copied to the others.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, NamedTuple

from ttnn_jit.diagnostics.errors import ArgumentError, ShapeError
from ttnn_jit.ops.collectives.device_folds import FOLD, PARTIAL_FOLD
from ttnn_jit.ops.collectives.rank_stages import Gather, bytes_of_slice, partial_dtype
from ttnn_jit.ops.families.collective import (
    Collective,
    Extents,
    Fill,
    Fold,
    Join,
    Received,
    Results,
    Shard,
    Slice,
    Source,
    devices_read_by,
    shape_of,
)
from ttnn_jit.runtime.device import Device
from ttnn_jit.runtime.memory.buffer import Buffer, address_of
from ttnn_jit.runtime.memory.replicas import own_memory
from ttnn_jit.runtime.meshes.device_numbers import coordinates_of
from ttnn_jit.runtime.meshes.mesh import MeshDevice
from ttnn_jit.runtime.meshes.mesh_tensor import MeshTensor
from ttnn_jit.runtime.programs.program import Program
from ttnn_jit.runtime.ranks.headers import Data
from ttnn_jit.runtime.ranks.mesh_ranks import MeshRanks
from ttnn_jit.runtime.ranks.transport import Region
from ttnn_jit.runtime.tensors import tensor as storage
from ttnn_jit.runtime.tensors import tensors_from_host
from ttnn_jit.runtime.tensors.tensor import Tensor
from ttnn_jit.specs.meshes.mesh_devices import MeshDevices
from ttnn_jit.specs.meshes.mesh_shape import MeshCoordinate
from ttnn_jit.specs.meshes.tensor_topology import TensorTopology
from ttnn_jit.specs.tensor_spec import DRAM_MEMORY_CONFIG, MemoryConfig, TensorSpec, checked
from ttnn_jit.ttnn.calling import eager_functions as operations
from ttnn_jit.ttnn.calling.eager_operation import function_of
from ttnn_jit.ttnn.calling.rank_exchange import Plan, allocated, planned

_FOLD, _PARTIAL_FOLD = map(function_of, (FOLD, PARTIAL_FOLD))


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
    ranks = device.ranks if isinstance(device, MeshDevice) else None
    expansion, plan = _planned(name, collective, device, (tensor, *others), statics, cluster_axis, memory_config)
    with counted_as_one_program(device, name, tensor.spec, cluster_axis, statics, memory_config):
        evaluation = _Evaluation(device, [tensor, *others])
        if ranks is not None and plan is not None:
            if plan.first is not None:
                evaluation.exchange(ranks, plan.first, None, DRAM_MEMORY_CONFIG)
                evaluation.add_operand(plan.first.part.results, plan.operand)
            evaluation.exchange(ranks, plan, output, memory_config)
            whole, expansion = expansion, plan.part.results
        if output is not None:
            return [_into(name, evaluation, expansion, output, receivers)]
        made = [evaluation.results(number, results, memory_config) for number, results in expansion.items()]
        if not made:  # only devices of other ranks have results
            made.append(evaluation.stand_ins(next(iter(whole.values())), memory_config))
    return [_joined(collective, tensor, statics, same) for same in zip(*made, strict=True)]


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
    evaluation: _Evaluation,
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


class _Memory(NamedTuple):
    """A part of the memory of a tensor, whose address may change until it is used.

    Attributes:
        buffer: The tensor's memory.
        spec: The tensor's spec.
        begin: The first byte.
        nbytes: The number of bytes.
    """

    buffer: Buffer
    spec: TensorSpec
    begin: int
    nbytes: int

    @staticmethod
    def of(tensor: Tensor) -> _Memory:
        """All of the memory of a tensor."""
        return _Memory(tensor.memory("collective"), tensor.spec, 0, tensor.spec.nbytes)

    def region(self) -> Region:
        """Where it is now."""
        return Region(address_of(self.buffer) + self.begin, self.nbytes)

    def writable(self) -> Region:
        """Where it is now, in memory that no other tensor shares."""
        own_memory(self.buffer)
        return self.region()


class _Evaluation:
    """The values of expressions over tensors of a mesh.

    Args:
        mesh: The mesh, or the only device.
        operands: The operands.
    """

    def __init__(self, mesh: Device, operands: Sequence[Tensor]) -> None:
        self.mesh = mesh
        self._members = mesh.devices if isinstance(mesh, MeshDevice) else mesh.members()
        self._operands = [*map(shards_of, operands)]
        self._shapes = [tuple(each.shape) for each in operands]
        self._spec = operands[0].spec
        self._known: dict[int, Tensor] = {}
        self._in_place: dict[int, Tensor] = {}

    def exchange(self, ranks: MeshRanks, plan: Plan, output: Tensor | None, config: MemoryConfig | None) -> None:
        """Send what other ranks need of this one, and receive what it needs.

        Args:
            ranks: The ranks that share the mesh.
            plan: What this rank does.
            output: The tensor that receives the result, if there is one.
            config: The memory config of results; None for that of the operand.
        """
        sends = [(rank, self._sent(value)) for rank, value in plan.part.sends]
        places, copies = self._in_place_of(plan, output, config)
        receives = []
        for source, spec in plan.received:
            if id(source) not in places:
                self._known[id(source)] = tensor = allocated(spec, self.mesh.members()[0])
                places[id(source)] = _Memory.of(tensor)
            receives.append((source.rank, places[id(source)]))

        def copy_own_parts() -> None:
            for target, source in copies:
                ctypes.memmove(target.writable().address, source.region().address, target.nbytes)

        def run() -> None:
            received = [Data(rank, memory.writable()) for rank, memory in receives]
            sent = [Data(rank, memory.region()) for rank, memory in sends]
            ranks.channel.exchange(plan.call, sent, received, meanwhile=copy_own_parts)

        recorder = self.mesh.members()[0].recorder
        if recorder is None:
            run()
        else:
            used = [memory for _, memory in (*sends, *receives)] + [memory for pair in copies for memory in pair]
            recorder.exchange(run, [(memory.buffer, memory.spec) for memory in used])

    def _sent(self, value: Source) -> _Memory:
        """The memory of a value to send; a slice that lies in one piece is sent from where it is."""
        device = self._device_of(value)
        if isinstance(value, Slice):
            whole = self.value(value.of, device)
            piece = bytes_of_slice(value, whole.spec, self._shapes)
            if piece is not None:
                return _Memory.of(whole)._replace(begin=piece[0], nbytes=piece[1])
        return _Memory.of(self.value(value, device))

    def add_operand(self, results: Mapping[int, Results], shape: Extents) -> None:
        """Take the results of a stage as another operand, of this shape on each device."""
        made = {number: self.results(number, each, DRAM_MEMORY_CONFIG)[0] for number, each in results.items()}
        self._operands.append(made)
        self._shapes.append(shape)

    def _in_place_of(
        self, plan: Plan, output: Tensor | None, config: MemoryConfig | None
    ) -> tuple[dict[int, _Memory], list[tuple[_Memory, _Memory]]]:
        """Where values are received in the results that they are parts of, by their identity; and own parts of these.

        Own parts are pairs of target and source.
        """
        places, copies = dict[int, _Memory](), list[tuple[_Memory, _Memory]]()
        for gather in plan.gathers:
            target = self._target(gather, output, config)
            if target is None:
                continue
            self._known[id(gather.join)] = self._in_place[id(gather.join)] = target
            whole = _Memory.of(target)
            for part, begin, end in zip(gather.join.parts, gather.offsets, gather.offsets[1:], strict=False):
                place = whole._replace(begin=begin, nbytes=end - begin)
                if isinstance(part, Received):
                    places[id(part)] = place
                else:
                    copies.append((place, _Memory.of(self.value(part, self._members[gather.number]))))
        return places, copies

    def _target(self, gather: Gather, output: Tensor | None, config: MemoryConfig | None) -> Tensor | None:
        """The tensor whose memory parts are received into; None if they are received elsewhere."""
        device = self._members[gather.number]
        if output is None:
            spec = checked(gather.spec.with_(memory_config=self._config_of(gather.join, config)))
            return Tensor(spec, device, device.allocate_tensor(spec))
        own = output.on(gather.number) if isinstance(output, MeshTensor) and gather.number in output.numbers else None
        if (
            own is None
            or own.device() is not device
            or own.spec.with_(memory_config=DRAM_MEMORY_CONFIG) is not gather.spec
        ):
            return None
        return own

    def _config_of(self, result: Source, config: MemoryConfig | None) -> MemoryConfig:
        """The memory config of a result, for the one that the call requests."""
        is_alike = shape_of(result, self._shapes) == self._shapes[0]
        own = self._spec.memory_config
        return config or (own if is_alike else own.unsharded)

    def _device_of(self, source: Source) -> Device:
        """The first device of this rank that has an operand of an expression."""
        return self._members[next(device for device in devices_read_by(source) if device in self._operands[0])]

    def results(self, number: int, results: Results, config: MemoryConfig | None) -> list[Tensor]:
        """The results on a device, in memory of their own.

        Args:
            number: The number of the device.
            results: The expressions.
            config: The memory config; None for that of the operand.
        """
        device = self._members[number]
        made = []
        for result in results:
            known = self._known.get(id(result))
            if known is None and not isinstance(result, Shard):
                made.append(self._computed(result, device, {"memory_config": self._config_of(result, config)}))
                continue
            if known is not None and known is self._in_place.pop(id(result), None):
                made.append(known)
                continue
            value = self.value(result, device)
            spec = checked(value.spec.with_(memory_config=config))
            made.append(storage.replica(value, spec, device, "collective"))
        return made

    def stand_ins(self, results: Results, config: MemoryConfig | None) -> list[Tensor]:
        """Tensors of this rank's first device with the specs of results that only other ranks have."""
        device = self.mesh.members()[0]
        made = []
        for result in results:
            placed = self._spec.interleaved.with_(shape=shape_of(result, self._shapes))
            made.append(
                tensors_from_host.filled(
                    0.0, checked(placed.with_(memory_config=self._config_of(result, config))), device
                )
            )
        return made

    def write(self, number: int, result: Source, output: Tensor) -> None:
        """Writes a result on a device into a tensor there, which may have another layout."""
        device, is_alike = self._members[number], output.layout is self._spec.layout
        if is_alike and not isinstance(result, Shard) and id(result) not in self._known:
            options = {"memory_config": output.spec.memory_config, "output_tensor": output}
            self._computed(result, device, options)
        elif self._known.get(id(result)) is not output:
            storage.write_elements(self.value(result, device), output, "collective")

    def check_output(self, name: str, result: Source, spec: TensorSpec) -> None:
        """Refuse a tensor of `spec` for a result of another shape or element type."""
        shape, dtype = shape_of(result, self._shapes), self._spec.dtype
        if (shape, dtype) != (tuple(spec.shape), spec.dtype):
            raise ShapeError(
                f"{name}: `output_tensor` is {spec}, and the result has shape {list(shape)} and {dtype.name} elements"
            )

    def value(self, source: Source, device: Device) -> Tensor:
        """The value of an expression as a tensor of `device`, which may be a view of memory of another."""
        if isinstance(source, Shard):
            return view_on(device, self._operands[source.operand][source.device])
        known = self._known.get(id(source))
        if known is None:
            return self._computed(source, device, {"memory_config": DRAM_MEMORY_CONFIG})
        return view_on(device, known)

    def _computed(self, source: Source, device: Device, options: Mapping[str, Any]) -> Tensor:
        value = self._evaluated(source, device, options)
        self._known[id(source)] = value
        return value

    def _evaluated(self, source: Source, device: Device, options: Mapping[str, Any]) -> Tensor:
        match source:
            case Shard():
                raise AssertionError("a shard is a view")
            case Slice(of, dim, begin, end):
                shape = shape_of(of, self._shapes)
                begins, ends = [0] * len(shape), [*shape]
                begins[dim], ends[dim] = begin, end
                return _run(operations.slice, self.value(of, device), tuple(begins), tuple(ends), **options)
            case Join(dim, parts):
                return _run(operations.concat, [self.value(part, device) for part in parts], dim, **options)
            case Fold(reduction, terms, levels, total, is_partial):
                values = [self.value(term, device) for term in terms]
                if not total:
                    return _run(_FOLD, values, reduction, levels, **options)
                dtype = partial_dtype(self._spec.dtype) if is_partial else self._spec.dtype
                return _run(_PARTIAL_FOLD, values, reduction, levels, total, dtype, **options)
            case Received():
                raise AssertionError("a received value is known")
            case Fill(_, _, _, number):
                spec = self._spec.interleaved.with_(shape=shape_of(source, self._shapes))
                return tensors_from_host.filled(number, spec, device)


def _run(function: Any, operand: Tensor | Sequence[Tensor], *statics: Any, **options: Any) -> Tensor:
    """The result of an operation on one tensor, or on a list of them, by a remembered program."""
    operands = [operand] if isinstance(operand, Tensor) else operand
    device = operands[0].device()
    assert device is not None, "collectives are of devices"
    if device.recorder is not None or "output_tensor" in options:
        recorded: Tensor = function(operand, *statics, **options)
        return recorded
    key = (function, device.target, tuple(each.spec for each in operands), statics, options["memory_config"])
    program = _PROGRAMS.get(key)
    if program is None:
        program = function.program_of(operand, *statics, **options)
        if len(_PROGRAMS) >= MAX_PROGRAMS:
            _PROGRAMS.clear()
        _PROGRAMS[key] = program
    result: Tensor = program(*operands)
    return result


MAX_PROGRAMS = 1024
_PROGRAMS: dict[tuple[object, ...], Program] = {}
"""Programs of the steps of collectives: eager calls with a list of tensors have no fast path."""


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


def shards_of(tensor: Tensor) -> dict[int, Tensor]:
    """The tensor on each device that has one, by the device's number in its mesh."""
    return {number: tensor.on(number) for number in tensor.numbers} if isinstance(tensor, MeshTensor) else {0: tensor}


def view_on(device: Device, tensor: Tensor) -> Tensor:
    """A tensor of `device` with the memory of `tensor`."""
    return tensor if tensor.device() is device else Tensor(tensor.spec, device, tensor.memory("collective"))


@contextmanager
def counted_as_one_program(device: Device, *key: object) -> Iterator[None]:
    """A block whose programs count as one program on every device of a mesh, identified by `key`."""
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
    counted = _text_of(key)
    for _, programs in counts:
        if counted not in programs:  # a disabled cache holds everything
            programs.add(counted)


@lru_cache(maxsize=512)
def _text_of(key: tuple[object, ...]) -> str:
    return repr(key)
