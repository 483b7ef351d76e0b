"""The form of ops that take nothing and have one result."""

from __future__ import annotations

from abc import ABC
from typing import Self

from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import Attribute
from xdsl.irdl import IRDLOperation
from xdsl.parser import Parser
from xdsl.printer import Printer

from ttnn_jit.dialects.creation import QuickOperation


class NullaryOp(QuickOperation, IRDLOperation, ABC):
    """``dialect.name() attr-dict : type``."""

    @classmethod
    def make(cls, result_type: Attribute, location: LocationAttr | None = None) -> Self:
        """An op whose result is of that type."""
        return cls.create(result_types=(result_type,), location=location)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """``() attr-dict : type``."""
        parser.parse_punctuation("(")
        parser.parse_punctuation(")")
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        return cls.create(result_types=(parser.parse_type(),), attributes=attributes)

    def print(self, printer: Printer) -> None:
        """``() attr-dict : type``."""
        printer.print_string("()")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.results[0].type)
