"""Kernels of the ops that contract a dimension of two tensors."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace

from ttnn_jit.codegen.kernel import Kernel, Operand, kernel_over
from ttnn_jit.codegen.launch import View
from ttnn_jit.codegen.stages import Stage, StageWriter
from ttnn_jit.codegen.steps import Cast, Contract, KernelBody, Load, Step, Store
from ttnn_jit.dialects.declared_ops import ContractionOp
from ttnn_jit.kernels.tile_loop import InnerAccess, Stream
from ttnn_jit.ops.contraction import Labels
from ttnn_jit.specs.access import Access, Const, Dim
from ttnn_jit.specs.dtypes import COMPUTE_TYPE
from ttnn_jit.specs.target import Numerics


def contracting_kernels(op: ContractionOp, numerics: Numerics) -> list[Kernel]:
    """The launch of a contraction, over the contracted dimension and then the result's."""
    left, right, result = (Operand.of(value) for value in (*op.operands, op.results[0]))
    named, extents = op.operation.extents([left.view.shape, right.view.shape], op.statics)
    domain = {label: extents.get(label, 1) for label in (named.contracted, *named.result)}
    inputs = _spread(left, named.left, domain), _spread(right, named.right, domain)
    steps: list[Step] = [Load(0, None), Load(1, None), Contract(0, 1)]
    if result.view.spec.dtype is not COMPUTE_TYPE:
        steps.append(Cast(len(steps) - 1, result.view.spec.dtype, None))
    steps.append(Store(len(steps) - 1, len(inputs)))
    return [kernel_over(inputs, (result,), steps, numerics, axis=0)]


def _spread(operand: Operand, own: Labels, domain: Mapping[Hashable, int]) -> Operand:
    """An operand whose dimensions are named as those of a domain: broadcast along the others."""
    kept = {label for label, extent in zip(own, operand.view.shape, strict=True) if extent == domain[label]}
    places = {label: place for place, label in enumerate(domain)}
    extents = tuple(extent if label in kept else 1 for label, extent in domain.items())
    access = Access(extents, tuple(Dim(places[label]) if label in kept else Const(0) for label in own))
    through = access if operand.view.access is None else access.after(operand.view.access)
    return Operand(operand.value, View(operand.view.spec, through))


def in_pairs(body: KernelBody) -> bool:
    """Whether the products of a body that contracts are added up in pairs: those of bfloat16 are."""
    return all(body.streams[k].dtype.is_upper_half for k in body.contracted_streams)


def epilogue(body: KernelBody) -> Stage:
    """What a body that contracts does with the result, as rows of float32 in a buffer after its streams."""
    assert body.contraction is not None, "it contracts"
    streams = [*body.streams, Stream(COMPUTE_TYPE, InnerAccess.CONTIGUOUS)]
    writer = StageWriter(body, streams, {body.contraction: len(body.streams)}, rank=1)
    stage = writer.stage([k for k, step in enumerate(body.steps) if not isinstance(step, Load | Contract)])
    return Stage(replace(stage.body, size_class=body.size_class), stage.operands)
