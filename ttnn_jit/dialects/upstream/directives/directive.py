"""What a directive of operations is: the states that it parses into and prints from, and its arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from xdsl.dialects.builtin import (
    DenseArrayBase,
)
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer

from ttnn_jit.dialects.upstream.formats import Directive, Element, Variable
from ttnn_jit.process.dataclass import dataclass


class OperationReader(Protocol):
    """The state of parsing an operation, as `operation_reader.py` has it."""

    parser: Parser
    operands: dict[str, list[UnresolvedOperand]]
    types: dict[str, list[Attribute]]
    attributes: dict[str, Attribute]

    def assign_types(self, names: Sequence[str], types: Sequence[Attribute]) -> None:
        """Gives one type to each name."""

    def set_regions(self, name: str, regions: Sequence[Region]) -> None:
        """Gives the regions of a name of the row."""


class OperationWriter(Protocol):
    """The state of printing an operation, as `operation_writer.py` has it."""

    printer: Printer

    def operands_of(self, name: str) -> Sequence[SSAValue]:
        """The operands of a name."""

    def types_of(self, name: str) -> list[Attribute]:
        """The types of the operands or results of a name."""

    def attribute(self, name: str) -> Attribute | None:
        """An attribute of the row."""

    def regions_of(self, name: str) -> Sequence[Region]:
        """The regions of a name of the row."""

    def function_type(self) -> None:
        """Prints the type of all operands and results."""


@dataclass(frozen=True)
class OperationDirective:
    """A directive: it parses into a reader, and prints from a writer."""

    parse: Callable[[OperationReader, Sequence[Element]], None]
    print: Callable[[OperationWriter, Sequence[Element]], None]


def names_of(arguments: Sequence[Element]) -> list[str]:
    """The variables of a directive; of ``type($x)``, x."""
    found = []
    for each in arguments:
        inner = each.arguments[0] if isinstance(each, Directive) and each.name in {"type", "ref"} else each
        if isinstance(inner, Variable):
            found.append(inner.name)
    return found


def numbers(attribute: Attribute | None) -> list[int]:
    """The numbers of a dense array."""
    assert isinstance(attribute, DenseArrayBase)
    return [int(value) for value in attribute.get_values()]
