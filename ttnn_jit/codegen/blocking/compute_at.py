"""`compute_at` for block floats: a launch's own loops unpack and pack them, one block of tiles at a time.

The conversion of a stream moves into the block loop of its only producer or consumer: strips of tiles for loops over
elements, rows of tiles for sweeps over rows. A block lies in a scratch buffer of the thread. The conversion is that of
the launches it replaces, so that no result changes.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Container, Mapping, Sequence

from ttnn_jit.codegen.blocking.storage_formats import Packed, Strides, are_whole, in_tiles, moves_of, with_packed
from ttnn_jit.codegen.bodies.steps import KernelBody
from ttnn_jit.codegen.schedules.bound_kernel import SHARE_OF_LAST_CACHE, BoundKernel
from ttnn_jit.codegen.schedules.conversion import conversions_of
from ttnn_jit.codegen.schedules.host_plan import Blocks, HostLaunch, HostPlan, Readers
from ttnn_jit.codegen.schedules.kernel import Copy, LoopNest, Loops
from ttnn_jit.codegen.schedules.launch import LaunchLoops
from ttnn_jit.codegen.schedules.plan_value import PlanValue
from ttnn_jit.codegen.schedules.stages import Stage
from ttnn_jit.codegen.schedules.vector_loop import vector_loop
from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.nest.limits import MOST_COLUMNS, TILES, rows_fit_stack, strips_fit_stack
from ttnn_jit.nest.streams import InnerAccess
from ttnn_jit.process.dataclass import dataclass, replace
from ttnn_jit.runtime.plans.host_costs import last_cache_bytes
from ttnn_jit.specs.target import TILE_HEIGHT, TILE_WIDTH

_OWN_LOOPS = (0, 1)
"""The loops that one conversion covers: columns, and rows of a tile or of a row of tiles."""

Conversions = Mapping[PlanValue, Sequence[HostLaunch]]
"""The packing and unpacking launches by the value that they read or write."""


def convert_in_loops(plan: HostPlan) -> HostPlan:
    """The plan with conversions that serve a single launch moved into the loops of that launch."""
    conversions = _conversions_by_value(plan.launches)
    if plan.isa is None or not conversions:
        return plan
    readers = plan.readers
    converting: dict[int, HostLaunch] = {}
    converted: set[int] = set()
    for launch in plan.launches:
        blocks = _blocks_of(launch)
        found = _found_around(launch, blocks, conversions, converted, readers) if blocks else {}
        if blocks and found and blocks.is_profitable(found):
            converting[id(launch)] = compute_at(launch, found, blocks, plan.isa)
            converted |= {id(conversion) for conversion, _ in found.values()}
    launches = (converting.get(id(each), each) for each in plan.launches if id(each) not in converted)
    return plan.with_launches(launches)


def _conversions_by_value(launches: Sequence[HostLaunch]) -> Conversions:
    found: dict[PlanValue, list[HostLaunch]] = {}
    for each in launches:
        if isinstance(each.bound.kernel, Copy) and each.bound.kernel.repacks:
            for operand in each.bound.operands:
                found.setdefault(operand.value, []).append(each)
    return found


_Found = Mapping[int, tuple[HostLaunch, Packed]]
"""By stream index: the converting launch, and the storage format."""


def _found_around(
    consumer: HostLaunch, blocks: _Blocks, conversions: Conversions, taken: Container[int], readers: Readers
) -> _Found:
    """The conversions that a launch can absorb: unpacking that serves it alone, packing that alone reads its result."""
    inputs, outputs = consumer.bound.inputs, consumer.bound.outputs
    found: dict[int, tuple[HostLaunch, Packed]] = {}
    values = dict.fromkeys(each.value for each in consumer.bound.operands)
    for each in itertools.chain.from_iterable(conversions.get(value, ()) for value in values):
        (source,), (result,) = each.bound.inputs, each.bound.outputs
        unpacks = source.view.spec.dtype.is_block_float
        packed, elements, reader = (source, result, consumer) if unpacks else (result, source, each)
        alone = readers(elements.value) <= {reader.ops[-1]} and elements.view.spec.strides is None
        if id(each) in taken or not alone:
            continue
        first, operands = (0, inputs) if unpacks else (len(inputs), outputs)
        streams = [stream for stream, operand in enumerate(operands, first) if operand.value is elements.value]
        strides = [blocks.strides(stream, each.bound) for stream in streams]
        for stream, own in zip(streams, strides, strict=True):
            if None not in strides and own is not None:
                access = consumer.bound.kernel.streams[stream].access if own[-1] else InnerAccess.SCALAR
                found[stream] = each, Packed(packed, own, access)
    return dict(sorted(found.items()))


def compute_at(consumer: HostLaunch, found: _Found, blocks: _Blocks, isa: HostIsa) -> HostLaunch:
    """The launch with the conversions in its loop over blocks."""
    bound, body = consumer.bound, consumer.bound.body
    made = with_packed(bound, {stream: packed for stream, (_, packed) in found.items()}, blocks.nest)
    # The stage reads, or the conversion packs, a block right behind the other.
    streams = tuple(replace(each, nontemporal=False) for each in made.kernel.streams)
    whole = replace(made.body, streams=streams, is_fused=True)
    conversions = conversions_of(whole, [body.streams[stream].dtype for stream in found])
    before, behind = (
        [each.ops for stream, (each, _) in found.items() if (stream < len(bound.inputs)) is reads]
        for reads in (True, False)
    )
    ops = tuple(dict.fromkeys(itertools.chain(*before, consumer.ops, *behind)))
    producers = tuple(dict.fromkeys(each.name for each, _ in found.values()))
    scratch = tuple(each.scratch for each in conversions)
    nest = LoopNest(whole, blocks.loops, (blocks.stage(whole, isa),), scratch, conversions=conversions)
    converts = Blocks(producers, consumer.name, blocks.unit, blocks.size, blocks.count)
    return HostLaunch(ops, replace(made, kernel=nest), converts=converts)


def _blocks_of(launch: HostLaunch) -> _Blocks | None:
    """The loops of a launch over blocks; None if it has none."""
    bound, nest = launch.bound, launch.bound.loops
    match launch.bound.kernel:
        case LoopNest() as loops if loops.one_loop and _walks_storage(bound):
            return _Strips(bound, _strips_of(bound))
        case LoopNest(loops=Loops.ROWS) as sweeps if 0 < nest.extents[-1] <= MOST_COLUMNS:
            found = _in_rows_of_tiles(nest)
            return _RowsOfTiles(bound, found, sweeps) if found else None
        case _:
            return None


@dataclass(frozen=True)
class _Strips:
    """A loop over all stored elements, strip by strip.

    Attributes:
        bound: The kernel with its operands.
        nest: Loops over rows of tiles, tiles in a row, and the rows and columns of a tile.
    """

    bound: BoundKernel
    nest: LaunchLoops
    loops = Loops.STRIPS
    unit = "tiles"
    size = TILES

    @property
    def count(self) -> int:
        """The number of strips."""
        rows, tiles = self.nest.extents[:2]
        return rows * -(-tiles // TILES)

    def strides(self, stream: int, conversion: BoundKernel) -> Strides | None:
        """The strides of a packed stream; None unless it has the loop's elements in the same order.

        Packing a partial tile ignores what the loop leaves in its padding.
        """
        shapes = {tuple(each.view.spec.padded_shape) for each in conversion.operands}
        is_whole = conversion.loops.extents[-2:] == (TILE_HEIGHT, TILE_WIDTH) and len(shapes) == 1
        if (
            not is_whole
            or any(each.view.access for each in conversion.operands)
            or self.bound.loops.extents != (math.prod(*shapes),)
        ):
            return None
        along = self.bound.kernel.streams[stream].access is InnerAccess.CONTIGUOUS
        return (*in_tiles([(TILE_HEIGHT, 0), (0, TILE_WIDTH)], shapes.pop()[-1]), 0, 0) if along else None

    def is_profitable(self, found: _Found) -> bool:
        """Whether strips fit the stack and few streams come from memory unconverted.

        Such streams profit from long rows, and strips have short ones.
        """
        nbytes = sum(each.view.spec.nbytes for stream, each in enumerate(self.bound.operands) if stream not in found)
        fit = strips_fit_stack([self.bound.kernel.streams[stream] for stream in found])
        return fit and nbytes <= SHARE_OF_LAST_CACHE * last_cache_bytes()

    def stage(self, whole: KernelBody, isa: HostIsa) -> Stage:
        """The stage between the conversions."""
        behind = itertools.count(len(whole.streams))
        numbers = tuple(next(behind) if each.dtype.is_block_float else k for k, each in enumerate(whole.streams))
        streams = tuple(replace(each, nontemporal=False) for each in self.bound.kernel.streams)
        strip = replace(self.bound.body, streams=streams, rank=1)
        return Stage(strip, numbers, vector_loop(strip, isa))


@dataclass(frozen=True)
class _RowsOfTiles:
    """Sweeps over rows, one row of tiles at a time.

    Attributes:
        bound: The kernel with its operands.
        nest: Its loops, with the row loop split.
        sweeps: The sweeps over the rows of one row of tiles.
    """

    bound: BoundKernel
    nest: LaunchLoops
    sweeps: LoopNest
    loops = Loops.TILE_ROWS
    unit = "rows"

    @property
    def size(self) -> int:
        """Elements of a row of tiles."""
        return self.nest.extents[-2]

    @property
    def count(self) -> int:
        """The number of rows of tiles."""
        return math.prod(self.nest.extents[:-2])

    def strides(self, stream: int, conversion: BoundKernel) -> Strides | None:
        """The strides of a packed stream; None unless its rows are those of its tiles, from the first one on.

        A written stream has no padding: its tiles hold the row's columns and rows only.
        """
        (source,), (result,) = conversion.inputs, conversion.outputs
        packs = result.view.spec.dtype.is_block_float
        width = (source if packs else result).view.spec.padded_shape[-1]
        moves, rows = moves_of(self.nest, stream, width), (0 if self.nest.extents[-2] == 1 else 1, 0)
        if moves is None or moves[-2:] != [rows, (0, 1)] or not are_whole(moves[:-2]):
            return None
        spec = result.view.spec
        fills = math.prod(self.nest.extents) == spec.items * spec.dtype.traits.elements
        return in_tiles(moves, width) if fills or not packs else None

    def is_profitable(self, found: _Found) -> bool:
        """Whether rows of tiles fit the stack."""
        return rows_fit_stack([self.bound.kernel.streams[stream] for stream in found])

    def stage(self, _: KernelBody, __: HostIsa) -> LoopNest:
        """The stage between the conversions."""
        return replace(self.sweeps, body=replace(self.bound.body, rank=1))


_Blocks = _Strips | _RowsOfTiles


def _walks_storage(bound: BoundKernel) -> bool:
    """Whether the kernel is one loop over all stored elements."""
    return (
        bound.loops.rank == 0
        and not any(bound.loops.offsets)
        and not any(each.view.access is not None for each in bound.operands)
        and not any(stream.access is InnerAccess.STRIDED for stream in bound.kernel.streams)
    )


def _strips_of(bound: BoundKernel) -> LaunchLoops:
    """The loops over rows of tiles, tiles in a row, and the rows and columns of a tile."""
    *batch, height, width = (1, 1, *bound.outputs[0].view.spec.padded_shape)
    extents = (math.prod(batch) * (height // TILE_HEIGHT), width // TILE_WIDTH, TILE_HEIGHT, TILE_WIDTH)
    dense = (TILE_HEIGHT * width, TILE_WIDTH, width, 1)
    strides = tuple((0, 0, 0, 0) if stream.access is InnerAccess.SCALAR else dense for stream in bound.kernel.streams)
    return LaunchLoops(extents, strides, (0,) * len(strides), whole=_OWN_LOOPS)


def _in_rows_of_tiles(nest: LaunchLoops) -> LaunchLoops | None:
    """The loops with the row loop split into rows of tiles; None where the split would not align with tiles."""
    *outer, columns = nest.extents
    rows = outer.pop() if outer else 1
    if rows > TILE_HEIGHT and rows % TILE_HEIGHT:
        return None
    around, own = ([rows // TILE_HEIGHT], TILE_HEIGHT) if rows > TILE_HEIGHT else ([], rows)
    strides = []
    for each in nest.strides:
        *before, down, along = each if len(each) > 1 else (0, *each)
        strides.append((*before, *([down * TILE_HEIGHT] if around else []), down, along))
    return LaunchLoops((*outer, *around, own, columns), tuple(strides), nest.offsets, nest.reduced, (1,))
