"""Walking through blocks and changing what stands in them, at a third of xDSL's price.

`Block.ops` makes a call per op. `Block.add_op` walks up to the module for every op, to see that none holds itself. An
erased op first gives its results' users other values, which it must not have. Beside creation.py, direct_access.py and
printer.py this is the one module that touches private names of xDSL.
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.core import SSAValues


def ops_of(block: Block) -> list[Operation]:
    """The ops that stand in `block` now."""
    ops = []
    op = block._first_op
    while op is not None:
        ops.append(op)
        op = op._next_op
    return ops


def append(block: Block, ops: Iterable[Operation]) -> None:
    """Does what ``block.add_ops(ops)`` does; none of `ops` may hold `block`."""
    last = block._last_op
    for op in ops:
        assert op.parent is None, "an op stands in one block"
        op.parent = block
        if last is None:
            block._first_op = op
        else:
            last._next_op = op
            op._prev_op = last
        last = op
    block._last_op = last


def insert_before(op: Operation, anchor: Operation) -> None:
    """Puts `op`, which does not hold `place`, right before it."""
    assert op.parent is None, "an op stands in one block"
    block, before = anchor.parent, anchor._prev_op
    assert block is not None, "an op is put into a block"
    op.parent, op._prev_op, op._next_op = block, before, anchor
    anchor._prev_op = op
    if before is None:
        block._first_op = op
    else:
        before._next_op = op


def take_ops(block: Block) -> list[Operation]:
    """Detaches all ops of `block`; they stand in no block then."""
    ops = ops_of(block)
    for op in ops:
        op.parent = op._prev_op = op._next_op = None
    block._first_op = block._last_op = None
    return ops


def detach(op: Operation) -> None:
    """Takes an op out of its block, if it stands in one."""
    block, before, after = op.parent, op._prev_op, op._next_op
    if block is None:
        return
    if before is None:
        block._first_op = after
    else:
        before._next_op = after
    if after is None:
        block._last_op = before
    else:
        after._prev_op = before
    op.parent = op._prev_op = op._next_op = None


def discard(op: Operation) -> None:
    """Gives up an op that nobody looks at again, with all that stands in it.

    The values that it reads forget it, and it forgets everything, so that its memory is free now: what refers to each
    other in circles waits for the collector, which visits it all before it frees any.
    """
    for operand, use in zip(op._operands, op._operand_uses, strict=True):
        before, after = use._prev_use, use._next_use  # what `remove_use` does
        if before is None:
            operand.first_use = after
        else:
            before._next_use = after
        if after is not None:
            after._prev_use = before
    for region in op.regions:
        block = region._first_block
        while block is not None:
            for inner in ops_of(block):
                discard(inner)
            following = block._next_block
            vars(block).clear()
            block = following
        vars(region).clear()
    vars(op).clear()


def erase(op: Operation) -> None:
    """Takes an op whose results nobody reads out of its block, if it stands in one, and gives it up."""
    for result in op.results:
        assert result.first_use is None, "only ops without users are erased"
    detach(op)
    discard(op)


def replace_uses(value: SSAValue, replacement: SSAValue) -> None:
    """Does what ``value.replace_all_uses_with(replacement)`` does, for another value."""
    assert replacement is not value, "a value takes another's place"
    for use in list(value.uses):
        op = use.operation
        operands = list(op._operands)
        operands[use.index] = replacement
        op._operands = SSAValues(operands)
        replacement.add_use(use)
    value.first_use = None
    if replacement.name_hint is None and value.name_hint is not None:
        replacement.name_hint = value.name_hint
