"""Block-float streams that a kernel accesses in their storage format, without launches that unpack or pack them.

A product unpacks weights as it packs its factors into panels, at every call. The conversion is that of the launches it
replaces, so that no result changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ttnn_jit.codegen.bodies.steps import Load, Product, operands_of
from ttnn_jit.codegen.schedules.bound_kernel import BoundKernel, Operand
from ttnn_jit.codegen.schedules.host_plan import Blocks, HostLaunch, HostPlan, of_several
from ttnn_jit.codegen.schedules.kernel import Contract, Copy, LoopNest, Repack
from ttnn_jit.codegen.schedules.launch import LaunchLoops
from ttnn_jit.nest.streams import InnerAccess, Stream
from ttnn_jit.process.dataclass import dataclass, replace
from ttnn_jit.specs.dtypes import STRIDES_OF_A_TILE
from ttnn_jit.specs.target import TILE_HEIGHT, TILE_WIDTH
from ttnn_jit.specs.tensor_spec import TensorSpec

Strides = tuple[int, ...]


@dataclass(frozen=True)
class Packed:
    """A stream in its storage format.

    Attributes:
        operand: The block-float tensor.
        strides: Per loop, in the unit of its tile strides.
        access: Along the innermost loop.
    """

    operand: Operand
    strides: Strides
    access: InnerAccess


def with_packed(bound: BoundKernel, packed: Mapping[int, Packed], nest: LaunchLoops) -> BoundKernel:
    """A kernel over the loops of `nest` with some of its streams, by index, in their storage format."""
    operands, strides, streams = [*bound.operands], [*nest.strides], [*bound.kernel.streams]
    for index, each in packed.items():
        operands[index], strides[index] = each.operand, each.strides
        streams[index] = Stream(each.operand.view.spec.dtype, each.access, written=streams[index].written)
    kernel = bound.kernel
    assert isinstance(kernel, LoopNest | Contract), "others have a format of their own"
    body = replace(kernel.body, streams=tuple(streams), rank=nest.rank)
    loops = replace(nest, strides=tuple(strides))
    return replace(bound.with_operands(operands), kernel=replace(kernel, body=body), loops=loops)


def moves_of(nest: LaunchLoops, index: int, width: int) -> list[tuple[int, int]] | None:
    """Per loop, the rows and columns by which an operand moves in a matrix of `width` columns.

    None if the operand has an offset, or crosses the end of a row.
    """
    moves = [divmod(stride, width) for stride in nest.strides[index]]
    along = sum((extent - 1) * column for extent, (_, column) in zip(nest.extents, moves, strict=True))
    return None if nest.offsets[index] or along >= width else moves


def in_tiles(moves: Sequence[tuple[int, int]], width: int) -> Strides:
    """Moves by rows and columns as strides in packed tiles."""
    return tuple(row * (width // STRIDES_OF_A_TILE) + column for row, column in moves)


def are_whole(moves: Sequence[tuple[int, int]]) -> bool:
    """Whether moves by rows and columns are of whole tiles."""
    return all(row % TILE_HEIGHT == column % TILE_WIDTH == 0 for row, column in moves)


# --- Factors of products ----------------------------------------------------------------------------------------------


@of_several
def unpack_in_products(plan: HostPlan) -> HostPlan:
    """The plan without launches that unpack block floats for products only, as one of their factors."""
    if plan.isa is None:
        return plan
    launches = plan.launches
    for launch in plan.launches:
        kernel = launch.bound.kernel
        unpacks = isinstance(kernel, Copy) and kernel.move is Repack.UNPACKED
        if unpacks and launch.bound.outputs[0].value not in plan.results:
            launches = _without(launch, launches)
    return plan.with_launches(launches)


def _without(unpacking: HostLaunch, launches: Sequence[HostLaunch]) -> tuple[HostLaunch, ...]:
    """The launches without `unpacking`, whose readers unpack instead; unchanged where one of them cannot."""
    value = unpacking.bound.outputs[0].value
    others = [launch for launch in launches if launch is not unpacking]
    readers = [launch for launch in others if any(each.value is value for each in launch.bound.inputs)]
    unpacked = [_unpacked_by(launch, unpacking) for launch in readers]
    if not readers or None in unpacked:
        return tuple(launches)
    found = iter(unpacked)
    return tuple(next(found) or launch if launch in readers else launch for launch in others)


def _unpacked_by(reader: HostLaunch, unpacking: HostLaunch) -> HostLaunch | None:
    """The product that reads the packed tensor itself; None if `reader` is no product, or does not walk it by tiles."""
    bound, (packed,) = reader.bound, unpacking.bound.inputs
    read = [k for k, each in enumerate(bound.inputs) if each.value is unpacking.bound.outputs[0].value]
    if len(read) != 1 or not _is_factor(bound, read[0]):
        return None
    (index,) = read
    strides = _strides_of_factor(bound, index, packed.view.spec)
    if strides is None:
        return None
    access = bound.kernel.streams[index].access
    if bound.product.contracted.left != index:
        access = InnerAccess.CONTIGUOUS if bound.loops.strides[index][-1] == 1 else InnerAccess.STRIDED
    made = with_packed(bound, {index: Packed(packed, strides, access)}, bound.loops)
    if made.product.in_pairs is not bound.product.in_pairs:
        return None
    own = reader.converts or Blocks((), reader.name, "panels")
    converts = replace(own, producers=tuple(dict.fromkeys((*own.producers, unpacking.name))))
    return replace(reader, ops=(*unpacking.ops, *reader.ops), bound=made, converts=converts)


def _is_factor(bound: BoundKernel, index: int) -> bool:
    """Whether a stream is exactly one factor of a product and has no other use."""
    if not isinstance(bound.kernel, Contract) or bound.kernel.factors.count(index) != 1:
        return False
    loads = {k for k, step in enumerate(bound.steps) if isinstance(step, Load) and step.stream == index}
    others = (step for step in bound.steps if not isinstance(step, Product))
    return not any(loads.intersection(operands_of(step)) for step in others)


def _strides_of_factor(bound: BoundKernel, index: int, packed: TensorSpec) -> Strides | None:
    """The strides of a factor in packed tiles; None unless its rows of tiles are walked in order from its start.

    The loops of a right operand walk columns and rows of tiles; those of a left operand walk rows, and terms along
    them. Neither a pair of terms nor a step of the loop around them may span two tiles, and rows that several loops
    walk may not end inside a tile. A right operand with the columns of one tile has column stride 0.
    """
    nest, contracted, width = bound.loops, bound.product.contracted, packed.padded_shape[-1]
    moves = moves_of(nest, index, width)
    has_whole_steps = nest.extents[-2] % (2 if len(nest.reduced) == 1 else TILE_HEIGHT) == 0
    if moves is None or contracted.is_dots or not has_whole_steps:
        return None
    *outer, terms, columns = moves
    if contracted.left != index:
        walks = {terms, columns} == {(0, 1), (1, 0)} and width > STRIDES_OF_A_TILE
    else:
        rows = nest.extents[-2 - len(nest.reduced)]
        down = outer.pop(-len(nest.reduced))
        ends = contracted.row_loops == 1 or rows % TILE_HEIGHT == 0
        walks = (terms, columns) == ((0, 1), (0, 0)) and down == ((0, 0) if rows == 1 else (1, 0)) and ends
    return in_tiles(moves, width) if walks and are_whole(outer) else None
