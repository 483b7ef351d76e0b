"""Tensors of a mesh: a program for the mesh runs on the tensors of all devices by one native call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import is_
from typing import TYPE_CHECKING, Any

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.runtime.libraries.ttnn_tensors import TtnnTensors
from ttnn_jit.runtime.memory.l1 import in_l1
from ttnn_jit.runtime.memory.replicas import Replica, own_memory
from ttnn_jit.runtime.meshes.mesh_tensor import MeshTensor
from ttnn_jit.runtime.native.panels import factors_of
from ttnn_jit.runtime.tensors.tensor import Tensor, replica
from ttnn_jit.specs.meshes.mesh_devices import MeshDevices, MeshPlacement
from ttnn_jit.specs.target import SystemDesc
from ttnn_jit.specs.tensor_spec import TensorSpec

if TYPE_CHECKING:
    from ttnn_jit.runtime.libraries.runnable import Runnable
    from ttnn_jit.runtime.plans.plan import ProgramPlan


class MeshTensors(TtnnTensors):
    """Tensors of a mesh."""

    title = "tensors of a mesh"

    def holds(self, value: object) -> bool:
        """Whether it is one."""
        return issubclass(type(value), MeshTensor)

    def spec_of(self, tensor: Any) -> TensorSpec:
        """The spec of the tensor on each device."""
        spec: TensorSpec = tensor.spec
        return spec

    def placement_of(self, tensor: Any) -> MeshPlacement:
        """Which device has which part."""
        placement: MeshPlacement = tensor.placement
        return placement

    def run(self, program: Runnable, *tensors: Any) -> Any:
        """Run on the tensors of the program's devices; results are tensors of the mesh."""
        plan = program.plan
        if len(tensors) != len(plan.arguments):
            raise ArgumentError(f"{plan.name} takes {len(plan.arguments)} tensors, got {len(tensors)}")
        mesh: Any = next(each.mesh for each in tensors if isinstance(each, MeshTensor))
        numbers = _devices_of(plan).numbers
        flat: list[Tensor] = []
        for tensor in tensors:
            flat += _parts_on(numbers, tensor) if isinstance(tensor, MeshTensor) else [tensor]
        members = [mesh.devices[number] for number in numbers] or [mesh.members()[0]]
        results = program.run_on(members, flat, mesh.ranks)
        made: list[Any] = []
        for indices, topology in zip(plan.returned, program.topologies, strict=True):
            same = [results[index] for index in indices]
            of_mesh = [each for each in tensors if isinstance(each, MeshTensor)]
            known: Any = next((each for each in of_mesh if all(map(is_, _parts_on(numbers, each), same))), None)
            if known is None and topology is None:
                known = same[0]
            elif known is None:
                parts = [
                    own if own.device() is member else replica(own, own.spec, member, plan.name)
                    for own, member in zip(same, members, strict=True)
                ]
                known = MeshTensor(mesh, parts, topology)
            made.append(known)
        return made[0] if len(made) == 1 else tuple(made)

    def records(self, tensors: Sequence[Any]) -> bool:
        """While their devices capture a trace."""
        return tensors[0].mesh.devices[0].recorder is not None

    def separate(self, tensors: Iterable[Any]) -> bool:
        """Copy the blocks that several devices share; returns whether there were any."""
        shared = [each for each in tensors if isinstance(each, MeshTensor) and each.placement.blocks]
        for part in (part for each in shared for part in each.tensors):
            own_memory(part.memory("a trace"))
        return bool(shared)

    def same_memory(self, tensors: Sequence[Any]) -> tuple[int, ...]:
        """Compare the addresses of all parts."""
        first_at: dict[object, int] = {}
        first = []
        for at, tensor in enumerate(tensors):
            key = tensor.spec, tuple(map(self.address, tensor.tensors))
            first.append(first_at.setdefault(key, at))
        return () if len(first_at) == len(tensors) else tuple(first)

    def are_plain(self, tensors: Sequence[Any]) -> bool:
        """Whether they are of no subclass."""
        return all(type(each) is MeshTensor for each in tensors)

    def table_key(self, _tensors: Sequence[Any]) -> Any:
        """None: `warm_caller` compares all metadata."""
        return None

    def of_call(self, program: Runnable, placements: Sequence[object]) -> MeshTensors:
        """The library for warm calls of `program` with tensors that are placed so."""
        return _PlacedTensors(program, placements)


