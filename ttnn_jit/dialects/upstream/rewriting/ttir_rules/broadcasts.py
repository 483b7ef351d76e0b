"""Explicit broadcasts before elementwise operations, and the implicit ones that they stand for."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation

from ttnn_jit.dialects.upstream.rewriting.greedy import RuleSet
from ttnn_jit.dialects.upstream.rewriting.made_attributes import dense_i64, listed, shape_of, with_shape
from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter, operation_kind, owner_named
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.operation_groups import elementwise_names
from ttnn_jit.dialects.upstream.rules.view import broadcast
from ttnn_jit.dialects.writing.editing import insert_before


def _is_elementwise(op: Operation) -> bool:
    return op.name in elementwise_names() and len(op.results) == 1


def fold_broadcasts(op: Operation, rewriter: Rewriter) -> bool:
    """Reads the operands of broadcasts; a result that is then smaller is broadcast after the operation."""
    if not _is_elementwise(op):
        return False
    sources = [owner_named(value, "ttir.broadcast") for value in op.operands]
    if not any(sources):
        return False
    read = [each.operands[0] if each else value for each, value in zip(sources, op.operands, strict=True)]
    shape = joint_shape([shape_of(value.type) for value in read])
    if shape is None or len(shape) != len(shape_of(op.results[0].type)):
        return False
    for index, value in enumerate(read):
        op.operands[index] = value
    rewriter.changes += 1
    broadcast_after(op, rewriter)
    return True


def joint_shape(shapes: Sequence[Sequence[int]]) -> list[int] | None:
    """The shape that tensors of these shapes broadcast to; None if they do not."""
    found: list[int] = []
    for each in shapes:
        wider = broadcast(found, each)
        if wider is None:
            return None
        found = wider
    return found


def broadcast_after(op: Operation, rewriter: Rewriter) -> None:
    """Broadcasts the result of an elementwise operation whose operands have become smaller than it is."""
    type_ = op.results[0].type
    shape, result = joint_shape([shape_of(value.type) for value in op.operands]), shape_of(type_)
    assert shape is not None, "its operands broadcast"
    if tuple(shape) == result:
        return
    made = operation_kind(op.name).create(
        operands=[*op.operands],
        result_types=[with_shape(type_, shape)],
        properties=dict(op.properties),
        attributes=dict(op.attributes),
    )
    made.location = op.location
    insert_before(made, op)
    counts = [wide // narrow if narrow else 1 for wide, narrow in zip(result, shape, strict=True)]
    properties = {"broadcast_dimensions": dense_i64(counts)}
    rewriter.replace(op, [rewriter.value("ttir.broadcast", {"input": made.results[0]}, properties, type_, op)])


def explicate_broadcasts(op: Operation, rewriter: Rewriter) -> bool:
    """Gives every operand of an elementwise operation the shape of its result."""
    if not _is_elementwise(op):
        return False
    result, changed = shape_of(op.results[0].type), False
    for index, given in enumerate(op.operands):
        value, shape = given, shape_of(given.type)
        if shape == result or 0 in result:
            continue
        padded = (1,) * (len(result) - len(shape)) + shape
        if padded != shape:
            properties = {"shape": listed(padded)}
            value = rewriter.value("ttir.reshape", {"input": value}, properties, with_shape(value.type, padded), op)
        counts = [wide // narrow if narrow else 1 for wide, narrow in zip(result, padded, strict=True)]
        if any(count != 1 for count in counts):
            properties = {"broadcast_dimensions": dense_i64(counts)}
            value = rewriter.value("ttir.broadcast", {"input": value}, properties, with_shape(value.type, result), op)
        op.operands[index] = value
        changed = True
    rewriter.changes += changed
    return changed


FOLDED: RuleSet = {"*": [fold_broadcasts]}
EXPLICIT: RuleSet = {"*": [explicate_broadcasts]}
