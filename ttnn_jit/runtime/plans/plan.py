"""The plan of a program, without its code: specs of its tensors, and kernel launches on numbered buffers."""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from ttnn_jit.diagnostics.errors import InternalError
from ttnn_jit.process.cached_property import cached_property
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.process.memoized import KEYS
from ttnn_jit.runtime.plans.launch_bounds import faults_of
from ttnn_jit.runtime.plans.launches import Launch, Repeat, launch_from_json, launch_to_json, launches_in
from ttnn_jit.runtime.plans.rank_exchanges import PlanExchange
from ttnn_jit.runtime.plans.spec_json import numbers, spec_from_json, spec_to_json, text_of
from ttnn_jit.specs.extents.extent import is_extent
from ttnn_jit.specs.meshes.mesh_devices import MeshDevices
from ttnn_jit.specs.meshes.mesh_shape import MeshShape
from ttnn_jit.specs.tensor_spec import DataType, TensorSpec

_SPECS = ("inputs", "outputs", "intermediates", "elided")

_OF_ANY_SIZE = (
    "name",
    "updates",
    "in_place",
    "copies",
    "results",
    "kernels",
    "used_inputs",
    "made_in_place",
    "devices",
    "positions",
    "whole",
    "storages",
    "memory_of",
    "mixed_memory",
)

_MAX_RUNS = 1 << 16
"""The most runs of launches of a program: each has an entry in the launch table."""


@cache
def _one_element(dtype: DataType) -> TensorSpec:
    return TensorSpec((1,), dtype)


@dataclass(frozen=True)
class PlanConstant:
    """A number that belongs to a program, an operand of launches with one element.

    Attributes:
        dtype: Its element type, of 32 bits.
        bits: Its bits.
    """

    dtype: DataType
    bits: int

    def __post_init__(self) -> None:
        if self.dtype.itemsize != 4 or not (is_extent(self.bits) or 0 <= self.bits < 1 << 32):
            raise InternalError(f"a constant of {self.dtype.name} with the bits {self.bits}")

    @property
    def spec(self) -> TensorSpec:
        """The operand."""
        return _one_element(self.dtype)


