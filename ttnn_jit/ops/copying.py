"""Copies of tensors: into another one, and of their own."""

from __future__ import annotations

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.ops.decomposition import MacroOperation, Ops, Value
from ttnn_jit.ops.movement import OPERAND
from ttnn_jit.ops.parameter import TENSOR, Parameter


def _copied(ops: Ops, x: Value, into: Value) -> Value:
    if x.shape != into.shape:
        raise ShapeError(f"a tensor of shape {list(x.shape)} is copied into one of shape {list(into.shape)}")
    return ops.rounded(x, into.spec.dtype)


COPY_INTO = MacroOperation(
    name="copy",
    parameters=(
        Parameter("input_a", TENSOR, aliases=("input_tensor_a",)),
        Parameter("input_b", TENSOR, aliases=("input_tensor_b",)),
    ),
    summary="The first tensor in the element type of the second, which is written.",
    source="ttnn.copy",
    decompose=_copied,
    written_as=("copy",),
    written_operand=1,
    golden=lambda torch, x, into: x.to(into.dtype),  # noqa: ARG005 - goldens are given torch
    examples=((((3, 40), (3, 40)), ()),),
)

ASSIGN = MacroOperation(
    name="assign",
    parameters=(OPERAND,),
    summary="A copy of the tensor.",
    source="ttnn.assign",
    decompose=lambda ops, x: x,  # noqa: ARG005 - what is returned as it came is copied
    golden=lambda torch, x: x.clone(),  # noqa: ARG005 - goldens are given torch
    examples=((((3, 40),), ()),),
)

OPERATIONS = (COPY_INTO, ASSIGN)
