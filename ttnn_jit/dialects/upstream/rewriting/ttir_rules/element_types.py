"""Element types of texts as those that a chip has."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import (
    BFloat16Type,
    DenseIntOrFPElementsAttr,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatAttr,
    FunctionType,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    Signedness,
    TensorType,
    bf16,
    f32,
    i1,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue, TypeAttribute

from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.dialects.ttcore import TileType
from ttnn_jit.dialects.upstream.rewriting.made_attributes import integer, number, si32, ui32
from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.value_folds import element_of, filled, is_float
from ttnn_jit.dialects.upstream.upstream_parser import SplatElementsAttr

_ui8, _ui16 = (IntegerType(width, Signedness.UNSIGNED) for width in (8, 16))


def chip_element(element: Attribute) -> Attribute | None:
    """The element type of a chip for that of a text; None if there is none."""
    match element:
        case BFloat16Type() | Float32Type() | TileType():
            return element
        case Float16Type():
            return bf16
        case Float64Type():
            return f32
        case IntegerType():
            unsigned = element.signedness.data is Signedness.UNSIGNED
            wide = ui32 if unsigned else si32
            return {1: bf16, 8: _ui8, 16: _ui16, 32: wide, 64: wide}.get(element.width.data)
        case _ if str(element).startswith("!quant"):
            return element
        case _:
            return None


def normalize(module: ModuleOp, rewriter: Rewriter) -> None:
    """Gives every tensor of a module the element type of a chip.

    Flags are 0 or 1 in a type of numbers, so that a cast of numbers to flags becomes a comparison with 0.

    Raises:
        CompileError: A chip has no such element type.
    """
    casts = [op for op in module.walk() if _makes_flags(op)]
    for op in [*module.walk()]:
        before = rewriter.changes
        for result in op.results:
            _normalize_value(result, op, rewriter)
        for region in op.regions:
            for block in region.blocks:
                for argument in block.args:
                    _normalize_value(argument, op, rewriter)
        if isinstance(op, FuncOp):
            types = op.function_type
            op.function_type = FunctionType.from_lists(
                [_normal(each, op) for each in types.inputs], [_normal(each, op) for each in types.outputs]
            )
        if rewriter.changes != before or "value" in op.properties:
            _normalize_attributes(op)
    for op in casts:
        given = op.operands[0]
        zero = filled(rewriter, number(0.0) if is_float(element_of(given)) else integer(0), given.type, op)
        rewriter.replace(op, [rewriter.value("ttir.ne", {"lhs": given, "rhs": zero}, {}, op.results[0].type, op)])


def _makes_flags(op: Operation) -> bool:
    """Whether an op casts numbers to flags."""
    return op.name == "ttir.typecast" and element_of(op.results[0]) == i1 and element_of(op.operands[0]) != i1


def _normalize_value(value: SSAValue, op: Operation, rewriter: Rewriter) -> None:
    type_ = _normal(value.type, op)
    if type_ != value.type:
        value._type = type_
        rewriter.changes += 1


def _normal(type_: Attribute, op: Operation) -> Attribute:
    if not isinstance(type_, TensorType):
        return type_
    element = chip_element(type_.get_element_type())
    if element is None:
        raise CompileError(f"'{op.name}' op Unsupported type.", location=location_of(op))
    return TensorType(element, type_.get_shape(), type_.encoding)


def _normalize_attributes(op: Operation) -> None:
    value = op.properties.get("value")
    if isinstance(value, SplatElementsAttr | DenseIntOrFPElementsAttr):
        op.properties["value"] = _normal_elements(value, op)
    dtype = op.properties.get("dtype")
    if isinstance(dtype, TypeAttribute) and (element := chip_element(dtype)) is not None:
        op.properties["dtype"] = element


def _normal_elements(value: Any, op: Operation) -> Attribute:
    type_ = _normal(value.type, op)
    given: Attribute = value
    if type_ == value.type:
        return given
    element = type_.get_element_type()  # type: ignore[attr-defined]  # a tensor type
    if isinstance(value, SplatElementsAttr):
        return SplatElementsAttr(type_, _attribute(_number(value.element.value.data, element), element))  # type: ignore[attr-defined]
    made: Any = DenseIntOrFPElementsAttr
    listed: Attribute = made.from_list(type_, [_number(each, element) for each in value.get_values()])
    return listed


def _attribute(number: float, element: Any) -> Attribute:
    return IntegerAttr(int(number), element) if isinstance(element, IntegerType) else FloatAttr(number, element)


def _number(value: float, element: Attribute) -> float | int:
    """A number in an element type; an integer that does not fit is saturated, and `true` is 1."""
    if not isinstance(element, IntegerType):
        return abs(float(value)) if element == bf16 else float(value)
    bits: int = element.width.data
    least, most = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if element == si32 else (0, 2**bits - 1)
    number = int(value)
    if element != si32 and number < 0:
        number += 2**bits
    saturated: int = min(max(number, least), most)
    return saturated
