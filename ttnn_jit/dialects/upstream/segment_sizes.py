"""How operands and results are split among the names of a row."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DenseArrayBase
from xdsl.ir import Attribute, Operation

from ttnn_jit.dialects.upstream.tables import OperationRow, Value

NAMES = {"operands": "operandSegmentSizes", "results": "resultSegmentSizes"}
"""What is split -> the attribute that says how."""


def stated_segments(op: Operation, row: OperationRow, which: str) -> Attribute | None:
    """The attribute that says how operands or results are split; None where the row's split needs none.

    MLIR ignores the attribute of an operation without the trait.
    """
    if not row.has(f"AttrSized{which[:-1].title()}Segments"):
        return None
    return op.properties.get(NAMES[which]) or op.attributes.get(NAMES[which])


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
    if rest < 0 or rest % len(loose):
        return None
    if len(loose) == 1:
        sizes = [rest if each.count else 1 for each in declared]
    else:  # all of them have the same size
        sizes = [(rest // len(loose)) if each.count else 1 for each in declared]
    return sizes if all(map(_fits, declared, sizes)) else None


def _fits(declared: Value, size: int) -> bool:
    return {"": size == 1, "?": size in {0, 1}, "*": size >= 0}[declared.count]
