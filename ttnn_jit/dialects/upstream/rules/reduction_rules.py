"""Reductions, scans, norms, heads, and quantized tensors."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import AnyFloat, TensorType
from xdsl.ir import Operation

from ttnn_jit.dialects.upstream.rules.view import View, fail, joined, require


def verify_reduction(op: Operation) -> None:
    """The reduced dimensions and the shape that is left."""
    view = View(op)
    shape, output = view.shape("input"), [*view.result().get_shape()]
    rank = len(shape)
    dims = view.integers("dim_arg") if view.attribute("dim_arg") is not None else [*range(rank)]
    for dim in dims:
        require(-rank <= dim < rank, f"Reduce dimension {dim} is out of range for input tensor of rank {rank}")
    require(len(set(dims)) == len(dims), "Reduce dimensions are not unique")
    reduced = {dim % rank for dim in dims} if rank else set()
    keeps = bool(view.integer("keep_dim"))
    expected = [1 if at in reduced else extent for at, extent in enumerate(shape) if keeps or at not in reduced]
    if output != expected:
        fail(f"Expected output shape ({joined(expected, ', ')}), got ({joined(output, ', ')})")


def verify_product(op: Operation) -> None:
    """The rank of a product of elements."""
    rank = len(View(op).shape("input"))
    require(rank <= 4, "Input tensor rank is greater than 4 for reduce(product).")


def verify_scan(op: Operation) -> None:
    """The dimension of a cumulative sum."""
    view = View(op)
    dim, rank = view.integer("dim"), len(view.shape("input"))
    require(-rank <= dim < rank, f"specified dimension should be between {-rank} and {rank - 1}, but got: {dim}")


def verify_rms_norm(op: Operation) -> None:
    """The normalized shape, and those of weight and bias."""
    view = View(op)
    shape = view.shape("input")
    require(shape == [*view.result().get_shape()], "input and output must have the same shape")
    normalized = view.integers("normalized_shape")
    require(bool(normalized), "normalized_shape cannot be empty")
    require(len(normalized) <= len(shape), "normalized_shape has more dimensions than input tensor")
    require(
        shape[-len(normalized) :] == normalized,
        "normalized_shape dimensions must match trailing dimensions of input tensor",
    )
    for name in ("weight", "bias"):
        if view.has(name):
            require(view.shape(name) == normalized, f"{name} tensor shape must match normalized_shape")


def verify_rms_norm_of_ttnn(op: Operation) -> None:
    """Weight and bias along the last dimension."""
    view = View(op)
    shape = view.shape("input")
    require(shape == [*view.result().get_shape()], "input and output must have the same shape")
    for name in ("weight", "bias"):
        if not view.has(name):
            continue
        given = view.shape(name)
        if not shape:
            require(not given, f"{name} tensor must be 0D for 0D input tensor")
            continue
        require(given == shape[-1:], f"{name} tensor must be 1D with size matching the last dimension of input")


def verify_batch_norm(op: Operation) -> None:
    """The rank and the dimension of features."""
    view = View(op)
    rank, dim = len(view.shape("operand")), view.integer("dimension")
    require(2 <= rank <= 5, "input tensor must have rank between 2 and 5")
    require(0 <= dim < rank, "dimension attribute must be within input rank bounds")


def verify_concatenated_heads(op: Operation) -> None:
    """Heads side by side."""
    view = View(op)
    shape, output = view.shape("input"), [*view.result().get_shape()]
    require(len(shape) == 4, f"expected rank of input tensor is 4, got rank {len(shape)}")
    require(len(output) == 3, f"expected rank of output tensor is 3, got rank {len(output)}")
    require(shape[0] == output[0], f"expected output batch dimension to be {shape[0]}, got {output[0]}")
    require(shape[2] == output[1], f"expected output sequence dimension to be {shape[2]}, got {output[1]}")
    hidden = shape[1] * shape[3]
    require(
        hidden == output[2],
        f"expected output hidden dimension to be num_heads * head_size = {hidden}, got {output[2]}",
    )


def verify_random(op: Operation) -> None:
    """Bounds, size and element type of random numbers."""
    view = View(op)
    low, high = (view.attribute(name) for name in ("low", "high"))
    bounds: list[Any] = [low, high]
    if None not in bounds:
        require(bounds[0].value.data < bounds[1].value.data, "'low' value must be < 'high' value.")
    size, output = view.integers("size"), [*view.result().get_shape()]
    if op.name.startswith("ttir.") and size != output:
        shown = ", ".join(f"{extent} : i32" for extent in size)
        fail(
            f"Size argument does not match with output tensor shape. [Size = [{shown}], output tensor shape = "
            f"({joined(output, ', ')})]."
        )


_KINDS = {"quantize": (False, True), "dequantize": (True, False), "requantize": (True, True)}
"""Operation -> whether its input and its output are quantized."""


def verify_quantization(op: Operation) -> None:
    """Element types, shapes, scales and zero points."""
    view = View(op)
    source, output = view.type("input"), view.result()
    kind = op.name.partition(".")[2].removesuffix("_unrolled")
    for what, type_, quantized in zip(("Input", "Output"), (source, output), _KINDS[kind], strict=True):
        if quantized != _is_quantized(type_):
            wanted = "UniformQuantizedType or UniformQuantizedPerAxisType" if quantized else "float"
            fail(f"{what} element type must be {wanted}, but got '{type_.element_type}'")
        is_float = isinstance(type_.element_type, AnyFloat)
        require(quantized or is_float, f"{what} element type must be float, but got '{type_.element_type}'")
    _verify_shapes(source, output)
    if not op.name.endswith("_unrolled"):
        return
    axis, rank = view.integer("axis", 0), len(source.get_shape())
    require(0 <= axis < rank, f"Axis value {axis} is out of the range [0, {rank}) for the input tensor of rank {rank}")
    for type_ in (source, output):
        if _is_quantized(type_):
            _verify_scales(type_)


def _is_quantized(type_: TensorType[Any]) -> bool:
    return bool(type_.element_type.name == "quant.uniform")


def _verify_shapes(source: TensorType[Any], output: TensorType[Any]) -> None:
    one, other = [*source.get_shape()], [*output.get_shape()]
    if len(one) != len(other):
        fail(f"Input tensor rank of {len(one)} does not match the output tensor rank of {len(other)}")
    if one != other:
        fail(f"Output tensor shape ({joined(other)}) must match the inferred shape: ({joined(one)})")


def _verify_scales(type_: TensorType[Any]) -> None:
    element: Any = type_.element_type
    pairs, axis, storage = element.value("quantization"), element.value("axis"), element.value("storageType")
    if axis is not None and len(pairs) != type_.get_shape()[axis]:
        fail(
            f"Number of scales ({len(pairs)}) does not match the size of the quantized axis ({type_.get_shape()[axis]})"
        )
    width = storage.width.data
    low, high = element.value("range") or (-(2 ** (width - 1)), 2 ** (width - 1) - 1)
    for _, zero in pairs:
        require(low <= zero <= high, f"Zero point {zero} is out of the range for storage type '{storage}'")


REDUCTIONS = {
    **{
        f"ttir.{name}": (verify_reduction,)
        for name in ("sum", "mean", "max", "min", "prod", "reduce_and", "reduce_or", "argmax")
    },
    **{f"ttnn.{name}": (verify_reduction,) for name in ("sum", "mean", "max", "min")},
    "ttnn.prod": (verify_product,),
    "ttir.cumsum": (verify_scan,),
    "ttir.rms_norm": (verify_rms_norm,),
    "ttnn.rms_norm": (verify_rms_norm_of_ttnn,),
    "ttir.batch_norm_inference": (verify_batch_norm,),
    "ttir.batch_norm_training": (verify_batch_norm,),
    "ttir.concatenate_heads": (verify_concatenated_heads,),
    "ttnn.concatenate_heads": (verify_concatenated_heads,),
    "ttir.rand": (verify_random,),
    "ttnn.rand": (verify_random,),
    **{f"ttir.{name}{rolled}": (verify_quantization,) for name in _KINDS for rolled in ("", "_unrolled")},
}
