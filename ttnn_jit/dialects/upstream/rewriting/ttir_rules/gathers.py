"""`ttir.gather` of December 2025 as an embedding of the indexed dimension, or of a linear index of several."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

from xdsl.ir import Operation, SSAValue

from ttnn_jit.dialects.upstream.rewriting.greedy import Rules
from ttnn_jit.dialects.upstream.rewriting.made_attributes import integer, integers_in, number, shape_of, with_shape
from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.decompositions import constant, sliced
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.sliding_windows import permute, reshape
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.value_folds import filled

DECOMPOSED = Rules()


@DECOMPOSED.of("ttir.gather")
def gather(op: Operation, rewriter: Rewriter) -> bool:
    """Slices that are whole in every dimension without an index become rows of an embedding.

    The dimensions with an index are rows of its table. A slice of several of them is as many rows, which begin at the
    last place where it fits.
    """
    if "slice_sizes" not in op.properties:
        return False
    names = ("offset_dims", "collapsed_slice_dims", "start_index_map", "slice_sizes")
    offset_dims, collapsed, index_map, sizes = (integers_in(op.properties[name]) for name in names)
    batching = integers_in(op.properties["operand_batching_dims"])
    source, starts = op.operands[:2]
    shape = shape_of(source.type)
    indexed = [dim for dim in index_map if sizes[dim] != shape[dim]]
    whole = all(sizes[dim] == shape[dim] for dim in range(len(shape)) if dim not in indexed)
    if batching or not whole:
        return False
    indexed = indexed or index_map[:1]
    vector = integers_in(op.properties["index_vector_dim"])[0]
    linear, batch = _linear_indices(_Window(starts, vector, index_map, indexed, shape, sizes), rewriter, op)
    rest = [dim for dim in range(len(shape)) if dim not in indexed]
    table = permute(source, [*indexed, *rest], rewriter, op)
    rows, width = math.prod(shape[dim] for dim in indexed), math.prod(shape[dim] for dim in rest)
    table = reshape(table, (rows, width), rewriter, op)
    count, window = math.prod(batch), [sizes[dim] for dim in indexed]
    size = math.prod(window)
    if size > 1:
        linear = _expanded(
            reshape(linear, (count, 1), rewriter, op), window, [shape[dim] for dim in indexed], rewriter, op
        )
    indices = reshape(linear, (1, count * size), rewriter, op)
    type_ = with_shape(op.results[0].type, (1, count * size, width))
    found = rewriter.value("ttir.embedding", {"input": indices, "weight": table}, {}, type_, op)
    if size > 1:
        found = reshape(found, (count, *window, *(shape[dim] for dim in rest)), rewriter, op)
        order = [*indexed, *rest]
        found = permute(found, [0, *(1 + order.index(dim) for dim in range(len(shape)))], rewriter, op)
    value = _in_order(found, offset_dims, collapsed, sizes, rewriter, op)
    rewriter.replace(op, [value])
    return True


class _Window(NamedTuple):
    """Where slices begin, and how large they are.

    Attributes:
        starts: The indices.
        vector: Their dimension with an index of each dimension of `index_map`.
        index_map: The dimensions of the operand that have an index.
        indexed: Those that a slice does not have whole.
        shape: The extents of the operand.
        sizes: Those of a slice.
    """

    starts: SSAValue
    vector: int
    index_map: Sequence[int]
    indexed: Sequence[int]
    shape: Sequence[int]
    sizes: Sequence[int]


def _linear_indices(given: _Window, rewriter: Rewriter, at: Operation) -> tuple[SSAValue, list[int]]:
    """The row of the table with which each slice begins, and the dimensions of the slices."""
    extents = [*shape_of(given.starts.type)]
    batch = [extent for index, extent in enumerate(extents) if index != given.vector]
    if given.vector == len(extents):
        return _fitting(given.starts, given.indexed[0], given, rewriter, at), extents
    parts = []
    for dim in given.indexed:
        part = given.starts
        if extents[given.vector] > 1:
            position = given.index_map.index(dim)
            part = sliced(part, given.vector, (position, position + 1, 1), rewriter, at)
        parts.append(_fitting(reshape(part, batch or [1], rewriter, at), dim, given, rewriter, at))
    total = parts[-1]
    step = 1
    for following, part in zip(given.indexed[:0:-1], parts[-2::-1], strict=True):
        step *= given.shape[following]
        factor = filled(rewriter, integer(step), part.type, at)
        scaled = rewriter.value("ttir.multiply", {"lhs": part, "rhs": factor}, {}, part.type, at)
        total = rewriter.value("ttir.add", {"lhs": scaled, "rhs": total}, {}, part.type, at)
    return total, batch or [1]


def _fitting(part: SSAValue, dim: int, given: _Window, rewriter: Rewriter, at: Operation) -> SSAValue:
    """Indices of one dimension, held where a slice of several elements fits."""
    if given.sizes[dim] == 1:
        return part
    bounds = {"min": number(0.0), "max": number(float(given.shape[dim] - given.sizes[dim]))}
    return rewriter.value("ttir.clamp_scalar", {"input": part}, bounds, part.type, at)


def _expanded(
    first: SSAValue, window: Sequence[int], extents: Sequence[int], rewriter: Rewriter, at: Operation
) -> SSAValue:
    """The rows [slices, elements of a slice] of slices whose first ones are [slices, 1]."""
    steps = [math.prod(extents[dim + 1 :]) for dim in range(len(extents))]
    places = [sum(map(math.prod, zip(steps, each, strict=True))) for each in product(*map(range, window))]
    type_ = with_shape(first.type, (shape_of(first.type)[0], len(places)))
    offsets = constant(places, (1, len(places)), type_.get_element_type(), rewriter, at)
    return rewriter.value("ttir.add", {"lhs": first, "rhs": offsets}, {}, type_, at)


def _in_order(
    found: SSAValue,
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
    value = reshape(found, [*batch_shape, *kept], rewriter, at)
    order = [*batch_dims, *offset_dims]
    back = [order.index(dim) for dim in range(len(result))]
    return permute(value, back, rewriter, at) if back != [*range(len(back))] else value
