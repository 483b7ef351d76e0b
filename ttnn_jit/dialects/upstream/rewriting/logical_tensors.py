"""Tensors in layouts of metal, split over a grid of cores, as tensors of their logical shape."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import FunctionType, ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue

from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.dialects.ttcore import TileType
from ttnn_jit.dialects.upstream.rewriting.made_attributes import parsed_type
from ttnn_jit.dialects.upstream.rewriting.rewriter import AUGUST, Rewriter, name_in_text

METAL_LAYOUT = "ttcore.metal_layout"
_MOVE = "ttir.to_layout"
_ELEMENTS = {
    "f32": "f32", "f16": "f16", "bf16": "bf16", "si32": "i32", "u32": "ui32", "u16": "ui16", "u8": "ui8",
}  # fmt: skip
"""Data type of a tile -> the element type of its elements; block floats have none."""


def drop_metal_layouts(module: ModuleOp) -> None:
    """Gives every tensor that has a layout of metal its logical shape; moves between layouts become casts or nothing.

    A layout says on which cores and in which memory elements lie, padded to tiles. It decides no number.

    Raises:
        CompileError: A tensor consists of tiles of block floats.
    """
    changed = [op for op in module.walk() if _without_layouts(op)]
    rewriter = Rewriter()
    for op in [each for each in module.walk() if changed and name_in_text(each) == _MOVE]:
        _replace_move(op, rewriter)


def _without_layouts(op: Operation) -> bool:
    """Changes the types of what an operation defines; whether any changed."""
    arguments = [each for region in op.regions for block in region.blocks for each in block.args]
    values: list[SSAValue] = [*op.results, *arguments]
    found = [(value, logical_type(value.type, op)) for value in values]
    changed = [(value, type_) for value, type_ in found if type_ is not value.type]
    for value, type_ in changed:
        value._type = type_
    if not isinstance(op, FuncOp):
        return bool(changed)
    before = op.function_type
    op.function_type = FunctionType.from_lists(
        *([logical_type(each, op) for each in types] for types in (before.inputs, before.outputs))
    )
    return bool(changed) or op.function_type != before


def logical_type(type_: Attribute, at: Operation) -> Attribute:
    """The type of a tensor without its layout of metal; another type as it is.

    Raises:
        CompileError: The tensor consists of tiles of block floats; the error is at `at`.
    """
    if not isinstance(type_, TensorType) or not _is_of_metal(type_):
        return type_
    layout: Any = type_.encoding
    element = type_.element_type
    if isinstance(element, TileType):
        kind = str(element).rpartition(", ")[2].removesuffix(">")
        if kind not in _ELEMENTS:
            raise CompileError(f"tiles of {kind} in a layout of metal are not computed here", location=location_of(at))
        element = parsed_type(_ELEMENTS[kind])
    return TensorType(element, [*layout.value("logical_shape")])


def _replace_move(op: Operation, rewriter: Rewriter) -> None:
    source, result = op.operands[0], op.results[0]
    if source.type == result.type:
        rewriter.replace(op, [source])
        return
    assert isinstance(source.type, TensorType)
    assert isinstance(result.type, TensorType)
    if [*source.type.get_shape()] == [*result.type.get_shape()]:
        rewriter.replace(op, [rewriter.value("ttir.typecast", {"input": source}, {}, result.type, op)])


# --- Moves ------------------------------------------------------------------------------------------------------------


def moves_alone(module: ModuleOp) -> bool:
    """Whether tensors in layouts of metal are only moved, or read and written by operations of d2m."""
    found = False
    for op in module.walk():
        values: list[SSAValue] = [*op.operands, *op.results]
        if not any(_is_of_metal(each.type) for each in values):
            continue
        name = name_in_text(op)
        if not name.startswith(("d2m.", "tensor.")) and name not in {_MOVE, "ttir.empty"}:
            return False
        found = True
    return found


def to_moves_of_d2m(module: ModuleOp) -> None:
    """Makes `d2m.to_layout` of every `ttir.to_layout` from or into a layout of metal."""
    rewriter = Rewriter(AUGUST)
    for op in [each for each in module.walk() if name_in_text(each) == _MOVE]:
        source, result = op.operands[0], op.results[0]
        if _is_of_metal(source.type) or _is_of_metal(result.type):
            output = rewriter.value("d2m.empty", {}, {}, result.type, op)
            made = rewriter.value("d2m.to_layout", {"input": source, "output": output}, {}, result.type, op)
            rewriter.replace(op, [made])


def _is_of_metal(type_: Attribute) -> bool:
    return isinstance(type_, TensorType) and getattr(type_.encoding, "name", "") == METAL_LAYOUT
