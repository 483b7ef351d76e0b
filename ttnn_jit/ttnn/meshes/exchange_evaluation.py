"""The evaluation of the expressions of a collective by operations on the devices' memory.

A tensor on another device is read through a view: a tensor of the reading device with the memory of the other. An
expression that several devices need is computed on the first of them, and copied to the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.ops.collectives.device_folds import FOLD, PARTIAL_FOLD
from ttnn_jit.ops.collectives.rank_stages import Gather, bytes_of_slice, partial_dtype
from ttnn_jit.ops.families.collective import (
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
from ttnn_jit.runtime.meshes.mesh import MeshDevice
from ttnn_jit.runtime.meshes.mesh_tensor import MeshTensor
from ttnn_jit.runtime.programs.program import Program
from ttnn_jit.runtime.ranks.mesh_ranks import MeshRanks
from ttnn_jit.runtime.tensors import tensor as storage
from ttnn_jit.runtime.tensors import tensors_from_host
from ttnn_jit.runtime.tensors.tensor import Tensor
from ttnn_jit.specs.tensor_spec import DRAM_MEMORY_CONFIG, MemoryConfig, TensorSpec, checked
from ttnn_jit.ttnn.calling import eager_functions as operations
from ttnn_jit.ttnn.calling.eager_operation import function_of
from ttnn_jit.ttnn.calling.rank_exchange import Plan, allocated
from ttnn_jit.ttnn.meshes.exchange_tapes import ExchangeStep, Memory, Tape

_FOLD, _PARTIAL_FOLD = map(function_of, (FOLD, PARTIAL_FOLD))


class Evaluation:
    """The values of expressions over tensors of a mesh.

    Args:
        mesh: The mesh, or the only device.
        operands: The operands.
    """

    def __init__(self, mesh: Device, operands: Sequence[Tensor]) -> None:
        self.mesh = mesh
        self._members = mesh.devices if isinstance(mesh, MeshDevice) else mesh.members()
        self._operands = [*map(shards_of, operands)]
        self.tape = Tape([part for each in operands for part in parts_of(each)])
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
                self._known[id(source)] = tensor = self._allocated(spec, self.mesh.members()[0])
                places[id(source)] = self.tape.memory_of(tensor)
            receives.append((source.rank, places[id(source)]))
        self.tape.exchange(ExchangeStep(ranks.channel, plan.call, sends, receives, copies))

    def _allocated(self, spec: TensorSpec, device: Device) -> Tensor:
        return self.tape.add(lambda _: allocated(spec, device))

    def _sent(self, value: Source) -> Memory:
        """The memory of a value to send; a slice that lies in one piece is sent from where it is."""
        device = self._device_of(value)
        if isinstance(value, Slice):
            whole = self.value(value.of, device)
            piece = bytes_of_slice(value, whole.spec, self._shapes)
            if piece is not None:
                return self.tape.memory_of(whole)._replace(begin=piece[0], nbytes=piece[1])
        return self.tape.memory_of(self.value(value, device))

    def add_operand(self, results: Mapping[int, Results], shape: Extents) -> None:
        """Take the results of a stage as another operand, of this shape on each device."""
        made = {number: self.results(number, each, DRAM_MEMORY_CONFIG)[0] for number, each in results.items()}
        self._operands.append(made)
        self._shapes.append(shape)

    def _in_place_of(
        self, plan: Plan, output: Tensor | None, config: MemoryConfig | None
    ) -> tuple[dict[int, Memory], list[tuple[Memory, Memory]]]:
        """Where values are received in the results that they are parts of, by their identity; and own parts of these.

        Own parts are pairs of target and source.
        """
        places, copies = dict[int, Memory](), list[tuple[Memory, Memory]]()
        for gather in plan.gathers:
            target = self._target(gather, output, config)
            if target is None:
                continue
            self._known[id(gather.join)] = self._in_place[id(gather.join)] = target
            whole = self.tape.memory_of(target)
            for part, begin, end in zip(gather.join.parts, gather.offsets, gather.offsets[1:], strict=False):
                place = whole._replace(begin=begin, nbytes=end - begin)
                if isinstance(part, Received):
                    places[id(part)] = place
                else:
                    copies.append((place, self.tape.memory_of(self.value(part, self._members[gather.number]))))
        return places, copies

    def _target(self, gather: Gather, output: Tensor | None, config: MemoryConfig | None) -> Tensor | None:
        """The tensor whose memory parts are received into; None if they are received elsewhere."""
        device = self._members[gather.number]
        if output is None:
            spec = checked(gather.spec.with_(memory_config=self._config_of(gather.join, config)))
            return self.tape.add(lambda _: Tensor(spec, device, device.allocate_tensor(spec)))
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
            made.append(self._replica(value, spec, device))
        return made

    def _replica(self, value: Tensor, spec: TensorSpec, device: Device) -> Tensor:
        index = self.tape.index_of(value)
        return self.tape.add(lambda tensors: storage.replica(tensors[index], spec, device, "collective"))

    def _filled(self, number: float, spec: TensorSpec, device: Device) -> Tensor:
        return self.tape.add(lambda _: tensors_from_host.filled(number, spec, device))

    def _view(self, device: Device, tensor: Tensor) -> Tensor:
        """A tensor of `device` with the memory of `tensor`."""
        if tensor.device() is device:
            return tensor
        index = self.tape.index_of(tensor)

        spec = tensor.spec  # the step keeps no tensor alive
        return self.tape.add(lambda tensors: Tensor(spec, device, tensors[index].memory("collective")))

    def stand_ins(self, results: Results, config: MemoryConfig | None) -> list[Tensor]:
        """Tensors of this rank's first device with the specs of results that only other ranks have."""
        device = self.mesh.members()[0]
        made = []
        for result in results:
            placed = self._spec.interleaved.with_(shape=shape_of(result, self._shapes))
            made.append(self._filled(0.0, checked(placed.with_(memory_config=self._config_of(result, config))), device))
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
            return self._view(device, self._operands[source.operand][source.device])
        known = self._known.get(id(source))
        if known is None:
            return self._computed(source, device, {"memory_config": DRAM_MEMORY_CONFIG})
        return self._view(device, known)

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
                return self._run(operations.slice, self.value(of, device), tuple(begins), tuple(ends), **options)
            case Join(dim, parts):
                return self._run(operations.concat, [self.value(part, device) for part in parts], dim, **options)
            case Fold(reduction, terms, levels, total, is_partial):
                values = [self.value(term, device) for term in terms]
                if not total:
                    return self._run(_FOLD, values, reduction, levels, **options)
                dtype = partial_dtype(self._spec.dtype) if is_partial else self._spec.dtype
                return self._run(_PARTIAL_FOLD, values, reduction, levels, total, dtype, **options)
            case Received():
                raise AssertionError("a received value is known")
            case Fill(_, _, _, number):
                spec = self._spec.interleaved.with_(shape=shape_of(source, self._shapes))
                return self._filled(number, spec, device)

    def _run(self, function: Any, operand: Tensor | Sequence[Tensor], *statics: Any, **options: Any) -> Tensor:
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
        run, indices = program, [*map(self.tape.index_of, operands)]
        return self.tape.add(lambda tensors: run(*[tensors[index] for index in indices]))


MAX_PROGRAMS = 1024
_PROGRAMS: dict[tuple[object, ...], Program] = {}
"""Programs of the steps of collectives: eager calls with a list of tensors have no fast path."""


def parts_of(tensor: Tensor) -> Sequence[Tensor]:
    """The tensors of this rank, or the one that stands in for those of others."""
    return tensor.tensors if isinstance(tensor, MeshTensor) else (tensor,)


def shards_of(tensor: Tensor) -> dict[int, Tensor]:
    """The tensor on each device that has one, by the device's number in its mesh."""
    return {number: tensor.on(number) for number in tensor.numbers} if isinstance(tensor, MeshTensor) else {0: tensor}
