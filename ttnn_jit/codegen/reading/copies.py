"""Kernels that move elements and compute nothing: of views, and of ops that no `d2m.generic` holds."""

from __future__ import annotations

from ttnn_jit.codegen.reading.module_reader import ModuleReader
from ttnn_jit.codegen.schedules.bound_kernel import COPY, BoundKernel, Operand, filled_with, kernel_over
from ttnn_jit.codegen.schedules.launch import View
from ttnn_jit.dialects.d2m import ViewLayoutOp
from ttnn_jit.dialects.declared_ops import MovementOp
from ttnn_jit.dialects.region_loops import NOT_STRIDED, refusal
from ttnn_jit.dialects.ttir import FullOp
from ttnn_jit.specs.access.access import Access, surrounding_parts
from ttnn_jit.specs.access.strided_walk import NotStridedError
from ttnn_jit.specs.target import Numerics
from ttnn_jit.specs.tensor_spec import TensorSpec


def copying_kernels(op: MovementOp, reader: ModuleReader) -> list[BoundKernel]:
    """The launches of `op`: per operand one launch, or two if only a dense copy of the operand is strided.

    Raises:
        CompileError: Even a dense copy is not strided.
    """
    result, numerics = reader.operand(op.results[0]), reader.numerics
    whole = tuple(result.view.spec.shape)
    kernels = _filling(op, result, numerics)
    for value, part in zip(op.operands, op.parts, strict=True):
        is_whole = part.access.extents == whole
        target = result if is_whole else result.viewed(part.result_access)
        try:
            kernels += copies_of(reader.operand(value), part.access, target, numerics)
        except NotStridedError:
            raise refusal(op, NOT_STRIDED) from None
    return kernels


def filling_kernels(op: FullOp, reader: ModuleReader) -> list[BoundKernel]:
    """The launch that fills a tensor with one number."""
    return [fill(reader.operand(op.result), op.fill_value.value.data, reader.numerics)]


def fill(target: Operand, number: float, numerics: Numerics) -> BoundKernel:
    """The launch that fills a tensor, or a block of one, with one number."""
    return kernel_over((), (target,), filled_with(number, target.view.spec.dtype), numerics)


def _filling(op: MovementOp, result: Operand, numerics: Numerics) -> list[BoundKernel]:
    """The launches that fill the result around the block that `op` moves; none if the block is the whole result."""
    background = op.background
    if background is None:
        return []
    (part,) = op.parts
    return [
        fill(result.viewed(slab.result_access), background.number, numerics)
        for slab in surrounding_parts(part, background.extents)
    ]


def copy_of(view: ViewLayoutOp, reader: ModuleReader) -> BoundKernel:
    """The launch that materializes a view.

    Raises:
        CompileError: The view is not strided.
    """
    tensor = reader.value(view.result)
    copy = Operand(tensor, View(tensor.spec))
    try:
        return kernel_over((reader.operand(view.result),), (copy,), COPY, reader.numerics)
    except NotStridedError:
        raise refusal(view, NOT_STRIDED, "let its divisors divide the extents, or each other") from None


def copies_of(source: Operand, access: Access, target: Operand, numerics: Numerics) -> list[BoundKernel]:
    """The launches that copy the elements of `source` through `access`.

    Raises:
        NotStridedError: Neither the access nor a dense copy of it is strided.
    """
    try:
        return [kernel_over((source.through(access),), (target,), COPY, numerics)]
    except NotStridedError:
        copied = Operand.new(TensorSpec(source.view.shape, source.view.spec.dtype))
        copy = kernel_over((source,), (copied,), COPY, numerics)
        return [copy, kernel_over((copied.viewed(access),), (target,), COPY, numerics)]
