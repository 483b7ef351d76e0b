"""Canonical forms of operations that move elements."""

from __future__ import annotations

from xdsl.ir import Operation

from ttnn_jit.dialects.upstream.rewriting.greedy import Rules
from ttnn_jit.dialects.upstream.rewriting.made_attributes import (
    dense_i64,
    integers_in,
    listed,
    shape_of,
)
from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter, has_one_user, owner_named

FOLDS = Rules()


@FOLDS.of("ttir.reshape", "ttir.slice_static", "ttnn.reshape", "ttnn.to_layout", "ttnn.to_memory_config")
def identity(op: Operation, rewriter: Rewriter) -> bool:
    """A movement to the type of its operand is the operand."""
    if op.operands[0].type != op.results[0].type or any(value < 0 for value in integers_in(op.properties.get("step"))):
        return False
    rewriter.replace(op, [op.operands[0]])
    return True


@FOLDS.of("ttir.to_layout")
def layout_of_itself(op: Operation, rewriter: Rewriter) -> bool:
    """A tensor in the layout that it has."""
    if not op.results or op.operands[0].type != op.results[0].type:
        return False
    rewriter.replace(op, [op.operands[0]])
    return True


@FOLDS.of("ttir.broadcast", "ttir.repeat")
def of_no_copies(op: Operation, rewriter: Rewriter) -> bool:
    """A broadcast that repeats nothing."""
    counts = integers_in(op.properties.get("broadcast_dimensions", op.properties.get("repeat_dimensions")))
    if any(count != 1 for count in counts) or op.operands[0].type != op.results[0].type:
        return False
    rewriter.replace(op, [op.operands[0]])
    return True


@FOLDS.of("ttir.reshape", "ttnn.reshape")
def reshape_of_reshape(op: Operation, rewriter: Rewriter) -> bool:
    """The last of several reshapes says all."""
    inner = owner_named(op.operands[0], op.name)
    if inner is None or not has_one_user(inner.results[0]):
        return False
    rewriter.replace(op, [rewriter.value(op.name, {"input": inner.operands[0]}, op.properties, op.results[0].type, op)])
    return True


@FOLDS.of("ttir.broadcast")
def broadcast_of_broadcast(op: Operation, rewriter: Rewriter) -> bool:
    """Two broadcasts are one."""
    inner = owner_named(op.operands[0], op.name)
    if inner is None or not has_one_user(inner.results[0]):
        return False
    name = "broadcast_dimensions"
    pairs = zip(integers_in(inner.properties[name]), integers_in(op.properties[name]), strict=True)
    counts = {name: dense_i64([one * other for one, other in pairs])}
    rewriter.replace(op, [rewriter.value(op.name, {"input": inner.operands[0]}, counts, op.results[0].type, op)])
    return True


@FOLDS.of("ttir.permute", "ttnn.permute")
def permute_of_permute(op: Operation, rewriter: Rewriter) -> bool:
    """An order that changes nothing is none; two are one."""
    order = integers_in(op.properties["permutation"])
    if order == [*range(len(order))] and op.operands[0].type == op.results[0].type:
        rewriter.replace(op, [op.operands[0]])
        return True
    inner = owner_named(op.operands[0], op.name)
    if inner is None:
        return False
    first = integers_in(inner.properties["permutation"])
    composed = {"permutation": dense_i64([first[each] for each in order])}
    rewriter.replace(op, [rewriter.value(op.name, {"input": inner.operands[0]}, composed, op.results[0].type, op)])
    return True


@FOLDS.of("ttir.transpose")
def transpose_is_permute(op: Operation, rewriter: Rewriter) -> bool:
    """A ``transpose`` is a ``permute`` of two dimensions."""
    rank = len(shape_of(op.operands[0].type))
    one, other = (integers_in(op.properties[name])[0] % rank for name in ("dim0", "dim1"))
    order = [*range(rank)]
    order[one], order[other] = order[other], order[one]
    value = rewriter.value(
        "ttir.permute", {"input": op.operands[0]}, {"permutation": dense_i64(order)}, op.results[0].type, op
    )
    rewriter.replace(op, [value])
    return True


