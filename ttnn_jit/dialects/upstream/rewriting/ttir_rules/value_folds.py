"""Canonical forms of operations that compute: repeated ones, constants, clamps, casts.

What changes a number is no canonical form here: ``logical_and(x, x)`` is ``x != 0``, and the reciprocal of a reciprocal
is rounded twice.
"""

from __future__ import annotations

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    TensorType,
    f32,
    i32,
)
from xdsl.ir import Attribute, Operation, SSAValue

from ttnn_jit.dialects.upstream.rewriting.greedy import Rules
from ttnn_jit.dialects.upstream.rewriting.made_attributes import (
    boolean,
    dense_i32,
    dense_i64,
    integer,
    integers_in,
    number,
    shape_of,
    splat_number,
)
from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter, has_one_user, owner_named

FOLDS = Rules()

_FLOATS: dict[type[Attribute], tuple[int, int]] = {
    BFloat16Type: (8, 7),
    Float16Type: (5, 10),
    Float32Type: (8, 23),
    Float64Type: (11, 52),
}
"""Float type -> bits of its exponent and its mantissa."""

_I32 = range(-(2**31), 2**31)


def element_of(value: SSAValue) -> Attribute:
    """The element type of a tensor."""
    assert isinstance(value.type, TensorType)
    element: Attribute = value.type.get_element_type()
    return element


def is_float(element: Attribute) -> bool:
    """Whether an element type is a float."""
    return type(element) in _FLOATS


@FOLDS.of("ttir.abs", "ttir.ceil", "ttir.floor", "ttir.relu", "ttir.relu6", "ttir.sign")
def idempotent(op: Operation, rewriter: Rewriter) -> bool:
    """``f(f(x))`` is ``f(x)``."""
    inner = owner_named(op.operands[0], op.name)
    if inner is None or inner.results[0].type != op.results[0].type:
        return False
    rewriter.replace(op, [inner.results[0]])
    return True


@FOLDS.of("ttir.neg", "ttir.bitwise_not")
def involution(op: Operation, rewriter: Rewriter) -> bool:
    """``f(f(x))`` is ``x``."""
    inner = owner_named(op.operands[0], op.name)
    if inner is None or inner.operands[0].type != op.results[0].type:
        return False
    rewriter.replace(op, [inner.operands[0]])
    return True


@FOLDS.of("ttir.bitwise_and", "ttir.bitwise_or", "ttir.maximum", "ttir.minimum")
def of_equal_operands(op: Operation, rewriter: Rewriter) -> bool:
    """``f(x, x)`` is ``x``."""
    left, right = op.operands[:2]
    if left is not right or left.type != op.results[0].type:
        return False
    rewriter.replace(op, [left])
    return True


@FOLDS.of("ttir.logical_and", "ttir.logical_or")
def of_equal_truths(op: Operation, rewriter: Rewriter) -> bool:
    """``x and x`` is ``x``, of booleans."""
    return element_of(op.operands[0]) == IntegerType(1) and of_equal_operands(op, rewriter)


@FOLDS.of("ttir.bitwise_xor")
def of_itself(op: Operation, rewriter: Rewriter) -> bool:
    """``x xor x`` is 0."""
    left, right = op.operands[:2]
    if left is not right:
        return False
    zero = number(0.0) if is_float(element_of(op.results[0])) else integer(0)
    rewriter.replace(op, [filled(rewriter, zero, op.results[0].type, op)])
    return True


def filled(rewriter: Rewriter, value: Attribute, type_: Attribute, at: Operation) -> SSAValue:
    """A tensor of one number."""
    properties = {"fill_value": value, "shape": dense_i32(shape_of(type_))}
    return rewriter.value("ttir.full", {}, properties, type_, at)


@FOLDS.of("ttir.constant")
def splat_is_filled(op: Operation, rewriter: Rewriter) -> bool:
    """A constant of one number is a ``full``."""
    value = splat_number(op.properties.get("value"))
    fill = None if value is None else fill_of(value, op.results[0].type)
    if fill is None:
        return False
    rewriter.replace(op, [filled(rewriter, fill, op.results[0].type, op)])
    return True


