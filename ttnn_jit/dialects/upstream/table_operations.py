"""Operations of the tables: one class per name, made when a text first names it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from typing import ClassVar, Self, TypeVar

from xdsl.ir import Operation, OpTraits, SSAValue
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, IsTerminator, NoMemoryEffect, NoTerminator, OpTrait, Pure, SymbolTable

from ttnn_jit.dialects.upstream import tables
from ttnn_jit.dialects.upstream.formats import Variable, parsed_format
from ttnn_jit.dialects.upstream.operation_reader import OperationReader, Parts
from ttnn_jit.dialects.upstream.operation_writer import OperationWriter
from ttnn_jit.dialects.upstream.operations_by_hand import BY_HAND
from ttnn_jit.dialects.upstream.segment_sizes import segment_sizes, stated_segments
from ttnn_jit.dialects.upstream.table_attributes import first_that_parses
from ttnn_jit.dialects.upstream.tables import OperationRow, Value

Op = TypeVar("Op", bound=Operation)
_TRAITS: dict[str, type[OpTrait]] = {
    "Terminator": IsTerminator,
    "NoTerminator": NoTerminator,
    "IsolatedFromAbove": IsolatedFromAbove,
    "SymbolTable": SymbolTable,
    "Pure": Pure,
    "NoMemoryEffect": NoMemoryEffect,
}


class TableOperation(Operation):
    """Base of the operations of the tables.

    Attributes:
        rows: The rows of the name, the newest version first.
    """

    rows: ClassVar[tuple[OperationRow, ...]]

    def result_groups(self) -> list[tuple[str, int]]:
        """The names of results where several are declared, and how many have each; empty if no row fits."""
        if all(len(row.results) < 2 for row in self.rows):
            return []
        fitting = (found for row in self.rows if (found := _split_by(row, self, "results")) is not None)
        return [(name, len(values)) for name, values in next(fitting, {}).items() if values]

    def verify_(self) -> None:
        """Accepts everything: `dialects/upstream/verifying.py` knows the rules of the rows."""


class FormattedOperation(TableOperation):
    """Base of the operations that have an assembly of their own, by a format or by C++."""

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """The operation at the parser's position, in the syntax of the newest version that fits."""
        return parse_by_table(cls, parser)

    @property
    def is_printed_generic(self) -> bool:
        """Whether no assembly of its own can hold it as it is."""
        by_hand = BY_HAND.get(self.name)
        if by_hand is not None:
            return by_hand.print is None or not by_hand.holds(self)
        return self._printed_row() is None

    def print(self, printer: Printer) -> None:
        """Prints what follows the name."""
        by_hand = BY_HAND.get(self.name)
        if by_hand is not None and by_hand.print is not None:
            by_hand.print(self, printer)
            return
        row = self._printed_row()
        assert row is not None
        operands, results = _split_by(row, self, "operands"), _split_by(row, self, "results")
        assert operands is not None
        assert results is not None
        OperationWriter(printer, self, row, operands, results).write()

    def _printed_row(self) -> OperationRow | None:
        """The newest row whose format holds all of the operation."""
        for row in self.rows:
            known = {each.name for each in row.attributes} | _SEGMENTS
            fits = row.format not in _NO_FORMAT and self.properties.keys() <= known
            fits = fits and _needed(row) <= self.properties.keys()
            if fits and _split_by(row, self, "operands") is not None and _split_by(row, self, "results") is not None:
                return row
        return None


def has_assembly(name: str) -> bool:
    """Whether the tables, or parsers by hand, know an assembly of an operation."""
    return name in BY_HAND or bool(_formats(name))


@cache
def _formats(name: str) -> tuple[OperationRow, ...]:
    """The rows of an operation that have a format, one for each, the newest first."""
    rows = [row for row in tables.operation_rows(name) if row.format not in _NO_FORMAT]
    return tuple(reversed({row.format: row for row in reversed(rows)}.values()))


def parse_by_table(kind: type[Op], parser: Parser) -> Op:
    """The operation at the parser's position, of a class that may know nothing of the syntax.

    Raises:
        ParseError: No assembly of its name fits; the message is that of the one that came farthest.
    """
    by_hand = BY_HAND.get(kind.name)
    if by_hand is not None:
        parts = by_hand.parse(parser)
    else:
        ways = [partial(_read, parser, row) for row in _formats(kind.name)]
        parts = first_that_parses(parser, ways) if len(ways) > 1 else ways[0]()
    return kind.create(
        operands=parts.operands,
        result_types=parts.result_types,
        properties=parts.properties,
        attributes=parts.attributes,
        regions=parts.regions,
        successors=parts.successors,
    )


@cache
def _needed(row: OperationRow) -> frozenset[str]:
    """The attributes that a format prints whether they are there or not."""
    names = {each.name for each in row.attributes if each.kind != "UnitAttr"}
    return frozenset(
        each.name for each in parsed_format(row.format) if isinstance(each, Variable) and each.name in names
    )


def _read(parser: Parser, row: OperationRow) -> Parts:
    return OperationReader(parser, row).read()


_NO_FORMAT = {"", "C++"}
_SEGMENTS = {"operandSegmentSizes", "resultSegmentSizes"}


@cache
def operation_class(name: str) -> type[TableOperation] | None:
    """The class of an operation; None if the tables have none of that name."""
    rows = tables.operation_rows(name)
    if not rows:
        return None
    traits = tuple(kind() for trait, kind in _TRAITS.items() if rows[0].has(trait))
    fields = {
        "name": name,
        "rows": rows,
        "traits": OpTraits(lambda: traits),
        "__doc__": f"``{name}``.",
        "__module__": __name__,
    }
    base = FormattedOperation if has_assembly(name) else TableOperation
    return type(f"{name.title().replace('.', '').replace('_', '')}Op", (base,), fields)


def named_operands(op: Operation) -> dict[str, tuple[SSAValue, ...]]:
    """The operands of `op` by the names of its row, in order; an absent optional one has no values.

    Raises:
        ValueError: The tables have no such operation, or no row of it fits the operands.
    """
    return _named(op, "operands")


def named_results(op: Operation) -> dict[str, tuple[SSAValue, ...]]:
    """The results of `op` by the names of its row, in order.

    Raises:
        ValueError: The tables have no such operation, or no row of it fits the results.
    """
    return _named(op, "results")


def _named(op: Operation, which: str) -> dict[str, tuple[SSAValue, ...]]:
    for row in sorted(tables.operation_rows(op.name), key=lambda row: not _knows(row, op)):
        found = _split_by(row, op, which)
        if found is not None:
            return found
    raise ValueError(f"{op.name} has {len(getattr(op, which))} {which}, which no version of it has")


def _knows(row: OperationRow, op: Operation) -> bool:
    """Whether a row has all attributes of `op` that are inherent in some version."""
    return op.properties.keys() <= {each.name for each in row.attributes} | _SEGMENTS


def _split_by(row: OperationRow, op: Operation, which: str) -> dict[str, tuple[SSAValue, ...]] | None:
    """The operands or results of `op` by the names of `row`; None if it does not fit them."""
    values: Sequence[SSAValue] = getattr(op, which)
    declared: tuple[Value, ...] = getattr(row, which)
    sizes = segment_sizes(declared, len(values), stated_segments(op, row, which))
    if sizes is None:
        return None
    found, at = {}, 0
    for each, size in zip(declared, sizes, strict=True):
        found[each.name] = tuple(values[at : at + size])
        at += size
    return found
