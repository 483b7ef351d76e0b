"""The record of a comparison, and its line of JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields
from typing import Any

from ttnn_jit.process.dataclass import dataclass


@dataclass(frozen=True)
class ComparisonRecord:
    """The comparison of one result of an operation with its golden.

    Attributes:
        number: The number of the call since the mode began in this process.
        operation: The name of the operation.
        level: ``"locally"``, ``"globally"``, or ``"jitted"``: a jitted function compared with its operations one by
            one.
        output: The index of the result.
        matches: Whether the result is right; None where it could not be judged.
        pcc: The correlation; None where nothing was compared.
        max_ulp: The largest distance, in units in the last place of the result's type; for block floats, of the block.
        differing_nans: The number of elements that are NaN in one of the two alone.
        location: The user's line.
        reason: What is wrong, or why the result could not be judged; empty if it is right.
        first_nan: The index of the first element that is NaN in one of the two alone; None if there is none.
        allclose: `torch.allclose` by the tolerances of `torch.testing` for the type, with NaN close to NaN and integers
            equal; None for block floats, and where nothing was compared.
        process: The process id.
        test: The test that ran, where the pytest plugin compares; else empty.
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


def to_json_line(record: ComparisonRecord) -> str:
    """A record as a line of JSON; infinities, which JSON lacks, are strings."""
    return json.dumps({name: _to_json_value(value) for name, value in asdict(record).items()})


def from_json_line(line: str) -> ComparisonRecord:
    """The inverse of `to_json_line`."""
    values = json.loads(line)
    return ComparisonRecord(
        **{each.name: _from_json_value(each.name, values[each.name]) for each in fields(ComparisonRecord)}
    )


def merged(parts: Iterable[Sequence[ComparisonRecord]]) -> list[ComparisonRecord]:
    """The records of several processes, one process after the other, sorted by the names of their first tests."""
    return [record for part in sorted(parts, key=lambda part: part[0].test if part else "") for record in part]


def _to_json_value(value: Any) -> Any:
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _from_json_value(name: str, value: Any) -> Any:
    if name == "first_nan" and value is not None:
        return tuple(value)
    return float(value) if name in {"pcc", "max_ulp"} and isinstance(value, str) else value
