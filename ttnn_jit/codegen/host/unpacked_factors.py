"""Block floats that a product unpacks as it packs its factors: no launch of their own unpacks them to memory.

They are unpacked exactly, so that no result changes. Weights are read as they are stored, at every call.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from ttnn_jit.codegen.bound_kernel import BoundKernel, Operand
from ttnn_jit.codegen.host.host_plan import HostLaunch, HostPlan
from ttnn_jit.codegen.kernel import Contract, Copy, Repack
from ttnn_jit.codegen.launch import LaunchLoops
from ttnn_jit.codegen.steps import Load, Product, operands_of
from ttnn_jit.nest.streams import InnerAccess
from ttnn_jit.specs.dtypes import STRIDES_OF_A_TILE
from ttnn_jit.specs.target import TILE_HEIGHT, TILE_WIDTH
from ttnn_jit.specs.tensor_spec import TensorSpec


def unpack_in_products(plan: HostPlan) -> HostPlan:
    """The launches without those that unpack block floats which products alone read, as one of their factors."""
    if plan.isa is None:
        return plan
    launches = plan.launches
    for launch in plan.launches:
        if _unpacks(launch.bound) and launch.bound.outputs[0].value not in plan.results:
            launches = _without(launch, launches)
    return replace(plan, launches=launches)


def _unpacks(bound: BoundKernel) -> bool:
    return isinstance(bound.kernel, Copy) and bound.kernel.move is Repack.UNPACKED


def _without(unpacking: HostLaunch, launches: Sequence[HostLaunch]) -> tuple[HostLaunch, ...]:
    """The launches with what `unpacking` unpacks unpacked by its readers; as they are, where one cannot."""
    value = unpacking.bound.outputs[0].value
    others = [launch for launch in launches if launch is not unpacking]
    readers = [launch for launch in others if any(each.value is value for each in launch.bound.inputs)]
    unpacked = [_unpacked_by(launch, unpacking) for launch in readers]
    if not readers or None in unpacked:
        return tuple(launches)
    found = iter(unpacked)
    return tuple(next(found) or launch if launch in readers else launch for launch in others)


def _unpacked_by(reader: HostLaunch, unpacking: HostLaunch) -> HostLaunch | None:
    """The launch of a product that reads what is packed; None if it is none, or walks it otherwise than by tiles."""
    bound, kernel, (packed,) = reader.bound, reader.bound.kernel, unpacking.bound.inputs
    read = [k for k, each in enumerate(bound.inputs) if each.value is unpacking.bound.outputs[0].value]
    if len(read) != 1 or not isinstance(kernel, Contract) or not _is_factor(kernel, read[0]):
        return None
    (place,) = read
    is_left, contracted = kernel.contracted.left == place, kernel.contracted
    if contracted.is_dots:
        return None
    operand = bound.loops, place, packed.view.spec
    strides = _strides_of_rows(*operand, contracted.row_loops) if is_left else _strides_of_columns(*operand)
    if strides is None:
        return None
    stream = replace(kernel.streams[place], dtype=packed.view.spec.dtype)
    if not is_left:
        access = InnerAccess.CONTIGUOUS if bound.loops.strides[place][-1] == 1 else InnerAccess.STRIDED
        stream = replace(stream, access=access)
    product = replace(kernel, body=replace(kernel.body, streams=_with(kernel.streams, place, stream)))
    if product.in_pairs is not kernel.in_pairs:
        return None
    nest = replace(bound.loops, strides=_with(bound.loops.strides, place, strides))
    inputs = _with(bound.inputs, place, Operand(packed.value, packed.view))
    changed = replace(bound, kernel=product, inputs=inputs, loops=nest)
    return HostLaunch((*unpacking.ops, *reader.ops), changed)


_T = TypeVar("_T")


def _with(values: tuple[_T, ...], place: int, value: _T) -> tuple[_T, ...]:
    return (*values[:place], value, *values[place + 1 :])


def _is_factor(product: Contract, place: int) -> bool:
    """Whether a stream is one factor of a product, and nothing else."""
    if product.factors.count(place) != 1:
        return False
    steps = product.body.steps
    loads = {k for k, step in enumerate(steps) if isinstance(step, Load) and step.stream == place}
    others = (step for step in steps if not isinstance(step, Product))
    return not any(loads.intersection(operands_of(step)) for step in others)


def _strides_of_columns(nest: LaunchLoops, place: int, packed: TensorSpec) -> tuple[int, ...] | None:
    """The strides of a right operand in packed tiles, whose loops walk columns and rows of them.

    None if they do not: from anywhere but its start, from inside of a tile, beyond a row's end, or with pairs of terms
    in two tiles; or if a row is a tile's, which has the strides of a column.
    """
    own, extents = nest.strides[place], nest.extents
    width = packed.padded_shape[-1]
    *outer, terms, columns = (divmod(stride, width) for stride in own)
    along = sum((extent - 1) * (stride % width) for extent, stride in zip(extents, own, strict=True))
    if width <= STRIDES_OF_A_TILE or {terms, columns} != {(0, 1), (1, 0)} or along >= width or nest.offsets[place]:
        return None
    if not _has_whole_steps(nest) or not all(map(is_whole, outer)):
        return None
    return in_tiles((*outer, terms, columns), width)


def _strides_of_rows(nest: LaunchLoops, place: int, packed: TensorSpec, row_loops: int) -> tuple[int, ...] | None:
    """The strides of a left operand in packed tiles, whose loops walk rows of them, and terms along these.

    None if they do not: from anywhere but its start, from inside of a tile, beyond a row's end, or with pairs of terms
    in two tiles; or if rows are in several loops, of which one ends inside of a tile.
    """
    own, extents = nest.strides[place], nest.extents
    width, innermost = packed.padded_shape[-1], -2 - len(nest.reduced)
    moves = [divmod(stride, width) for stride in own]
    along = sum((extent - 1) * column for extent, (_, column) in zip(extents, moves, strict=True))
    is_one_row = extents[innermost] == 1
    if moves[-2:] != [(0, 1), (0, 0)] or moves[innermost] != ((0, 0) if is_one_row else (1, 0)) or along >= width:
        return None
    outer = [move for k, move in enumerate(moves[:-2]) if k != len(moves) + innermost]
    if nest.offsets[place] or not _has_whole_steps(nest) or not all(map(is_whole, outer)):
        return None
    if row_loops > 1 and extents[innermost] % TILE_HEIGHT:
        return None
    return in_tiles(moves, width)


def _has_whole_steps(nest: LaunchLoops) -> bool:
    """Whether no pair of terms, and no step of the loop around them, is in two tiles."""
    return nest.extents[-2] % (2 if len(nest.reduced) == 1 else TILE_HEIGHT) == 0


def in_tiles(moves: Sequence[tuple[int, int]], width: int) -> tuple[int, ...]:
    """Moves by rows and columns as strides in packed tiles."""
    return tuple(row * (width // STRIDES_OF_A_TILE) + column for row, column in moves)


def is_whole(move: tuple[int, int]) -> bool:
    """Whether a move by rows and columns is one of whole tiles."""
    row, column = move
    return row % TILE_HEIGHT == column % TILE_WIDTH == 0
