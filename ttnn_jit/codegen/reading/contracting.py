"""Kernels of the ops that contract a dimension of two tensors."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from ttnn_jit.codegen.bodies.steps import Cast, Constant, KernelBody, Load, Product, Step, Store
from ttnn_jit.codegen.reading.module_reader import ModuleReader
from ttnn_jit.codegen.reading.reduced_operands import ReducedOperands, extents_in, require_extents, require_masked
from ttnn_jit.codegen.schedules.bound_kernel import BoundKernel, Operand, kernel_over
from ttnn_jit.codegen.schedules.stages import Stage, StageWriter
from ttnn_jit.dialects.d2m import GenericOp, TileContractOp
from ttnn_jit.dialects.declared_ops import ContractionOp
from ttnn_jit.dialects.region_loops import NOT_STRIDED, mapped_dims, refusal
from ttnn_jit.nest.streams import InnerAccess, Stream
from ttnn_jit.ops.families.contraction import Labels
from ttnn_jit.process.dataclass import replace
from ttnn_jit.specs.access.access import Access
from ttnn_jit.specs.access.index_expressions import Const, Dim
from ttnn_jit.specs.access.strided_walk import NotStridedError
from ttnn_jit.specs.dtypes import COMPUTE_TYPE
from ttnn_jit.specs.product_precision import multiplication, names_fidelity
from ttnn_jit.specs.tensor_spec import DataType


def contracting_kernels(op: ContractionOp, reader: ModuleReader) -> list[BoundKernel]:
    """The launch of a contraction; the contracted dimension comes first, then those of the result."""
    left, right, result = (reader.operand(value) for value in (*op.operands, op.results[0]))
    named, extents = op.operation.extents([left.view.shape, right.view.shape], op.statics)
    domain = {label: extents.get(label, 1) for label in (named.contracted, *named.result)}
    inputs = _spread(left, named.left, domain), _spread(right, named.right, domain)
    precision = op.operation.precision(op.statics)
    if precision is not None and not names_fidelity(precision):
        raise refusal(op, "its `compute_config` names no fidelity")
    multiplied = multiplication(precision, left.view.spec.dtype, right.view.spec.dtype)
    steps: list[Step] = [Load(0, None), Load(1, None), Product(0, 1, multiplication=multiplied)]
    if result.view.spec.dtype is not COMPUTE_TYPE:
        steps.append(Cast(len(steps) - 1, result.view.spec.dtype, None))
    steps.append(Store(len(steps) - 1, len(inputs)))
    try:
        return [kernel_over(inputs, (result,), steps, reader.numerics, axis=0)]
    except NotStridedError:
        raise refusal(op, NOT_STRIDED) from None


def contracting_steps(
    op: TileContractOp,
    tiles: Sequence[tuple[int, DataType]],
    numbers: Sequence[Constant],
    following: int,  # noqa: ARG001
) -> list[Step]:
    """See `OperationFamily.steps`."""
    if numbers:
        raise refusal(op, "it multiplies by a number")
    (left, first), (right, second) = tiles
    return [Product(left, right, multiplication=multiplication(op.precision, first, second))]


def contracted_operands(
    generic: GenericOp, op: TileContractOp, dim: int, operands: Sequence[Operand]
) -> ReducedOperands:
    """See `OperationFamily.operands`; the contracted dimension comes first, then those of the result."""
    left, right, result = operands
    rows, columns, written = (mapped_dims(each.data) for each in generic.indexing_maps)
    if rows[-2:] != (written[-2], dim) or columns[-2:] != (dim, written[-1]):
        raise refusal(op, "its tiles are not of rows, and of columns, that the indexing map of the result names")
    domain: dict[Hashable, int] = {dim: extents_in(generic, left, rows)[-1]}
    domain.update(zip(written, extents_in(generic, result, written), strict=True))
    for name, number, operand, own in (("a factor", 0, left, rows), ("a factor", 1, right, columns)):
        wanted = [1 if loop is None else domain[loop] for loop in own]
        require_extents(generic, name, extents_in(generic, operand, own), wanted)
        require_masked(generic, number, domain[dim], op.identity)
    inputs = _spread(left, rows, domain), _spread(right, columns, domain)
    return ReducedOperands(inputs, (result,), 0)


def _spread(operand: Operand, own: Labels, domain: Mapping[Hashable, int]) -> Operand:
    """An operand broadcast to a domain; its dimensions are named by the domain's labels."""
    shape = operand.view.shape
    kept = {label for label, extent in zip(own, shape, strict=True) if label in domain and extent == domain[label]}
    dim_of = {label: dim for dim, label in enumerate(domain)}
    extents = tuple(extent if label in kept else 1 for label, extent in domain.items())
    access = Access(extents, tuple(Dim(dim_of[label]) if label in kept else Const(0) for label in own))
    return operand.through(access)


def epilogue(body: KernelBody) -> Stage:
    """The stage of a contracting body behind its product, whose float32 rows are in a buffer behind the streams."""
    (product,) = (index for index, step in enumerate(body.steps) if isinstance(step, Product))
    streams = [*body.streams, Stream(COMPUTE_TYPE, InnerAccess.CONTIGUOUS)]
    writer = StageWriter(body, streams, {product: len(body.streams)}, rank=1)
    stage = writer.stage([k for k, step in enumerate(body.steps) if not isinstance(step, Load | Product)])
    return Stage(replace(stage.body, size_class=body.size_class), stage.operands)
