"""Allocates DST slots of a scheduled kernel by the stack policy of the ttnn.jit document's listing.

Free slots are a stack with slot 0 on top. The input tiles of an op are loaded right before it, left to right, each
into the top slot. The result of an op that reads two or more tiles takes the next slot; then the slots of operands
whose live range ends are pushed back, the rightmost first. An op that reads one tile overwrites its slot. Of twelve
simulated policies only this one gives the listing's slots for the 8-to-1 add tree.

An input that several ops read is loaded again for each: its tile stays in the circular buffer, and no slot is occupied
between the uses.
"""

from __future__ import annotations

from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.process.memoized import memoized
from ttnn_jit.transforms.kernels.tile_graph import TileGraph


@dataclass(frozen=True, slots=True)
class Step:
    """One op: the inputs loaded before it as (value, slot), the slots of its operands, and the slot of its result."""

    op: int
    loads: tuple[tuple[int, int], ...]
    operand_slots: tuple[int, ...]
    result_slot: int


@dataclass(frozen=True, slots=True)
class SlotAssignment:
    """The slots of a kernel; `peak` is the number of DST tiles that it needs."""

    steps: tuple[Step, ...]
    result_slot: int
    peak: int


@memoized(maxsize=16)
def assign_slots(graph: TileGraph, order: tuple[int, ...]) -> SlotAssignment:
    """The slots of `graph`'s ops scheduled in `order`; cached, for several stages of a compile need them."""
    stack = _SlotStack()
    slot_of: dict[int, int] = {}
    uses_left = graph.use_counts()
    steps = []
    for op in order:
        operands = graph.operands[op]
        distinct = tuple(dict.fromkeys(operands))
        loads = tuple((value, stack.pop()) for value in distinct if value < graph.inputs)
        slot_of.update(loads)
        operand_slots = tuple(slot_of[value] for value in operands)
        for value in distinct:
            uses_left[value] -= 1
        dying = [value for value in distinct if value < graph.inputs or not uses_left[value]]
        if len(operands) == 1 and dying:
            result_slot = slot_of.pop(distinct[0])
        else:
            result_slot = stack.pop()
            for value in reversed(dying):
                stack.push(slot_of.pop(value))
        result = graph.inputs + op
        slot_of[result] = result_slot
        steps.append(Step(op, loads, operand_slots, result_slot))
        if not uses_left[result]:
            stack.push(slot_of.pop(result))
    # A kernel that only copies loads its input for the store.
    result_slot = slot_of[graph.result] if graph.result in slot_of else stack.pop()
    return SlotAssignment(tuple(steps), result_slot, stack.peak)


class _SlotStack:
    """A stack of free slots; the slots that were never used are at the bottom, in ascending order."""

    def __init__(self) -> None:
        self._freed: list[int] = []
        self.peak = 0

    def pop(self) -> int:
        if self._freed:
            return self._freed.pop()
        self.peak += 1
        return self.peak - 1

    def push(self, slot: int) -> None:
        self._freed.append(slot)
