"""The operations that the steps of a plan become: transfers of the host, views, and kernels that move or convert."""

from __future__ import annotations

import math
from collections.abc import Sequence

from xdsl.dialects.builtin import AffineMapAttr, TensorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineMap as XdslMap

from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.dialects.upstream.rewriting.d2m_rules.block_kernels import kernel
from ttnn_jit.dialects.upstream.rewriting.d2m_rules.layout_plan import (
    NO_MAPS,
    CoreMaps,
    Move,
    PlacedTensor,
    Step,
    is_simple_reblocking,
    planned,
)
from ttnn_jit.dialects.upstream.rewriting.d2m_rules.metal_types import (
    DRAM,
    geometry,
    is_of_december,
    is_tiled,
    layout_of,
    map_attribute,
    memory_of,
    shape_of_grid,
    with_index_map,
)
from ttnn_jit.dialects.upstream.rewriting.d2m_rules.virtual_grids import (
    MAP_NAMES,
    core_maps_of,
    kernel_grid,
    made_core_maps,
    remapping_of,
)
from ttnn_jit.dialects.upstream.rewriting.made_attributes import boolean
from ttnn_jit.dialects.upstream.rewriting.rewriter import AUGUST, DECEMBER, Given, Rewriter, operand_named, users_of
from ttnn_jit.dialects.writing.editing import erase
from ttnn_jit.layout_specification.affine_map import AffineMap
from ttnn_jit.layout_specification.metal_layout import needs_virtual_grid, reblock_map, transform_map


def rewriter_for(op: Operation) -> Rewriter:
    """A rewriter in the version of the layouts of an operation's tensors."""
    types = [each.type for each in (*op.operands, *op.results)]
    return Rewriter(DECEMBER if any(map(is_of_december, types)) else AUGUST)


def lower_to_layout(op: Operation, rewriter: Rewriter, device: Sequence[int]) -> None:
    """Replaces a `d2m.to_layout` by its moves.

    Args:
        op: The operation.
        rewriter: Writes operations.
        device: The grid of the device's cores.

    Raises:
        CompileError: A tensor does not fit its layout or the device.
    """
    source, output = operand_named(op, "input"), operand_named(op, "output")
    assert source is not None
    assert output is not None
    moves = LayoutMoves(op, rewriter, device, output)
    steps = planned(_placed(source), _placed(output), through_l1=rewriter.version == DECEMBER)
    value = source
    for step in steps:
        value = moves.made(step, value)
    masks = [each for each in users_of(op.results[0]) if each.name == "d2m.mask"]
    rewriter.replace(op, [value])
    for each in masks:
        moves.refit(each)


def _placed(value: SSAValue) -> PlacedTensor:
    if not isinstance(value.type, TensorType):
        owner = value.owner
        raise CompileError(
            f"`d2m.to_layout` takes tensors, got {value.type}",
            location=location_of(owner) if isinstance(owner, Operation) else None,
        )
    return PlacedTensor(value.type, core_maps_of(value), remapping_of(value))


_TRANSFERS = {Move.TO_DEVICE: "d2m.to_device", Move.TO_HOST: "d2m.to_host"}
_CONVERSIONS = {Move.TILIZE: "d2m.tile_tilize_block", Move.UNTILIZE: "d2m.tile_untilize_block"}


