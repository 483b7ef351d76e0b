"""Runs functions of the host's module block by block.

A loop that counts from a start to a bound in steps is first tried with all of its trips at once: every value is then an
array with one element for each trip, an inner loop runs in lockstep, and the memory notes which trip used which
element. If trips depend on each other, what they wrote is restored, and the loop runs trip by trip.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from xdsl.ir import Block, Operation, SSAValue

from ttnn_jit.dialects.cpu_module.cpu_functions import CpuFunction
from ttnn_jit.dialects.cpu_module.instruction_attributes import attribute, branch_operands, predicate, symbol
from ttnn_jit.dialects.cpu_module.memory_layout import size_of
from ttnn_jit.dialects.text_calls.text_attributes import name_of
from ttnn_jit.interpreters.host_level.address_space import (
    AddressSpace,
    DependentTrips,
    HostFault,
    NoGoldenOfHost,
)
from ttnn_jit.interpreters.host_level.instruction_meanings import FUNCTIONS, Meaning, meaning_of

MAX_OPERATIONS = 400_000
"""A longer run is no golden: so many operations of numpy take about a second."""
_MAX_BYTES = 2**30
_FEWEST_TRIPS = 4
_ELEMENTS_PER_OPERATION = 4096
"""An operation on so many elements counts as two."""


def interpreted(
    function: CpuFunction,
    tensors: Sequence[np.ndarray[Any, Any]],
    results: Sequence[tuple[tuple[int, ...], np.dtype[Any]]],
) -> list[np.ndarray[Any, Any]]:
    """The results of a function on tensors, which stay as they are.

    Args:
        function: The function.
        tensors: Its operands.
        results: The shapes and element types of its results.

    Raises:
        NoGoldenOfHost: It is too long, or has an operation without a meaning here.
        HostFault: It does what no function may.
    """
    run = _HostRun(function)
    memory = run.memory
    given = [np.ascontiguousarray(each) for each in tensors]
    output = function.entry.function_type.output
    writes_operands = output.name == "llvm.void"
    if writes_operands and len(function.ranks or ()) == len(given) + len(results):
        given += [np.zeros(shape, kind) for shape, kind in results]
    addresses = [memory.add(each.reshape(-1).view(np.uint8).copy()) for each in given]
    words: list[int] = []
    for each, address in zip(given, addresses, strict=True):
        strides = [step // each.itemsize for step in np.empty(each.shape, each.dtype).strides]
        extents = np.array([*each.shape, *strides], np.int64)
        words += [address, address, 0, memory.add(extents.view(np.uint8))]
    table = memory.add(np.array(words, np.int64).view(np.uint8))
    with np.errstate(all="ignore"):
        made = run.call(function.entry.sym_name.data, [np.int64(table)])
    if writes_operands:
        last = zip(addresses[len(addresses) - len(results) :], results, strict=True)
        return [_dense(memory, address, 0, shape, None, kind) for address, (shape, kind) in last]
    return [_returned(memory, int(made) + 32 * index, *each) for index, each in enumerate(results)]


def _returned(memory: AddressSpace, address: int, shape: tuple[int, ...], kind: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """The tensor that a record of four words describes."""
    _, start, offset, extents = memory.bytes_at(address, 32).view(np.int64).tolist()
    found = memory.bytes_at(extents, 16 * len(shape)).view(np.int64).tolist()
    sizes, strides = tuple(found[: len(shape)]), found[len(shape) :]
    if sizes != shape:
        raise HostFault(f"it returns the shape {list(sizes)}")
    return _dense(memory, start, offset, shape, strides, kind)


def _dense(
    memory: AddressSpace,
    start: int,
    offset: int,
    shape: tuple[int, ...],
    strides: Sequence[int] | None,
    kind: np.dtype[Any],
) -> np.ndarray[Any, Any]:
    """The elements of a tensor, one after the other."""
    places = np.zeros(shape, np.int64)
    if strides is None:
        places = np.arange(places.size).reshape(shape)
    else:
        for axis, stride in enumerate(strides):
            along = np.arange(shape[axis]) * stride
            places = places + along.reshape([-1 if each == axis else 1 for each in range(len(shape))])
    if not places.size:
        return np.zeros(shape, kind)
    places = places + offset
    low, high = int(places.min()), int(places.max())
    data = memory.bytes_at(start + low * kind.itemsize, (high - low + 1) * kind.itemsize)
    return np.frombuffer(data.tobytes(), kind)[places - low]


class _Loop(NamedTuple):
    """A loop that counts."""

    counter: SSAValue
    start: Any
    step: Any
    trips: int


class _HostRun:
    def __init__(self, function: CpuFunction) -> None:
        self.memory = AddressSpace(_MAX_BYTES)
        self._function = function
        self._meanings: dict[Operation, Meaning | None] = {}
        self._count = 0
        self._in_lockstep = False
        self._dependent: set[Block] = set()
        self._globals = {
            name: self.memory.add(np.frombuffer(bytearray(data), np.uint8))
            for name, data in function.global_bytes.items()
        }

    def call(self, name: str, arguments: Sequence[Any]) -> Any:
        """What a function of the module returns."""
        function = self._function.functions[name]
        first = function.body.blocks[0]
        values: dict[SSAValue, Any] = dict(zip(first.args, arguments, strict=True))
        block, given = first, [*arguments]
        while True:
            values.update(zip(block.args, given, strict=True))
            if not self._in_lockstep and (loop := self._loop(block, values)) is not None:
                self._run_at_once(block, values, loop)
            following = self._run_block(block, values)
            if not isinstance(following, tuple):
                return following
            block, given = following

    def _run_block(self, block: Block, values: dict[SSAValue, Any]) -> tuple[Block, list[Any]] | Any:
        """The next block with what it is passed, or what the function returns, in a list."""
        for op in block.ops:
            name = name_of(op)
            if name == "llvm.return":
                return values[op.operands[0]] if op.operands else None
            operands = [values[each] for each in op.operands] if name not in _BRANCHES else []
            self._spend(operands)
            if name in _BRANCHES:
                return self._target(op, values)
            found = self._result(op, name, operands)
            if op.results:
                values[op.results[0]] = found
        raise NoGoldenOfHost("a block does not end with a branch")

    def _spend(self, operands: Sequence[Any]) -> None:
        size = max((np.size(each) for each in operands if not isinstance(each, list)), default=1)
        self._count += 1 + size // _ELEMENTS_PER_OPERATION
        if self._count > MAX_OPERATIONS:
            raise NoGoldenOfHost("it takes more steps than are interpreted")

    def _target(self, op: Operation, values: dict[SSAValue, Any]) -> tuple[Block, list[Any]]:
        passed = branch_operands(op)
        index = 0
        if name_of(op) == "llvm.cond_br":
            condition = values[op.operands[0]]
            if np.ndim(condition) and not np.all(condition == condition[0]):
                raise DependentTrips
            index = 0 if np.ravel(condition)[0] else 1
        return op.successors[index], [values[each] for each in passed[index]]

    def _result(self, op: Operation, name: str, operands: Sequence[Any]) -> Any:
        if op not in self._meanings:
            self._meanings[op] = meaning_of(op)
        meaning = self._meanings[op]
        if meaning is not None:
            return meaning(*operands)
        effect = _EFFECTS.get(name)
        if effect is None:
            raise NoGoldenOfHost(f"`{name}` has no meaning here")
        if self._in_lockstep and name not in _IN_LOCKSTEP:
            raise DependentTrips
        return effect(self, op, operands)

    def _load(self, op: Operation, operands: Sequence[Any]) -> Any:
        return self.memory.load(operands[0], op.results[0].type)

    def _store(self, op: Operation, operands: Sequence[Any]) -> None:
        value, address = operands
        self.memory.store(value, address, op.operands[0].type)

    def _address_of(self, op: Operation, _: Sequence[Any]) -> Any:
        return np.int64(self._globals[symbol(op, "global_name")])

    def _allocate(self, op: Operation, operands: Sequence[Any]) -> Any:
        return np.int64(self.memory.allocate(int(operands[0]) * size_of(attribute(op, "elem_type"))))

    def _copy(self, _: Operation, operands: Sequence[Any]) -> None:
        target, source, length = map(int, operands)
        data = self.memory.bytes_at(source, length % 2**64).copy()
        self.memory.bytes_at(target, length % 2**64)[:] = data

    def _set(self, _: Operation, operands: Sequence[Any]) -> None:
        self.memory.bytes_at(int(operands[0]), int(operands[2]) % 2**64)[:] = int(operands[1]) % 256

    def _stop(self, _: Operation, __: Sequence[Any]) -> None:
        raise HostFault("what the text says is never reached")

    def _call(self, op: Operation, operands: Sequence[Any]) -> Any:
        name = symbol(op, "callee")
        if name in self._function.functions:
            if self._in_lockstep:
                raise DependentTrips
            return self.call(name, operands)
        known = FUNCTIONS.get(name) or FUNCTIONS.get(name.removesuffix("f"))
        if known is not None:
            return known(*operands)
        provided = _PROVIDED.get(name)
        if provided is None:
            raise NoGoldenOfHost(f"@{name} has no meaning here")
        if self._in_lockstep:
            raise DependentTrips
        return provided(self, [*map(int, operands)])

    def _malloc(self, operands: Sequence[int]) -> Any:
        return np.int64(self.memory.allocate(operands[-1]))

    def _free(self, operands: Sequence[int]) -> None:
        self.memory.release(operands[0])

    def _copy_strided(self, operands: Sequence[int]) -> None:
        element_bytes, *unranked = operands
        found = []
        for address in unranked:
            rank, descriptor = self.memory.bytes_at(address, 16).view(np.int64).tolist()
            words = self.memory.bytes_at(descriptor, 24 + 16 * rank).view(np.int64).tolist()
            found.append((words[1] + words[2] * element_bytes, words[3 : 3 + rank], words[3 + rank :]))
        (first, sizes, steps), (second, other_sizes, other_steps) = found
        if sizes != other_sizes or any(each < 0 for each in sizes):
            raise HostFault("a copy between shapes that differ")
        rows = []
        for place in np.ndindex(*sizes):
            self._spend([])
            at = first + element_bytes * sum(map(int.__mul__, place, steps))
            to = second + element_bytes * sum(map(int.__mul__, place, other_steps))
            rows.append((to, self.memory.bytes_at(at, element_bytes).copy()))
        for to, data in rows:
            self.memory.bytes_at(to, element_bytes)[:] = data

    # Loops all of whose trips are run at once

    def _loop(self, header: Block, values: dict[SSAValue, Any]) -> _Loop | None:
        """The loop that a block begins, if it counts; its bound and step are known here."""
        compare, branch = header.first_op, header.last_op
        if len(header.args) != 1 or header in self._dependent or compare is None or branch is None:
            return None
        counter = header.args[0]
        is_plain = compare.next_op is branch and name_of(compare) == "llvm.icmp" and name_of(branch) == "llvm.cond_br"
        if not is_plain or predicate(compare) != "slt" or compare.operands[0] is not counter:
            return None
        step = next((each for each in self._steps(header) if each in values), None)
        bound = values.get(compare.operands[1])
        if step is None or bound is None or branch.operands[0] is not compare.results[0]:
            return None
        start, by, end = int(values[counter]), int(values[step]), int(bound)
        trips = -((start - end) // by) if by > 0 else 0
        return _Loop(counter, values[counter], values[step], trips) if trips >= _FEWEST_TRIPS else None

    def _steps(self, header: Block) -> Iterator[SSAValue]:
        """What is added to the counter before a branch back; nothing if there are several, or another one."""
        found = []
        for use in header.args[0].uses:
            op = use.operation
            if name_of(op) == "llvm.add" and any(self._passes(each.operation, header) for each in op.results[0].uses):
                found.append(op.operands[1 - use.index])
        if len(found) == 1 and len(self._predecessors(header)) == 2:
            yield found[0]

    def _predecessors(self, block: Block) -> list[Operation]:
        region = block.parent
        assert region is not None, "blocks are in functions"
        return [each.last_op for each in region.blocks if each.last_op is not None and block in each.last_op.successors]

    @staticmethod
    def _passes(op: Operation, header: Block) -> bool:
        return name_of(op) == "llvm.br" and op.successors[0] is header

    def _run_at_once(self, header: Block, values: dict[SSAValue, Any], loop: _Loop) -> None:
        """Run all trips, after which the counter is that of the end; nothing changes if they depend on each other."""
        own = dict(values)
        kind = loop.start.dtype.type
        own[loop.counter] = loop.start + np.arange(loop.trips).astype(kind) * loop.step
        self.memory.begin_trips(loop.trips)
        self._in_lockstep = True
        try:
            branch = header.last_op
            assert branch is not None, "a loop ends its first block with a branch"
            block, given = branch.successors[0], [own[each] for each in branch_operands(branch)[0]]
            while block is not header:
                own.update(zip(block.args, given, strict=True))
                following = self._run_block(block, own)
                if not isinstance(following, tuple):
                    raise DependentTrips
                block, given = following
            if not np.array_equal(given[0], own[loop.counter] + loop.step):
                raise DependentTrips
        except (DependentTrips, HostFault, KeyError):
            self.memory.end_trips(undo=True)
            self._dependent.add(header)
            return
        finally:
            self._in_lockstep = False
        self.memory.end_trips(undo=False)
        values[loop.counter] = loop.start + kind(loop.trips) * loop.step


_EFFECTS: Mapping[str, Callable[[_HostRun, Operation, Sequence[Any]], Any]] = {
    "llvm.load": _HostRun._load,
    "llvm.store": _HostRun._store,
    "llvm.mlir.addressof": _HostRun._address_of,
    "llvm.alloca": _HostRun._allocate,
    "llvm.intr.memcpy": _HostRun._copy,
    "llvm.intr.memmove": _HostRun._copy,
    "llvm.intr.memset": _HostRun._set,
    "llvm.intr.stackrestore": lambda _, __, ___: None,
    "llvm.unreachable": _HostRun._stop,
    "llvm.call": _HostRun._call,
}
"""Operation that reads or writes memory -> what it does."""

_IN_LOCKSTEP = frozenset({"llvm.load", "llvm.store", "llvm.mlir.addressof", "llvm.call"})
"""What trips of a loop may do at once."""

_PROVIDED: Mapping[str, Callable[[_HostRun, Sequence[int]], Any]] = {
    "malloc": _HostRun._malloc,
    "aligned_alloc": _HostRun._malloc,
    "free": _HostRun._free,
    "memrefCopy": _HostRun._copy_strided,
}
"""Function of the runtime -> what it does."""

_BRANCHES = frozenset({"llvm.br", "llvm.cond_br"})
