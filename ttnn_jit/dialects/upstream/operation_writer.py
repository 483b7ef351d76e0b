"""Prints an operation by its assembly format, with MLIR's rules of spaces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import DenseArrayBase, FloatAttr, IntegerAttr, StringAttr, i1
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.printer import Printer

from ttnn_jit.dialects.upstream import tables
from ttnn_jit.dialects.upstream.attribute_kinds import DENSE_ARRAYS, NUMBER_TYPES
from ttnn_jit.dialects.upstream.directives import operation_directives
from ttnn_jit.dialects.upstream.formats import Directive, Element, Literal, Optional, Space, Variable, parsed_format
from ttnn_jit.dialects.upstream.operation_reader import name_of
from ttnn_jit.dialects.upstream.parameter_syntax import print_body, print_stripped
from ttnn_jit.dialects.upstream.tables import OperationRow

SEGMENT_NAMES = ("operandSegmentSizes", "resultSegmentSizes")


class OperationWriter:
    """The state of printing one operation in the syntax of one row.

    Args:
        printer: Where it is printed.
        op: The operation.
        row: A row of its name.
        operands: Its operands by the names of the row.
        results: Its results by the names of the row.
    """

    def __init__(
        self,
        printer: Printer,
        op: Operation,
        row: OperationRow,
        operands: dict[str, tuple[SSAValue, ...]],
        results: dict[str, tuple[SSAValue, ...]],
    ) -> None:
        self.printer = printer
        self._op = op
        self._row = row
        self._operands = operands
        self._results = results
        self._kinds = {each.name: each.kind.partition("&")[0] for each in row.attributes}
        self._region_names = [each.name for each in row.regions]
        self._space = True
        self._after_punctuation = False
        self._form = parsed_format(row.format)
        self._has_properties = any(isinstance(each, Directive) and each.name == "prop-dict" for each in self._form)
        self._printed = {*_variables(self._form)} | {*SEGMENT_NAMES}

    def write(self) -> None:
        """Prints what follows the operation's name."""
        self._elements(self._form)

    def operands_of(self, name: str) -> Sequence[SSAValue]:
        """The operands of a name; of "operands" all."""
        return tuple(self._op.operands) if name == "*operands" else self._operands.get(name, ())

    def types_of(self, name: str) -> list[Attribute]:
        """The types of the operands or results of a name."""
        values = self._results.get(name, self._operands.get(name, ()))
        if name == "*operands":
            values = tuple(self._op.operands)
        elif name == "*results":
            values = tuple(self._op.results)
        return [value.type for value in values]

    def attribute(self, name: str) -> Attribute | None:
        """An attribute of the row."""
        return self._op.properties.get(name)

    def regions_of(self, name: str) -> Sequence[Region]:
        """The regions of a name of the row."""
        at = self._region_names.index(name)
        count = len(self._op.regions) - len(self._region_names) + 1
        return self._op.regions[at : at + (count if self._row.regions[at].count == "*" else 1)]

    def function_type(self, operands: str = "*operands", results: str = "*results") -> None:
        """``(types) -> types`` of operands and results."""
        self.printer.print_string("(")
        self.printer.print_list(self.types_of(operands), self.printer.print_attribute)
        self.printer.print_string(") -> ")
        outputs = self.types_of(results)
        if len(outputs) == 1 and not str(outputs[0]).startswith("("):
            self.printer.print_attribute(outputs[0])
        else:
            self.printer.print_string("(")
            self.printer.print_list(outputs, self.printer.print_attribute)
            self.printer.print_string(")")

    def _elements(self, form: Sequence[Element]) -> None:
        for element in form:
            match element:
                case Literal():
                    self._literal(element.text)
                case Space():
                    self._whitespace(element.text)
                case Variable():
                    self._variable(element.name)
                case Optional():
                    self._elements(element.printed(is_present=self._is_present(element.anchor)))
                case Directive():
                    self._directive(element)

    def _whitespace(self, text: str) -> None:
        if text:
            self.printer.print_string("\n" if text == "\\n" else text)
        self._space, self._after_punctuation = False, True

    def _literal(self, text: str) -> None:
        if self._space and _has_space_before(text, self._after_punctuation):
            self.printer.print_string(" ")
        self.printer.print_string(text)
        self._space = len(text) != 1 or text not in "<({["
        self._after_punctuation = text[0] != "_" and not text[0].isalpha()

    def _separate(self) -> None:
        if self._space or not self._after_punctuation:
            self.printer.print_string(" ")
        self._space, self._after_punctuation = True, False

    def _variable(self, name: str) -> None:
        if name in self._kinds:
            self._attribute(name)
        elif name in self._region_names:
            self._separate()
            self.printer.print_list(self.regions_of(name), self.printer.print_region)
        elif name in self._operands:
            if self._operands[name]:
                self._separate()
                self.printer.print_list(self._operands[name], self.printer.print_ssa_value)
        else:
            self._separate()
            self.printer.print_list(self._op.successors, self.printer.print_block_name)

    def _attribute(self, name: str) -> None:
        attribute, kind = self.attribute(name), self._kinds[name]
        if attribute is None or kind == "UnitAttr":
            return
        self._separate()
        if kind == "SymbolNameAttr" and isinstance(attribute, StringAttr):
            self.printer.print_symbol_name(attribute.data)
        elif kind.startswith("#") and attribute.name == kind[1:] and not attribute.name.startswith("builtin."):
            print_stripped(self.printer, attribute)
        elif kind.startswith("enum:") and isinstance(attribute, IntegerAttr):
            values = tables.enum_values(kind.removeprefix("enum:"), self._row.name.partition(".")[0])
            self.printer.print_string(next(word for word, value in values.items() if value == attribute.value.data))
        elif kind in DENSE_ARRAYS and isinstance(attribute, DenseArrayBase):
            self._dense_array(attribute)
        elif kind.removesuffix("Attr") in NUMBER_TYPES and isinstance(attribute, IntegerAttr) and attribute.type != i1:
            self.printer.print_string(str(attribute.value.data))
        elif kind.removesuffix("Attr") in NUMBER_TYPES and isinstance(attribute, FloatAttr):
            self.printer.print_float(attribute.value.data, attribute.type)
        else:
            self.printer.print_attribute(attribute)

    def _dense_array(self, attribute: DenseArrayBase) -> None:
        values: Any = attribute.get_values()  # type: ignore[misc]  # of any element
        if attribute.elt_type == i1:
            text = ", ".join("true" if value else "false" for value in values)
        else:
            text = ", ".join(map(str, values))
        self.printer.print_string(f"[{text}]")

    def _is_present(self, anchor: Element | None) -> bool:
        """Whether the op has what a group's anchor names."""
        if isinstance(anchor, Directive) and anchor.arguments:
            return self._is_present(anchor.arguments[0])
        if not isinstance(anchor, (Variable, Directive)):
            return False
        name = anchor.name
        if isinstance(anchor, Directive):
            return bool(self._op.operands if name == "operands" else self._op.results)
        if name in self._kinds:
            return self.attribute(name) is not None
        if name in self._operands or name in self._results:
            return bool(self._operands.get(name) or self._results.get(name))
        return bool(self.regions_of(name) if name in self._region_names else self._op.successors)

    def _directive(self, directive: Directive) -> None:
        match directive.name:
            case "attr-dict" | "attr-dict-with-keyword":
                self._dictionary(with_keyword=directive.name == "attr-dict-with-keyword")
            case "type":
                self._separate()
                self._types(directive.arguments[0])
            case "functional-type":
                self._separate()
                self.function_type(*map(name_of, directive.arguments))
            case "operands" if self._op.operands:
                self._separate()
                self.printer.print_list(self._op.operands, self.printer.print_ssa_value)
            case "qualified":
                self._qualified(directive.arguments[0])
            case "operands" | "ref":
                pass
            case name:
                self._further_directive(name, directive)

    def _further_directive(self, name: str, directive: Directive) -> None:
        printer = self.printer
        if name == "regions":
            for region in self._op.regions:
                self._separate()
                printer.print_region(region)
        elif name == "prop-dict":
            self._separate()
            printer.print_string("<")
            printer.print_attr_dict(self._op.properties)
            printer.print_string(">")
        else:
            self._separate()
            operation_directives.DIRECTIVES[name.removeprefix("custom<")].print(self, directive.arguments)

    def _qualified(self, argument: Element) -> None:
        """An attribute or types, with their names."""
        self._separate()
        if isinstance(argument, Variable):
            attribute = self.attribute(argument.name)
            attributes = [] if attribute is None else [attribute]
        else:
            assert isinstance(argument, Directive)
            attributes = self.types_of(name_of(argument.arguments[0]))
        self.printer.print_list(attributes, self.printer.print_attribute)

    def _types(self, argument: Element) -> None:
        assert isinstance(argument, (Variable, Directive))
        types = self.types_of(name_of(argument))
        constraint = next(
            (each.constraint for each in (*self._row.operands, *self._row.results) if each.name == argument.name), ""
        )
        if len(types) == 1 and constraint == f"!{types[0].name}" and getattr(types[0], "data", None):
            print_body(self.printer, types[0])
        else:
            self.printer.print_list(types, self.printer.print_attribute)

    def _dictionary(self, *, with_keyword: bool) -> None:
        unprinted = {name: value for name, value in self._op.properties.items() if name not in self._printed}
        attributes = {**self._op.attributes, **({} if self._has_properties else unprinted)}
        if attributes:
            self.printer.print_string(" attributes " if with_keyword else " ")
            self.printer.print_attr_dict(attributes)
            self._space, self._after_punctuation = True, False


def _has_space_before(text: str, after_punctuation: bool) -> bool:
    if len(text) != 1 and text != "->":
        return True
    return text[0] not in (">)}]," if after_punctuation else "<>(){}[],")


def _variables(form: Sequence[Element]) -> dict[str, None]:
    found: dict[str, None] = {}
    for element in form:
        match element:
            case Variable():
                found[element.name] = None
            case Optional():
                found |= _variables(element.then) | _variables(element.otherwise)
            case Directive() if element.name != "type":
                found |= _variables(element.arguments)
    return found
