"""Plans of `d2m.to_layout`: the moves that take a tensor from one layout into another, each of which changes one thing.

The plan is that of `LowerToLayout/Plan.cpp` of tt-mlir of August 2026. `planned` gives the moves, of which `minimized`
leaves out those that cancel each other.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import AffineMapAttr, TensorType
from xdsl.ir import Attribute

from ttnn_jit.dialects.upstream.rewriting.d2m_rules.metal_types import (
    DRAM,
    L1,
    SYSTEM,
    device_type,
    geometry,
    is_tiled,
    layout_of,
    memory_of,
    require_no_index_map,
    scalar_of,
    shape_of_grid,
    tile_of,
    with_values,
)
from ttnn_jit.dialects.upstream.table_attributes import TableAttribute
from ttnn_jit.process.dataclass import dataclass, replace

CoreMaps = tuple[AffineMapAttr | None, AffineMapAttr | None]
"""The virtual grid of a tensor: the map from it to the cores of a device, and its inverse; (None, None) for none."""

NO_MAPS: CoreMaps = (None, None)


@dataclass(frozen=True)
class PlacedTensor:
    """A tensor between two moves.

    Attributes:
        type_: Its type.
        core_maps: Its virtual grid.
        remapping: The map of the view that it is; None if it is a tensor of its own.
    """

    type_: TensorType[Any]
    core_maps: CoreMaps = NO_MAPS
    remapping: AffineMapAttr | None = None

    @property
    def layout(self) -> TableAttribute:
        """Its layout, which a tensor of a device has."""
        found = layout_of(self.type_)
        assert found is not None, "a tensor of a device has a layout"
        return found

    @property
    def is_on_device(self) -> bool:
        """Whether it has a layout of metal."""
        return layout_of(self.type_) is not None

    @property
    def memory(self) -> str:
        """The memory that it lies in."""
        return memory_of(self.type_)

    @property
    def grid(self) -> tuple[int, ...]:
        """The grid that it is split over."""
        return shape_of_grid(self.type_)

    @property
    def volume(self) -> int:
        """How many elements or tiles it has, padding included."""
        return math.prod(self.type_.get_shape())


class Move(enum.Enum):
    """What a step changes."""

    TO_DEVICE = "host to device"
    TO_HOST = "device to host"
    TO_DRAM = "L1 to DRAM"
    TO_L1 = "DRAM to L1"
    TILIZE = "elements to tiles"
    UNTILIZE = "tiles to elements"
    RESHARD = "grid, alignments or intervals"
    REBUFFER = "virtual grid"
    REMAP = "view"


@dataclass(frozen=True)
class Step:
    """One move.

    Attributes:
        move: What it changes.
        source: The type of the tensor before.
        result: The tensor behind it; of `Move.REMAP` with the map of the view.
    """

    move: Move
    source: TensorType[Any]
    result: PlacedTensor


def planned(source: PlacedTensor, target: PlacedTensor, *, through_l1: bool = False) -> list[Step]:
    """The moves from one layout into another.

    Args:
        source: The tensor.
        target: Where it goes.
        through_l1: Whether a tensor of the host comes into L1 first, as in December 2025.

    Raises:
        LayoutError: A grid or tiles do not divide a physical shape, or a layout has an index map.
    """
    for each in (source.type_, target.type_):
        require_no_index_map(each)
    plan = _Plan(source, target, through_l1=through_l1)
    plan.enter_device()
    plan.bounce_in_l1()
    plan.leave_dram()
    plan.convert_format()
    plan.enter_dram(padded=False)
    plan.reinterpret()
    plan.change_mapping()
    plan.enter_dram(padded=True)
    plan.change_view()
    plan.leave_device()
    return minimized(plan.steps)


class _Plan:
    """A plan under construction: each method adds the steps of one kind that are needed yet."""

    def __init__(self, source: PlacedTensor, target: PlacedTensor, *, through_l1: bool) -> None:
        self.steps: list[Step] = []
        self._at, self._target, self._through_l1 = source, target, through_l1

    def _move(self, move: Move, type_: TensorType[Any], maps: CoreMaps, remapping: AffineMapAttr | None = None) -> None:
        after = PlacedTensor(type_, maps, remapping)
        self.steps.append(Step(move, self._at.type_, after))
        self._at = after

    def enter_device(self) -> None:
        """From the host into the memory of the target, or L1, as elements."""
        if self._at.is_on_device or not self._target.is_on_device:
            return
        element = scalar_of(self._at.type_.element_type)
        self._move(Move.TO_DEVICE, device_type(self._target.layout, self._target.grid, element), self._target.core_maps)

    def bounce_in_l1(self) -> None:
        """From DRAM into an equal tensor in L1, if what changes is another tensor in DRAM."""
        if self._needs_bounce():
            at = self._at
            type_ = device_type(with_values(at.layout, memory_space=L1), at.grid, at.type_.element_type)
            self._move(Move.TO_L1, type_, at.core_maps, at.remapping)

    def _needs_bounce(self) -> bool:
        at, target = self._at, self._target
        if at.memory != DRAM or target.memory != DRAM:
            return False
        same_maps, same_view = at.core_maps == target.core_maps, at.remapping == target.remapping
        same_type = at.type_ == target.type_ or _is_reinterpretable(at, target)
        if same_maps and same_view and same_type:
            return False
        same_place = at.grid == target.grid and _parameters(at, "memory_layout") == _parameters(target, "memory_layout")
        if same_maps and same_view and same_place and is_tiled(at.type_) != is_tiled(target.type_):
            return False
        return not (same_maps and at.remapping is None and target.remapping is not None and same_type)

    def leave_dram(self) -> None:
        """From DRAM into L1, in the target's layout if only the grids differ; else in the tensor's own."""
        at, target = self._at, self._target
        if at.memory != DRAM or not target.is_on_device or target.memory == DRAM:
            return
        is_interleaved = at.layout.value("memory_layout") == "interleaved"
        if _parameters(at) != _parameters(target):
            layout, grid, maps = at.layout, at.grid, at.core_maps
        else:
            tile = tile_of(at.type_.element_type)
            spreads = is_interleaved and _divides(target.layout, target.grid, tile)
            layout, grid, maps = target.layout, target.grid if spreads else at.grid, target.core_maps
        type_ = device_type(with_values(layout, memory_space=L1), grid, at.type_.element_type)
        self._move(Move.TO_L1, type_, maps)

    def convert_format(self) -> None:
        """Elements become tiles, or tiles elements, in the layout as it is, if its grid divides tiles."""
        at, target = self._at, self._target
        if not at.is_on_device or is_tiled(at.type_) == is_tiled(target.type_):
            return
        element = target.type_.element_type
        if not _divides(at.layout, at.grid, tile_of(element)):
            layout = with_values(target.layout, memory_space=L1)
            self._move(Move.RESHARD, device_type(layout, target.grid, at.type_.element_type), target.core_maps)
            at = self._at
        move = Move.TILIZE if is_tiled(target.type_) else Move.UNTILIZE
        self._move(move, device_type(at.layout, at.grid, element), at.core_maps, at.remapping)

    def enter_dram(self, *, padded: bool) -> None:
        """From L1 into DRAM; of another layout only when it has been resharded."""
        at, target = self._at, self._target
        if not at.is_on_device or at.memory == DRAM or not target.is_on_device or target.memory != DRAM:
            return
        is_close = at.volume == target.volume and _parameters(at) == _parameters(target)
        if padded or (is_close and (not self._through_l1 or at.grid == target.grid)):
            self._move(Move.TO_DRAM, target.type_, target.core_maps)

    def reinterpret(self) -> None:
        """Another type of the same buffer needs no move."""
        if _is_reinterpretable(self._at, self._target):
            self._at = replace(self._at, type_=self._target.type_)

    def change_mapping(self) -> None:
        """Another grid, other alignments or intervals, in L1."""
        at, target = self._at, self._target
        if at.memory != L1 or not target.is_on_device or is_tiled(at.type_) != is_tiled(target.type_):
            return
        if at.grid == target.grid and _parameters(at) == _parameters(target):
            return
        if is_tiled(at.type_) and not is_simple_reblocking(at.type_, target.type_):
            self._reshard_elements()
            return
        layout = with_values(target.layout, memory_space=L1)
        type_ = TensorType(at.type_.element_type, target.type_.get_shape(), layout)
        self._move(Move.RESHARD, type_, target.core_maps)

    def _reshard_elements(self) -> None:
        """Tiles become elements, which are resharded and become tiles: a map of tiles would need whole ones."""
        at, target = self._at, self._target
        element = scalar_of(at.type_.element_type)
        tile, shape = tile_of(at.type_.element_type), [*at.type_.get_shape()]
        shape[-len(tile) :] = [extent * unit for extent, unit in zip(shape[-len(tile) :], tile, strict=True)]
        self._move(Move.UNTILIZE, TensorType(element, shape, at.layout), at.core_maps)
        layout = with_values(target.layout, memory_space=L1)
        self._move(Move.RESHARD, device_type(layout, target.grid, element), target.core_maps)
        self._move(Move.TILIZE, device_type(layout, target.grid, target.type_.element_type), target.core_maps)

    def change_view(self) -> None:
        """Another virtual grid, or another view."""
        at, target = self._at, self._target
        needs_copy = at.core_maps != target.core_maps or (at.remapping not in {None, target.remapping})
        if target.memory != SYSTEM and needs_copy:
            self._move(Move.REBUFFER, at.type_, target.core_maps)
        if target.remapping is not None and self._at.remapping != target.remapping:
            self._move(Move.REMAP, self._at.type_, self._at.core_maps, target.remapping)

    def leave_device(self) -> None:
        """From the device to the host."""
        if self._at.is_on_device and not self._target.is_on_device:
            self._move(Move.TO_HOST, self._target.type_, NO_MAPS)


def _parameters(tensor: PlacedTensor, *names: str) -> tuple[Any, ...]:
    """What decides where the elements of a tensor's layout lie, and other parameters of it."""
    places = ("logical_shape", "collapsed_intervals", "dim_alignments", *names)
    return tuple(tensor.layout.value(name) for name in places)


