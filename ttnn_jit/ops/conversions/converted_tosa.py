"""A list of ops of TOSA. Operands broadcast along dimensions of extent 1; zero points are 0."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.ops.families.conversion_protocol import ConversionCall, Tensor, TtirOps
from ttnn_jit.ops.families.dialect_conversion import Conversion, conversion
from ttnn_jit.ops.families.text_operation import REQUIRED, DenseNumbers, Role, TextCall

OneOperand = Callable[[Any, Any], Any]


def _unary(name: str, ttir: str, golden: OneOperand, operand: str = "input1") -> Conversion:
    def convert(ops: TtirOps, call: ConversionCall) -> Tensor:
        _check_zero_points(call)
        return ops.same(ttir, vars(call)[operand])

    return conversion(
        f"tosa.{name}",
        f"{operand} input1_zp? output_zp?",
        convert,
        lambda torch, call: golden(torch, vars(call)[operand]),
        as_numbers=("input1_zp", "output_zp"),
        quantization_info=None,
    )


UNARY = (
    _unary("abs", "ttir.abs", lambda torch, x: torch.abs(x)),
    _unary("ceil", "ttir.ceil", lambda torch, x: torch.ceil(x)),
    _unary("floor", "ttir.floor", lambda torch, x: torch.floor(x)),
    _unary("cos", "ttir.cos", lambda torch, x: torch.cos(x), "input"),
    _unary("sin", "ttir.sin", lambda torch, x: torch.sin(x), "input"),
    _unary("exp", "ttir.exp", lambda torch, x: torch.exp(x)),
    _unary("log", "ttir.log", lambda torch, x: torch.log(x)),
    _unary("erf", "ttir.erf", lambda torch, x: torch.erf(x), "input"),
    _unary("rsqrt", "ttir.rsqrt", lambda torch, x: torch.rsqrt(x)),
    _unary("reciprocal", "ttir.reciprocal", lambda _, x: 1.0 / x),
    _unary("sigmoid", "ttir.sigmoid", lambda torch, x: torch.sigmoid(x), "input"),
    _unary("tanh", "ttir.tanh", lambda torch, x: torch.tanh(x), "input"),
    _unary("negate", "ttir.neg", lambda _, x: -x),
    _unary("bitwise_not", "ttir.bitwise_not", lambda _, x: ~x),
    _unary("logical_not", "ttir.logical_not", lambda _, x: ~x),
)


def _broadcast(ops: TtirOps, *operands: Tensor) -> list[Tensor]:
    """The operands in one shape."""
    shape = [
        max(extents) if 0 not in extents else 0 for extents in zip(*(each.shape for each in operands), strict=True)
    ]
    return [ops.expand(each, shape) for each in operands]


def _binary(name: str, ttir: str, golden: Callable[[Any, Any, Any], Any]) -> Conversion:
    def convert(ops: TtirOps, call: ConversionCall) -> Tensor:
        first, second = _broadcast(ops, call.input1, call.input2)
        return ops.op(ttir, [first, second], call.result.shape, call.result.element)

    return conversion(
        f"tosa.{name}",
        "input1 input2",
        convert,
        lambda torch, call: golden(torch, call.input1, call.input2),
    )


BINARY = (
    _binary("add", "ttir.add", lambda _, x, y: x + y),
    _binary("sub", "ttir.subtract", lambda _, x, y: x - y),
    _binary("maximum", "ttir.maximum", lambda torch, x, y: torch.maximum(x, y)),
    _binary("minimum", "ttir.minimum", lambda torch, x, y: torch.minimum(x, y)),
    _binary("pow", "ttir.pow", lambda torch, x, y: torch.pow(x, y)),
    _binary("equal", "ttir.eq", lambda _, x, y: x == y),
    _binary("greater", "ttir.gt", lambda _, x, y: x > y),
    _binary("greater_equal", "ttir.ge", lambda _, x, y: x >= y),
    _binary("logical_and", "ttir.logical_and", lambda _, x, y: x & y),
    _binary("logical_or", "ttir.logical_or", lambda _, x, y: x | y),
    _binary("logical_xor", "ttir.logical_xor", lambda _, x, y: x ^ y),
    _binary("bitwise_and", "ttir.bitwise_and", lambda _, x, y: x & y),
    _binary("bitwise_or", "ttir.bitwise_or", lambda _, x, y: x | y),
    _binary("bitwise_xor", "ttir.bitwise_xor", lambda _, x, y: x ^ y),
)


def _product(ops: TtirOps, call: ConversionCall) -> Tensor:
    _check_zero_points(call)
    first, second = _broadcast(ops, call.input1, call.input2)
    return ops.op("ttir.multiply", [first, second], call.result.shape, call.result.element)


MULTIPLY = conversion(
    "tosa.mul",
    "input1 input2 shift?",
    _product,
    lambda _, call: call.input1 * call.input2,
    as_numbers=("shift",),
)


def _selected(ops: TtirOps, call: ConversionCall) -> Tensor:
    return ops.select(*_broadcast(ops, call.pred, call.on_true, call.on_false))


SELECT = conversion(
    "tosa.select",
    "pred on_true on_false",
    _selected,
    lambda torch, call: torch.where(call.pred, call.on_true, call.on_false),
)


def _limits(call: TextCall, *, is_float: bool) -> tuple[float, float]:
    given = vars(call)
    if given["min_val"] is not None:
        return given["min_val"], given["max_val"]
    names = ("min_fp", "max_fp") if is_float else ("min_int", "max_int")
    if given[names[0]] is None:
        raise ShapeError("it says no limits")
    return given[names[0]], given[names[1]]


def _clamped(ops: TtirOps, call: ConversionCall) -> Tensor:
    x: Tensor = call.input
    lowest, highest = _limits(call, is_float=x.is_float)
    return ops.same("ttir.clamp_tensor", x, ops.like(x, lowest), ops.like(x, highest))


CLAMP = conversion(
    "tosa.clamp",
    "input",
    _clamped,
    lambda _, call: call.input.clamp(*_limits(call, is_float=call.input.is_floating_point())),
    **dict.fromkeys(("min_val", "max_val", "min_fp", "max_fp", "min_int", "max_int", "nan_mode")),
)
CAST = conversion(
    "tosa.cast",
    "input",
    lambda ops, call: ops.cast(
        _rounded(ops, call.input) if not call.result.is_float and call.input.is_float else call.input,
        call.result.element,
    ),
    lambda torch, call: (
        torch.round(call.input).clamp(call.result.dtype.values[0], call.result.dtype.values[-1])
        if call.result.dtype.is_integer and not call.result.dtype.compute.is_bool and call.input.is_floating_point()
        else call.input != 0
        if call.result.dtype.compute.is_bool
        else call.input
    ),
)


def _rounded(ops: TtirOps, x: Tensor) -> Tensor:
    """The nearest integers, of two the even one."""
    below = ops.same("ttir.floor", x)
    rest = ops.same("ttir.subtract", x, below)
    above = ops.same("ttir.add", below, ops.like(x, 1))
    half = ops.same("ttir.floor", ops.same("ttir.multiply", below, ops.like(x, 0.5)))
    is_even = ops.compared("ttir.eq", ops.same("ttir.add", half, half), below)
    found = ops.select(ops.compared("ttir.gt", rest, ops.like(x, 0.5)), above, ops.select(is_even, below, above))
    return ops.select(ops.compared("ttir.lt", rest, ops.like(x, 0.5)), below, found)


# --- Movement ---------------------------------------------------------------------------------------------------------


def _numbers(call: TextCall) -> DenseNumbers:
    found = call.values if vars(call)["values"] is not None else call.value
    if not isinstance(found, DenseNumbers):
        raise ShapeError("the numbers of the constant are not in the text", help="dense numbers are read")
    return found


def _constant_in_torch(torch: Any, call: TextCall) -> Any:
    numbers = _numbers(call)
    dtype = torch.int64 if call.result.dtype.is_integer else torch.float64
    found = torch.tensor(numbers.numbers, dtype=dtype)
    shape = tuple(call.result.shape)
    return found[0].expand(shape) if numbers.splat is not None else found.reshape(shape)


CONSTANT = conversion(
    "tosa.const",
    "",
    lambda ops, call: ops.constant(_numbers(call), call.result.element),
    _constant_in_torch,
    value=None,
    values=None,
)


def _no_tensor(*_: Any) -> Any:
    return ()


CONSTANT_SHAPE = conversion("tosa.const_shape", "", _no_tensor, _no_tensor, role=Role.NOTHING, values=None)
IDENTITY = conversion("tosa.identity", "input1", lambda _, call: call.input1, lambda _, call: call.input1)
RESHAPE = conversion(
    "tosa.reshape",
    "input1 shape?",
    lambda ops, call: ops.reshape(call.input1, call.result.shape),
    lambda _, call: call.input1.reshape(tuple(call.result.shape)),
    new_shape=None,
)
TRANSPOSE = conversion(
    "tosa.transpose",
    "input1",
    lambda ops, call: ops.permute(call.input1, call.perms),
    lambda _, call: call.input1.permute(call.perms),
    perms=REQUIRED,
)
CONCATENATE = conversion(
    "tosa.concat",
    "input1*",
    lambda ops, call: ops.concat(call.input1, call.axis),
    lambda torch, call: torch.cat(call.input1, call.axis),
    axis=REQUIRED,
)
REVERSE = conversion(
    "tosa.reverse",
    "input1",
    lambda ops, call: ops.same("ttir.reverse", call.input1, dimensions=(call.axis,)),
    lambda torch, call: torch.flip(call.input1, (call.axis,)),
    axis=REQUIRED,
)

# --- Reductions, products, windows ------------------------------------------------------------------------------------


def _reduction(name: str, ttir: str, golden: Callable[[Any, Any, int], Any]) -> Conversion:
    """A reduction along one dimension, which stays."""

    def convert(ops: TtirOps, call: ConversionCall) -> Tensor:
        kind = call.result
        return ops.op(ttir, [call.input], kind.shape, kind.element, keep_dim=True, dim_arg=(call.axis,))

    return conversion(
        name,
        "input",
        convert,
        lambda torch, call: golden(torch, call.input, call.axis),
        axis=REQUIRED,
        nan_mode=None,
    )


REDUCTIONS = (
    _reduction("tosa.reduce_sum", "ttir.sum", lambda torch, x, axis: torch.sum(x, axis, keepdim=True)),
    _reduction(
        "tosa.reduce_prod tosa.reduce_product", "ttir.prod", lambda torch, x, axis: torch.prod(x, axis, keepdim=True)
    ),
    _reduction("tosa.reduce_max", "ttir.max", lambda torch, x, axis: torch.amax(x, axis, keepdim=True)),
    _reduction("tosa.reduce_min", "ttir.min", lambda torch, x, axis: torch.amin(x, axis, keepdim=True)),
    _reduction("tosa.reduce_any", "ttir.reduce_or", lambda torch, x, axis: torch.any(x, axis, keepdim=True)),
    _reduction("tosa.reduce_all", "ttir.reduce_and", lambda torch, x, axis: torch.all(x, axis, keepdim=True)),
)


def _check_zero_points(call: TextCall) -> None:
    """Refuses a shift or a zero point that is not 0."""
    for name in ("shift", "input1_zp", "output_zp", "a_zp", "b_zp"):
        number = call.number(name)
        if number:
            raise ShapeError(f"`{name}` is {number:g}, and only 0 is computed with")


def _matmul(ops: TtirOps, call: ConversionCall) -> Tensor:
    _check_zero_points(call)
    flags = {"transpose_a": False, "transpose_b": False}
    return ops.op("ttir.matmul", [call.a, call.b], call.result.shape, call.result.element, **flags)


MATMUL = conversion(
    "tosa.matmul",
    "a b a_zp? b_zp?",
    _matmul,
    lambda torch, call: torch.matmul(call.a, call.b),
    as_numbers=("a_zp", "b_zp"),
    quantization_info=None,
)


def _max_pool(ops: TtirOps, call: ConversionCall) -> Tensor:
    top, bottom, left, right = call.pad
    kind = call.result
    return ops.op(
        "ttir.max_pool2d",
        [call.input],
        kind.shape,
        kind.element,
        kernel=tuple(call.kernel),
        stride=tuple(call.stride),
        dilation=(1, 1),
        padding=(top, left, bottom, right),
        ceil_mode=False,
    )


def _max_pool_in_torch(torch: Any, call: TextCall) -> Any:
    top, bottom, left, right = call.pad
    x = torch.nn.functional.pad(call.input.movedim(-1, 1), (left, right, top, bottom), value=-float("inf"))
    return torch.nn.functional.max_pool2d(x, tuple(call.kernel), tuple(call.stride)).movedim(1, -1)


MAX_POOL = conversion(
    "tosa.max_pool2d",
    "input",
    _max_pool,
    _max_pool_in_torch,
    kernel=REQUIRED,
    stride=REQUIRED,
    pad=REQUIRED,
    nan_mode=None,
)

TEXTS = (
    *UNARY,
    *BINARY,
    MULTIPLY,
    SELECT,
    CLAMP,
    CAST,
    CONSTANT,
    CONSTANT_SHAPE,
    IDENTITY,
    RESHAPE,
    TRANSPOSE,
    CONCATENATE,
    REVERSE,
    *REDUCTIONS,
    MATMUL,
    MAX_POOL,
)
