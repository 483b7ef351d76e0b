"""Constants, repetitions, selections of elements, elementwise operations: shapes that follow from others."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import FloatAttr, IntegerAttr, TensorType
from xdsl.ir import Attribute, Operation

from ttnn_jit.dialects.ttcore import TileType
from ttnn_jit.dialects.ttnn_attributes import BufferTypeAttr, ShapeAttr, TTNNLayoutAttr
from ttnn_jit.dialects.upstream.rules.view import View, broadcast, fail, integers_in, joined, require
from ttnn_jit.dialects.upstream.table_attributes import TableAttribute


def memory_of(type_: Attribute) -> str:
    """The keyword of the memory in which a tensor lies; "" if its type does not say."""
    encoding = type_.encoding if isinstance(type_, TensorType) else None
    space: Any = None
    if isinstance(encoding, TTNNLayoutAttr):
        space = encoding.memref.memory_space
    elif isinstance(encoding, TableAttribute):
        space = getattr(encoding.value("memref"), "memory_space", None)
    return space.data if isinstance(space, BufferTypeAttr) else ""


def verify_broadcast(op: Operation) -> None:
    """The result of an elementwise operation has the shape to which its operands broadcast."""
    view = View(op)
    shape: list[int] = []
    for value in op.operands:
        assert isinstance(value.type, TensorType)
        own = [*value.type.get_shape()]
        found = broadcast(shape, own) if shape else own
        if found is None:
            fail(
                f"operand shape ({joined(own, ', ')}) is not broadcast compatible with inferred operand shapes "
                f"({joined(shape, ', ')})"
            )
        shape = found
    result = [*view.result().get_shape()]
    require(
        result == shape,
        f"result shape ({joined(result, ', ')}) doesn't match expected shape after broadcasting "
        f"({joined(shape, ', ')})",
    )


def verify_constant(op: Operation) -> None:
    """A constant on a device names the device."""
    memory, has_device = memory_of(op.results[0].type), bool(op.operands)
    if memory:
        is_host = memory == "system_memory"
        require(has_device or is_host, "device operand must be specified for non-system memory buffer type")
        require(not (has_device and is_host), "device operand must not be specified for system memory buffer type")


def verify_full(op: Operation) -> None:
    """The shape of a tensor of one number."""
    view = View(op)
    given, shape = view.integers("shape"), [*view.result().get_shape()]
    require(given == shape, f"expected shape ({joined(shape, ', ')}), got ({joined(given, ', ')})")


def verify_arange(op: Operation) -> None:
    """As many numbers as the result has in its dimension."""
    view = View(op)
    start, end, step = (view.integer(name) for name in ("start", "end", "step"))
    require(step != 0, "Step value cannot be zero" if op.name.startswith("ttir.") else "Step cannot be zero.")
    count = int((end - start) / step)
    require(count > 0, f"Invalid range: start={start}, end={end}, step={step}")
    shape = [*view.result().get_shape()]
    if op.name.startswith("ttnn."):
        require(shape == [count], f"Output tensor shape must be {count}, but got {joined(shape, ', ')}")
        return
    dim = view.integer("arange_dimension")
    require(dim < len(shape), f"Output tensor has no dimension {dim}")
    require(
        shape[dim] == count,
        f"Output tensor shape must be {count} at dim {dim} (since start={start}, end={end}, step={step}), but got "
        f"{shape[dim]}",
    )


def verify_repeat(op: Operation) -> None:
    """Each dimension is that of the input times its number."""
    view = View(op)
    given = op.properties.get("repeat_dimensions", op.properties.get("repeat_dims"))
    times = [*given.data] if isinstance(given, ShapeAttr) else integers_in(given)
    source, result = view.shape("input"), [*view.result().get_shape()]
    rank = f"Input tensor rank {len(source)} doesn't match the"
    require(len(source) == len(times), f"{rank} number of repeat dimensions {len(times)}.")
    require(len(source) == len(result), f"{rank} output tensor rank {len(result)}.")
    for index, (size, count, wanted) in enumerate(zip(source, times, result, strict=True)):
        require(count > 0, f"Repeat dimension at index {index} must be greater than 0.")
        require(
            size * count == wanted,
            f"Input tensor shape ({joined(source)}) at index {index} does not repeat to output ({joined(result)}) "
            f"using repeat value {count}.",
        )


def verify_index_select(op: Operation) -> None:
    """Runs of a dimension at equal distances."""
    view = View(op)
    source, result = view.type("input"), view.result()
    shape, given = view.shape("input"), view.integer("dim")
    require(len(shape) == len(result.get_shape()), "Input and output tensors must have the same rank.")
    require(source.element_type == result.element_type, "Input and output tensors must have the same element type.")
    dim = given + len(shape) if given < 0 else given
    require(0 <= dim < len(shape), f"Invalid dimension {given} for select op with input tensor rank {len(shape)}")
    size = shape[dim]
    begin, length, stride = view.integer("begin"), view.integer("length"), view.integer("stride") or size
    where = f"dimension {dim} with size {size}"
    require(stride >= 0, f"Invalid stride {stride} for dimension {dim}, stride must be non-negative")
    require(
        stride <= size, f"Invalid stride {stride} for {where}. stride must be less than or equal to the dimension size"
    )
    require(0 <= begin < size, f"Invalid begin index {begin} for {where}. begin must be in the range [0, dimSize)")
    require(
        1 <= length <= stride,
        f"Invalid length {length} for begin index {begin} and stride {stride} for {where}. stride must be greater "
        "than or equal to length",
    )
    require(
        begin + length <= size,
        f"Invalid length {length} for begin index {begin} and {where}. begin + length must be less than or equal to "
        "the dimension size",
    )
    slices = (size - begin + stride - 1) // stride
    total = sum(min(length, size - begin - index * stride) for index in range(slices))
    wanted = [*result.get_shape()][dim]
    require(
        total == wanted,
        f"Sum of all slices must be equal to the output dimension size for the given dimension. Expected output "
        f"dimension size: {wanted}, but got {total}",
    )


def verify_topk(op: Operation) -> None:
    """At most as many elements as the dimension has."""
    view = View(op)
    shape, dim, count = view.shape("input_tensor"), view.integer("dim", -1), view.integer("k")
    at = dim + len(shape) if dim < 0 else dim
    require(
        0 <= at < len(shape),
        f"specified dimension should be between {-len(shape)} and {len(shape) - 1}, but got: {dim}",
    )
    require(
        0 < count <= shape[at],
        f"K should be between 1 and the size of the specified dimension ({at}), but got: {count}",
    )


def verify_scalar_power(op: Operation) -> None:
    """An exponent that is not negative."""
    exponent = op.properties.get("rhs")
    require(isinstance(exponent, IntegerAttr | FloatAttr), "exponent must be an integer or float attribute.")
    value = exponent.value.data  # type: ignore[union-attr]  # one of both
    shown = value if isinstance(value, int) else f"{value:e}"
    require(value >= 0, f"exponent must be non-negative; but got {shown}")


def verify_copy(op: Operation) -> None:
    """Two tensors of one type on a device."""
    source, target = (each.type for each in op.operands[:2])
    for what, type_ in (("Source", source), ("Destination", target)):
        require(memory_of(type_) not in {"system_memory"}, f"{what} tensor must be on device memory")
    require(source == target, f"Source and destination tensor types must match, but got {source} and {target}")


def verify_cast(op: Operation) -> None:
    """The layout has the element type that the attribute names."""
    encoding: Any = getattr(op.results[0].type, "encoding", None)
    stated: Any = op.properties.get("dtype")
    if not isinstance(encoding, TTNNLayoutAttr) or stated is None:
        return
    element = encoding.memref.element_type
    wanted = str(stated.data)
    if isinstance(element, TileType):
        found = str(element).rpartition(", ")[2].removesuffix(">")
        require(
            found == wanted, f"Output tensor data type {found} must match the data type of dtype attribute {wanted}."
        )


_ELEMENTWISE = (
    "abs", "acos", "asin", "asinh", "atan", "bitcast_convert", "bitwise_not", "cbrt", "ceil",
    "cos", "erf", "erfc", "exp", "exp2", "expm1", "floor", "frac", "gelu", "hardsigmoid", "isfinite", "log", "log1p",
    "logical_not", "mish", "neg", "reciprocal", "relu", "relu6", "rsqrt", "sigmoid", "sign", "signbit", "silu",
    "sin", "softsign", "sqrt", "square", "tan", "tanh", "trunc", "typecast", "leaky_relu", "selu", "add",
    "bitwise_and", "bitwise_or", "bitwise_xor", "div", "eq", "ge", "gelu_bw", "gt", "le", "logical_and",
    "logical_left_shift", "logical_or", "logical_right_shift", "logical_xor", "lt", "maximum", "minimum", "multiply",
    "ne", "pow", "remainder", "right_shift", "subtract", "atan2", "where",
)  # fmt: skip
"""Operations of TTIR whose operands broadcast."""

CREATIONS = {
    **{f"ttir.{name}": (verify_broadcast,) for name in _ELEMENTWISE},
    "ttir.arange": (verify_arange,),
    "ttnn.arange": (verify_arange,),
    "ttnn.to_dtype": (verify_cast,),
    "ttnn.typecast": (verify_cast,),
    "ttir.full": (verify_full,),
    "ttir.index_select": (verify_index_select,),
    "ttir.repeat": (verify_repeat,),
    "ttir.topk": (verify_topk,),
    "ttnn.constant": (verify_constant,),
    "ttnn.copy": (verify_copy,),
    "ttnn.pow_scalar": (verify_scalar_power,),
    "ttnn.repeat": (verify_repeat,),
}
"""Name of an operation -> its rules."""