def fill_of(value: float, type_: Attribute) -> Attribute | None:
    """The ``fill_value`` of a tensor of one number; None if neither f32 nor i32 holds it."""
    assert isinstance(type_, TensorType)
    element = type_.get_element_type()
    if is_float(element):
        fill = FloatAttr(value, f32)
        return fill if type(element) is not Float64Type or float(fill.value.data) == float(value) else None
    if not isinstance(element, IntegerType):
        return None
    number_ = int(value) & 1 if element.width.data == 1 else int(value)
    return IntegerAttr(number_, i32) if number_ in _I32 else None


def number_of(value: SSAValue) -> float | int | None:
    """The number that every element of a tensor is, behind reshapes, broadcasts and casts; None if it is not known."""
    made = owner_named(unmoved(value), "ttir.full", "ttnn.full", "ttir.constant", "ttir.zeros", "ttir.ones")
    if made is None:
        return None
    constants = {"ttir.zeros": 0, "ttir.ones": 1}
    stated = made.properties.get("fill_value", made.properties.get("value"))
    return constants.get(made.name, splat_number(stated))


def unmoved(value: SSAValue) -> SSAValue:
    """A value before it was moved or cast, as far as no number was rounded."""
    while (moved := owner_named(value, *_COPIES)) is not None:
        if not _is_exact(element_of(moved.operands[0]), element_of(value)):
            break
        value = moved.operands[0]
    return value


_COPIES = (
    "ttir.reshape",
    "ttir.broadcast",
    "ttir.typecast",
    "ttir.permute",
    "ttir.to_layout",
    "ttnn.reshape",
    "ttnn.typecast",
    "ttnn.to_layout",
)
"""Operations whose results have the elements of their first operand, cast or not."""


@FOLDS.of("ttir.clamp_tensor")
def clamp_between_numbers(op: Operation, rewriter: Rewriter) -> bool:
    """Bounds of one number each are attributes."""
    x, low, high = op.operands[:3]
    bounds = number_of(low), number_of(high)
    if bounds[0] is None or bounds[1] is None:
        return False
    least, most = map(number, map(float, bounds))  # type: ignore[arg-type]  # none is None
    properties = {"min": least, "max": most}
    rewriter.replace(op, [rewriter.value("ttir.clamp_scalar", {"input": x}, properties, op.results[0].type, op)])
    return True


@FOLDS.of("ttir.clamp_scalar")
def clamp_twice(op: Operation, rewriter: Rewriter) -> bool:
    """Two clamps are one, if the bounds of the two overlap."""
    inner = owner_named(op.operands[0], op.name)
    if inner is None or not has_one_user(inner.results[0]):
        return False
    (low, high), (own_low, own_high) = (_bounds(each) for each in (inner, op))
    if max(low, own_low) > min(high, own_high):
        return False
    is_integer = isinstance(op.properties["min"], IntegerAttr)
    bounds = {"min": max(low, own_low), "max": min(high, own_high)}
    properties = {name: integer(int(each)) if is_integer else number(each) for name, each in bounds.items()}
    value = rewriter.value(op.name, {"input": inner.operands[0]}, properties, op.results[0].type, op)
    rewriter.replace(op, [value])
    return True


def _bounds(op: Operation) -> tuple[float, float]:
    low, high = splat_number(op.properties.get("min")), splat_number(op.properties.get("max"))
    assert low is not None
    assert high is not None
    return low, high


@FOLDS.of("ttir.clamp_scalar")
def clamp_from_zero_to_six(op: Operation, rewriter: Rewriter) -> bool:
    """A clamp between 0 and 6 is a ``relu6``."""
    if _bounds(op) != (0, 6):
        return False
    rewriter.replace(op, [rewriter.value("ttir.relu6", {"input": op.operands[0]}, {}, op.results[0].type, op)])
    return True


@FOLDS.of("ttir.typecast", "ttnn.typecast")
def cast_of_cast(op: Operation, rewriter: Rewriter) -> bool:
    """A cast to the same type is none; of two casts the first is left out if it loses nothing."""
    source = op.operands[0]
    if source.type == op.results[0].type:
        rewriter.replace(op, [source])
        return True
    inner = owner_named(source, op.name)
    if inner is None or not has_one_user(source):
        return False
    first, middle = element_of(inner.operands[0]), element_of(source)
    if not _is_exact(first, middle):
        return False
    properties = dict(op.properties)
    name = "conservative_folding"
    given = [each.properties.get(name) for each in (op, inner)]
    if any(given):
        properties[name] = boolean(all(integers_in(each) == [-1] or integers_in(each) == [1] for each in given))
    value = rewriter.value(op.name, {"input": inner.operands[0]}, properties, op.results[0].type, op)
    rewriter.replace(op, [value])
    return True