class LayoutMoves:
    """Writes the moves of one `d2m.to_layout` before it.

    Args:
        op: The operation.
        rewriter: Writes operations.
        device: The grid of the device's cores.
        output: The tensor that the operation writes, which the last move writes if it fits.
    """

    def __init__(self, op: Operation, rewriter: Rewriter, device: Sequence[int], output: SSAValue) -> None:
        self._op, self._rewriter, self._device, self._output = op, rewriter, tuple(device), output

    def made(self, step: Step, value: SSAValue) -> SSAValue:
        """The tensor behind a step."""
        if step.move is Move.REMAP:
            assert step.result.remapping is not None
            return self._view(value, step.result.type_, step.result.remapping)
        output = self.empty(step.result)
        if step.move in _TRANSFERS:
            on_device = output if step.move is Move.TO_DEVICE else value
            properties = {"layout": layout_of(on_device.type)}
            operands: dict[str, Given] = {"input": value, "output": output}
            return self._rewriter.value(_TRANSFERS[step.move], operands, properties, output.type, self._op)
        if step.move in _CONVERSIONS:
            return self._kernel(value, output, _CONVERSIONS[step.move])
        return self._resharded(value, output) if step.move is Move.RESHARD else self._copied(value, output)

    def empty(self, wanted: PlacedTensor, *, before: Operation | None = None) -> SSAValue:
        """A tensor to write to; the operation's own, if it fits."""
        maps = wanted.core_maps
        if maps == NO_MAPS and wanted.is_on_device and needs_virtual_grid(wanted.grid, self._device):
            maps = made_core_maps(wanted.grid, self._device)
        own = self._output
        if before is None and own.type == wanted.type_ and remapping_of(own) is None and core_maps_of(own) == maps:
            return own
        properties = dict(zip(MAP_NAMES, maps, strict=True))
        return self._rewriter.value("d2m.empty", {}, properties, wanted.type_, before or self._op)

    def refit(self, mask: Operation) -> None:
        """Gives a `d2m.mask` of a tensor whose type has changed an output of that type."""
        value, output = operand_named(mask, "input"), operand_named(mask, "output")
        assert value is not None
        assert output is not None
        if output.type == value.type:
            return
        target = self.empty(_with_maps(value.type, core_maps_of(output)), before=mask)
        made = self._rewriter.value("d2m.mask", {"input": value, "output": target}, mask.properties, value.type, mask)
        self._rewriter.replace(mask, [made])
        owner = output.owner
        if isinstance(owner, Operation) and owner.name == "d2m.empty" and output.first_use is None:
            erase(owner)

    def _view(self, value: SSAValue, type_: Attribute, remapping: AffineMapAttr) -> SSAValue:
        """A tensor seen by a map; of a reblocked one that is reblocked again, the tensor before is seen."""
        inner = value.owner
        if isinstance(inner, Operation) and is_reblocking(inner):
            source, found = inner.operands[0], map_attribute(reblock_map(_shape(value.type), _shape(type_)))
            if found == remapping:
                remapping = map_attribute(reblock_map(_shape(source.type), _shape(type_)))
                value = source
        is_identity = remapping == AffineMapAttr(XdslMap.identity(remapping.data.num_dims))
        is_december = self._rewriter.version == DECEMBER
        if is_identity and (value.type == type_ or (is_december and _shape(value.type) == _shape(type_))):
            return value
        if is_december:  # the layout of a view has the map
            return self._rewriter.value("d2m.view_layout", {"input": value}, {}, _seen_type(type_, remapping), self._op)
        return self._rewriter.value("d2m.view_layout", {"input": value}, {"remapping": remapping}, type_, self._op)

    def _resharded(self, value: SSAValue, output: SSAValue) -> SSAValue:
        """A view of the tensor in the other grid, alignments and intervals, which a kernel copies."""
        tiled = is_tiled(value.type) and is_tiled(output.type)
        if tiled and is_simple_reblocking(value.type, output.type):
            found = reblock_map(_shape(value.type), _shape(output.type))
        else:
            found = _transform(value.type, output.type)
        return self._kernel(self._view(value, output.type, map_attribute(found)), output)

    def _copied(self, value: SSAValue, output: SSAValue) -> SSAValue:
        """A kernel that copies a tensor into another memory, perhaps over another grid."""
        is_written_in_place = memory_of(output.type) == DRAM
        other_grid = shape_of_grid(value.type) != shape_of_grid(output.type)
        if not is_written_in_place and (memory_of(value.type) == DRAM or other_grid):
            return self._kernel(self._reblocked(value, output.type), output)
        if not is_written_in_place:
            return self._kernel(value, output)
        seen = self._reblocked(output, value.type)
        grid = kernel_grid(value, shape_of_grid(value.type))
        has_maps = core_maps_of(value) != NO_MAPS
        made = self._kernel(value, seen, grid=grid if has_maps else None)
        return made if made.type == output.type else self._reblocked(made, output.type)

    def _reblocked(self, value: SSAValue, like: Attribute) -> SSAValue:
        """A tensor seen in the shape of another, in its own layout."""
        assert isinstance(value.type, TensorType)
        assert isinstance(like, TensorType)
        own, shape = _shape(value.type), _shape(like)
        same_volume = PlacedTensor(value.type).volume == PlacedTensor(like).volume
        found = reblock_map(own, shape) if same_volume else _transform(value.type, like)
        return self._view(value, TensorType(like.element_type, shape, value.type.encoding), map_attribute(found))

    def _kernel(
        self, value: SSAValue, output: SSAValue, conversion: str = "", grid: Attribute | None = None
    ) -> SSAValue:
        return kernel(self._op, self._rewriter, value, output, conversion, grid)


def is_reblocking(view: Operation) -> bool:
    """Whether an operation is a view that only splits a tensor over another grid."""
    if view.name != "d2m.view_layout" or view.properties.get("reinterpretLayout") == boolean(True):
        return False
    source, result = _shape(view.operands[0].type), _shape(view.results[0].type)
    if math.prod(source) != math.prod(result):
        return False
    return remapping_of(view.results[0]) == map_attribute(reblock_map(source, result))


def fold_identity(view: Operation, rewriter: Rewriter) -> None:
    """Replaces a view that changes nothing by what it is a view of."""
    found, source = remapping_of(view.results[0]), view.operands[0]
    if found and source.type == view.results[0].type and found.data == XdslMap.identity(found.data.num_dims):
        rewriter.replace(view, [source])


def _seen_type(type_: Attribute, remapping: AffineMapAttr) -> Attribute:
    layout = layout_of(type_)
    assert isinstance(type_, TensorType)
    assert layout is not None
    return TensorType(type_.element_type, type_.get_shape(), with_index_map(layout, remapping.data))


def _with_maps(type_: Attribute, maps: CoreMaps) -> PlacedTensor:
    assert isinstance(type_, TensorType)
    return PlacedTensor(type_, maps)


def _shape(type_: Attribute) -> tuple[int, ...]:
    assert isinstance(type_, TensorType)
    return tuple(type_.get_shape())


def _transform(source: Attribute, result: Attribute) -> AffineMap:
    layouts = [layout_of(each) for each in (source, result)]
    assert layouts[0] is not None
    assert layouts[1] is not None
    first, second = map(geometry, (layouts[0], layouts[1]))
    return transform_map(first, shape_of_grid(source), second, shape_of_grid(result))