class _PlacedTensors(MeshTensors):
    """Tensors of a mesh in warm calls of one program, whose text has names for every part of every tensor.

    Tensor number k of the call is ``mk``, and its parts are the inputs ``ai`` of the plan; ``dj`` is device number j of
    the program.

    Args:
        program: The program.
        placements: The placements of the arguments.
    """

    def __init__(self, program: Runnable, placements: Sequence[object]) -> None:
        self._plan = program.plan
        self._topologies = program.topologies
        self._placements = dict(enumerate(placements))
        devices = _devices_of(self._plan)
        self._numbers, self._remote, self._positions = devices.numbers, devices.remote, len(devices)

    def tensor_name(self, index: int) -> str:
        """Another name than that of an input."""
        return f"m{index}"

    def conditions(self, _plan: ProgramPlan, arguments: range, target: SystemDesc | None) -> Iterator[str]:
        """Compare mesh, spec and placement, and that the devices are open; assign the parts."""
        for k in arguments:
            yield f"m{k}.mesh is mesh" if k else "(mesh := m0.mesh).shape == MESH"
            yield from self._parts(k)
        yield "mesh.own(PLACED) == NUMBERS" if self._remote else "mesh.ranks is None"
        if self._plan.exchanges:
            yield "mesh.ranks.positions == OWNERS"
        for j, number in enumerate(self._numbers or [None]):
            device = "mesh.members()[0]" if number is None else f"mesh.devices[{number}]"
            yield f"(d{j} := {device}).open_target {'== OPEN_TARGET' if target else '!= 0'}"

    def _parts(self, k: int) -> Iterator[str]:
        placement = self._placements[k]
        assert isinstance(placement, MeshPlacement)
        inputs = self._plan.arguments[k]
        yield f"m{k}.spec is S{inputs[0]}"
        yield f"((at := m{k}.topology) is T{k} or at == T{k})"
        yield f"(t{k} := m{k}.tensors) is not None"
        for i, number in zip(inputs, self._numbers or [None], strict=True):
            if number is None:
                part = f"t{k}[0]"
            else:
                part = f"m{k}.on({number})" if self._remote else f"t{k}[{placement.numbers.index(number)}]"
            yield f"(a{i} := {part}) is not None"
        for i, first in zip(inputs, placement.blocks_on(_devices_of(self._plan)), strict=False):
            if inputs[first] != i:
                yield f"a{i}._buffer.replica and a{i}._buffer.address is a{inputs[first]}._buffer.address"

    def conditions_of_hidden(self, plan: ProgramPlan, hidden: Mapping[int, Any]) -> Iterator[str]:
        """As for arguments; a tensor of the whole mesh is on no device."""
        factors = factors_of(plan)
        for k, example in hidden.items():
            inputs = plan.arguments[k]
            if isinstance(example, MeshTensor):
                self._placements[k] = example.placement
                yield f"m{k}.mesh is mesh"
                yield from self._parts(k)
            else:
                yield f"m{k}.spec is S{inputs[0]} and m{k}._device is None and (a{inputs[0]} := m{k}) is not None"
            yield from (f"(h{i} := a{i}._buffer) is not None" for i in inputs if i not in factors)

    def names_of_hidden(self, _plan: ProgramPlan, hidden: Mapping[int, Any]) -> dict[str, Any]:
        """Their topologies."""
        return {f"T{k}": each.topology for k, each in hidden.items() if isinstance(each, MeshTensor)}

    def admit(self, index: int) -> Iterable[str]:
        """Refuse it if its device has no DRAM for it."""
        return (f"{self._device(index)}.require_dram(S{index})",)

    def account(self, program: Runnable) -> Iterator[str]:
        """Count the program on every device, and charge the tensors in L1 to theirs."""
        plan = program.plan
        for j in range(self._positions):
            yield from (f" if HASH not in d{j}.programs:", f"  d{j}.programs.add(HASH)")
        owned = [i for i in range(len(plan.inputs), len(plan.memory)) if i not in plan.made_in_place]
        yield from (f" l{i} = {self._device(i)}.l1.lease(S{i})" for i in owned if in_l1(plan.memory[i]))
        for j in range(self._positions):
            yield from (f" e{i}_{j} = d{j}.l1.lease(E{i})" for i in range(len(plan.elided)))
            if plan.uses_l1:
                yield f" d{j}.l1.require({program.circular_buffer_bytes}, CIRCULAR_BUFFERS)"

    def wrap(self, index: int) -> Iterable[str]:
        """Make a tensor on its device without a call of ``__init__``."""
        i = index
        return (
            f" r{i} = new(Tensor)",
            f" r{i}.spec = S{i}",
            f" r{i}._device = {self._device(i)}",
            f" r{i}._buffer = b{i}",
        )

    def _device(self, index: int) -> str:
        return f"d{self._plan.memory_positions[index]}"

    def returned(self, plan: ProgramPlan, names: Sequence[str]) -> tuple[list[str], list[str]]:
        """Join the parts; an argument that is returned is the tensor itself."""
        arguments = {tuple(f"a{i}" for i in inputs): f"m{k}" for k, inputs in enumerate(plan.arguments)}
        lines: list[str] = []
        values: list[str] = []
        for q, (indices, topology) in enumerate(zip(plan.returned, self._topologies, strict=True)):
            buffers = [plan.made_in_place.get(plan.results[index], plan.results[index]) for index in indices]
            parts = tuple(
                f"a{i}" if i < len(plan.inputs) else names[index] for i, index in zip(buffers, indices, strict=True)
            )
            known = arguments.get(parts)
            if known is None and topology is not None:
                homes = [plan.memory_positions[i] for i in buffers]
                parts = tuple(
                    f"s{q}_{j}" if home != j else part for j, (home, part) in enumerate(zip(homes, parts, strict=True))
                )
                elsewhere = [(i, j) for j, (home, i) in enumerate(zip(homes, buffers, strict=True)) if home != j]
                lines += [f" b{i}.replica = Replica()" for i in dict.fromkeys(i for i, _ in elsewhere)]
                lines += [line for i, j in elsewhere for line in self._shared(f"s{q}_{j}", i, j)]
                lines += [f" x{q} = new(MeshTensor)", f" x{q}.mesh = mesh", f" x{q}.tensors = ({', '.join(parts)},)"]
                lines += [
                    f" x{q}.spec = S{buffers[0]}",
                    f" x{q}.topology = R{q}",
                    f" x{q}.numbers = NUMBERS",
                    f" x{q}.placed = PLACED",
                ]
            values.append(known or f"x{q}")
        return lines, values

    def _shared(self, name: str, index: int, device: int) -> list[str]:
        """Lines that make a tensor on another device over the block of buffer `index`: `replica`, inlined."""
        lease = [f" {name}b.lease = d{device}.l1.lease(S{index})"] if in_l1(self._plan.memory[index]) else []
        return [
            f" b{index}.replica = Replica()",
            f" {name}b = Buffer{index}()",
            f" {name}b._home = class{index}",
            f" {name}b.address = p{index}",
            f" {name}b.replica = Replica()",
            *lease,
            f" {name} = new(Tensor)",
            f" {name}.spec = S{index}",
            f" {name}._device = d{device}",
            f" {name}._buffer = {name}b",
        ]

    def names(self, plan: ProgramPlan) -> dict[str, Any]:
        """The objects that make results, and placements."""
        devices = _devices_of(plan)
        placed = {k: each.topology for k, each in self._placements.items() if isinstance(each, MeshPlacement)}
        return {
            **super().names(plan),
            "MeshTensor": MeshTensor,
            "Replica": Replica,
            "MESH": devices.shape,
            "OWNERS": devices.owners,
            "NUMBERS": range(len(devices)) if devices.is_whole else devices.numbers,
            "PLACED": range(len(devices.placed)) if devices.runs_on_all else devices.placed,
            **{f"T{k}": topology for k, topology in placed.items()},
            **{f"R{q}": topology for q, topology in enumerate(self._topologies)},
        }


def _parts_on(numbers: Sequence[int], tensor: MeshTensor) -> list[Tensor]:
    """The parts of a tensor on some devices of this rank; without devices one tensor that stands in for others."""
    return [tensor.on(number) for number in numbers] or [tensor.tensors[0]]


def _devices_of(plan: ProgramPlan) -> MeshDevices:
    assert plan.devices is not None, "a program for tensors of a mesh"
    return plan.devices
