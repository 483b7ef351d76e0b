"""Movement of elements: slices, concatenation, reshaping, permutation, broadcasting, sorting."""

from __future__ import annotations

import math
from typing import Any

from xdsl.dialects.builtin import AnyFloat, IntegerType, Signedness
from xdsl.ir import Operation

from ttnn_jit.dialects.upstream.rules.view import View, broadcast, fail, joined, require

_SAME_ELEMENTS = "Output tensor must have the same element type as the input tensor"
_SAME_RANK = "Output tensor must have the same rank as the input tensor"


def _verify_like_input(view: View) -> None:
    source, output = view.type("input"), view.result()
    require(source.element_type == output.element_type, _SAME_ELEMENTS)
    require(len(source.get_shape()) == len(output.get_shape()), _SAME_RANK)


def verify_index(op: Operation) -> None:
    """A slice of one dimension."""
    view = View(op)
    shape = view.shape("input")
    require(len(shape) >= 1, "Input must be at least a 1D tensor")
    _verify_like_input(view)
    dim = view.integer("dim")
    require(0 <= dim < len(shape), f"Invalid dimension index {dim}. Input tensor rank is {len(shape)}")
    bounds = (view.integer("begin"), view.integer("end"), view.integer("step"))
    _verify_bounds(view, dim, bounds, may_be_empty=False)


def verify_static_slice(op: Operation) -> None:
    """A slice of all dimensions by constants."""
    view = View(op)
    shape = view.shape("input")
    require(len(shape) >= 1, "Input must be at least a 1D tensor")
    begins, ends, steps = (view.integers(name) for name in ("begins", "ends", "step"))
    require(
        len(shape) == len(begins) == len(ends) == len(steps),
        "Begins, ends, and step attributes must have the same number of elements as the input tensor rank",
    )
    _verify_like_input(view)
    for dim, bounds in enumerate(zip(begins, ends, steps, strict=True)):
        _verify_bounds(view, dim, bounds, may_be_empty=True)


def _verify_bounds(view: View, dim: int, bounds: tuple[int, int, int], *, may_be_empty: bool) -> None:
    shape = view.shape("input")
    size, (begin, end, step) = shape[dim], bounds
    first, last = (value + size if value < 0 else value for value in (begin, end))
    shown = f"({joined(shape, ', ')})"
    if not (may_be_empty and first == last):
        for what, value, given, close in (("begin", first, begin, ")"), ("end", last, end, "]")):
            if value < 0 or value > size or (what == "begin" and value == size):
                fail(
                    f"Invalid {what} index for dimension {dim}. Expected value in range [{-size}, {size}{close}, got "
                    f"{given}. Input shape: {shown}"
                )
    require(step != 0, f"Step value for dimension {dim} cannot be zero")
    texts = [f"{value} ({given})" if given < 0 else str(given) for value, given in ((first, begin), (last, end))]
    wrong = {"positive": step > 0 and first > last, "negative": step < 0 and first < last}
    for sign, is_wrong in wrong.items():
        if is_wrong:
            fail(
                f"For {sign} step, begin index must be {'less' if sign == 'positive' else 'greater'} than or equal to "
                f"end index for dimension {dim}. Got begin: {texts[0]}, end: {texts[1]}, step: {step}, input shape: "
                f"{shown}"
            )
    expected = (abs(last - first) + abs(step) - 1) // abs(step)
    got = view.result().get_shape()[dim]
    if got != expected:
        fail(f"Mismatch in dimension {dim} of the output tensor: expected size {expected}, but got {got}")


def verify_dynamic_slice(op: Operation) -> None:
    """A slice by tensors of bounds."""
    view = View(op)
    shape = view.shape("input")
    require(len(shape) >= 1, "Input must be at least a 1D tensor")
    begins, ends = view.shape("begins"), view.shape("ends")
    require(len(begins) == len(ends) == 1, "Begins and ends must be 1D tensors")
    steps = view.integers("step") if view.attribute("step") is not None else [1] * len(shape)
    require(
        len(shape) == begins[0] == ends[0] == len(steps),
        "Begins, ends, and step must have the same number of elements as the input tensor rank",
    )
    _verify_like_input(view)
    for dim, step in enumerate(steps):
        require(step != 0, f"Step value for dimension {dim} cannot be zero")


def verify_concat(op: Operation) -> None:
    """A concatenation."""
    view = View(op)
    shapes = [[*type_.get_shape()] for type_ in view.types("inputs")]
    given, rank = view.integer("dim"), len(shapes[0])
    dim = given + rank if given < 0 else given
    require(0 <= dim < rank, f"Invalid dimension {given} for concatenation.")
    for shape in shapes[1:]:
        require(len(shape) == rank, "All input tensors must have the same rank.")
        for index in range(rank):
            require(
                index == dim or shape[index] == shapes[0][index],
                f"All input tensors must have the same dimensions, except for dimension {dim}.",
            )
    total, got = sum(shape[dim] for shape in shapes), view.result().get_shape()[dim]
    require(
        got == total,
        f"Output tensor dimension {dim} does not match the sum of input tensor dimensions: {got} vs. {total}.",
    )


