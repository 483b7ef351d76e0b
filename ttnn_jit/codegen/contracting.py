"""Kernels of the ops that contract a dimension of two tensors."""

from __future__ import annotations

import math
from dataclasses import replace

from ttnn_jit.codegen.kernel import Kernel, Operand
from ttnn_jit.codegen.launch import contraction_nest_of
from ttnn_jit.codegen.stages import Stage, StageWriter
from ttnn_jit.codegen.steps import Cast, Contract, KernelBody, Load, Reduced, SizeClass, Step, Store
from ttnn_jit.dialects.declared_ops import ContractionOp
from ttnn_jit.kernels.tile_loop import InnerAccess, Stream
from ttnn_jit.ops.reduction import SHORT_ROW
from ttnn_jit.specs.dtypes import COMPUTE_TYPE
from ttnn_jit.specs.target import Numerics


def contracting_kernels(op: ContractionOp, numerics: Numerics) -> list[Kernel]:
    """The launch of a contraction."""
    inputs, result = tuple(Operand.of(value) for value in op.operands), Operand.of(op.results[0])
    specs = [each.view.spec for each in (*inputs, result)]
    named, extents = op.operation.extents([spec.shape for spec in specs[:-1]], op.statics)
    nest = contraction_nest_of(specs, named, extents)
    contracts = bool(nest.reduced)  # else no result has an element
    steps: list[Step] = [Load(0, None), *((Load(1, None), Contract(0, 1)) if contracts else ())]
    if result.view.spec.dtype is not COMPUTE_TYPE:
        steps.append(Cast(len(steps) - 1, result.view.spec.dtype, None))
    steps.append(Store(len(steps) - 1, len(inputs)))
    accesses = zip(specs, nest.accesses, strict=True)
    streams = tuple(Stream(spec.dtype, access, written=k == len(inputs)) for k, (spec, access) in enumerate(accesses))
    reduced = Reduced(1, nest.moves_along(1), nest.extents[-2] <= SHORT_ROW) if contracts else None
    size_class = SizeClass.of(math.prod(nest.extents))
    body = KernelBody(streams, nest.rank, tuple(steps), numerics, size_class, reduced=reduced)
    return [Kernel(body, inputs, (result,), nest)]


def in_pairs(body: KernelBody) -> bool:
    """Whether the products of a body that contracts are added up in pairs: those of bfloat16 are."""
    return all(body.streams[k].dtype.is_upper_half for k in contracted_streams(body))


def contracted_streams(body: KernelBody) -> tuple[int, int]:
    """The numbers of the streams that a body contracts."""
    assert body.contraction is not None, "it contracts"
    step = body.steps[body.contraction]
    assert isinstance(step, Contract), "it is that step"
    left, right = body.steps[step.left], body.steps[step.right]
    assert isinstance(left, Load), "it is loaded"
    assert isinstance(right, Load), "it is loaded"
    return left.stream, right.stream


def epilogue(body: KernelBody) -> Stage:
    """What a body that contracts does with the result, as rows of float32 in a buffer after its streams."""
    assert body.contraction is not None, "it contracts"
    streams = [*body.streams, Stream(COMPUTE_TYPE, InnerAccess.CONTIGUOUS)]
    writer = StageWriter(body, streams, {body.contraction: len(body.streams)}, rank=1)
    stage = writer.stage(range(body.contraction + 1, len(body.steps)))
    return Stage(replace(stage.body, size_class=body.size_class), stage.operands)
