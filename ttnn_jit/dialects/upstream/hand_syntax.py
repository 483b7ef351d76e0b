"""What parsers of operations by hand have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xdsl.dialects.builtin import DenseArrayBase, i32
from xdsl.ir import Attribute, Operation
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.utils.mlir_lexer import MLIRTokenKind

from ttnn_jit.dialects.upstream.operation_reader import Parts
from ttnn_jit.process.dataclass import dataclass


@dataclass(frozen=True)
class HandSyntax:
    """The assembly of one operation.

    Attributes:
        parse: The parts of the operation at the parser's position.
        print: Prints what follows the name; None for the generic form.
        holds: Whether the assembly holds all of an operation.
    """

    parse: Callable[[Parser], Parts]
    print: Callable[[Operation, Printer], None] | None = None
    holds: Callable[[Operation], bool] = lambda _: True


def parts_of(**given: Any) -> Parts:
    """The parts that are given; the others are empty."""
    empty: dict[str, Any] = {
        "operands": (),
        "result_types": (),
        "properties": {},
        "attributes": {},
        "regions": (),
        "successors": (),
    }
    return Parts(**(empty | given))


def operand_list(parser: Parser) -> list[UnresolvedOperand]:
    """Operands separated by commas; none is possible."""
    if parser._current_token.kind is not MLIRTokenKind.PERCENT_IDENT:
        return []
    return parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_unresolved_operand)


def type_list(parser: Parser) -> list[Attribute]:
    """Types separated by commas."""
    return [*parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)]


def resolved(
    parser: Parser, operands: Sequence[UnresolvedOperand], types: Sequence[Attribute], start: int
) -> list[Any]:
    """The values of operands of these types; an error is reported at `start`."""
    return [*parser.resolve_operands(operands, types, start)]


def segments(*sizes: int) -> DenseArrayBase:
    """The property of the sizes of groups of operands."""
    return DenseArrayBase.from_list(i32, sizes)


def split_dictionary(found: dict[str, Attribute], *inherent: str) -> dict[str, Any]:
    """Properties and attributes of a dictionary, by the names of the properties."""
    return {
        "properties": {name: value for name, value in found.items() if name in inherent},
        "attributes": {name: value for name, value in found.items() if name not in inherent},
    }
