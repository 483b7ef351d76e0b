"""The parts of an rms norm: a mean of squares, or a norm scaled by the root of the number of its terms."""

from __future__ import annotations

import math

from xdsl.dialects.builtin import FloatAttr, TensorType, f32
from xdsl.ir import Attribute, Operation, SSAValue

from ttnn_jit.dialects.upstream.rewriting.greedy import Rules
from ttnn_jit.dialects.upstream.rewriting.made_attributes import (
    dense_i64,
    integers_in,
    shape_of,
    with_element,
    with_shape,
)
from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter, has_one_user, owner_named
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.sliding_windows import permute
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.traced_values import (
    BROADCAST,
    CAST,
    RESHAPE,
    cast_to,
    is_float_cast,
    pairs,
    shaped,
    traced,
)
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.value_folds import element_of, is_float, number_of

NORMS = Rules()

_MOVED = (CAST, RESHAPE, BROADCAST)
_LARGEST_GUARD = 1e-6
"""A norm is kept from 0 by a bound that is no larger: an addend under the root differs for norms of its size alone."""
_SCALE_ERROR = 2.0**-8
"""How far a factor may lie from the root of the number of terms: half a bf16's step, twice."""


def _before_moves(value: SSAValue, width: int) -> SSAValue:
    """A value before casts, and before moves that keep its last dimension, or broadcast it."""
    while (made := owner_named(value, *_MOVED)) is not None:
        if not is_float_cast(made):
            break
        source = made.operands[0]
        before, after = (shape_of(each.type)[-1:] for each in (source, value))
        if made.name == RESHAPE and before != after and math.prod(shape_of(source.type)) != 1:
            break
        if made.name == BROADCAST and after != (width,):
            break
        value = source
    return value


def _squared(value: SSAValue) -> SSAValue | None:
    """The value whose square another is."""
    made = owner_named(value, "ttir.multiply", "ttir.pow")
    if made is None:
        return None
    left, right = made.operands[:2]
    if made.name == "ttir.multiply":
        return left if left is right else None
    return left if number_of(right) == 2 else None


@NORMS.of("ttir.multiply")
def mean_of_squares(op: Operation, rewriter: Rewriter) -> bool:
    """``x * rsqrt(mean(x * x) + epsilon) * weight``."""
    if not shape_of(op.results[0].type):
        return False
    width = shape_of(op.results[0].type)[-1]
    for scaled, weight in pairs(op):
        inner = owner_named(traced(scaled, CAST), "ttir.multiply")
        found = _normalized(inner, width) if inner is not None else None
        if found is None:
            continue
        x, epsilon = found
        source = _before_moves(weight, width)
        if not _is_row(source, width) or x is source or math.prod(shape_of(x.type)) != _elements(op):
            continue
        if element_of(x) != element_of(source) or not is_float(element_of(x)):
            continue
        properties = {"normalized_shape": dense_i64([width]), "epsilon": FloatAttr(epsilon, f32)}
        operands = {"input": x, "weight": shaped(source, [width], rewriter, op)}
        value = rewriter.value("ttir.rms_norm", operands, properties, _bare(x), op)
        rewriter.replace(op, [_as_type(value, op.results[0].type, rewriter, op)])
        return True
    return False


def _elements(op: Operation) -> int:
    return math.prod(shape_of(op.results[0].type))


def _bare(value: SSAValue) -> TensorType:
    return with_shape(value.type, shape_of(value.type))


def _is_row(value: SSAValue, width: int) -> bool:
    """Whether a value has an element for each place of the last dimension, and no others."""
    shape = shape_of(value.type)
    return shape[-1:] == (width,) and math.prod(shape) == width


def _normalized(inner: Operation, width: int) -> tuple[SSAValue, float] | None:
    """The value and epsilon of ``x * rsqrt(mean(x * x) + epsilon)``."""
    for x, factor in pairs(inner):
        root = owner_named(_before_moves(factor, width), "ttir.rsqrt")
        total = owner_named(_before_moves(root.operands[0], 1), "ttir.add") if root is not None else None
        for mean, epsilon in pairs(total) if total is not None else ():
            made, number = owner_named(mean, "ttir.mean"), number_of(epsilon)
            if made is None or number is None or _reduced(made) != len(shape_of(made.operands[0].type)) - 1:
                continue
            square, source = _squared(made.operands[0]), _before_moves(x, width)
            if square is not None and _before_moves(square, width) is source and shape_of(source.type)[-1:] == (width,):
                return source, float(number)
    return None


def _reduced(op: Operation) -> int | None:
    """The only dimension that a reduction reduces."""
    dims = integers_in(op.properties.get("dim_arg"))
    return dims[0] % len(shape_of(op.operands[0].type)) if len(dims) == 1 else None


def _as_type(value: SSAValue, type_: Attribute, rewriter: Rewriter, at: Operation) -> SSAValue:
    """A value reshaped and cast to a type."""
    assert isinstance(type_, TensorType)
    return cast_to(shaped(value, shape_of(type_), rewriter, at), type_.get_element_type(), rewriter, at)


