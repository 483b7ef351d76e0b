"""Operations of dialects that xDSL has, in the syntax of MLIR that xDSL's own parser refuses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xdsl.dialects.builtin import AffineMapAttr, DenseArrayBase, IndexType, StringAttr, UnitAttr, i32
from xdsl.ir import Attribute, Operation
from xdsl.ir.affine import AffineBinaryOpExpr, AffineDimExpr, AffineExpr, AffineMap, AffineSymExpr
from xdsl.parser import Parser, UnresolvedOperand

Parse = Callable[[Parser, type[Operation]], Operation]


def _parse_constant(parser: Parser, kind: type[Operation]) -> Operation:
    """``arith.constant {attributes} value``; a splat too."""
    attributes = parser.parse_optional_attr_dict()
    start = parser.pos
    value = parser.parse_attribute()
    type_: Attribute | None = getattr(value, "type", None)
    if parser.parse_optional_punctuation(":") is not None:
        type_ = parser.parse_type()
    if type_ is None:
        parser.raise_error("a constant has a type", start)
    return kind.create(properties={"value": value}, attributes=attributes, result_types=[type_])


def _parse_global(parser: Parser, kind: type[Operation]) -> Operation:
    """``memref.global "private" constant @name : type = value``."""
    properties: dict[str, Attribute] = {}
    if (visibility := parser.parse_optional_str_literal()) is not None:
        properties["sym_visibility"] = StringAttr(visibility)
    if parser.parse_optional_keyword("constant") is not None:
        properties["constant"] = UnitAttr()
    properties["sym_name"] = parser.parse_symbol_name()
    parser.parse_punctuation(":")
    properties["type"] = type_ = parser.parse_type()
    if parser.parse_optional_punctuation("=") is not None:
        if parser.parse_optional_keyword("uninitialized") is not None:
            properties["initial_value"] = UnitAttr()
        else:
            parser.parse_keyword("dense")
            whole: Any = type_
            elements: Any = parser
            properties["initial_value"] = elements.parse_dense_int_or_fp_elements_attr(_tensor_of(whole))
    return kind.create(properties=properties, attributes=parser.parse_optional_attr_dict())


def _tensor_of(memref: Any) -> Attribute:
    from xdsl.dialects.builtin import TensorType

    return TensorType(memref.element_type, memref.get_shape())


def _parse_parallel(parser: Parser, kind: type[Operation]) -> Operation:
    """``scf.parallel (%i) = (%a) to (%b) step (%c) init (%x) -> type {...}``."""
    start = parser.pos
    names = parser.parse_comma_separated_list(parser.Delimiter.PAREN, lambda: parser.parse_argument(expect_type=False))
    groups = []
    parser.parse_punctuation("=")
    for keyword in ("to", "step", None):
        groups.append(parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_unresolved_operand))
        if keyword is not None:
            parser.parse_keyword(keyword)
    initial = []
    if parser.parse_optional_keyword("init") is not None:
        initial = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_unresolved_operand)
    results: list[Attribute] = []
    if parser.parse_optional_punctuation("->") is not None:
        found = parser.parse_optional_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
        results = [*found] if found is not None else [parser.parse_type()]
    region = parser.parse_region([name.resolve(IndexType()) for name in names])
    attributes = parser.parse_optional_attr_dict()
    index = IndexType()
    operands = [value for group in groups for value in parser.resolve_operands(group, [index] * len(group), start)]
    operands += parser.resolve_operands(initial, results, start)
    sizes = [*map(len, groups), len(initial)]
    return kind.create(
        operands=operands,
        result_types=results,
        regions=[region],
        properties={"operandSegmentSizes": DenseArrayBase.from_list(i32, sizes)},
        attributes=attributes,
    )


def _parse_affine_load(parser: Parser, kind: type[Operation]) -> Operation:
    """``affine.load %memref[%i * 4 + %j] : memref-type``."""
    memref = parser.parse_unresolved_operand()
    return _affine_access(parser, kind, memref, None)


def _parse_affine_store(parser: Parser, kind: type[Operation]) -> Operation:
    """``affine.store %value, %memref[%i * 4 + %j] : memref-type``."""
    value = parser.parse_unresolved_operand()
    parser.parse_punctuation(",")
    return _affine_access(parser, kind, parser.parse_unresolved_operand(), value)


def _affine_access(
    parser: Parser, kind: type[Operation], memref: UnresolvedOperand, stored: UnresolvedOperand | None
) -> Operation:
    found, indices = parser.parse_affine_map_of_ssa_ids()
    attributes = parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    type_: Any = parser.parse_type()
    dims = AffineMap(found.num_symbols, 0, tuple(map(_symbols_as_dims, found.results)))
    operands = [parser.resolve_operand(memref, type_), *indices]
    if stored is not None:
        operands.insert(0, parser.resolve_operand(stored, type_.element_type))
    return kind.create(
        operands=operands,
        properties={"map": AffineMapAttr(dims)},
        attributes=attributes,
        result_types=[] if stored is not None else [type_.element_type],
    )


def _symbols_as_dims(expression: AffineExpr) -> AffineExpr:
    match expression:
        case AffineSymExpr():
            return AffineDimExpr(expression.position)
        case AffineBinaryOpExpr():
            parts = map(_symbols_as_dims, (expression.lhs, expression.rhs))
            return AffineBinaryOpExpr(expression.kind, *parts)
        case _:
            return expression


SYNTAX: dict[str, Parse] = {
    "arith.constant": _parse_constant,
    "affine.load": _parse_affine_load,
    "affine.store": _parse_affine_store,
    "memref.global": _parse_global,
    "scf.parallel": _parse_parallel,
}
"""Name of an operation -> its parser."""
