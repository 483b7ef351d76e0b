"""The parser of upstream texts: what xDSL's parser lacks of MLIR's syntax, and the bodies that tables describe."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NoReturn

from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    ComplexType,
    DenseIntOrFPElementsAttr,
    FileLineColLoc,
    FloatAttr,
    FusedLoc,
    IndexType,
    IntAttr,
    IntegerAttr,
    IntegerType,
    LocationAttr,
    MemRefLayoutAttr,
    MemRefType,
    ModuleOp,
    RankedStructure,
    UnrankedMemRefType,
    UnregisteredAttr,
    UnregisteredOp,
    i1,
)
from xdsl.ir import Attribute, BuiltinAttribute, Data, Operation, ParametrizedAttribute, SSAValue
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineConstantExpr, AffineExpr, AffineMap
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AffineParser, ParserState
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.lexer import Span
from xdsl.utils.mlir_lexer import MLIRTokenKind

from ttnn_jit.dialects.locations import location_attribute, note_place
from ttnn_jit.dialects.text.parsing import SourceText, TextParser, UnknownOperationError
from ttnn_jit.dialects.upstream import tables, xdsl_syntax
from ttnn_jit.dialects.upstream.context import UpstreamContext
from ttnn_jit.dialects.upstream.fast_lexer import FastLexer
from ttnn_jit.dialects.upstream.operation_writer import SEGMENT_NAMES
from ttnn_jit.dialects.upstream.rules.attribute_rules import verify_attribute
from ttnn_jit.dialects.upstream.table_attributes import attribute_class, first_that_parses
from ttnn_jit.dialects.upstream.table_operations import TableOperation, has_assembly, parse_by_table
from ttnn_jit.ops.public_names import names_within_one_edit


@irdl_attr_definition
class SplatElementsAttr(BuiltinAttribute, ParametrizedAttribute):
    """``dense<1.0> : tensor<4xf32>``: one element, for every place of its type.

    Attributes:
        type: The type of the whole.
        element: An `IntegerAttr` or `FloatAttr` of the element type; of a complex type, an array of two.
    """

    name = "builtin.dense_splat"

    type: Attribute
    element: Attribute

    def print_builtin(self, printer: Printer) -> None:
        """``dense<1.0> : tensor<4xf32>``."""
        printer.print_string("dense<")
        _print_element(printer, self.element)
        printer.print_string("> : ")
        printer.print_attribute(self.type)


def _print_element(printer: Printer, element: Attribute) -> None:
    match element:
        case IntegerAttr(type=IntegerType(width=IntAttr(data=1))):
            printer.print_string("true" if element.value.data else "false")
        case IntegerAttr():
            printer.print_string(str(element.value.data))
        case FloatAttr():
            printer.print_float(element.value.data, element.type)
        case ArrayAttr():
            with printer.in_parens():
                printer.print_list(element, lambda part: _print_element(printer, part))
        case _:
            printer.print_attribute(element)


class _AffineParser(AffineParser):
    """Also parses semi-affine products, quotients and remainders, of two dimensions or symbols."""

    def _create_binop_expr(self, lhs: AffineExpr, rhs: AffineExpr, binop: Any) -> AffineExpr:
        kind = _SEMI_AFFINE.get(binop.text)
        if kind is None or isinstance(rhs, AffineConstantExpr) or isinstance(lhs, AffineConstantExpr):
            return super()._create_binop_expr(lhs, rhs, binop)
        return AffineBinaryOpExpr(kind, lhs, rhs)


_DIMENSIONS = {MLIRTokenKind.INTEGER_LIT, MLIRTokenKind.QUESTION}
_SEMI_AFFINE = {
    "*": AffineBinaryOpKind.Mul,
    "floordiv": AffineBinaryOpKind.FloorDiv,
    "ceildiv": AffineBinaryOpKind.CeilDiv,
    "mod": AffineBinaryOpKind.Mod,
}


class _Mark(dict[str, tuple[SSAValue, ...]]):
    """The number of values that were defined at some point of a text."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self.count = count