def verify_gather(op: Operation) -> None:
    """An element of the input for each index; the gather of December 2025 has other operands."""
    view = View(op)
    if view.attribute("dim") is None:
        return
    kind, dim, shape = view.type("index").element_type, view.integer("dim"), view.shape("input")
    indices, rank = view.shape("index"), len(shape)
    require(isinstance(kind, IntegerType), f"Index tensor must have an integer type, got '{kind}'")
    require(
        len(indices) == rank,
        f"Input tensor and index tensor must have the same rank. Got input rank = {rank}, index rank = {len(indices)}",
    )
    require(rank >= 1, f"Input tensor and index tensor must have rank >= 1. Got rank = {rank}")
    require(-rank <= dim < rank, f"Dimension must be in the range [-{rank}, {rank}), got dim = {dim}")
    require([*view.result().get_shape()] == indices, "Index tensor and result tensor must have the same shape.")


def verify_bitcast(op: Operation) -> None:
    """Elements of as many bits."""
    view = View(op)
    given, wanted = view.type("input").element_type, view.result().element_type
    for kind, side in ((given, "Input"), (wanted, "Output")):
        is_number = isinstance(kind, (IntegerType, AnyFloat))
        require(is_number, f"{side} tensor type must be an integer or floating point type")
    require(given.bitwidth == wanted.bitwidth, "Input and output tensor element types must have the same bit width")


def verify_clamp(op: Operation) -> None:
    """The shape that it keeps."""
    view = View(op)
    require(view.shape("input") == [*view.result().get_shape()], "input and output must have same shape.")


def verify_repeat_interleave(op: Operation) -> None:
    """Each element repeated along a dimension."""
    view = View(op)
    shape, output = view.shape("input"), [*view.result().get_shape()]
    repeats, dim, rank = view.integer("repeats"), view.integer("dim"), len(shape)
    require(rank >= 1, "Input must be at least a 1D tensor")
    require(repeats != 0, "Repeats attribute must be non-zero")
    require(-rank <= dim < rank, f"Dimension attribute must be within the bounds[{-rank}, {rank}), got {rank}")
    shape[dim] *= repeats
    require(output == shape, f"Output shape [{joined(output)}] does not match the expected shape [{joined(shape)}]")


def verify_reshape(op: Operation) -> None:
    """A reshape by a shape of which one number may be -1."""
    view = View(op)
    shape, output = view.integers("shape"), [*view.result().get_shape()]
    require(len(shape) == len(output), f"Shape attribute size {len(shape)} must match output tensor rank {len(output)}")
    counts = math.prod(view.shape("input")), math.prod(output)
    if counts[0] != counts[1]:
        fail(
            f"Input tensor number of elements {counts[0]} and output tensor number of elements {counts[1]} must be the "
            "same"
        )
    for index, value in enumerate(shape):
        if value == -1:
            require(-1 not in shape[:index], "Shape attribute must have at most one -1 element")
            continue
        require(value >= 0, "All dimensions must be >= 0 except the one with -1")
        if value != output[index]:
            fail(
                f"Shape attribute {value} must match the output tensor shape {output[index]} at index {index} for "
                "dimension that is not -1"
            )


def verify_permute(op: Operation) -> None:
    """A permutation of dimensions."""
    view = View(op)
    shape, permutation = view.shape("input"), view.integers("permutation")
    dims = [*range(len(shape))]
    if sorted(permutation) != dims:
        fail(f"Expected a permutation of ({joined(dims, ', ')}), got ({joined(permutation, ', ')})")
    expected, output = [shape[dim] for dim in permutation], [*view.result().get_shape()]
    require(output == expected, f"Expected result shape ({joined(expected, ', ')}), got ({joined(output, ', ')})")


def verify_broadcast(op: Operation) -> None:
    """A broadcast by factors."""
    view = View(op)
    shape, output = view.shape("input"), [*view.result().get_shape()]
    if len(shape) != len(output):
        fail(f"Input tensor rank of {len(shape)} does not match output tensor rank of {len(output)}")
    if broadcast(shape, output) is None:
        fail(f"Input tensor shape ({joined(shape)}) is not broadcastable to output shape ({joined(output)})")
    factors = view.integers("broadcast_dimensions")
    require(len(factors) == len(shape), "Input tensor rank should match output tensor rank.")
    for index, factor in enumerate(factors):
        if shape[index] * factor != output[index]:
            fail(
                f"Input tensor shape ({joined(shape)}) index {index} does not broadcast to output ({joined(output)}) "
                f"using broadcast value {factor}"
            )