@NORMS.of("ttir.multiply")
def scaled_unit_vector(op: Operation, rewriter: Rewriter) -> bool:
    """``x / sqrt(sum(x * x)) * sqrt(n)``, along any dimension of `n` elements; also times a weight."""
    for divided, scale in pairs(op):
        quotient, factor = owner_named(traced(divided, CAST), "ttir.div"), number_of(scale)
        found = _unit_vector(quotient) if quotient is not None else None
        if found is None or factor is None:
            continue
        x, dim, guard = found
        extent = shape_of(x.type)[dim]
        if extent < 2 or not math.isclose(factor, math.sqrt(extent), rel_tol=_SCALE_ERROR):
            continue
        last, weight = _weighted(op, extent, dim, len(shape_of(x.type)))
        value = _norm_along(x, dim, weight, guard * guard / extent, rewriter, last)
        rewriter.replace(last, [_as_type(value, last.results[0].type, rewriter, last)])
        return True
    return False


def _unit_vector(quotient: Operation) -> tuple[SSAValue, int, float] | None:
    """The value of ``x / max(sqrt(sum(x * x)), guard)``, the dimension of the sum, and the guard, 0 without one."""
    x, bounded = traced(quotient.operands[0], CAST), traced(quotient.operands[1], *_MOVED)
    guard: float | None = 0.0
    clamp = owner_named(bounded, "ttir.clamp_scalar", "ttir.clamp_tensor", "ttir.maximum")
    if clamp is not None:
        guard, bounded = _guard(clamp), traced(clamp.operands[0], *_MOVED)
    root = owner_named(bounded, "ttir.sqrt", "ttir.pow")
    if root is None or guard is None or not 0 <= guard <= _LARGEST_GUARD:
        return None
    if root.name == "ttir.pow" and number_of(root.operands[1]) != 0.5:
        return None
    total = owner_named(traced(root.operands[0], *_MOVED), "ttir.sum")
    square = _squared(traced(total.operands[0], CAST)) if total is not None else None
    dim = _reduced(total) if total is not None else None
    if square is None or dim is None or total is None:
        return None
    base = traced(square, CAST)
    if (absolute := owner_named(base, "ttir.abs")) is not None:
        base = traced(absolute.operands[0], CAST)
    fits = base is x and shape_of(x.type) == shape_of(total.operands[0].type) == shape_of(quotient.results[0].type)
    return (x, dim, guard) if fits and is_float(element_of(x)) and _is_kept(quotient, total, dim) else None


def _is_kept(quotient: Operation, total: Operation, dim: int) -> bool:
    """Whether each element is divided by the sum of its own row: moves of the sum only restore its dimension."""
    shape = [*shape_of(total.operands[0].type)]
    narrow = [*shape[:dim], 1, *shape[dim + 1 :]]
    value = quotient.operands[1]
    while value is not total.results[0]:
        made = value.owner
        if not isinstance(made, Operation):
            return False
        if made.name in _MOVED and [*shape_of(value.type)] not in (shape, narrow, [*shape[:dim], *shape[dim + 1 :]]):
            return False
        value = made.operands[0]
    return True


def _guard(clamp: Operation) -> float | None:
    """The lower bound of a clamp that has no upper one that matters."""
    if clamp.name == "ttir.maximum":
        return _float(number_of(clamp.operands[1]))
    if clamp.name == "ttir.clamp_tensor":
        bounds = [_float(number_of(each)) for each in clamp.operands[1:3]]
    else:
        bounds = [_float(getattr(getattr(clamp.properties[name], "value", None), "data", None)) for name in _BOUNDS]
    least, most = bounds
    return least if most is not None and most >= _GREATEST else None


_BOUNDS = ("min", "max")
_GREATEST = 3.0e38
"""A bound from there on bounds no norm: it is the greatest bf16 or f32, or infinity."""


def _float(number: float | None) -> float | None:
    return None if number is None else float(number)


def _weighted(op: Operation, extent: int, dim: int, rank: int) -> tuple[Operation, SSAValue | None]:
    """The product with a weight for each element along the dimension, and the weight; else `op` and none."""
    result = op.results[0]
    user = next(iter(result.uses)).operation if has_one_user(result) else None
    if user is None or user.name != "ttir.multiply" or shape_of(user.results[0].type) != shape_of(result.type):
        return op, None
    other = user.operands[1] if user.operands[0] is result else user.operands[0]
    wide = [extent if index == dim else 1 for index in range(rank)]
    value = other
    while (made := owner_named(value, BROADCAST, CAST)) is not None:
        value = made.operands[0]
    padded = [1] * (rank - len(shape_of(value.type))) + [*shape_of(value.type)]
    return (user, traced(value, *_MOVED)) if padded == wide and _holds(value, extent) else (op, None)


def _holds(value: SSAValue, extent: int) -> bool:
    return math.prod(shape_of(traced(value, *_MOVED).type)) == extent


def _norm_along(
    x: SSAValue, dim: int, weight: SSAValue | None, epsilon: float, rewriter: Rewriter, at: Operation
) -> SSAValue:
    """An rms norm along a dimension, which permutes bring behind the others."""
    shape = shape_of(x.type)
    rank, extent = len(shape), shape[dim]
    order = [*(each for each in range(rank) if each != dim), dim]
    if weight is not None:
        weight = _as_type(weight, with_element(with_shape(weight.type, [extent]), element_of(x)), rewriter, at)
    moved = x if dim == rank - 1 else permute(x, order, rewriter, at)
    properties = {"normalized_shape": dense_i64([extent]), "epsilon": FloatAttr(epsilon, f32)}
    value = rewriter.value("ttir.rms_norm", {"input": moved, "weight": weight}, properties, _bare(moved), at)
    return value if dim == rank - 1 else permute(value, [order.index(each) for each in range(rank)], rewriter, at)