class _Scopes(dict[str, tuple[SSAValue, ...]]):
    """The values that are visible, by name. A copy is a mark: xDSL copies them all before each region."""

    def __init__(self) -> None:
        super().__init__()
        self._names: list[str] = []

    def __setitem__(self, name: str, values: tuple[SSAValue, ...]) -> None:
        self._names.append(name)
        super().__setitem__(name, values)

    def copy(self) -> _Mark:
        """The mark of now."""
        return _Mark(len(self._names))

    def go_back_to(self, mark: _Mark) -> None:
        """Forgets the values that were defined after a mark."""
        for name in self._names[mark.count :]:
            self.pop(name, None)
        del self._names[mark.count :]


class UpstreamParser(TextParser):
    """Parses one module.

    Attributes:
        kept: Names of attributes and types whose body was kept as it is, for it could not be parsed.
        resources: Dialect and name -> the hexadecimal text of a resource that the end of the text holds.
    """

    _scopes: _Scopes

    def __init__(self, context: UpstreamContext, source: SourceText, *, keep_bodies: bool) -> None:
        super().__init__(context, source)
        self._parser_state = ParserState(FastLexer(self.lexer.input))
        self.kept: list[str] = []
        self.resources: dict[tuple[str, str], str] = {}
        self._keeps_bodies = keep_bodies

    @property
    def ssa_values(self) -> dict[str, tuple[SSAValue, ...]]:
        """The visible values by name."""
        return self._scopes

    @ssa_values.setter
    def ssa_values(self, values: dict[str, tuple[SSAValue, ...]]) -> None:
        if isinstance(values, _Mark):
            self._scopes.go_back_to(values)
        else:
            self._scopes = _Scopes()

    @property
    def pos(self) -> int:
        """The start of the next token."""
        token: Any = self._parser_state.current_token
        start: int = token.start
        return start

    def parse_module(self, allow_implicit_module: bool = True) -> ModuleOp:  # noqa: ARG002 - xDSL's signature
        """The module of the whole text; a text may hold definitions of aliases alone."""
        ops: list[Operation] = []
        while (kind := self._current_token.kind) is not MLIRTokenKind.EOF:
            if kind in {MLIRTokenKind.HASH_IDENT, MLIRTokenKind.EXCLAMATION_IDENT}:
                self._parse_alias_def()
            elif kind is MLIRTokenKind.FILE_METADATA_BEGIN:
                self._parse_file_metadata_dictionary()
            elif (op := self.parse_optional_operation()) is not None:
                ops.append(op)
            else:
                self.raise_error("expected an operation")
        if self.forward_ssa_references:
            names = ", ".join(f"%{name}" for name in self.forward_ssa_references)
            self.raise_error(f"use of undeclared SSA value name: {names}")
        return ops[0] if len(ops) == 1 and isinstance(ops[0], ModuleOp) else ModuleOp(ops)

    def _parse_alias_def(self) -> None:
        """An alias that is defined anew, as each module of a file does, replaces the old one."""
        if self.attribute_aliases.pop(self._current_token.text, None) is not None:
            self.forget_texts()
        super()._parse_alias_def()  # type: ignore[no-untyped-call]

    def _parse_dialect_type_or_attribute_body(
        self, attr_name: str, is_type: bool, is_opaque: bool, starting_opaque_pos: int | None
    ) -> Attribute:
        find = self.ctx.get_optional_type if is_type else self.ctx.get_optional_attr
        classes = [find(attr_name), attribute_class(attr_name, is_type=is_type)]
        kinds = [kind for kind in dict.fromkeys(classes) if kind is not None]
        if not kinds:
            self.raise_error(f"'{attr_name}' is not registered")
        if issubclass(kinds[0], UnregisteredAttr):
            unknown: Attribute = super()._parse_dialect_type_or_attribute_body(
                attr_name, is_type, is_opaque, starting_opaque_pos
            )
            return unknown
        try:
            return first_that_parses(self, [partial(self._body, kind) for kind in kinds])
        except Exception:
            if not self._keeps_bodies:
                raise
        return self._kept_body(attr_name, is_type, is_opaque, starting_opaque_pos)

    def _body(self, kind: type[Attribute]) -> Attribute:
        start = self.pos
        if issubclass(kind, ParametrizedAttribute):
            body: Attribute = kind.new(kind.parse_parameters(self))
        else:
            assert issubclass(kind, Data)
            body = kind(kind.parse_parameter(self))
        try:
            verify_attribute(body)
        except VerifyException as error:
            self.raise_error(str(error), start)
        return body

    def _kept_body(self, name: str, is_type: bool, is_opaque: bool, opaque_start: int | None) -> Attribute:
        self.kept.append(name)
        if opaque_start is not None:
            end = self._raw_scan_balanced(opaque_start)
            body = self.lexer.input.content[opaque_start:end]
            self._resume_from(end)
        else:
            body = self._parse_dialect_symbol_body() if self._current_token.kind is MLIRTokenKind.LESS else ""
        return UnregisteredAttr.with_name_and_type(name, is_type)(name, is_type, is_opaque, body)

    def parse_operation(self) -> Operation:
        """The op at the parser's position; its location comes last in the text."""
        position = self.pos
        results = self._parse_op_result_list()
        word = self._current_token
        stack = self._parser_state.dialect_stack
        depth = len(stack)
        if word.kind is MLIRTokenKind.BARE_IDENT:
            self._consume_token()
            kind = self._get_op_by_name(word.text)
            if issubclass(kind, UnregisteredOp):
                self._refuse_assembly(word.text, word.span)
            stack.append(kind.dialect_name())
            op = self._custom(kind)
            location = self.parse_optional_location()
        else:
            kind = self._get_op_by_name(self.expect(self.parse_optional_str_literal, "operation name expected"))
            stack.append(kind.dialect_name())
            op = self._parse_generic_operation(kind)
            location = op.location if self._location_was_said else None
        del stack[depth:]
        if location is None:
            op.location = location_attribute(self._source.location(position))
        else:
            op.location = location
            note_place(op, partial(self._source.location, position))
        if isinstance(op, ModuleOp) and len(op.body.blocks) != 1:
            reason = "'builtin.module' op region #0 ('bodyRegion') failed to verify constraint: region with 1 blocks"
            self.raise_error(reason, position, position + len("module"))
        self._bind(op, results, position)
        return op

    def _refuse_assembly(self, name: str, span: Span) -> NoReturn:
        """Refuses an op of an unknown assembly; in generic form it would be read."""
        raise UnknownOperationError(name, self._close_names(name), span)

    def _custom(self, kind: type[Operation]) -> Operation:
        """An op in its own assembly: by its class, and if that refuses it, by the tables."""
        by_hand = xdsl_syntax.SYNTAX.get(kind.name)
        if by_hand is not None:
            return by_hand(self, kind)
        if issubclass(kind, TableOperation) or not has_assembly(kind.name):
            return kind.parse(self)
        if kind.parse.__func__ is Operation.parse.__func__:  # type: ignore[attr-defined]  # class methods
            return parse_by_table(kind, self)
        depth = len(self._parser_state.dialect_stack)

        def by_table() -> Operation:
            del self._parser_state.dialect_stack[depth:]
            return parse_by_table(kind, self)

        ways: list[Callable[[], Operation]] = [partial(kind.parse, self), by_table]
        return first_that_parses(self, ways)

    def _close_names(self, name: str) -> list[str]:
        dialect, _, last = name.partition(".")
        of_tables = [known.partition(".")[2] for known in tables.operation_names() if known.startswith(f"{dialect}.")]
        near = [f"{dialect}.{each}" for each in names_within_one_edit(last, of_tables)]
        return [*dict.fromkeys([*super()._close_names(name), *near])]

    def _bind(self, op: Operation, names: Sequence[tuple[Span, int]], position: int) -> None:
        """Gives the results of `op` their names."""
        count = sum(size for _, size in names)
        if names and count != len(op.results):
            self.raise_error(f"Operation has {len(op.results)} results, but was given {count} to bind.", position)
        at = 0
        for span, size in names:
            self._register_ssa_definition(span.text[1:], op.results[at : at + size], span)
            at += size

    def _parse_generic_operation(self, op_type: type[Operation]) -> Operation:
        """In generic form, properties may stand in the dictionary of attributes, as they did before MLIR had them."""
        op = super()._parse_generic_operation(op_type)
        rows = tables.operation_rows(op.name) if op.attributes else ()
        if rows:
            known = [{*(each.name for each in row.attributes), *SEGMENT_NAMES} for row in rows]
            for name in sorted(max(known, key=lambda names: len(names & op.attributes.keys()))):
                if name in op.attributes and name not in op.properties:
                    op.properties[name] = op.attributes.pop(name)
        return op

    def parse_dimension_list(self) -> list[int]:
        """``1x2x?``, with or without spaces around each x."""
        dimensions = []
        while self._current_token.kind in _DIMENSIONS:
            dimensions.append(self.parse_shape_dimension())
            delimiter = self._current_token
            if self._parse_optional_shape_delimiter() is None:
                break
            if self._current_token.kind not in _DIMENSIONS:
                self._resume_from(delimiter.span.start)
                break
        return dimensions

    def parse_affine_map(self) -> AffineMap:
        """A map, semi-affine or not."""
        return _AffineParser(self._parser_state).parse_affine_map()

    def _parse_dialect_resource_handle(self, dialect_name: str, interface: Any) -> str:  # noqa: ARG002 - xDSL's signature
        """The name of a resource as the text has it: xDSL renames those that another text had."""
        return self.parse_identifier(" for resource handle")

    def _parse_file_metadata_dictionary(self) -> None:
        """``{-# dialect_resources: { builtin: { name: "0x..." } } #-}``."""
        self.parse_punctuation("{-#")
        while self._current_token.text != "#-}":
            section = self.parse_identifier()
            self.parse_punctuation(":")
            for dialect, entries in self._resource_group().items():
                if section == "dialect_resources" and isinstance(entries, dict):
                    self.resources.update({(dialect, name): str(value) for name, value in entries.items()})
            if self.parse_optional_punctuation(",") is None:
                break
        self.parse_punctuation("#-}")

    def _resource_group(self) -> dict[str, Any]:
        """``{name: value, ...}``, whose values are strings, numbers, booleans or groups."""

        def entry() -> tuple[str, Any]:
            name = self.parse_identifier_or_str_literal()
            self.parse_punctuation(":")
            if self._current_token.text == "{":
                return name, self._resource_group()
            text = self.parse_optional_str_literal()
            return name, self.parse_number(allow_boolean=True) if text is None else text

        return dict(self.parse_comma_separated_list(self.Delimiter.BRACES, entry))

    def _parse_memref_attrs(self) -> MemRefType[Any] | UnrankedMemRefType[Any]:
        shape, element = self.parse_shape()
        given: list[Attribute] = []
        while self.parse_optional_punctuation(",") is not None:
            given.append(self.parse_attribute())
        if shape is None:
            return UnrankedMemRefType.from_type(element, *given)
        if len(given) == 2:
            return MemRefType(element, shape, _layout(given[0]), given[1])
        if given and isinstance(given[0], MemRefLayoutAttr):
            return MemRefType(element, shape, given[0])
        return MemRefType(element, shape, memory_space=given[0]) if given else MemRefType(element, shape)

    def parse_dense_int_or_fp_elements_attr(self, type: RankedStructure[Any] | None) -> Any:  # noqa: A002 - xDSL's signature
        """A splat, or the elements of ``dense<...>``."""
        start = self.pos
        self.parse_punctuation("<")
        if self._current_token.kind is MLIRTokenKind.STRING_LIT and (bits := self._packed_booleans(type)) is not None:
            return bits
        if self._current_token.text in {"[", ">"} or self._current_token.kind is MLIRTokenKind.STRING_LIT:
            self._resume_from(start)
            return super().parse_dense_int_or_fp_elements_attr(type)
        literals = [self._number_literal()] if self._current_token.text != "(" else self._complex_literal()
        self.parse_punctuation(">")
        whole: Any = type
        if whole is None:
            self.parse_punctuation(":")
            whole = self.parse_type()
        element_type = whole.get_element_type()
        if isinstance(element_type, ComplexType):
            parts = [self._element(literal, element_type.element_type) for literal in literals]
            return SplatElementsAttr(whole, ArrayAttr(parts))
        return SplatElementsAttr(whole, self._element(literals[0], element_type))

    def _packed_booleans(self, type_: Any) -> Attribute | None:
        """The elements of a hexadecimal string of booleans, eight in a byte; None for other elements."""
        start, text = self.pos, self.parse_str_literal()
        self.parse_punctuation(">")
        whole: Any = type_
        if whole is None:
            self.parse_punctuation(":")
            whole = self.parse_type()
        if whole.get_element_type() != i1:
            self._resume_from(start)
            return None
        packed = bytes.fromhex(text[2:])
        count = math.prod(whole.get_shape())
        if count > 1 and len(packed) == 1:  # a splat is a whole byte
            return SplatElementsAttr(whole, IntegerAttr(int(packed[0] != 0), i1))
        if len(packed) != (count + 7) // 8:
            self.raise_error(f"expected {count} booleans in {(count + 7) // 8} bytes, got {len(packed)}", start)
        values = [packed[at // 8] >> (at % 8) & 1 for at in range(count)]
        return DenseIntOrFPElementsAttr.from_list(whole, values)

    def _complex_literal(self) -> list[tuple[str, int]]:
        return self.parse_comma_separated_list(self.Delimiter.PAREN, self._number_literal)

    def _number_literal(self) -> tuple[str, int]:
        """The text of a number or boolean, and its position."""
        position = self.pos
        sign = self.parse_optional_punctuation("-") or ""
        kinds = {MLIRTokenKind.INTEGER_LIT, MLIRTokenKind.FLOAT_LIT, MLIRTokenKind.BARE_IDENT}
        if self._current_token.kind not in kinds:
            self.raise_error("expected a number, `true` or `false`")
        return sign + self._consume_token().text, position

    def _element(self, literal: tuple[str, int], element_type: Attribute) -> Attribute:
        text, position = literal
        if isinstance(element_type, AnyFloat):
            if text[:2].lower() == "0x":
                return FloatAttr(_float_of_bits(int(text, 16), element_type), element_type)
            if text not in {"true", "false"}:
                return FloatAttr(float(text), element_type)
        elif isinstance(element_type, (IntegerType, IndexType)):
            if text in {"true", "false"}:
                return IntegerAttr(int(text == "true"), element_type)
            if "." not in text:
                return IntegerAttr(int(text, 0), element_type)
        return self.raise_error(f"{text} is no element of {element_type}", position)

    def _parse_location(self) -> LocationAttr:
        """Also locations that span a range, and fused ones with metadata."""
        start = self.pos
        if self.parse_optional_keyword("fused") is not None:
            if self.parse_optional_punctuation("<") is not None:
                metadata = self.parse_attribute()
                self.parse_punctuation(">")
                parts = self.parse_comma_separated_list(self.Delimiter.SQUARE, self._parse_location)
                return FusedLoc(ArrayAttr(parts), metadata)
            self._resume_from(start)
        found = super()._parse_location()
        if isinstance(found, FileLineColLoc) and self.parse_optional_keyword("to") is not None:
            if self._current_token.text != ":":
                self.parse_integer(False, False)
            self.parse_punctuation(":")
            self.parse_integer(False, False)
        return found


def _layout(attribute: Attribute) -> Any:
    """Any attribute as a layout: one whose body was kept has no class that says it is one."""
    return attribute


def _float_of_bits(bits: int, type_: AnyFloat) -> float:
    width = type_.compile_time_size
    return float(type_.unpack(bits.to_bytes(width, "little"), 1)[0])
