"""`ttir.gather` of December 2025 as an embedding of the indexed dimension, or of a linear index of several."""

from __future__ import annotations

import math
from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from ttnn_jit.dialects.upstream.rewriting.greedy import Rules
from ttnn_jit.dialects.upstream.rewriting.made_attributes import integer, integers_in, shape_of, with_shape
from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.decompositions import sliced
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.sliding_windows import permute, reshape
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.value_folds import filled

DECOMPOSED = Rules()


@DECOMPOSED.of("ttir.gather")
def gather(op: Operation, rewriter: Rewriter) -> bool:
    """Slices that are whole, or of one element, in every dimension become rows of an embedding."""
    if "slice_sizes" not in op.properties:
        return False
    names = ("offset_dims", "collapsed_slice_dims", "start_index_map", "slice_sizes")
    offset_dims, collapsed, index_map, sizes = (integers_in(op.properties[name]) for name in names)
    batching = integers_in(op.properties["operand_batching_dims"])
    source, starts = op.operands[:2]
    shape = shape_of(source.type)
    indexed = [dim for dim in index_map if sizes[dim] != shape[dim]]
    whole = all(sizes[dim] == shape[dim] for dim in range(len(shape)) if dim not in indexed)
    if batching or not whole or any(sizes[dim] != 1 for dim in indexed):
        return False
    indexed = indexed or index_map[:1]
    if any(sizes[dim] != 1 for dim in indexed):
        return False
    vector = integers_in(op.properties["index_vector_dim"])[0]
    linear, batch = _linear_indices(starts, vector, index_map, indexed, shape, rewriter, op)
    rest = [dim for dim in range(len(shape)) if dim not in indexed]
    table = permute(source, [*indexed, *rest], rewriter, op)
    rows, width = math.prod(shape[dim] for dim in indexed), math.prod(shape[dim] for dim in rest)
    table = reshape(table, (rows, width), rewriter, op)
    count = math.prod(batch)
    indices = reshape(linear, (1, count), rewriter, op)
    type_ = with_shape(op.results[0].type, (1, count, width))
    found = rewriter.value("ttir.embedding", {"input": indices, "weight": table}, {}, type_, op)
    value = _in_order(found, batch, offset_dims, collapsed, sizes, rewriter, op)
    rewriter.replace(op, [value])
    return True


def _linear_indices(
    starts: SSAValue,
    vector: int,
    index_map: Sequence[int],
    indexed: Sequence[int],
    shape: Sequence[int],
    rewriter: Rewriter,
    at: Operation,
) -> tuple[SSAValue, list[int]]:
    """The row of the table for each slice, and the dimensions of the slices."""
    extents = [*shape_of(starts.type)]
    batch = [extent for index, extent in enumerate(extents) if index != vector]
    if vector == len(extents):
        return starts, extents
    parts = []
    for dim in indexed:
        part = starts
        if extents[vector] > 1:
            position = index_map.index(dim)
            part = sliced(starts, vector, (position, position + 1, 1), rewriter, at)
        parts.append(reshape(part, batch or [1], rewriter, at))
    total = parts[-1]
    step = 1
    for dim, following, part in zip(indexed[-2::-1], indexed[:0:-1], parts[-2::-1], strict=True):
        del dim
        step *= shape[following]
        factor = filled(rewriter, integer(step), part.type, at)
        scaled = rewriter.value("ttir.multiply", {"lhs": part, "rhs": factor}, {}, part.type, at)
        total = rewriter.value("ttir.add", {"lhs": scaled, "rhs": total}, {}, part.type, at)
    return total, batch or [1]


def _in_order(
    found: SSAValue,
    batch: Sequence[int],
    offset_dims: Sequence[int],
    collapsed: Sequence[int],
    sizes: Sequence[int],
    rewriter: Rewriter,
    at: Operation,
) -> SSAValue:
    """The slices with their dimensions where the result has them."""
    result = shape_of(at.results[0].type)
    kept = [size for dim, size in enumerate(sizes) if dim not in collapsed]
    batch_dims = [dim for dim in range(len(result)) if dim not in offset_dims]
    batch_shape = [result[dim] for dim in batch_dims]
    del batch
    value = reshape(found, [*batch_shape, *kept], rewriter, at)
    order = [*batch_dims, *offset_dims]
    back = [order.index(dim) for dim in range(len(result))]
    return permute(value, back, rewriter, at) if back != [*range(len(back))] else value
