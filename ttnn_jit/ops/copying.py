"""Copies of tensors: into another one, and of their own."""

from __future__ import annotations

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.ops.movement import OPERAND
from ttnn_jit.ops.parameter import TENSOR, Parameter
from ttnn_jit.ops.shorthand import Call, Shorthand, Value
from ttnn_jit.ops.typecast import OPERATIONS as CASTS

(TYPECAST,) = CASTS


def in_dtype_of(call: Call, cache: Value, x: Value) -> Value:
    """`x` with the element type of `cache`."""
    dtype = cache.spec.dtype
    return x if x.spec.dtype is dtype else call(TYPECAST, [x], dtype)


def _copied(call: Call, x: Value, into: Value) -> Value:
    if x.shape != into.shape:
        raise ShapeError(f"a tensor of shape {list(x.shape)} is copied into one of shape {list(into.shape)}")
    return in_dtype_of(call, into, x)


COPY_INTO = Shorthand(
    name="copy",
    parameters=(
        Parameter("input_a", TENSOR, aliases=("input_tensor_a",)),
        Parameter("input_b", TENSOR, aliases=("input_tensor_b",)),
    ),
    summary="The first tensor in the element type of the second, which is written.",
    source="ttnn.copy",
    calls=_copied,
    written_as=("copy",),
    written_operand=1,
    golden=lambda torch, x, into: x.to(into.dtype),  # noqa: ARG005 - goldens are given torch
    examples=((((3, 40), (3, 40)), ()),),
)

ASSIGN = Shorthand(
    name="assign",
    parameters=(OPERAND,),
    summary="A copy of the tensor.",
    source="ttnn.assign",
    calls=lambda call, x: x,  # noqa: ARG005 - what is returned as it came is copied
    golden=lambda torch, x: x.clone(),  # noqa: ARG005 - goldens are given torch
    examples=((((3, 40),), ()),),
)

OPERATIONS = (COPY_INTO, ASSIGN)
