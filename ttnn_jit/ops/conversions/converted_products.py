"""Products, convolutions and batch norms of StableHLO."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.ops.conversions import sharding_rules
from ttnn_jit.ops.conversions.converted_reductions import pairs
from ttnn_jit.ops.convolution.convolution_goldens import Windowing, convolution_in_torch, elements_in_torch
from ttnn_jit.ops.families.complex_parts import by_products
from ttnn_jit.ops.families.conversion_protocol import ConversionCall, Tensor, TtirOps
from ttnn_jit.ops.families.dialect_conversion import conversion
from ttnn_jit.ops.families.element_goldens import GoldenOfElements, elements_of_product, index_of_places
from ttnn_jit.ops.families.text_operation import REQUIRED, TextCall

# --- Products ---------------------------------------------------------------------------------------------------------


def _product(ops: TtirOps, lhs: Tensor, rhs: Tensor, axes: Sequence[Sequence[int]], kind: Tensor) -> Tensor:
    """A product; `axes` are the batch dimensions of both operands, then the contracted ones."""
    if not kind.is_float:
        return _product_of_integers(ops, lhs, rhs, axes, kind)
    names = ("batch_dims_lhs", "batch_dims_rhs", "contract_dims_lhs", "contract_dims_rhs")
    return ops.op("ttir.dot_general", [lhs, rhs], kind.shape, kind.element, **dict(zip(names, axes, strict=True)))


def _product_of_integers(ops: TtirOps, lhs: Tensor, rhs: Tensor, axes: Sequence[Sequence[int]], kind: Tensor) -> Tensor:
    """Sums of products: TTIR multiplies matrices of floats."""
    batch_left, batch_right, left, right = axes
    rows = [axis for axis in range(lhs.rank) if axis not in (*batch_left, *left)]
    columns = [axis for axis in range(rhs.rank) if axis not in (*batch_right, *right)]
    lhs, rhs = ops.cast(lhs, kind.element), ops.cast(rhs, kind.element)
    wide = [
        *(lhs.shape[axis] for axis in (*batch_left, *rows)),
        *(rhs.shape[axis] for axis in columns),
        *(lhs.shape[axis] for axis in left),
    ]
    first, last = len(batch_left) + len(rows), len(batch_left) + len(rows) + len(columns)
    at_left: dict[int, int] = {}
    at_right: dict[int, int] = {}
    at_left |= {axis: index for index, axis in enumerate((*batch_left, *rows))}
    at_left |= {axis: last + index for index, axis in enumerate(left)}
    at_right |= {axis: index for index, axis in enumerate(batch_right)}
    at_right |= {axis: first + index for index, axis in enumerate(columns)}
    at_right |= {axis: last + index for index, axis in enumerate(right)}
    a = ops.along(lhs, [at_left[axis] for axis in range(lhs.rank)], wide)
    b = ops.along(rhs, [at_right[axis] for axis in range(rhs.rank)], wide)
    terms = ops.same("ttir.multiply", a, b)
    return ops.reduced("ttir.sum", terms, range(last, len(wide))) if left else terms


def _dot_axes(call: TextCall) -> list[tuple[int, ...]]:
    numbers = call.dot_dimension_numbers
    names = ("lhsBatchingDimensions", "rhsBatchingDimensions", "lhsContractingDimensions", "rhsContractingDimensions")
    return [tuple(numbers.get(name, ())) for name in names]


def _product_in_torch(torch: Any, lhs: Any, rhs: Any, axes: Sequence[Sequence[int]]) -> Any:
    batch_left, batch_right, left, right = axes
    letters = [chr(97 + axis) for axis in range(lhs.dim())]
    others = [chr(110 + axis) for axis in range(rhs.dim())]
    for own, other in zip((*batch_left, *left), (*batch_right, *right), strict=True):
        others[other] = letters[own]
    rows = [letters[axis] for axis in range(lhs.dim()) if axis not in (*batch_left, *left)]
    columns = [others[axis] for axis in range(rhs.dim()) if axis not in (*batch_right, *right)]
    batch = [letters[axis] for axis in batch_left]
    return torch.einsum(f"{''.join(letters)},{''.join(others)}->{''.join([*batch, *rows, *columns])}", lhs, rhs)


def _general(ops: TtirOps, call: ConversionCall) -> Tensor:
    return _product(ops, call.lhs, call.rhs, _dot_axes(call), call.result)


DOT_GENERAL = conversion(
    "stablehlo.dot_general",
    "lhs rhs",
    _general,
    lambda torch, call: _product_in_torch(torch, call.lhs, call.rhs, _dot_axes(call)),
    sharded_by=sharding_rules.product(_dot_axes),
    elements_at=lambda torch, call, places: elements_of_product(torch, call.lhs, call.rhs, _dot_axes(call), places),
    dot_dimension_numbers=REQUIRED,
    precision_config=None,
    algorithm=None,
    of_complex=by_products(_general, "lhs", "rhs"),
)


def _rank(x: Any) -> int:
    return len(x.shape)


def _plain_axes(call: TextCall) -> list[tuple[int, ...]]:
    return [(), (), (_rank(call.lhs) - 1,), (0,)]


def _dot(ops: TtirOps, call: ConversionCall) -> Tensor:
    return _product(ops, call.lhs, call.rhs, _plain_axes(call), call.result)


DOT = conversion(
    "stablehlo.dot",
    "lhs rhs",
    _dot,
    lambda torch, call: _product_in_torch(torch, call.lhs, call.rhs, _plain_axes(call)),
    sharded_by=sharding_rules.product(_plain_axes),
    precision_config=None,
    of_complex=by_products(_dot, "lhs", "rhs"),
)


def _einsum(ops: TtirOps, call: ConversionCall) -> Tensor:
    left, right, result = _letters(call.einsum_config)
    both = [each for each in left if each in right]
    batch = [each for each in both if each in result]
    summed = [each for each in both if each not in result]
    axes = [[side.index(each) for each in group] for group in (batch, summed) for side in (left, right)]
    order = [*batch, *(each for each in left if each not in both), *(each for each in right if each not in both)]
    if sorted(order) != sorted(result):
        raise ShapeError(f"`{call.einsum_config}` sums an operand alone, or repeats a letter, and is not executed")
    shape = tuple(call.result.shape[result.index(each)] for each in order)
    found = _product(ops, call.lhs, call.rhs, axes, Tensor(shape, call.result.element))
    return ops.permute(found, [order.index(each) for each in result])


def _letters(config: str) -> list[str]:
    operands, result = config.replace(" ", "").split("->")
    return [*operands.split(","), result]


EINSUM = conversion(
    "stablehlo.einsum",
    "lhs rhs",
    _einsum,
    lambda torch, call: torch.einsum(call.einsum_config, call.lhs, call.rhs),
    einsum_config=REQUIRED,
)

# --- Convolutions -----------------------------------------------------------------------------------------------------


def _convolution(ops: TtirOps, call: ConversionCall) -> Tensor:
    rank = call.lhs.rank - 2
    ones = (1,) * rank
    return ops.op(
        "ttir.convolution",
        [call.lhs, call.rhs, None],
        call.result.shape,
        call.result.element,
        window_strides=call.window_strides or ones,
        padding=tuple(each for pair in pairs(call.padding, rank) for each in pair),
        input_dilation=call.lhs_dilation or ones,
        weight_dilation=call.rhs_dilation or ones,
        window_reversal=tuple(map(bool, call.window_reversal or (False,) * rank)),
        convolution_layout={name: call.dimension_numbers.get(name, ()) for name in _LAYOUT},
        feature_group_count=call.feature_group_count,
        batch_group_count=call.batch_group_count,
    )


_LAYOUT = (
    "inputBatchDimension",
    "inputFeatureDimension",
    "inputSpatialDimensions",
    "kernelOutputFeatureDimension",
    "kernelInputFeatureDimension",
    "kernelSpatialDimensions",
    "outputBatchDimension",
    "outputFeatureDimension",
    "outputSpatialDimensions",
)


def _read_in_torch(call: TextCall) -> tuple[Any, Any, Windowing]:
    """The image and the weights, channels first, and how windows lie."""
    numbers = call.dimension_numbers
    spatial, kernel = (numbers.get(f"{name}SpatialDimensions", ()) for name in ("input", "kernel"))
    rank = len(spatial)
    x = call.lhs.permute(numbers["inputBatchDimension"], numbers["inputFeatureDimension"], *spatial)
    weight = call.rhs.permute(numbers["kernelOutputFeatureDimension"], numbers["kernelInputFeatureDimension"], *kernel)
    weight = weight.flip([axis + 2 for axis, flag in enumerate(call.window_reversal or ()) if flag])
    ones = (1,) * rank
    strides, spread, dilation = (
        tuple(each or ones) for each in (call.window_strides, call.lhs_dilation, call.rhs_dilation)
    )
    if rank:
        padding, groups = tuple(pairs(call.padding, rank)), call.feature_group_count
        return x, weight, Windowing(tuple(weight.shape[2:]), strides, padding, spread, dilation, groups)
    one = Windowing((1,), (1,), ((0, 0),), (1,), (1,), call.feature_group_count)
    return x.unsqueeze(-1), weight.unsqueeze(-1), one


def _order_of_result(call: TextCall) -> list[int]:
    """The dimensions of the result, each by its place in (batch, feature, spatial...)."""
    numbers = call.dimension_numbers
    spatial = numbers.get("outputSpatialDimensions", ())
    order = (numbers["outputBatchDimension"], numbers["outputFeatureDimension"], *spatial)
    return [order.index(axis) for axis in range(len(order))]


def _convolution_in_torch(torch: Any, call: TextCall) -> Any:
    x, weight, windowing = _read_in_torch(call)
    batches = call.batch_group_count
    parts = zip(x.chunk(batches), weight.chunk(batches), strict=True)
    found = torch.cat([convolution_in_torch(torch, *pair, None, windowing) for pair in parts], 1)
    order = _order_of_result(call)
    return found.reshape(found.shape[: len(order)]).permute(order)


def _elements_of_convolution(torch: Any, call: TextCall, places: Any) -> GoldenOfElements | None:
    if call.batch_group_count != 1:
        return None
    order = _order_of_result(call)
    index = index_of_places(torch, places, call.result.shape)
    x, weight, windowing = _read_in_torch(call)
    own = [index[order.index(axis)] for axis in range(len(order))]
    own += [torch.zeros_like(places)] * (2 + len(windowing.taps) - len(own))
    return elements_in_torch(torch, x, weight, None, windowing, own)


CONVOLUTION = conversion(
    "stablehlo.convolution",
    "lhs rhs",
    _convolution,
    _convolution_in_torch,
    sharded_by=sharding_rules.convolved,
    elements_at=_elements_of_convolution,
    window_strides=None,
    padding=None,
    lhs_dilation=None,
    rhs_dilation=None,
    window_reversal=None,
    dimension_numbers=REQUIRED,
    feature_group_count=1,
    batch_group_count=1,
    precision_config=None,
    of_complex=by_products(_convolution, "lhs", "rhs"),
)

# --- Batch norms ------------------------------------------------------------------------------------------------------


def _inference(ops: TtirOps, call: ConversionCall) -> Tensor:
    operands = [call.operand, call.scale, call.offset, call.mean, call.variance]
    return ops.same("ttir.batch_norm_inference", *operands, epsilon=call.epsilon, dimension=call.feature_index)


def _beside(x: Any, vector: Any, axis: int) -> Any:
    return vector.reshape([-1 if each == axis else 1 for each in range(x.dim())])


def _inference_in_torch(torch: Any, call: TextCall) -> Any:
    x, axis = call.operand, call.feature_index
    mean, variance, scale, offset = (
        _beside(x, each, axis) for each in (call.mean, call.variance, call.scale, call.offset)
    )
    return (x - mean) / torch.sqrt(variance + call.epsilon) * scale + offset


INFERENCE = conversion(
    "stablehlo.batch_norm_inference",
    "operand scale offset mean variance",
    _inference,
    _inference_in_torch,
    sharded_by=sharding_rules.normalized,
    in_float32=True,
    not_negative=("variance",),
    epsilon=REQUIRED,
    feature_index=REQUIRED,
)


def _others(rank: int, axis: int) -> tuple[int, ...]:
    return tuple(each for each in range(rank) if each != axis)


def _mean(ops: TtirOps, x: Tensor, axis: int) -> Tensor:
    total = ops.reduced("ttir.sum", x, _others(x.rank, axis))
    return ops.same("ttir.multiply", total, ops.like(total, total.shape[0] / math.prod(x.shape)))


def _training(ops: TtirOps, call: ConversionCall) -> list[Tensor]:
    x, axis = call.operand, call.feature_index
    mean = _mean(ops, x, axis)
    away = ops.same("ttir.subtract", x, ops.along(mean, (axis,), x.shape))
    variance = _mean(ops, ops.same("ttir.multiply", away, away), axis)
    root = ops.same("ttir.rsqrt", ops.same("ttir.add", variance, ops.like(variance, call.epsilon)))
    factor = ops.same("ttir.multiply", root, call.scale)
    scaled = ops.same("ttir.multiply", away, ops.along(factor, (axis,), x.shape))
    return [ops.same("ttir.add", scaled, ops.along(call.offset, (axis,), x.shape)), mean, variance]


def _training_in_torch(torch: Any, call: TextCall) -> list[Any]:
    x, axis = call.operand, call.feature_index
    axes = _others(x.dim(), axis)
    mean, variance = x.mean(axes), x.var(axes, correction=0)
    scale, offset = _beside(x, call.scale, axis), _beside(x, call.offset, axis)
    away = x - _beside(x, mean, axis)
    return [away / torch.sqrt(_beside(x, variance, axis) + call.epsilon) * scale + offset, mean, variance]


TRAINING = conversion(
    "stablehlo.batch_norm_training",
    "operand scale offset",
    _training,
    _training_in_torch,
    sharded_by=sharding_rules.trained,
    in_float32=True,
    epsilon=REQUIRED,
    feature_index=REQUIRED,
)


def _gradient(ops: TtirOps, call: ConversionCall) -> list[Tensor]:
    """With r = 1 / sqrt(variance + epsilon), y = r (x - mean): s r (g - mean(g) - y mean(g y)); sum(g y); sum(g)."""
    x, gradient, axis = call.operand, call.grad_output, call.feature_index
    root = ops.same("ttir.rsqrt", ops.same("ttir.add", call.variance, ops.like(call.variance, call.epsilon)))

    def wide(vector: Tensor) -> Tensor:
        return ops.along(vector, (axis,), x.shape)

    away = ops.same("ttir.subtract", x, wide(call.mean))
    normed = ops.same("ttir.multiply", away, wide(root))
    products = ops.same("ttir.multiply", gradient, normed)
    for_scale = ops.reduced("ttir.sum", products, _others(x.rank, axis))
    for_offset = ops.reduced("ttir.sum", gradient, _others(x.rank, axis))
    share = for_scale.shape[0] / math.prod(x.shape)
    centre = ops.same("ttir.multiply", for_offset, ops.like(for_offset, share))
    slope = ops.same("ttir.multiply", for_scale, ops.like(for_scale, share))
    rest = ops.same("ttir.subtract", gradient, wide(centre))
    rest = ops.same("ttir.subtract", rest, ops.same("ttir.multiply", normed, wide(slope)))
    factor = ops.same("ttir.multiply", call.scale, root)
    return [ops.same("ttir.multiply", rest, wide(factor)), for_scale, for_offset]


def _gradient_in_torch(torch: Any, call: TextCall) -> list[Any]:
    x, gradient, axis = call.operand, call.grad_output, call.feature_index
    axes = _others(x.dim(), axis)
    deviation = torch.sqrt(_beside(x, call.variance, axis) + call.epsilon)
    away = x - _beside(x, call.mean, axis)
    count = x.numel() // x.shape[axis]
    total, weighted = gradient.sum(axes), (gradient * away).sum(axes)
    inner = count * gradient - _beside(x, total, axis) - away * _beside(x, weighted, axis) / deviation**2
    for_operand = inner * _beside(x, call.scale, axis) / deviation / count
    return [for_operand, weighted / deviation.reshape(-1), total]


GRADIENT = conversion(
    "stablehlo.batch_norm_grad",
    "operand scale mean variance grad_output",
    _gradient,
    _gradient_in_torch,
    in_float32=True,
    epsilon=REQUIRED,
    feature_index=REQUIRED,
)

TEXTS = (DOT_GENERAL, DOT, EINSUM, CONVOLUTION, INFERENCE, TRAINING, GRADIENT)