@FOLDS.of("ttir.reverse")
def reverse_of_reverse(op: Operation, rewriter: Rewriter) -> bool:
    """A reversal of no dimensions is none; of two, dimensions that both reverse are left out."""
    dims = {*integers_in(op.properties["dimensions"])}
    if not dims:
        rewriter.replace(op, [op.operands[0]])
        return True
    inner = owner_named(op.operands[0], op.name)
    if inner is None:
        return False
    rest = dims ^ {*integers_in(inner.properties["dimensions"])}
    properties = {"dimensions": dense_i64(sorted(rest))}
    rewriter.replace(op, [rewriter.value(op.name, {"input": inner.operands[0]}, properties, op.results[0].type, op)])
    return True


@FOLDS.of("ttir.slice_static")
def slice_of_slice(op: Operation, rewriter: Rewriter) -> bool:
    """Two slices with steps forward are one."""
    inner = owner_named(op.operands[0], op.name)
    if inner is None or not has_one_user(inner.results[0]):
        return False
    names = ("begins", "ends", "step")
    begins, ends, steps = (integers_in(op.properties[name]) for name in names)
    first, _, by = (integers_in(inner.properties[name]) for name in names)
    if any(each < 0 for each in (*begins, *ends, *steps, *first, *by)):
        return False
    shape = shape_of(op.results[0].type)
    starts = [a + b * s for a, b, s in zip(first, begins, by, strict=True)]
    jumps = [s * own for s, own in zip(by, steps, strict=True)]
    stops = [a + (count - 1) * jump + 1 for a, count, jump in zip(starts, shape, jumps, strict=True)]
    # An end that the inner slice has too is kept as it is written.
    bounds = [a + e * s for a, e, s in zip(first, ends, by, strict=True)]
    stops = [bound if s == 1 else stop for bound, stop, s in zip(bounds, stops, by, strict=True)]
    properties = {"begins": listed(starts), "ends": listed(stops), "step": listed(jumps)}
    rewriter.replace(op, [rewriter.value(op.name, {"input": inner.operands[0]}, properties, op.results[0].type, op)])
    return True


@FOLDS.of("ttir.concat")
def concat_without_empty_ones(op: Operation, rewriter: Rewriter) -> bool:
    """Empty tensors are left out of a concatenation; of one tensor it is that."""
    kept = [value for value in op.operands if 0 not in shape_of(value.type)]
    if len(kept) == 1 and kept[0].type == op.results[0].type:
        rewriter.replace(op, kept)
        return True
    if not kept or len(kept) == len(op.operands):
        return False
    rewriter.replace(op, [rewriter.value(op.name, {"inputs": kept}, op.properties, op.results[0].type, op)])
    return True


@FOLDS.of("ttir.ttnn_metal_layout_cast")
def cast_there_and_back(op: Operation, rewriter: Rewriter) -> bool:
    """A cast of a cast to the first type."""
    inner = owner_named(op.operands[0], op.name)
    if inner is None or inner.operands[0].type != op.results[0].type:
        return False
    rewriter.replace(op, [inner.operands[0]])
    return True


@FOLDS.of("ttnn.to_layout", "ttnn.to_memory_config")
def layout_of_layout(op: Operation, rewriter: Rewriter) -> bool:
    """The last of several layouts says all, where no number is rounded on the way."""
    inner = owner_named(op.operands[0], op.name)
    if inner is None:
        return False
    elements = {value.type.get_element_type() for value in (inner.operands[0], op.operands[0])}  # type: ignore[attr-defined]
    if len(elements) > 1:
        return False
    rewriter.replace(op, [rewriter.value(op.name, {"input": inner.operands[0]}, op.properties, op.results[0].type, op)])
    return True


@FOLDS.of("ttir.to_layout")
def tensor_layout_of_layout(op: Operation, rewriter: Rewriter) -> bool:
    """The last of several layouts of TTIR says all, where no number is rounded on the way."""
    inner = owner_named(op.operands[0], op.name)
    if inner is None or not op.results or not inner.results:
        return False
    elements = {value.type.get_element_type() for value in (inner.operands[0], op.operands[0])}  # type: ignore[attr-defined]
    if len(elements) > 1:
        return False
    operands = {"input": inner.operands[0], "output": op.operands[1]}
    rewriter.replace(op, [rewriter.value(op.name, operands, op.properties, op.results[0].type, op)])
    return True
