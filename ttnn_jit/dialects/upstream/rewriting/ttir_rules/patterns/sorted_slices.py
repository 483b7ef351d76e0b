"""The first elements of a sorted tensor are those of `topk`."""

from __future__ import annotations

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation, OpResult

from ttnn_jit.dialects.upstream.rewriting.greedy import Rules
from ttnn_jit.dialects.upstream.rewriting.made_attributes import (
    boolean,
    integer,
    integers_in,
    shape_of,
    si32,
    with_element,
    with_shape,
)
from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter, has_one_user, users_of

TOPK = Rules()


@TOPK.of("ttir.sort")
def topk(op: Operation, rewriter: Rewriter) -> bool:
    """A sort whose results are read by slices alone, which take its first elements.

    Slices of the last elements stay: `topk` gives its elements in the other order.
    """
    row = rewriter.row("ttir.topk")
    if row is None or rewriter.version not in row.versions or any(integers_in(op.properties.get("stable"))):
        return False
    slices = [_slice_of(each) for each in op.results]
    taken = [each for each in slices if each is not None]
    is_read = [result.first_use is not None for result in op.results]
    if not taken or any(read and each is None for read, each in zip(is_read, slices, strict=True)):
        return False
    shape = shape_of(op.operands[0].type)
    axis = integers_in(op.properties.get("dim")) or [-1]
    dim = axis[0] % len(shape)
    counts = {_taken(each, shape, dim) for each in taken}
    count = next(iter(counts))
    if len(counts) > 1 or count is None:
        return False
    part = (*shape[:dim], count, *shape[dim + 1 :])
    types = [with_shape(each.type, part) for each in op.results]
    if not isinstance(types[1], TensorType) or slices[1] is None:
        types[1] = with_element(types[1], si32)
    properties = {
        "k": integer(count),
        "dim": integer(dim),
        "largest": boolean(any(integers_in(op.properties.get("descending")))),
        "sorted": boolean(True),
    }
    made = rewriter.create("ttir.topk", {row.operands[0].name: op.operands[0]}, properties, types, op)
    for found, result in zip(slices, made.results, strict=True):
        if found is not None:
            rewriter.replace(found, [result])
    return True


def _slice_of(result: OpResult) -> Operation | None:
    """The slice that alone reads a result."""
    if not has_one_user(result):
        return None
    (user,) = users_of(result)
    return user if user.name == "ttir.slice_static" else None


def _taken(op: Operation, shape: tuple[int, ...], dim: int) -> int | None:
    """How many of the first elements along a dimension a slice takes; None of another one."""
    begins, ends, steps = (integers_in(op.properties.get(name)) for name in ("begins", "ends", "step"))
    wanted = [*shape]
    wanted[dim] = ends[dim]
    return ends[dim] if [*begins] == [0] * len(shape) and [*ends] == wanted and {*steps} == {1} else None