def _is_exact(source: Attribute, target: Attribute) -> bool:
    """Whether every number of one element type is one of another."""
    wide, narrow = _FLOATS.get(type(target)), _FLOATS.get(type(source))
    if source == target:
        return True
    if narrow is not None:
        return wide is not None and narrow[0] <= wide[0] and narrow[1] <= wide[1]
    if not isinstance(source, IntegerType):
        return False
    if wide is not None:
        return _magnitude(source) <= wide[1] + 1
    if not isinstance(target, IntegerType) or target.width.data == 1:
        return False
    return _magnitude(source) <= _magnitude(target) and not (_is_signed(source) and not _is_signed(target))


def _is_signed(type_: IntegerType) -> bool:
    return type_.signedness.data.name != "UNSIGNED" and type_.width.data > 1


def _magnitude(type_: IntegerType) -> int:
    """The bits of an integer type besides its sign."""
    return type_.width.data - _is_signed(type_)


@FOLDS.of("ttir.linear")
def linear_without_bias(op: Operation, rewriter: Rewriter) -> bool:
    """A ``linear`` without a bias is a ``matmul``."""
    if len(op.operands) != 2:
        return False
    a, b = op.operands
    rewriter.replace(op, [rewriter.value("ttir.matmul", {"a": a, "b": b}, op.properties, op.results[0].type, op)])
    return True


@FOLDS.of("ttir.avg_pool2d", "ttir.max_pool2d", "ttir.pooling")
def window_of_one(op: Operation, rewriter: Rewriter) -> bool:
    """A window of one element with steps of one is its operand."""
    if op.results[0].type != op.operands[0].type or len(op.operands) != 1:
        return False
    names = {"kernel": 1, "stride": 1, "dilation": 1, "padding": 0}
    names |= {"window_dimensions": 1, "window_strides": 1, "base_dilations": 1, "window_dilations": 1}
    given = {name: integers_in(op.properties.get(name)) for name in names}
    sizes = given["kernel"] or given["window_dimensions"]
    if not sizes or any(each != names[name] for name, values in given.items() for each in values):
        return False
    rewriter.replace(op, [op.operands[0]])
    return True


@FOLDS.of("ttir.mesh_shard")
def shard_of_one_device(op: Operation, rewriter: Rewriter) -> bool:
    """A tensor that is cut into one part is the part."""
    shape = integers_in(op.properties.get("shard_shape"))
    kind = str(op.properties.get("shard_type"))
    if "devices" not in kind or {*shape} != {1} or op.operands[0].type != op.results[0].type:
        return False
    rewriter.replace(op, [op.operands[0]])
    return True


@FOLDS.of("ttir.update_cache")
def update_of_one_position(op: Operation, rewriter: Rewriter) -> bool:
    """A write of one position of each user into a cache is a paged one."""
    if len(op.operands) != 3:
        return False
    cache, update, positions = op.operands
    users, heads, _, width = shape_of(cache.type)
    assert isinstance(update.type, TensorType)
    assert isinstance(positions.type, TensorType)
    if shape_of(update.type)[1:3] != (heads, users) or shape_of(positions.type) not in {(1,), (users,)}:
        return False
    moved = TensorType(update.type.get_element_type(), [1, users, heads, width], update.type.encoding)
    order = {"permutation": dense_i64([0, 2, 1, 3])}
    update = rewriter.value("ttir.permute", {"input": update}, order, moved, op)
    if shape_of(positions.type) != (users,):
        repeated = TensorType(positions.type.get_element_type(), [users], positions.type.encoding)
        counts = {"repeat_dimensions": dense_i64([users])}
        positions = rewriter.value("ttir.repeat", {"input": positions}, counts, repeated, op)
    operands = {"cache": cache, "input": update, "update_index": positions}
    properties = {"share_cache": boolean(False)}
    made = rewriter.create("ttir.paged_update_cache", operands, properties, [each.type for each in op.results], op)
    rewriter.replace(op, made.results)
    return True
