"""Block floats that sweeps over rows unpack, and pack, for a row of tiles at a time: no launches of their own do it.

They are converted as those launches do, so that no result changes.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ttnn_jit.codegen.bound_kernel import BoundKernel
from ttnn_jit.codegen.conversion import conversions_of
from ttnn_jit.codegen.host.host_plan import HostLaunch, HostPlan, Readers
from ttnn_jit.codegen.host.packed_elements import conversions_by_value
from ttnn_jit.codegen.host.unpacked_factors import in_tiles, is_whole
from ttnn_jit.codegen.kernel import LoopNest, Loops
from ttnn_jit.codegen.launch import LaunchLoops
from ttnn_jit.codegen.plan_value import PlanValue
from ttnn_jit.nest.limits import MOST_COLUMNS, rows_fit_stack
from ttnn_jit.specs.target import TILE_HEIGHT
from ttnn_jit.specs.tensor_spec import TensorSpec

_OWN_LOOPS = (0, 1)
"""Columns, which are reduced, and rows of a row of tiles."""


def convert_in_sweeps(plan: HostPlan) -> HostPlan:
    """The launches without those that unpack for sweeps over rows alone, or pack what they write."""
    conversions = conversions_by_value(plan.launches)
    joined: dict[int, HostLaunch] = {}
    converted: set[int] = set()
    readers = plan.readers
    for launch in plan.launches:
        rows = launch.bound.kernel
        if plan.isa and isinstance(rows, LoopNest) and rows.loops is Loops.ROWS:
            found = _with_own_conversions(launch, rows, conversions, readers)
            if found is not None:
                joined[id(launch)] = found[0]
                converted |= {id(each) for each in found[1]}
    return replace(
        plan, launches=tuple(joined.get(id(each), each) for each in plan.launches if id(each) not in converted)
    )


def _with_own_conversions(
    sweeps: HostLaunch, rows: LoopNest, conversions: Mapping[PlanValue, Sequence[HostLaunch]], readers: Readers
) -> tuple[HostLaunch, Iterable[HostLaunch]] | None:
    """Sweeps with the conversions of their operands, and these; None where there are none that they can do."""
    bound, nest = sweeps.bound, _in_rows_of_tiles(sweeps.bound.loops)
    if nest is None or not 0 < nest.extents[-1] <= MOST_COLUMNS:
        return None
    operands = dict.fromkeys(each.value for each in (*bound.inputs, *bound.outputs))
    found: dict[int, HostLaunch] = {}
    strides = dict(enumerate(nest.strides))
    for each in itertools.chain.from_iterable(conversions.get(value, ()) for value in operands):
        places = _converted_by(each, sweeps, readers)
        own = [_in_packed_tiles(nest, place, each.bound) for place in places]
        if None not in own:
            found |= dict.fromkeys(places, each)
            strides |= {place: moves for place, moves in zip(places, own, strict=True) if moves is not None}
    found = dict(sorted(found.items()))
    if not found or not rows_fit_stack([rows.streams[place] for place in found]):
        return None
    return _joined(sweeps, rows, found, replace(nest, strides=tuple(strides.values()))), found.values()


def _in_rows_of_tiles(nest: LaunchLoops) -> LaunchLoops | None:
    """The loops with that of rows cut into rows of tiles; None where a row of tiles would have rows of the next."""
    *outer, columns = nest.extents
    rows = outer.pop() if outer else 1
    if rows > TILE_HEIGHT and rows % TILE_HEIGHT:
        return None
    around, own = ([rows // TILE_HEIGHT], TILE_HEIGHT) if rows > TILE_HEIGHT else ([], rows)
    strides = []
    for each in nest.strides:
        *before, down, along = each if len(each) > 1 else (0, *each)
        strides.append((*before, *([down * TILE_HEIGHT] if around else []), down, along))
    return LaunchLoops((*outer, *around, own, columns), tuple(strides), nest.offsets, _OWN_LOOPS)


def _converted_by(conversion: HostLaunch, sweeps: HostLaunch, readers: Readers) -> list[int]:
    """The places of the operands that a launch unpacks for the sweeps alone, or alone reads of them, to pack them."""
    bound, unpacks = sweeps.bound, conversion.bound.inputs[0].view.spec.dtype.is_block_float
    elements = (conversion.bound.outputs if unpacks else conversion.bound.inputs)[0]
    alone = (sweeps if unpacks else conversion).ops[-1]
    if elements.view.spec.strides is not None or not readers(elements.value) <= {alone}:
        return []
    first, operands = (0, bound.inputs) if unpacks else (len(bound.inputs), bound.outputs)
    return [place for place, each in enumerate(operands, first) if each.value is elements.value]


def _in_packed_tiles(nest: LaunchLoops, place: int, conversion: BoundKernel) -> tuple[int, ...] | None:
    """The strides of an operand in packed tiles; None where its rows are not those of tiles, from their first on.

    What is written has no padding: all columns of its tiles are the row's, and all rows.
    """
    (source,), (result,) = conversion.inputs, conversion.outputs
    packed, elements = (source, result) if source.view.spec.dtype.is_block_float else (result, source)
    width = elements.view.spec.padded_shape[-1]
    moves = [divmod(stride, width) for stride in nest.strides[place]]
    rows_move = (0, 0) if nest.extents[-2] == 1 else (1, 0)
    if nest.offsets[place] or moves[-1] != (0, 1) or moves[-2] != rows_move or nest.extents[-1] > width:
        return None
    if packed is result and not _fills(nest, packed.view.spec):
        return None
    return in_tiles(moves, width) if all(map(is_whole, moves[:-2])) else None


def _fills(nest: LaunchLoops, spec: TensorSpec) -> bool:
    """Whether the loops meet all that whole tiles hold."""
    elements = 1
    for extent in nest.extents:
        elements *= extent
    return elements == spec.items * spec.dtype.traits.elements


def _joined(sweeps: HostLaunch, rows: LoopNest, conversions: dict[int, HostLaunch], nest: LaunchLoops) -> HostLaunch:
    bound, body = sweeps.bound, rows.body
    count = len(bound.inputs)
    operands = [*bound.inputs, *bound.outputs]
    streams = list(body.streams)
    for place, each in conversions.items():
        operands[place] = (each.bound.outputs if place >= count else each.bound.inputs)[0]
        streams[place] = replace(streams[place], dtype=operands[place].view.spec.dtype, nontemporal=False)
    whole = replace(body, streams=tuple(streams), rank=nest.rank, joined=True)
    converted = conversions_of(whole, [body.streams[place].dtype for place in conversions])
    of_rows = replace(rows, body=replace(body, rank=1))
    kernel = LoopNest(whole, Loops.TILE_ROWS, (of_rows, *converted), tuple(each.scratch for each in converted))
    before = [each.ops for place, each in conversions.items() if place < count]
    behind = [each.ops for place, each in conversions.items() if place >= count]
    ops = tuple(dict.fromkeys(itertools.chain(*before, sweeps.ops, *behind)))
    made = replace(bound, kernel=kernel, inputs=tuple(operands[:count]), outputs=tuple(operands[count:]), loops=nest)
    return HostLaunch(ops, made)
