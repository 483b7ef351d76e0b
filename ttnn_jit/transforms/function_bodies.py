"""Traversal and rebuilding of function bodies, and the side effects of their ops."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from xdsl.dialects.builtin import ModuleOp, UnregisteredOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import MemoryEffect, NoMemoryEffect, is_side_effect_free

from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.dialects.functions import functions_of
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.dialects.writing.creation import empty_block
from ttnn_jit.dialects.writing.editing import append, detach, discard, ops_of
from ttnn_jit.process.memoized import memoized


class ValueMap(dict[SSAValue, SSAValue]):
    """Value of the old body -> value of the new body; results of kept ops map to themselves."""

    def __missing__(self, value: SSAValue) -> SSAValue:
        return value

    def operands(self, op: Operation) -> list[SSAValue]:
        """The operands of `op`, an op of the old body, as values of the new body."""
        return [self[operand] for operand in op.operands]

    def replaced(self, op: Operation, *made: Operation) -> Sequence[Operation]:
        """Maps the results of `op` to those of the last op of `made`, and returns `made`."""
        self.update(zip(op.results, made[-1].results, strict=True))
        return made


Rewrite = Callable[[Operation, ValueMap], Iterable[Operation] | None]
"""Returns the ops that replace an op, and enters its results into the map; None keeps the op unchanged."""


def function_blocks(module: ModuleOp) -> Iterator[Block]:
    """The body of every function that has one; functions have one block."""
    for function in functions_of(module):
        yield function.body.block


def has_no_effects(op: Operation) -> bool:
    """Whether `op` has no side effects."""
    return _never_has_effects(type(op)) or is_side_effect_free(op)


@memoized
def _never_has_effects(kind: type[Operation]) -> bool:
    effects = [trait for trait in kind.traits if isinstance(trait, MemoryEffect)]
    return bool(effects) and all(isinstance(trait, NoMemoryEffect) for trait in effects)


def rebuild(block: Block, rewrite: Rewrite) -> Block:
    """Rewrites a function's body op by op into a new block, which replaces `block`, and returns it.

    It takes one pass over the ops, which is cheaper than replacing uses one by one.
    """
    region = block.parent_region()
    assert region is not None, "a function's body stands in its region"
    new_block = empty_block(block.arg_types)
    values = ValueMap(zip(block.args, new_block.args, strict=True))
    for old_argument, new_argument in zip(block.args, new_block.args, strict=True):
        new_argument.name_hint = old_argument.name_hint
        new_argument.location = old_argument.location
    for op in ops_of(block):
        new_ops = rewrite(op, values)
        if new_ops is None:
            detach(op)
            op.operands = values.operands(op)
            new_ops = (op,)
        append(new_block, new_ops)
    for replaced in ops_of(block):
        discard(replaced)  # removes its uses of values that are kept
    region.detach_block(block)
    region.add_block(new_block)
    return new_block


def require_converted(ops: Iterable[Operation], dialect: str) -> None:
    """Refuses what a conversion left of a dialect: operations in a form that is not this compiler's.

    Raises:
        CompileError: There is one, at its place.
    """
    left = next((op for op in ops if _name(op).startswith(f"{dialect}.")), None)
    if left is not None:
        raise CompileError(
            f"failed to legalize operation '{_name(left)}'",
            location=location_of(left),
            help=f"this compiler converts the `{dialect}` that its own passes write",
        )


def _name(op: Operation) -> str:
    return op.op_name.data if isinstance(op, UnregisteredOp) else op.name
