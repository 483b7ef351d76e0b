"""Operations of TTIR written in terms of others: indices, products, counts, reductions, norms, quantization."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr, IntegerType, StringAttr, TensorType, f32, i32
from xdsl.ir import Attribute, Operation, SSAValue

from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.dialects.upstream.rewriting.greedy import Rules
from ttnn_jit.dialects.upstream.rewriting.made_attributes import (
    boolean,
    dense_i64,
    integer,
    integers_in,
    listed,
    number,
    parsed,
    shape_of,
    si32,
    with_shape,
)
from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter, operands_by_name
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.sliding_windows import permute, reshape
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.value_folds import element_of, filled
from ttnn_jit.dialects.upstream.upstream_parser import SplatElementsAttr
from ttnn_jit.ops.texts.movement_texts import rearrangement

DECOMPOSED = Rules()


def _one(op: Operation, name: str, default: int = 0) -> int:
    found = integers_in(op.properties.get(name))
    return found[0] if found else default


def sliced(value: SSAValue, dim: int, bounds: tuple[int, int, int], rewriter: Rewriter, at: Operation) -> SSAValue:
    """A `ttir.slice_static` of one dimension; `bounds` are begin, end, step."""
    shape = shape_of(value.type)
    begin, end, step = bounds
    begins, ends, steps = [0] * len(shape), [*shape], [1] * len(shape)
    begins[dim], ends[dim], steps[dim] = begin, end, step
    result = [*shape]
    result[dim] = max(0, math.ceil((end - begin) / step))
    properties = {"begins": listed(begins), "ends": listed(ends), "step": listed(steps)}
    return rewriter.value("ttir.slice_static", {"input": value}, properties, with_shape(value.type, result), at)


@DECOMPOSED.of("ttir.index")
def index(op: Operation, rewriter: Rewriter) -> bool:
    """An index with a step is a slice."""
    source = op.operands[0]
    shape = shape_of(source.type)
    dim = _one(op, "dim") % len(shape)
    begin, end = (value + shape[dim] if value < 0 else value for value in (_one(op, "begin"), _one(op, "end")))
    value = sliced(source, dim, (begin, end, _one(op, "step", 1)), rewriter, op)
    if shape_of(value.type) != shape_of(op.results[0].type):
        value = reshape(value, shape_of(op.results[0].type), rewriter, op)
    rewriter.replace(op, [value])
    return True


@DECOMPOSED.of("ttir.index_select")
def index_select(op: Operation, rewriter: Rewriter) -> bool:
    """Windows of a length, a stride apart, are slices that are concatenated."""
    source = op.operands[0]
    shape = shape_of(source.type)
    dim = _one(op, "dim") % len(shape)
    begin, length = _one(op, "begin"), _one(op, "length")
    stride = _one(op, "stride") or shape[dim]
    starts = range(begin, shape[dim] - length + 1, stride)
    parts = [sliced(source, dim, (start, start + length, 1), rewriter, op) for start in starts]
    value = parts[0]
    if len(parts) > 1:
        value = rewriter.value("ttir.concat", {"inputs": parts}, {"dim": integer(dim, si32)}, op.results[0].type, op)
    rewriter.replace(op, [value])
    return True


@DECOMPOSED.of("ttir.rearrange")
def rearrange(op: Operation, rewriter: Rewriter) -> bool:
    """Axes that are ordered and grouped are permuted and reshaped."""
    pattern = op.properties["pattern"]
    assert isinstance(pattern, StringAttr)
    order, merged = rearrangement(pattern.data, shape_of(op.operands[0].type))
    rewriter.replace(op, [reshape(permute(op.operands[0], order, rewriter, op), merged, rewriter, op)])
    return True


@DECOMPOSED.of("ttir.get_dimension_size")
def get_dimension_size(op: Operation, rewriter: Rewriter) -> bool:
    """The extent is known."""
    extent = shape_of(op.operands[0].type)[_one(op, "dimension")]
    type_ = op.results[0].type
    assert isinstance(type_, TensorType)
    element = type_.get_element_type()
    counted = integer(extent, element) if isinstance(element, IntegerType) else FloatAttr(float(extent), element)
    value = SplatElementsAttr(type_, counted)
    rewriter.replace(op, [rewriter.value("ttir.constant", {}, {"value": value}, type_, op)])
    return True


@DECOMPOSED.of("ttir.argmax")
def argmax_of_several(op: Operation, rewriter: Rewriter) -> bool:
    """The place among several dimensions is that in one, into which they are merged."""
    source, shape = op.operands[0], shape_of(op.operands[0].type)
    dims = sorted(dim % len(shape) for dim in integers_in(op.properties.get("dim_arg")))
    kept = [dim for dim in range(len(shape)) if dim not in dims]
    if len(dims) < 2 or not kept:
        return False
    rows = [shape[dim] for dim in kept]
    merged = [*rows, math.prod(shape[dim] for dim in dims)]
    flat = reshape(permute(source, [*kept, *dims], rewriter, op), merged, rewriter, op)
    properties = {**op.properties, "dim_arg": listed([len(kept)]), "keep_dim": boolean(False)}
    value = rewriter.value("ttir.argmax", {"input": flat}, properties, with_shape(op.results[0].type, rows), op)
    rewriter.replace(op, [reshape(value, shape_of(op.results[0].type), rewriter, op)])
    return True


@DECOMPOSED.of("ttir.dot_general")
def dot_general(op: Operation, rewriter: Rewriter) -> bool:
    """A product over named dimensions is a matmul between permutes and reshapes."""
    names = ("batch_dims_lhs", "contract_dims_lhs", "batch_dims_rhs", "contract_dims_rhs")
    batch_a, over_a, batch_b, over_b = (integers_in(op.properties.get(name)) for name in names)
    a, b = op.operands[:2]
    shape_a, shape_b = shape_of(a.type), shape_of(b.type)
    kept_a = [dim for dim in range(len(shape_a)) if dim not in {*batch_a, *over_a}]
    kept_b = [dim for dim in range(len(shape_b)) if dim not in {*batch_b, *over_b}]

    def extent(shape: Sequence[int], dims: Sequence[int]) -> int:
        return math.prod(shape[dim] for dim in dims)

    batch = [shape_a[dim] for dim in batch_a]
    a = permute(a, [*batch_a, *kept_a, *over_a], rewriter, op)
    b = permute(b, [*batch_b, *over_b, *kept_b], rewriter, op)
    a = reshape(a, [*batch, extent(shape_a, kept_a), extent(shape_a, over_a)], rewriter, op)
    b = reshape(b, [*batch, extent(shape_b, over_b), extent(shape_b, kept_b)], rewriter, op)
    type_ = with_shape(op.results[0].type, [*batch, extent(shape_a, kept_a), extent(shape_b, kept_b)])
    properties = {"transpose_a": parsed("false"), "transpose_b": parsed("false")}
    value = rewriter.value("ttir.matmul", {"a": a, "b": b}, properties, type_, op)
    rewriter.replace(op, [reshape(value, shape_of(op.results[0].type), rewriter, op)])
    return True


@DECOMPOSED.of("ttir.arange")
def arange(op: Operation, rewriter: Rewriter) -> bool:
    """Numbers along one dimension of several are counted alone, and broadcast."""
    type_ = op.results[0].type
    shape, dim = shape_of(type_), _one(op, "arange_dimension")
    if len(shape) == 1:
        return False
    properties = {**op.properties, "arange_dimension": integer(0, IntegerType(64))}
    value = rewriter.value("ttir.arange", {}, properties, with_shape(type_, [shape[dim]]), op)
    value = reshape(value, [extent if index == dim else 1 for index, extent in enumerate(shape)], rewriter, op)
    counts = [1 if index == dim else extent for index, extent in enumerate(shape)]
    if any(count != 1 for count in counts):
        properties = {"broadcast_dimensions": dense_i64(counts)}
        value = rewriter.value("ttir.broadcast", {"input": value}, properties, type_, op)
    rewriter.replace(op, [value])
    return True


@DECOMPOSED.of("ttir.reduce_and", "ttir.reduce_or")
def reduce_truths(op: Operation, rewriter: Rewriter) -> bool:
    """Of booleans the product, or the sum; of other numbers the least or greatest of those that are not 0."""
    every = op.name == "ttir.reduce_and"
    source = op.operands[0]
    if element_of(source) != IntegerType(1):
        zero = filled(rewriter, FloatAttr(0.0, f32), source.type, op)
        source = rewriter.value("ttir.ne", {"lhs": source, "rhs": zero}, {}, source.type, op)
        name = "ttir.min" if every else "ttir.max"
    else:
        name = "ttir.prod" if every else "ttir.sum"
    rewriter.replace(op, [rewriter.value(name, {"input": source}, op.properties, op.results[0].type, op)])
    return True


@DECOMPOSED.of("ttir.prod")
def prod(op: Operation, rewriter: Rewriter) -> bool:
    """A product over several dimensions, but not all, is one over each."""
    source = op.operands[0]
    shape = shape_of(source.type)
    dims = sorted({dim % len(shape) for dim in integers_in(op.properties.get("dim_arg"))})
    if len(dims) < 2 or len(dims) == len(shape):
        return False
    value, keeps = source, op.properties.get("keep_dim") == parsed("true")
    for dim in reversed(dims):
        given = [*shape_of(value.type)]
        result = [*given[:dim], *([1] if keeps else []), *given[dim + 1 :]]
        properties = {"keep_dim": parsed("true" if keeps else "false"), "dim_arg": listed([dim])}
        value = rewriter.value("ttir.prod", {"input": value}, properties, with_shape(op.results[0].type, result), op)
    rewriter.replace(op, [value])
    return True


@DECOMPOSED.of("ttir.reverse")
def reverse(op: Operation, rewriter: Rewriter) -> bool:
    """A reversed dimension is read by an embedding of its indices, last first."""
    value = op.operands[0]
    if any(use.operation.name == "ttir.convolution" for use in op.results[0].uses):
        return False
    for dim in integers_in(op.properties["dimensions"]):
        shape = shape_of(value.type)
        order = [dim, *(each for each in range(len(shape)) if each != dim)]
        rows = permute(value, order, rewriter, op)
        moved = shape_of(rows.type)
        rows = reshape(rows, [moved[0], math.prod(moved[1:])], rewriter, op)
        indices = constant([*range(shape[dim] - 1, -1, -1)], (1, shape[dim]), i32, rewriter, op)
        type_ = with_shape(value.type, [1, shape[dim], math.prod(moved[1:])])
        found = rewriter.value("ttir.embedding", {"input": indices, "weight": rows}, {}, type_, op)
        value = permute(
            reshape(found, moved, rewriter, op), [order.index(each) for each in range(len(shape))], rewriter, op
        )
    rewriter.replace(op, [value])
    return True


def constant(
    numbers: Sequence[float], shape: Sequence[int], element: Attribute, rewriter: Rewriter, at: Operation
) -> SSAValue:
    """A tensor of numbers."""
    type_: Any = TensorType(element, [*shape])
    if len({*numbers}) == 1:
        one = integer(int(numbers[0]), element) if isinstance(element, IntegerType) else number(float(numbers[0]))
        return rewriter.value("ttir.constant", {}, {"value": SplatElementsAttr(type_, one)}, type_, at)
    value = DenseIntOrFPElementsAttr.from_list(type_, [*numbers])
    return rewriter.value("ttir.constant", {}, {"value": value}, type_, at)


@DECOMPOSED.of("ttir.batch_norm_inference", "ttir.batch_norm_training")
def batch_norm(op: Operation, rewriter: Rewriter) -> bool:
    """Tensors of rank 4 with channels second, and parameters of shape (1, C, 1, 1)."""
    operands = operands_by_name(op)
    source = op.operands[0]
    parameters = {name: value[0] for name, value in operands.items() if name != "operand" and isinstance(value, list)}
    shape, dim = shape_of(source.type), _one(op, "dimension")
    if len(shape) == 4 and dim == 1 and all(len(shape_of(each.type)) == 4 for each in parameters.values()):
        return False
    if len(shape) > 4 or any(len(shape_of(each.type)) not in {1, 4} for each in parameters.values()):
        raise CompileError(
            f"failed to legalize operation '{op.name}' that was explicitly marked illegal: its operand has rank "
            f"{len(shape)}",
            location=location_of(op),
        )
    order = [index for index in range(len(shape)) if index != dim]
    order.insert(min(1, len(order)), dim)
    moved = permute(source, order, rewriter, op) if order != [*range(len(shape))] else source
    normal = [*shape_of(moved.type), *[1] * (4 - len(shape))]
    if len(shape) != 4:
        moved = reshape(moved, normal, rewriter, op)
    for name, value in parameters.items():
        if shape_of(value.type) != (1, shape[dim], 1, 1):
            operands[name] = reshape(value, (1, shape[dim], 1, 1), rewriter, op)
    operands["operand"] = moved
    types = [with_shape(op.results[0].type, normal)]
    types += [with_shape(each.type, (1, shape[dim], 1, 1)) for each in op.results[1:]]
    properties = {**op.properties, "dimension": integer(1)}
    made = rewriter.create(op.name, operands, properties, types, op)
    value = made.results[0]
    if len(shape) != 4:
        value = reshape(value, [shape[each] for each in order], rewriter, op)
    if order != [*range(len(shape))]:
        value = permute(value, [order.index(each) for each in range(len(shape))], rewriter, op)
    rest = [
        reshape(made.results[index + 1], shape_of(old.type), rewriter, op) for index, old in enumerate(op.results[1:])
    ]
    rewriter.replace(op, [value, *rest])
    return True


_UNIFORM = re.compile(
    r"!quant\.uniform<(?P<storage>\w+)(?:<[^>]*>)?:(?P<expressed>\w+)(?::(?P<axis>\d+))?, ?(?P<scales>.*)>$"
)


def quantization_of(element: Attribute) -> tuple[list[float], list[int], int | None]:
    """Scales, zero points and axis of a `!quant.uniform` type."""
    match = _UNIFORM.match(str(element))
    assert match is not None, "its verifier checks it"
    parts = [each.strip().partition(":") for each in match["scales"].strip("{} ").split(",")]
    axis = int(match["axis"]) if match["axis"] else None
    return [float(scale) for scale, _, _ in parts], [int(zero or 0) for _, _, zero in parts], axis


def _quantization(element: Attribute, rewriter: Rewriter, at: Operation) -> tuple[SSAValue, SSAValue, int | None]:
    scales, zeros, axis = quantization_of(element)
    count = (len(scales),)
    return constant(scales, count, f32, rewriter, at), constant(zeros, count, i32, rewriter, at), axis


@DECOMPOSED.of("ttir.quantize", "ttir.dequantize")
def quantize(op: Operation, rewriter: Rewriter) -> bool:
    """Scale and zero point of the type become operands."""
    quantized = op.results[0] if op.name == "ttir.quantize" else op.operands[0]
    scale, zero, axis = _quantization(element_of(quantized), rewriter, op)
    operands = {"input": op.operands[0], "scale": scale, "zero_point": zero}
    properties = {"axis": integer(axis) if axis is not None else None}
    value = rewriter.value(f"{op.name}_unrolled", operands, properties, op.results[0].type, op)
    rewriter.replace(op, [value])
    return True


@DECOMPOSED.of("ttir.requantize")
def requantize(op: Operation, rewriter: Rewriter) -> bool:
    """Scales and zero points of both types become operands."""
    in_scale, in_zero, axis = _quantization(element_of(op.operands[0]), rewriter, op)
    out_scale, out_zero, _ = _quantization(element_of(op.results[0]), rewriter, op)
    operands = {
        "input": op.operands[0],
        "in_scale": in_scale,
        "in_zero_point": in_zero,
        "out_scale": out_scale,
        "out_zero_point": out_zero,
    }
    properties = {"axis": integer(axis) if axis is not None else None}
    value = rewriter.value("ttir.requantize_unrolled", operands, properties, op.results[0].type, op)
    rewriter.replace(op, [value])
    return True
