"""Parses an operation by its assembly format."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import (
    DenseArrayBase,
    TensorType,
    UnitAttr,
    VectorType,
    i1,
    i32,
)
from xdsl.ir import Attribute, Block, Region
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.utils.mlir_lexer import MLIRTokenKind

from ttnn_jit.dialects.upstream import tables
from ttnn_jit.dialects.upstream.attribute_kinds import DENSE_ARRAYS, NAME_TOKENS, attribute_of_kind, implied_type
from ttnn_jit.dialects.upstream.directives import operation_directives
from ttnn_jit.dialects.upstream.formats import Directive, Element, Literal, Optional, Variable, parsed_format
from ttnn_jit.dialects.upstream.segment_sizes import segment_sizes
from ttnn_jit.dialects.upstream.tables import OperationRow, Value
from ttnn_jit.process.dataclass import dataclass

_AFTER_GROUPS = {":", ",", ")", "]", "}", "{", "->", "attributes"}
"""Tokens that begin no attribute or custom directive of an optional group."""


@dataclass
class Parts:
    """What an operation is made of."""

    operands: Sequence[Any]
    result_types: Sequence[Attribute]
    properties: Mapping[str, Attribute]
    attributes: Mapping[str, Attribute]
    regions: Sequence[Region]
    successors: Sequence[Block]


class OperationReader:
    """The state of parsing one operation in the syntax of one row.

    Attributes:
        parser: The parser.
        operands: The operands so far, by the names of the row.
        types: The types of operands and results so far, by their names; those of all operands are under "*operands",
            those of all results under "*results".
        attributes: The attributes so far.
    """

    def __init__(self, parser: Parser, row: OperationRow) -> None:
        self.parser = parser
        self.row = row
        self.operands: dict[str, list[UnresolvedOperand]] = {}
        self.types: dict[str, list[Attribute]] = {}
        self.attributes: dict[str, Attribute] = {}
        self._discardable: dict[str, Attribute] = {}
        self._regions: dict[str, list[Region]] = {}
        self._successors: list[Block] = []
        self._kinds: dict[str, Callable[[Any], None]] = dict.fromkeys(
            (each.name for each in row.operands), self._operand
        )
        self._kinds |= dict.fromkeys((each.name for each in row.attributes), self._attribute)
        self._kinds |= dict.fromkeys((each.name for each in row.regions), self._region)
        self._kinds |= dict.fromkeys((each.removesuffix("*") for each in row.successors), self._successor)
        self._operands = {each.name: each for each in row.operands}
        self._attributes = {each.name: each for each in row.attributes}
        self._counts = {each.name: each.count for each in (*row.operands, *row.results)}
        self._constraints = {each.name: each.constraint for each in (*row.operands, *row.results)}
        self._region_counts = {each.name: each.count for each in row.regions}

    def read(self) -> Parts:
        """The parts of the operation at the parser's position."""
        start = self.parser.pos
        self.elements(parsed_format(self.row.format))
        return self.parts(start)

    def elements(self, form: Sequence[Element]) -> None:
        """Parses elements in order."""
        for element in form:
            match element:
                case Literal():
                    self.parser.parse_characters(element.text)
                case Variable():
                    self._kinds[element.name](element.name)
                case Optional():
                    self._optional(element)
                case Directive():
                    self._directive(element)

    def _optional(self, group: Optional) -> None:
        if not self._follows(group.then[0]):
            self.elements(group.otherwise)
            return
        self.elements(group.then)
        if isinstance(group.anchor, Variable) and group.anchor.name in self._attributes:
            self.attributes.setdefault(group.anchor.name, UnitAttr())

    def _follows(self, element: Element) -> bool:
        """Whether what comes next begins this element."""
        token = self.parser._current_token
        is_operand = token.kind is MLIRTokenKind.PERCENT_IDENT
        match element:
            case Literal():
                return token.text == element.text
            case Variable() if element.name in self._attributes:
                return self._attribute_follows(self._attributes[element.name].kind)
            case Variable():
                return is_operand if element.name in self._operands else token.text == "{" or token.text[:1] == "^"
            case Directive(name="qualified"):
                return self._follows(element.arguments[0])
            case Directive(name="operands"):
                return is_operand
            case _:
                return token.text not in _AFTER_GROUPS

    def _attribute_follows(self, kind: str) -> bool:
        token = self.parser._current_token
        if kind.startswith("#"):
            return token.kind in NAME_TOKENS or token.text == "<"
        if kind.startswith("enum:"):
            return token.text in tables.enum_values(kind.removeprefix("enum:"), self.row.name.partition(".")[0])
        if kind in DENSE_ARRAYS:
            return token.text in {"[", "array"}
        if kind in {"SymbolNameAttr", "FlatSymbolRefAttr", "SymbolRefAttr"}:
            return token.kind is MLIRTokenKind.AT_IDENT
        return kind == "UnitAttr" or token.text not in _AFTER_GROUPS

    def _operand(self, name: str) -> None:
        count = self._counts[name]
        if count == "":
            self.operands[name] = [self.parser.parse_unresolved_operand()]
        elif self.parser._current_token.kind is not MLIRTokenKind.PERCENT_IDENT:
            self.operands[name] = []
        elif count == "?":
            self.operands[name] = [self.parser.parse_unresolved_operand()]
        else:
            self.operands[name] = self._list(self.parser.parse_unresolved_operand)

    def _list(self, parse: Callable[[], Any]) -> list[Any]:
        return self.parser.parse_comma_separated_list(self.parser.Delimiter.NONE, parse)

    def _attribute(self, name: str) -> None:
        found = attribute_of_kind(self.parser, self._attributes[name].kind, self.row.name.partition(".")[0])
        if found is not None:
            self.attributes[name] = found

    def _region(self, name: str) -> None:
        if self._region_counts[name] == "*":
            follows = self.parser._current_token.text == "{"
            self._regions[name] = self._list(self.parser.parse_region) if follows else []
        else:
            self._regions[name] = [self.parser.parse_region()]

    def _successor(self, _name: str) -> None:
        self._successors.append(self.parser.parse_successor())

    def set_regions(self, name: str, regions: Sequence[Region]) -> None:
        """Gives the regions of a name of the row."""
        self._regions[name] = [*regions]

    def _directive(self, directive: Directive) -> None:
        parser = self.parser
        match directive.name:
            case "attr-dict":
                self._discardable |= parser.parse_optional_attr_dict()
            case "attr-dict-with-keyword":
                found = parser.parse_optional_attr_dict_with_keyword()
                self._discardable |= {} if found is None else found.data
            case "prop-dict":
                self.attributes |= parser.parse_optional_properties_dict()
            case "type":
                self._types(directive.arguments[0])
            case "functional-type":
                self._function_type(directive.arguments)
            case "operands":
                follows = parser._current_token.kind is MLIRTokenKind.PERCENT_IDENT
                self.operands["*operands"] = self._list(parser.parse_unresolved_operand) if follows else []
            case name:
                self._further_directive(name, directive)

    def _further_directive(self, name: str, directive: Directive) -> None:
        if name == "regions":
            for region in self.row.regions:
                self._region(region.name)
        elif name == "qualified":
            self.elements(directive.arguments)
        elif name != "ref":
            operation_directives.DIRECTIVES[name.removeprefix("custom<")].parse(self, directive.arguments)

    def _types(self, argument: Element) -> None:
        name = name_of(argument)
        count = self._counts.get(name, "*")
        if count == "":
            self.types[name] = [self._one_type(name)]
            return
        if self.parser._current_token.text == "<":
            self.types[name] = [self._one_type(name)]
            return
        first = self.parser.parse_optional_type()
        found: list[Attribute] = [] if first is None else [first]
        while count == "*" and found and self.parser.parse_optional_punctuation(",") is not None:
            found.append(self.parser.parse_type())
        self.types[name] = found

    def _function_type(self, arguments: Sequence[Element]) -> None:
        found = self.parser.parse_function_type()
        for argument, types in zip(arguments, (found.inputs.data, found.outputs.data), strict=True):
            self.types[name_of(argument)] = [*types]

    def _one_type(self, name: str) -> Attribute:
        """A type; of a constraint that takes one type of a dialect, its body suffices."""
        constraint = self._constraints.get(name, "")
        if self.parser._current_token.text == "<" and constraint.startswith("!"):
            body: Attribute = self.parser._parse_dialect_type_or_attribute_body(constraint[1:], True, False, None)
            return body
        return self.parser.parse_type()

    def assign_types(self, names: Sequence[str], types: Sequence[Attribute]) -> None:
        """Gives one type to each name."""
        for name, type_ in zip(names, types, strict=True):
            self.types[name] = [type_]

    def parts(self, start: int) -> Parts:
        """What was parsed from `start` on, with the types that the text leaves out."""
        row = self.row
        operands, sizes = self._resolved_operands(start)
        results, result_sizes = self._result_types(start)
        names = {each.name for each in row.attributes}
        properties = {**self.attributes, **{name: value for name, value in self._discardable.items() if name in names}}
        attributes = {name: value for name, value in self._discardable.items() if name not in names}
        if row.has("AttrSizedOperandSegments"):
            attributes.pop("operandSegmentSizes", None)
            properties["operandSegmentSizes"] = DenseArrayBase.from_list(i32, sizes)
        if row.has("AttrSizedResultSegments"):
            attributes.pop("resultSegmentSizes", None)
            properties["resultSegmentSizes"] = DenseArrayBase.from_list(i32, result_sizes)
        regions = [region for each in row.regions for region in self._regions.get(each.name, [])]
        return Parts(operands, results, properties, attributes, regions, self._successors)

    def _resolved_operands(self, start: int) -> tuple[list[Any], list[int]]:
        if "*operands" in self.operands:
            given = self.operands["*operands"]
            types = self.types.get("*operands", ())
            if self._drifted(len(given)) and len(types) == len(given):
                return [*map(self.parser.resolve_operand, given, types)], []
            sizes = self._split(self.row.operands, len(given), start)
            at = 0
            for declared, size in zip(self.row.operands, sizes, strict=True):
                self.operands[declared.name] = given[at : at + size]
                at += size
        found: list[Any] = []
        sizes = []
        flat = iter(self.types.get("*operands", ()))
        for declared in self.row.operands:
            unresolved = self.operands.get(declared.name, [])
            sizes.append(len(unresolved))
            known: Sequence[Attribute | None] = self.types.get(declared.name, ())
            if "*operands" in self.types:
                known = [next(flat, None) for _ in unresolved]
            elif not known or len(known) != len(unresolved):
                known = [self._implied_type(declared, operand) for operand in unresolved]
            for operand, type_ in zip(unresolved, known, strict=True):
                if type_ is None:
                    self.parser.raise_error(f"the type of {operand.span.text} is not given", operand.span)
                found.append(self.parser.resolve_operand(operand, type_))
        if next(flat, None) is not None:
            self.parser.raise_error(f"{len(found)} operands present, but more types", start)
        return found, sizes

    def _drifted(self, count: int) -> bool:
        """Whether a newer version of another project's operation takes more operands than its row says."""
        return self.row.versions == "+" and segment_sizes(self.row.operands, count) is None

    def _split(self, declared: Sequence[Value], count: int, start: int) -> list[int]:
        sizes = segment_sizes(declared, count)
        if sizes is None:
            self.parser.raise_error(f"{self.row.name} takes no {count} values", start)
        return sizes

    def _implied_type(self, declared: Value, operand: UnresolvedOperand | None) -> Attribute | None:
        """The type that the constraint, a trait or the operand's definition gives."""
        implied = implied_type(declared.constraint)
        if implied is not None:
            return implied
        if operand is not None:
            values = self.parser.ssa_values.get(operand.operand_name, ())
            if operand.index < len(values):
                return values[operand.index].type
        return self._matching_type(declared.name)

    def _matching_type(self, name: str) -> Attribute | None:
        for trait in self.row.traits:
            if trait in {"SameOperandsAndResultType", "SameTypeOperands"}:
                return next((types[0] for types in self.types.values() if types), None)
            if trait.startswith("AllTypesMatch("):
                names = trait[len("AllTypesMatch(") : -1].split(",")
                if name in names:
                    return next((self.types[each][0] for each in names if self.types.get(each)), None)
            if trait.startswith(f"TypesMatchWith({name},") and self.types.get(other := trait.split(",")[1]):
                return _transformed(self.types[other][0], trait)
            lhs = trait.partition("(")[2].partition(",")[0]
            if re.match(rf"TypesMatchWith\(\w+,{name},", trait) and self.types.get(lhs):
                return _transformed(self.types[lhs][0], trait)
        return None

    def _result_types(self, start: int) -> tuple[list[Attribute], list[int]]:
        if "*results" in self.types:
            flat = self.types["*results"]
            return flat, self._split(self.row.results, len(flat), start)
        found: list[Attribute] = []
        sizes = []
        for declared in self.row.results:
            types = self.types.get(declared.name)
            if types is None and not declared.count:
                implied = self._implied_type(declared, None) or self._type_of_operand()
                if implied is None:
                    self.parser.raise_error(f"the type of {self.row.name}'s result is not given", start)
                types = [implied]
            found += types or []
            sizes.append(len(types or []))
        return found, sizes

    def _type_of_operand(self) -> Attribute | None:
        """The type of the first operand, for a result that has the operands' type."""
        if not self.row.has("SameOperandsAndResultType"):
            return None
        first = next((operand for operands in self.operands.values() for operand in operands), None)
        if first is None or (values := self.parser.ssa_values.get(first.operand_name)) is None:
            return None
        return values[first.index].type


def name_of(argument: Element) -> str:
    """The name under which the types of a variable, or of a directive of all operands or results, are kept."""
    return f"*{argument.name}" if isinstance(argument, Directive) else argument.name  # type: ignore[union-attr]


def _transformed(type_: Attribute, trait: str) -> Attribute | None:
    """The type that a trait computes of another one; None for a computation that is not known here."""
    transform = trait.rpartition(",")[2]
    if "getI1SameShape" in transform:
        return _booleans(type_)
    if "getValueType" in transform:
        parameters: Any = type_
        found: Attribute = parameters.value("valueType")
        return found
    if "getElementType" in transform:
        element: Attribute = type_.get_element_type() if hasattr(type_, "get_element_type") else type_
        return element
    return type_ if transform.rstrip(")") == "$_self" else None


def _booleans(type_: Attribute) -> Attribute:
    """i1, in the shape of a type."""
    if isinstance(type_, TensorType):
        return TensorType(i1, type_.get_shape(), type_.encoding)
    return VectorType(i1, type_.get_shape()) if isinstance(type_, VectorType) else i1
