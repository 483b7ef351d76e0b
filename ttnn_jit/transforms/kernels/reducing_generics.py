"""Kernels with a reduction loop: one `d2m.generic` for the reduction of a dimension or a matrix product."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from xdsl.dialects.builtin import LocationAttr, StringAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ttnn_jit.dialects import d2m, ttir
from ttnn_jit.dialects.builders import constant_number, f32_attr, linalg_yield
from ttnn_jit.dialects.d2m_reductions import FILL_VALUES, PRECISION, reduce_dim
from ttnn_jit.dialects.layout import spec_of, tensor_type
from ttnn_jit.dialects.ttcore import tile_type
from ttnn_jit.dialects.writing.creation import empty_block
from ttnn_jit.dialects.writing.editing import append
from ttnn_jit.ops.families.contraction import Dimensions
from ttnn_jit.specs.access.access import Access
from ttnn_jit.specs.access.index_expressions import Dim
from ttnn_jit.specs.dtypes import COMPUTE_TYPE
from ttnn_jit.specs.extents.extent import is_extent
from ttnn_jit.specs.target import TILE_WIDTH
from ttnn_jit.specs.target_rules import is_of_whole_tiles, is_reducible
from ttnn_jit.transforms.kernels.kernel_ops import KernelShape, OperandLoops, kernel_op
from ttnn_jit.transforms.kernels.reducing_shape import LoopOperand, reducing_shape

LastCore = tuple[int, int]
FILL_OF = {number: name for name, number in FILL_VALUES.items()}
"""Number -> its name as a mask's fill value."""


def reduces_in_place(op: ttir.ReductionOp) -> bool:
    """Whether rows and columns of the result's tiles are those of the operand's tiles, reduced ones aside."""
    rank = len(spec_of(op.operands[0].type).shape)
    (axis,) = op.axes
    return op.keeps_dimensions or rank == 1 or axis <= max(0, rank - 3)


def chips_reduce(op: ttir.ReductionOp) -> bool:
    """Whether chips reduce it in a kernel: rows stay rows, and the tensor is sharded in L1, in whole tiles."""
    spec = spec_of(op.operands[0].type)
    return reduces_in_place(op) and is_of_whole_tiles(spec) and is_reducible(spec)


def reducing_generic(op: ttir.ReductionOp, source: SSAValue, last_core: LastCore) -> list[Operation]:
    """The ops that reduce one dimension of `source`, the kernel last.

    A dimension that the result drops is permuted to the front first, unless it is a leading one, so that rows and
    columns of the result's tiles are those of the operand's.
    """
    (axis,) = op.axes
    made: list[Operation] = []
    if not reduces_in_place(op):
        others = (dim for dim in range(len(spec_of(source.type).shape)) if dim != axis)
        made.append(_permuted(source, [axis, *others], op.location))
        source, axis = made[-1].results[0], 0
    spec = spec_of(source.type)
    rank = max(2, len(spec.shape))
    axis += rank - len(spec.shape)
    stays = op.keeps_dimensions or rank == 2
    follows: OperandLoops = tuple(range(rank))
    kept: OperandLoops = tuple(None if loop == axis else loop for loop in follows if stays or loop != axis)
    operands = LoopOperand(spec, follows), LoopOperand(spec_of(op.results[0].type), kept)
    kinds = tuple("reduction" if loop == axis else "parallel" for loop in follows)
    source, masking = _masked(source, operands[0], axis, op.operation.identity, op.location)
    shape = reducing_shape(operands, kinds, last_core)
    lane: Mapping[str, Attribute] = {} if axis < rank - 2 else {"reduce_dim": reduce_dim("RC"[rank - 1 - axis])}
    one = constant_number(f32_attr(1.0), op.location)
    return [*made, *masking, *_kernel(op, [source], shape, (one,), lane)]


def contracts_matrices(op: ttir.ContractionOp) -> bool:
    """Whether the result's tiles have rows of the first operand and columns of the second."""
    return _named(op)[0].give_matrices


def chips_contract(op: ttir.ContractionOp) -> bool:
    """Whether chips contract it in a kernel: no transposition, whole tiles, in DRAM or block sharded in L1."""
    return op.operation.is_kernel_of_chips([spec_of(value.type) for value in op.operands], op.statics)


def _named(op: ttir.ContractionOp) -> tuple[Dimensions, dict[Hashable, int]]:
    return op.operation.extents([tuple(spec_of(value.type).shape) for value in op.operands], op.statics)


