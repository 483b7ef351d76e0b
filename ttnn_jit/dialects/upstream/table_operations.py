"""Operations of the tables: one class per name, made when a text first names it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import ClassVar

from xdsl.dialects.builtin import DenseArrayBase
from xdsl.ir import Attribute, Operation, OpTraits, SSAValue
from xdsl.traits import IsolatedFromAbove, IsTerminator, NoTerminator, OpTrait, SymbolTable

from ttnn_jit.dialects.upstream import tables
from ttnn_jit.dialects.upstream.tables import OperationRow, Value

_TRAITS: dict[str, type[OpTrait]] = {
    "Terminator": IsTerminator,
    "NoTerminator": NoTerminator,
    "IsolatedFromAbove": IsolatedFromAbove,
    "SymbolTable": SymbolTable,
}


class TableOperation(Operation):
    """Base of the operations of the tables.

    Attributes:
        rows: The rows of the name, the newest version first.
    """

    rows: ClassVar[tuple[OperationRow, ...]]

    def verify_(self) -> None:
        """Accepts everything: `dialects/upstream/verifying.py` knows the rules of the rows."""


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
    return type(f"{name.title().replace('.', '').replace('_', '')}Op", (TableOperation,), fields)


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
    values: Sequence[SSAValue] = getattr(op, which)
    segments = op.properties.get(f"{which[:-1]}SegmentSizes") or op.attributes.get(f"{which[:-1]}SegmentSizes")
    for row in tables.operation_rows(op.name):
        declared: tuple[Value, ...] = getattr(row, which)
        sizes = segment_sizes(declared, len(values), segments)
        if sizes is not None:
            found, at = {}, 0
            for each, size in zip(declared, sizes, strict=True):
                found[each.name] = tuple(values[at : at + size])
                at += size
            return found
    raise ValueError(f"{op.name} has {len(values)} {which}, which no version of it has")


def segment_sizes(declared: Sequence[Value], count: int, segments: Attribute | None = None) -> list[int] | None:
    """How many of `count` values each declared one has; None if no split fits.

    Args:
        declared: The operands or results of a row.
        count: The number of values.
        segments: The attribute that says the split, if the op has one.
    """
    if isinstance(segments, DenseArrayBase):
        sizes = [int(size) for size in segments.get_values()]
        allowed = len(sizes) == len(declared) and sum(sizes) == count
        return sizes if allowed and all(map(_fits, declared, sizes)) else None
    loose = [each for each in declared if each.count]
    rest = count - (len(declared) - len(loose))
    if not loose:
        return [1] * len(declared) if rest == 0 else None
    if rest < 0 or (len(loose) > 1 and rest not in {0, len(loose)}):
        return None
    if len(loose) == 1:
        sizes = [rest if each.count else 1 for each in declared]
    else:  # all or none of them
        sizes = [(rest // len(loose)) if each.count else 1 for each in declared]
    return sizes if all(map(_fits, declared, sizes)) else None


def _fits(declared: Value, size: int) -> bool:
    return {"": size == 1, "?": size in {0, 1}, "*": size >= 0}[declared.count]
