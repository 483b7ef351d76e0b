"""What a comparison found, and its line of JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields
from typing import Any

from ttnn_jit.process.dataclass import dataclass


@dataclass(frozen=True)
class ComparisonRecord:
    """One tensor that an operation gave, beside its golden.

    Attributes:
        number: Of the call, counted from the beginning of the mode in its process.
        operation: Its name.
        level: ``"locally"``, ``"globally"``, or ``"jitted"`` of a jitted function beside its operations one by one.
        output: Which of the tensors that it gave.
        matches: Whether it is right; None where that could not be judged.
        pcc: Correlation; None where nothing was compared.
        max_ulp: The largest distance, in units in the last place of the result's type; of block floats, of the block.
        differing_nans: How many elements are NaN in one of the two alone.
        location: The user's line.
        reason: What is wrong, or why it could not be judged; empty if it is right.
        first_nan: The index of the first element that is NaN in one of the two alone; None if there is none.
        allclose: `torch.allclose` by the tolerances that `torch.testing` has for the type, NaN close to NaN, integers
            equal; None of block floats, and where nothing was compared.
        process: The number of the process.
        test: The test that ran, where pytest's plugin compares; or empty.
    """

    number: int
    operation: str
    level: str
    output: int
    matches: bool | None
    pcc: float | None = None
    max_ulp: float | None = None
    differing_nans: int = 0
    location: str = ""
    reason: str = ""
    first_nan: tuple[int, ...] | None = None
    allclose: bool | None = None
    process: int = 0
    test: str = ""

    def __str__(self) -> str:
        return f"{self.location}: {self.operation}, output {self.output}, {self.level}: {self.reason or 'right'}"


def to_line(record: ComparisonRecord) -> str:
    """A record as a line of JSON, which has no infinities: they are texts."""
    return json.dumps({name: _in_json(value) for name, value in asdict(record).items()})


def of_line(line: str) -> ComparisonRecord:
    """The inverse of `to_line`."""
    values = json.loads(line)
    return ComparisonRecord(**{each.name: _of_json(each.name, values[each.name]) for each in fields(ComparisonRecord)})


def merged(parts: Iterable[Sequence[ComparisonRecord]]) -> list[ComparisonRecord]:
    """The records of several processes, each in its order: one process after the other, as their first tests are."""
    return [record for part in sorted(parts, key=lambda part: part[0].test if part else "") for record in part]


def _in_json(value: Any) -> Any:
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _of_json(name: str, value: Any) -> Any:
    if name == "first_nan" and value is not None:
        return tuple(value)
    return float(value) if name in {"pcc", "max_ulp"} and isinstance(value, str) else value