def contracting_generic(op: ttir.ContractionOp, sources: Sequence[SSAValue], last_core: LastCore) -> list[Operation]:
    """The ops of a (batched) matrix product, the kernel last; transposed operands are read through a view."""
    named, extents = _named(op)
    loops = {label: loop for loop, label in enumerate((*named.result, named.contracted))}
    kinds = tuple("reduction" if label == named.contracted else "parallel" for label in loops)
    made: list[Operation] = []
    read: list[SSAValue] = []
    operands: list[LoopOperand] = []
    for source, own, labels in zip(sources, (named.left, named.right), named.as_matrices, strict=True):
        ordering = [] if labels == own else [_permuted(source, [own.index(label) for label in labels], op.location)]
        ordered = ordering[0].result if ordering else source
        spec = spec_of(ordered.type)
        own_extents = zip(labels, spec.shape, strict=True)
        follows = (loops[label] if extent == extents[label] else None for label, extent in own_extents)
        operands.append(LoopOperand(spec, tuple(follows)))
        masked, masking = _masked(ordered, operands[-1], len(loops) - 1, 0.0, op.location)
        made += (*ordering, *masking)
        read.append(masked)
    result = LoopOperand(spec_of(op.results[0].type), tuple(range(len(named.result))))
    requested = op.operation.precision(op.statics)
    precision: Mapping[str, Attribute] = {} if requested is None else {PRECISION: StringAttr(requested)}
    return [*made, *_kernel(op, read, reducing_shape((*operands, result), kinds, last_core), (), precision)]


def _permuted(source: SSAValue, order: Sequence[int], location: LocationAttr) -> d2m.ViewLayoutOp:
    """A view of `source` with its dimensions in `order`."""
    spec = spec_of(source.type)
    extents = tuple(spec.shape)
    moved = spec.with_(shape=[extents[dim] for dim in order], memory_config=spec.memory_config.unsharded)
    access = Access(tuple(moved.shape), tuple(Dim(order.index(dim)) for dim in range(len(order))))
    return d2m.ViewLayoutOp.make(source, access, tensor_type(moved), location)


def _kernel(
    op: Operation,
    sources: Sequence[SSAValue],
    shape: KernelShape,
    scalars: Sequence[Operation],
    properties: Mapping[str, Attribute],
) -> tuple[Operation, Operation]:
    """The output, and the kernel, whose one tile op accumulates in float32; its result is rounded by the store."""
    assert isinstance(op, ttir.ReductionOp | ttir.ContractionOp)
    empty = d2m.EmptyOp.make(op.results[0].type, op.location)
    body = empty_block(shape.tiles)
    append(body, _tile_ops(op, body, scalars, properties))
    return empty, kernel_op(sources, empty.results[0], shape, body, op.location)


def _tile_ops(
    op: ttir.ReductionOp | ttir.ContractionOp,
    body: Block,
    scalars: Sequence[Operation],
    properties: Mapping[str, Attribute],
) -> list[Operation]:
    *tiles, output = body.args
    accumulated = d2m.TILE_OP_OF[op.operation].create(
        operands=(*tiles, *(scalar.results[0] for scalar in scalars), output),
        result_types=(tile_type(COMPUTE_TYPE),),
        properties=properties,
        location=op.location,
    )
    made = [*scalars, accumulated]
    wanted = tile_type(spec_of(op.results[0].type).dtype)
    if accumulated.results[0].type != wanted:
        made.append(d2m.TileTypecastOp.make(accumulated.results[0], wanted, op.location))
    return [*made, linalg_yield((made[-1].results[0],), op.location)]


def _is_of_whole_tiles(extent: int) -> bool:
    """Whether it is a multiple of a tile's, of an extent of a trace for all its values; it has an element."""
    rest = extent % TILE_WIDTH
    return not is_extent(rest) and rest == 0 and extent != 0


def _masked(
    source: SSAValue, operand: LoopOperand, loop: int, fill: float, location: LocationAttr
) -> tuple[SSAValue, list[Operation]]:
    """`source` as the operand of a kernel that reduces `loop`, and the ops that mask its padding, if it has any."""
    extent = operand.loop_extents(operand.extents)[loop]
    if loop not in operand.follows[-2:] or _is_of_whole_tiles(extent):
        return source, []
    empty = d2m.EmptyOp.make(tensor_type(spec_of(source.type).with_()), location)
    mask = d2m.MaskOp.make(source, empty.results[0], FILL_OF[fill], location)
    return mask.result, [empty, mask]
