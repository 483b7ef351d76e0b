"""Walks through blocks and edits them, in a third of xDSL's time.

`Block.ops` makes a call per op. `Block.add_op` walks up to the module for every op, to check that none contains itself.
`Operation.erase` first replaces the uses of its results, though it must have none. Only this module, creation.py,
direct_access.py and printer.py use private names of xDSL.
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.core import SSAValues


def ops_of(block: Block) -> list[Operation]:
    """The ops of `block`, as a list of its own."""
    ops = []
    op = block._first_op
    while op is not None:
        ops.append(op)
        op = op._next_op
    return ops


def append(block: Block, ops: Iterable[Operation]) -> None:
    """Does what ``block.add_ops(ops)`` does; none of `ops` may contain `block`."""
    last = block._last_op
    for op in ops:
        assert op.parent is None, "an op has one block"
        op.parent = block
        if last is None:
            block._first_op = op
        else:
            last._next_op = op
            op._prev_op = last
        last = op
    block._last_op = last


def insert_before(op: Operation, anchor: Operation) -> None:
    """Inserts `op`, which does not contain `anchor`, right before `anchor`."""
    assert op.parent is None, "an op has one block"
    block, before = anchor.parent, anchor._prev_op
    assert block is not None, "the anchor has a block"
    op.parent, op._prev_op, op._next_op = block, before, anchor
    anchor._prev_op = op
    if before is None:
        block._first_op = op
    else:
        before._next_op = op


def detach_all(block: Block) -> list[Operation]:
    """Detaches all ops of `block` and returns them."""
    ops = ops_of(block)
    for op in ops:
        op.parent = op._prev_op = op._next_op = None
    block._first_op = block._last_op = None
    return ops


def detach(op: Operation) -> None:
    """Removes an op from its block, if it has one."""
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
    """Destroys an op that is not used again, with its regions.

    It is removed from the uses of its operands, and all references between its objects are cleared. Reference counting
    then frees the memory at once; reference cycles would wait for the garbage collector.
    """
    for operand, use in zip(op._operands, op._operand_uses, strict=True):
        before, after = use._prev_use, use._next_use  # `remove_use`, inlined
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


def discard_module(module: ModuleOp) -> None:
    """Destroys a module that is not used again, with less work for each op than `discard`: all that it holds goes too.

    No list of uses is kept in order; only the references back in it are cleared, which would make cycles.
    """
    _clear_nested(module)
    vars(module).clear()


def _clear_nested(op: Operation) -> None:
    for region in op.regions:
        block = region._first_block
        while block is not None:
            inner = block._first_op
            while inner is not None:
                for use in inner._operand_uses:
                    use._prev_use = None
                if inner.regions:
                    _clear_nested(inner)
                following_op = inner._next_op
                vars(inner).clear()
                inner = following_op
            following = block._next_block
            vars(block).clear()
            block = following
        vars(region).clear()


def erase(op: Operation) -> None:
    """Removes an op whose results have no uses from its block, if it has one, and destroys it."""
    for result in op.results:
        assert result.first_use is None, "only ops without users are erased"
    detach(op)
    discard(op)


def replace_uses(value: SSAValue, replacement: SSAValue) -> None:
    """Does what ``value.replace_all_uses_with(replacement)`` does; `replacement` is another value."""
    assert replacement is not value, "a value is replaced by another"
    for use in list(value.uses):
        op = use.operation
        operands = list(op._operands)
        operands[use.index] = replacement
        op._operands = SSAValues(operands)
        replacement.add_use(use)
    value.first_use = None
    if replacement.name_hint is None and value.name_hint is not None:
        replacement.name_hint = value.name_hint