def _divides(layout: TableAttribute, grid: Sequence[int], tile: Sequence[int]) -> bool:
    """Whether every core's part of a tensor consists of whole tiles."""
    if not tile:
        return True
    extents = zip(geometry(layout).physical_shape()[-2:], grid[-2:], tile, strict=True)
    return all(extent % (cores * unit) == 0 for extent, cores, unit in extents)


def _is_reinterpretable(at: PlacedTensor, target: PlacedTensor) -> bool:
    """Whether a tensor has the elements of another type where that has them: only its intervals differ."""
    if not at.is_on_device or not target.is_on_device:
        return False
    same = ("logical_shape", "dim_alignments", "memory_space", "memory_layout")
    return (
        at.type_.get_shape() == target.type_.get_shape()
        and at.type_.element_type == target.type_.element_type
        and all(at.layout.value(name) == target.layout.value(name) for name in same)
    )


def is_simple_reblocking(source: Attribute, result: Attribute) -> bool:
    """Whether two types of one tensor of a device differ in their grids alone, and have as many elements."""
    found = [PlacedTensor(each) for each in (source, result) if isinstance(each, TensorType)]
    return _parameters(found[0]) == _parameters(found[1]) and found[0].volume == found[1].volume


def minimized(steps: Sequence[Step]) -> list[Step]:
    """The steps without a change of format that the next one undoes, and with the last of successive reshards."""
    kept: list[Step] = []
    for step in steps:
        last = kept[-1] if kept else None
        formats = {Move.TILIZE, Move.UNTILIZE}
        if last and {last.move, step.move} == formats and last.source == step.result.type_:
            kept.pop()
        elif last and last.move is step.move is Move.RESHARD:
            kept[-1] = replace(step, source=last.source)
        else:
            kept.append(step)
    return kept
