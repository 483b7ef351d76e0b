"""Which broadcasts of a section of DST read a tile that was copied from a circular buffer.

ttkernel broadcasts a row, a column or an element of a tile while it unpacks the tile from a circular buffer, so that
such a tile need not be copied to DST first.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation, SSAValue

from ttnn_jit.dialects.affine import LoadOp, StoreOp
from ttnn_jit.dialects.d2m import AcquireDstOp, TileBcastOp, TileTypecastOp
from ttnn_jit.process.dataclass import dataclass


@dataclass(frozen=True)
class Broadcasts:
    """The broadcasts of a section.

    Attributes:
        sources: A broadcast -> the store of the tile that it reads.
        unread: Stores of tiles that only broadcasts read.
    """

    sources: dict[TileBcastOp, StoreOp]
    unread: frozenset[StoreOp]

    @staticmethod
    def of(op: AcquireDstOp) -> Broadcasts:
        """Those of the section of an acquire."""
        stored: dict[int, StoreOp] = {}
        readers: dict[StoreOp, list[Operation]] = {}
        sources: dict[TileBcastOp, StoreOp] = {}
        for each in _accesses(op):
            slot = constant_index(each.indices[0])
            if isinstance(each, StoreOp):
                stored.pop(slot, None)
                if is_copied(each):
                    stored[slot] = each
                    readers[each] = []
            elif slot in stored:
                users = [use.operation for use in each.result.uses]
                readers[stored[slot]] += users
                sources |= {user: stored[slot] for user in users if isinstance(user, TileBcastOp)}
        unread = (
            store for store, users in readers.items() if users and all(isinstance(user, TileBcastOp) for user in users)
        )
        return Broadcasts(sources, frozenset(unread))


def is_copied(op: StoreOp) -> bool:
    """Whether a store to DST stores a tile of a circular buffer."""
    value = op.value
    while isinstance(value.owner, TileTypecastOp):
        value = value.owner.operand
    return isinstance(value.owner, LoadOp) and not isinstance(value.owner.memref.owner, AcquireDstOp)


def constant_index(value: SSAValue | int) -> int:
    """An index that is a number or a constant."""
    if isinstance(value, int):
        return value
    owner = value.owner
    assert isinstance(owner, Operation)
    number = owner.properties["value"]
    assert isinstance(number, IntegerAttr)
    return number.value.data


def _accesses(op: AcquireDstOp) -> Iterator[LoadOp | StoreOp]:
    """The loads and stores of DST in the order of the text."""
    block = op.parent_block()
    assert block is not None, "an op in a kernel has a block"
    for top in block.ops:
        for each in top.walk():
            if isinstance(each, LoadOp | StoreOp) and each.memref is op.result:
                yield each