def verify_embedding(op: Operation) -> None:
    """A look-up of rows."""
    view = View(op)
    shape, weight, output = view.shape("input"), view.shape("weight"), [*view.result().get_shape()]
    require(len(shape) <= 2, f"input must be at most a 2D tensor, got {len(shape)}D ranked tensor")
    require(len(weight) >= 2, f"weight must be at least 2D tensor, got {len(weight)}D ranked tensor")
    require(all(extent == 1 for extent in weight[:-2]), "weight must be effectively 2D tensor")
    expected = [*shape, weight[-1]]
    require(output == expected, f"expected output shape of ({joined(expected, ', ')}) but got ({joined(output, ', ')})")


def verify_sort(op: Operation) -> None:
    """A sort with its indices."""
    view = View(op)
    rank, dim = len(view.shape("input")), view.integer("dim", -1)
    require(
        -rank <= dim < rank,
        f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got {dim})",
    )
    values, indices = (result.type for result in op.results)
    require(view.type("input") == values, "Sorted tensor type does not match with input tensor.")
    extents: Any = indices
    require(view.shape("input") == [*extents.get_shape()], "Indices shape does not match with input tensor shape.")


def verify_reverse(op: Operation) -> None:
    """Dimensions in reverse."""
    view = View(op)
    dims, rank = view.integers("dimensions"), len(view.shape("input"))
    require(len(set(dims)) == len(dims), f"dimensions should be unique. Got: {joined(dims, ', ')}")
    for dim in dims:
        require(dim >= 0, f"all dimensions should be non-negative. Got dimension: {dim}")
        require(dim < rank, f"all dimensions should be in interval [0, {rank}). Got dimension: {dim}")


def verify_unsqueeze(op: Operation) -> None:
    """A new dimension of extent 1."""
    view = View(op)
    shape, output, dim = view.shape("input"), [*view.result().get_shape()], view.integer("dim")
    dim += len(shape) + 1 if dim < 0 else 0
    require(0 <= dim <= len(shape), "Dimension attribute must be within the bounds of the input tensor")
    require(len(output) == len(shape) + 1, "Output tensor must have one more dimension than the input tensor")
    require(output[dim] == 1, "Dimension added must be of size 1")
    require(
        output[:dim] + output[dim + 1 :] == shape,
        "All dimensions of the input tensor must be the same as the output tensor except for the dimension added",
    )


def verify_softmax(op: Operation) -> None:
    """A softmax along a dimension."""
    view = View(op)
    shape, dim = view.shape("input"), view.integer("dimension")
    require(shape == [*view.result().get_shape()], "Input and output shapes must be the same")
    require(-len(shape) <= dim < len(shape), "Dimension attribute must be within the bounds of the input tensor")


def verify_trace(op: Operation) -> None:
    """The number of a trace: a scalar of ui32 on the host."""
    view = View(op)
    type_: Any = view.values["trace_id"][0].type
    require(not type_.get_shape(), "Trace ID must be a scalar")
    element = type_.element_type
    require(isinstance(element, IntegerType), "Trace ID must be an integer")
    require(element.signedness.data is Signedness.UNSIGNED, "Trace ID must be unsigned")
    require(element.width.data == 32, "Trace ID must be 32-bit")
    require(type_.encoding.name == "ttnn.trace_id", "Trace ID must have the TraceIdAttr encoding")


MOVEMENTS = {
    "ttnn.begin_trace_capture": (verify_trace,),
    "ttnn.end_trace_capture": (verify_trace,),
    "ttnn.execute_trace": (verify_trace,),
    "ttir.index": (verify_index,),
    "ttir.slice_static": (verify_static_slice,),
    "ttnn.slice_static": (verify_static_slice,),
    "ttir.slice_dynamic": (verify_dynamic_slice,),
    "ttnn.slice_dynamic": (verify_dynamic_slice,),
    "ttir.gather": (verify_gather,),
    "ttnn.gather": (verify_gather,),
    "ttir.bitcast_convert": (verify_bitcast,),
    "ttir.clamp_scalar": (verify_clamp,),
    "ttnn.clamp_scalar": (verify_clamp,),
    "ttir.concat": (verify_concat,),
    "ttnn.concat": (verify_concat,),
    "ttir.repeat_interleave": (verify_repeat_interleave,),
    "ttnn.repeat_interleave": (verify_repeat_interleave,),
    "ttir.reshape": (verify_reshape,),
    "ttnn.reshape": (verify_reshape,),
    "ttir.permute": (verify_permute,),
    "ttnn.permute": (verify_permute,),
    "ttir.broadcast": (verify_broadcast,),
    "ttir.embedding": (verify_embedding,),
    "ttir.sort": (verify_sort,),
    "ttnn.sort": (verify_sort,),
    "ttir.reverse": (verify_reverse,),
    "ttir.unsqueeze": (verify_unsqueeze,),
    "ttir.softmax": (verify_softmax,),
}