@dataclass(frozen=True)
class ProgramPlan:
    """The buffers of a program and the launches over them.

    Operands of launches are numbered: inputs, outputs, intermediates, which are buffers, then constants. Inputs belong
    to the caller, outputs are allocated per call and returned, intermediates live for one call, constants belong to the
    program. Intermediates that never hold a value at the same time may share memory, a *storage*.

    Attributes:
        name: Name of the compiled function.
        inputs: Specs of the tensor arguments.
        outputs: Specs of the buffers that the call allocates and returns.
        intermediates: Specs of the buffers between kernels.
        launches: Launches and repeats, in execution order.
        elided: Specs of L1 tensors whose stores are elided because the host fuses the kernels around them. They have no
            buffers, but a call charges them to the device's L1 account.
        updates: Per input that the function writes: its index, and the index of the result, an output, that is its new
            value. The caller gets the input in place of that result.
        in_place: The updated inputs whose new value may be made in their memory, if no other used input shares it.
        copies: Indices of the launches that only copy such an input to the buffer of its new value.
        constants: The constants that launches read.
        results: Buffer index, of an input or an output, of every returned value; None means the outputs in order. A
            function that returns an argument, or one value twice, needs it.
        devices: The devices of a mesh that the program runs on; None for one device. A tensor of the mesh is an input,
            or a result, for each of them, in order.
        positions: Of a mesh's program, per buffer the position of its device among `devices`.
        whole: The inputs that are one tensor for the whole mesh.
        exchanges: The exchanges with other ranks, in order.
        storages: Per intermediate the number of its storage, counted from the first; () if each has its own. A storage
            has the bytes of its largest intermediate. Intermediates in L1, of several devices, of one launch, of one
            repeat or of one exchange share none.
    """

    name: str
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    intermediates: tuple[TensorSpec, ...]
    launches: tuple[Launch | Repeat, ...]
    elided: tuple[TensorSpec, ...] = ()
    updates: tuple[tuple[int, int], ...] = ()
    in_place: tuple[int, ...] = ()
    copies: tuple[int, ...] = ()
    constants: tuple[PlanConstant, ...] = ()
    results: tuple[int, ...] = None  # type: ignore[assignment]  # replaced in __post_init__, so that readers see a tuple
    devices: MeshDevices | None = None
    positions: tuple[int, ...] = ()
    whole: tuple[int, ...] = ()
    exchanges: tuple[PlanExchange, ...] = ()
    storages: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        visible = len(self.inputs) + len(self.outputs)
        if self.results is None:
            object.__setattr__(self, "results", tuple(range(len(self.inputs), visible)))
        count = len(self.operands)
        if any(not 0 <= index < count for launch in self.each_launch for index in launch.operands):
            raise InternalError(f"program {self.name}: a launch names a buffer that does not exist")
        if any(not 0 <= index < visible for index in self.results):
            raise InternalError(f"program {self.name}: a result is neither an input nor an output")
        for index, result in self.updates:
            self._check_update(index, result)
        if not set(self.in_place) <= {index for index, _ in self.updates}:
            raise InternalError(f"program {self.name}: an input that is not updated is written in place")
        found = [self.launches[copy] for copy in self.copies if 0 <= copy < len(self.launches)]
        copied = [each.operands for each in found if isinstance(each, Launch)]
        if len(copied) < len(self.copies) or any(self.made_in_place.get(each[-1]) != each[0] for each in copied):
            raise InternalError(f"program {self.name}: a launch copies no input to the buffer of its new value")
        self._check_mesh()
        self._check_storages()
        if KEYS.memos is None:  # a plan with extents is checked for each size
            self._check_launches()

    def _check_mesh(self) -> None:
        if self.devices is None:
            return
        count = len(self.devices)
        fits = len(self.positions) == len(self.buffers) and {*self.positions} <= {*range(count)}
        if not fits or (len(self.inputs) - len(self.whole)) % count or not {*self.whole} <= {*range(len(self.inputs))}:
            raise InternalError(f"program {self.name}: its buffers are not those of {count} devices")
        at = [0, *(each.before for each in self.exchanges), len(self.launches)]
        ranks = {0, *self.devices.owners}
        others = {each.rank for own in self.exchanges for each in (*own.sends, *own.receives)}
        if at != sorted(at) or not others <= ranks:
            raise InternalError(f"program {self.name}: an exchange is at no launch, or with no rank")

    def _check_storages(self) -> None:
        first: dict[int, int] = {}
        visible = len(self.inputs) + len(self.outputs)
        if len(self.storages) not in (0, len(self.intermediates)):
            raise InternalError(f"program {self.name}: {len(self.storages)} storages for its intermediates")
        for index, storage in enumerate(self.storages, visible):
            other = first.setdefault(storage, index)
            if storage not in range(len(first)):
                raise InternalError(f"program {self.name}: its storages are not numbered from the first")
            if other == index:
                continue
            if any(self.buffers[each].memory_config.is_l1() for each in (index, other)):
                raise InternalError(f"program {self.name}: buffers in L1 share a storage")
            if self.positions and self.positions[index] != self.positions[other]:
                raise InternalError(f"program {self.name}: buffers of several devices share a storage")
        for used in self._used_together() if self.storages else ():
            if len({self.memory_of[index] for index in used}) < len(used):
                raise InternalError(f"program {self.name}: buffers that are used together share a storage")

    def _used_together(self) -> Iterator[set[int]]:
        """The buffers of each launch outside of repeats, of all launches of each repeat, and of each exchange."""
        buffers = range(len(self.buffers))
        for launch in self.launches:
            yield {index for each, _ in launches_in((launch,)) for index in each.operands if index in buffers}
        for exchange in self.exchanges:
            yield {each.buffer for each in (*exchange.read, *exchange.written) if each.buffer in buffers}

    def _check_launches(self) -> None:
        made = range(len(self.inputs), len(self.buffers))
        memory_of = self.memory_of if self.storages else ()
        if fault := next(faults_of(self.launches, self.operands, made, self.exchanges, memory_of), None):
            raise InternalError(f"program {self.name}: {fault}")
        if self.runs > _MAX_RUNS:
            raise InternalError(f"program {self.name}: its launches run {self.runs} times")

    def resized(
        self,
        inputs: tuple[TensorSpec, ...],
        outputs: tuple[TensorSpec, ...],
        intermediates: tuple[TensorSpec, ...],
        elided: tuple[TensorSpec, ...],
        launches: tuple[Launch | Repeat, ...],
        constants: tuple[PlanConstant, ...],
        exchanges: tuple[PlanExchange, ...],
    ) -> ProgramPlan:
        """The plan for other sizes and numbers: as many specs and constants, and the same launches and exchanges.

        Raises:
            InternalError: A launch leaves its operands, or an update has another spec than its input.
        """
        groups = {"inputs": inputs, "outputs": outputs, "intermediates": intermediates, "elided": elided}
        plan = object.__new__(ProgramPlan)
        vars(plan).update({name: getattr(self, name) for name in _OF_ANY_SIZE}, **groups)
        vars(plan).update(launches=launches, constants=constants, exchanges=exchanges)
        for index, result in self.updates:
            plan._check_update(index, result)
        plan._check_launches()
        return plan

    def with_constants(self, constants: tuple[PlanConstant, ...]) -> ProgramPlan:
        """The plan with as many other constants; what follows from the rest is shared."""
        plan = object.__new__(ProgramPlan)
        vars(plan).update(vars(self), constants=constants)
        vars(plan).pop("hash", None)
        return plan

    def _check_update(self, index: int, result: int) -> None:
        inputs = len(self.inputs)
        if not (0 <= index < inputs and 0 <= result < len(self.results) and self.results[result] >= inputs):
            raise InternalError(f"program {self.name}: an update does not map an input to an output")
        old, new = self.inputs[index], self.buffers[self.results[result]]
        if (tuple(old.shape), old.dtype) != (tuple(new.shape), new.dtype):
            raise InternalError(f"program {self.name}: input {index} is {old}, and is updated by {new}")
        if index in self.in_place and old != new:
            raise InternalError(f"program {self.name}: input {index} is {old}, and cannot be made in its place, {new}")

    @cached_property
    def buffers(self) -> tuple[TensorSpec, ...]:
        """The spec of every buffer, by index."""
        return self.inputs + self.outputs + self.intermediates

    @cached_property
    def memory(self) -> tuple[TensorSpec, ...]:
        """The specs of what a run gets, by index: the inputs, the outputs, then the largest buffer of each storage."""
        if not self.storages:
            return self.buffers
        largest: dict[int, TensorSpec] = {}
        for storage, spec in zip(self.storages, self.intermediates, strict=True):
            if largest.setdefault(storage, spec).nbytes < spec.nbytes:
                largest[storage] = spec
        return (*self.inputs, *self.outputs, *largest.values())

    @property
    def scratch(self) -> tuple[TensorSpec, ...]:
        """The largest buffer of each storage."""
        return self.memory[len(self.inputs) + len(self.outputs) :]

    @cached_property
    def memory_of(self) -> tuple[int, ...]:
        """The index among `memory` of every buffer."""
        visible = len(self.inputs) + len(self.outputs)
        storages = self.storages or range(len(self.intermediates))
        return (*range(visible), *(visible + storage for storage in storages))

    @cached_property
    def exchanges_in_memory(self) -> tuple[PlanExchange, ...]:
        """The exchanges, whose pieces are of `memory`."""
        if not self.storages:
            return self.exchanges
        return tuple(each.in_memory(self.memory_of) for each in self.exchanges)

    @cached_property
    def memory_positions(self) -> tuple[int, ...]:
        """Of a mesh's program, the position of the device of all memory, as `memory` has it."""
        return tuple(dict(zip(self.memory_of, self.positions, strict=True)).values()) if self.positions else ()

    @cached_property
    def mixed_memory(self) -> frozenset[int]:
        """The indices among `memory` of what several buffers share."""
        return frozenset(index for index, count in Counter(self.memory_of).items() if count > 1)

    @cached_property
    def arguments(self) -> tuple[tuple[int, ...], ...]:
        """The inputs of each tensor that the caller passes: of a tensor of a mesh one on each device."""
        count = 1 if self.devices is None else len(self.devices)
        found: list[tuple[int, ...]] = []
        first = 0
        while first < len(self.inputs):
            own = 1 if first in self.whole else count
            found.append(tuple(range(first, first + own)))
            first += own
        return tuple(found)

    @property
    def argument_specs(self) -> tuple[TensorSpec, ...]:
        """The spec of each tensor that the caller passes."""
        return tuple(self.inputs[first] for first, *_ in self.arguments)

    @cached_property
    def returned(self) -> tuple[tuple[int, ...], ...]:
        """The indices of `results` that make up each tensor that the function returns."""
        count = 1 if self.devices is None else len(self.devices)
        alone = {result for index, result in self.updates if index in self.whole}
        found: list[tuple[int, ...]] = []
        first = 0
        while first < len(self.results):
            own = 1 if first in alone else count
            found.append(tuple(range(first, first + own)))
            first += own
        return tuple(found)

    @cached_property
    def operands(self) -> tuple[TensorSpec, ...]:
        """The spec of everything that a launch may name, by index: the buffers, then the constants."""
        return (*self.buffers, *(constant.spec for constant in self.constants))

    @cached_property
    def each_launch(self) -> tuple[Launch, ...]:
        """Every launch once, including those inside of repeats."""
        return tuple(launch for launch, _ in launches_in(self.launches))

    @cached_property
    def runs(self) -> int:
        """The number of launches that a call runs."""
        return sum(math.prod(counts) for _, counts in launches_in(self.launches))

    @cached_property
    def used_inputs(self) -> tuple[int, ...]:
        """The inputs that are read by a kernel, returned, or updated."""
        read = {index for launch in self.each_launch for index in launch.operands}
        used = {*read, *self.results, *(index for index, _ in self.updates)}
        return tuple(sorted(index for index in used if index < len(self.inputs)))

    @property
    def has_warm_calls(self) -> bool:
        """Whether all updates are in place, so that warm calls need not copy new values into inputs."""
        return len(self.in_place) == len(self.updates)

    @cached_property
    def made_in_place(self) -> Mapping[int, int]:
        """The input in whose memory an output may be made, by output."""
        return {self.results[result]: index for index, result in self.updates if index in self.in_place}

    @cached_property
    def written_over_inputs(self) -> frozenset[int]:
        """The outputs that are only the new value of an input of the same spec: the caller does not get them."""
        found = {self.results[result]: index for index, result in self.updates}
        return frozenset(
            output
            for output, index in found.items()
            if self.results.count(output) == 1 and self.buffers[output] == self.inputs[index]
        )

    @cached_property
    def kernels(self) -> tuple[str, ...]:
        """The distinct kernels, in order of first launch."""
        return tuple(dict.fromkeys(launch.kernel for launch in self.each_launch))

    @cached_property
    def uses_l1(self) -> bool:
        """Whether a run is charged to the account of L1, with its circular buffers."""
        return any(spec.memory_config.is_l1() for spec in (*self.buffers, *self.elided))

    @cached_property
    def hash(self) -> str:
        """SHA-256 of the plan. Kernel names are content hashes, so equal programs have equal hashes on any host."""
        return hashlib.sha256(self.text().encode()).hexdigest()

    @cached_property
    def bytes_touched(self) -> int:
        """Bytes that all launches read and write; each operand counts once per launch."""
        return sum(
            math.prod(counts) * self.operands[index].nbytes
            for launch, counts in launches_in(self.launches)
            for index in launch.operands
        )

    def to_json(self) -> dict[str, Any]:
        """The plan as JSON values; equal plans give equal text."""
        return {
            "name": self.name,
            **{group: [*map(spec_to_json, getattr(self, group))] for group in _SPECS},
            "launches": [*map(launch_to_json, self.launches)],
            "results": list(self.results),
            **({"updates": [list(update) for update in self.updates]} if self.updates else {}),
            **({"in_place": list(self.in_place)} if self.in_place else {}),
            **({"copies": list(self.copies)} if self.copies else {}),
            **({"constants": [[each.dtype.name, each.bits] for each in self.constants]} if self.constants else {}),
            **({"storages": list(self.storages)} if self.storages else {}),
            **self._mesh_to_json(),
        }

    def _mesh_to_json(self) -> dict[str, Any]:
        if self.devices is None:
            return {}
        own = self.devices
        devices = [[*own.shape], [*own.numbers], [*own.remote], [*own.owners]]
        exchanges = {"exchanges": [each.to_json() for each in self.exchanges]} if self.exchanges else {}
        return {"mesh": devices, "positions": list(self.positions), "whole": list(self.whole), **exchanges}

    def text(self) -> str:
        """The plan as one line of JSON, from which the hash is computed."""
        return json.dumps(self.to_json(), separators=(",", ":"), sort_keys=True)

    @staticmethod
    def from_json(fields: Mapping[str, Any]) -> ProgramPlan:
        """The inverse of `to_json`.

        Raises:
            KeyError, TypeError, ValueError, InternalError: The fields do not describe a plan.
        """
        return ProgramPlan(
            name=text_of(fields["name"]),
            **{group: tuple(map(spec_from_json, fields[group])) for group in _SPECS},
            launches=tuple(map(launch_from_json, fields["launches"])),
            updates=tuple(_pair(update) for update in fields.get("updates", ())),
            in_place=numbers(fields.get("in_place", [])),
            copies=numbers(fields.get("copies", [])),
            constants=tuple(_constant(*each) for each in fields.get("constants", ())),
            results=numbers(fields["results"]),
            devices=_devices(*fields["mesh"]) if "mesh" in fields else None,
            positions=numbers(fields.get("positions", [])),
            whole=numbers(fields.get("whole", [])),
            exchanges=tuple(map(PlanExchange.from_json, fields.get("exchanges", ()))),
            storages=numbers(fields.get("storages", [])),
        )


def _devices(shape: Any, *fields: Any) -> MeshDevices:
    return MeshDevices(MeshShape(numbers(shape)), *map(numbers, fields))


def _constant(dtype: Any, bits: Any) -> PlanConstant:
    (word,) = numbers([bits])
    return PlanConstant(DataType[text_of(dtype)], word)


def _pair(update: Any) -> tuple[int, int]:
    first, second = numbers(update)
    return first, second
