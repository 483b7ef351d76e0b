"""The record of a comparison, and its line of JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields
from enum import StrEnum
from typing import Any

from ttnn_jit.golden.typed_values import check_types, loaded_object
from ttnn_jit.process.dataclass import dataclass


class Mode(StrEnum):
    """What a result is compared with."""

    ISOLATED = "isolated"
    """The golden of the operands that the operation had."""
    ACCUMULATED = "accumulated"
    """The golden of goldens: the end of a chain from the first operation on."""
    WHOLE = "whole"
    """The operations one by one: the result of a program that ran as a whole, such as a jitted function."""


class Status(StrEnum):
    """The outcome of a comparison."""

    OK = "ok"
    NUMERICS_FAIL = "numerics_fail"
    """Elements are outside the bound."""
    SHAPE_MISMATCH = "shape_mismatch"
    """The result has another shape than its golden, or there are more of one than of the other."""
    NO_GOLDEN = "no_golden"
    """Nothing says what is right."""
    GOLDEN_FAILED = "golden_failed"
    """The golden raised an error."""
    SKIPPED = "skipped"
    """The elements cannot be read, or are random."""
    RAISED = "raised"
    """The operation raised an error."""


FAILURES = frozenset({Status.NUMERICS_FAIL, Status.SHAPE_MISMATCH})
"""A result is wrong."""


@dataclass(frozen=True)
class ComparisonRecord:
    """The comparison of one result of an operation with its golden.

    Attributes:
        number: The number of the call since the comparison began in this process.
        operation: The name of the operation.
        mode: What the result is compared with.
        output: The index of the result.
        status: The outcome.
        pcc: The correlation; None where nothing was compared.
        max_ulp: The largest distance, in units in the last place of the result's type; for block floats, of the block.
        differing_nans: The number of elements that are NaN in one of the two alone.
        first_nan: The index of the first such element; None if there is none.
        allclose: `torch.allclose` by the tolerances of `torch.testing` for the type, with NaN close to NaN and integers
            equal; None for block floats, and where nothing was compared.
        reason: What is wrong, or why the result was not compared; empty if it is right.
        bound: The allowed difference; empty where nothing was compared.
        location: The line of the user's program, or of the text.
        source: The text of that line; empty if it cannot be read.
        program: The jitted function or the function of a text that the operation belongs to; empty for eager calls.
        shape: The extents of the result.
        dtype: The element type of the result, as MLIR spells it.
        target: The target that it was computed for: ``wormhole_b0 rules on cpu``.
        device: The number of the device in its mesh; None without a mesh.
        process: The process id.
        thread: The identifier of the thread.
        time: When it was compared, in UTC (ISO 8601).
        test: The test that ran, where the pytest plugin compares; else empty.
        tensors: The file of the result, its golden and its operands, if they were saved.
    """

    number: int
    operation: str
    mode: Mode
    output: int
    status: Status
    pcc: float | None = None
    max_ulp: float | None = None
    differing_nans: int = 0
    first_nan: tuple[int, ...] | None = None
    allclose: bool | None = None
    reason: str = ""
    bound: str = ""
    location: str = ""
    source: str = ""
    program: str = ""
    shape: tuple[int, ...] = ()
    dtype: str = ""
    target: str = ""
    device: int | None = None
    process: int = 0
    thread: int = 0
    time: str = ""
    test: str = ""
    tensors: str = ""

    @property
    def matches(self) -> bool | None:
        """Whether the result is right; None if it was not compared."""
        return None if self.status not in {Status.OK, *FAILURES} else self.status is Status.OK

    def __str__(self) -> str:
        return f"{self.location}: {self.operation}, output {self.output}, {self.mode}: {self.reason or 'right'}"


def to_json_line(record: ComparisonRecord) -> str:
    """A record as a line of JSON; infinities and NaN, which JSON lacks, are strings."""
    return json.dumps({name: _to_json_value(value) for name, value in asdict(record).items()})


def from_json_line(line: str) -> ComparisonRecord:
    """The inverse of `to_json_line`.

    Raises:
        ValueError: The line is no record; the text says why.
    """
    values = loaded_object(line, "a comparison")
    if values.keys() != {each.name for each in fields(ComparisonRecord)}:
        raise ValueError(f"this is no record of a comparison: {line[:80]!r}")
    check_types(ComparisonRecord, values, enums=("Mode", "Status"))
    return ComparisonRecord(**{name: _from_json_value(name, value) for name, value in values.items()})


def merged(parts: Iterable[Sequence[ComparisonRecord]]) -> list[ComparisonRecord]:
    """The records of several processes, one process after the other, sorted by the names of their first tests."""
    return [record for part in sorted(parts, key=lambda part: part[0].test if part else "") for record in part]


def _to_json_value(value: Any) -> Any:
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


_READ: dict[str, Any] = {
    "mode": Mode,
    "status": Status,
    "first_nan": tuple,
    "shape": tuple,
    "pcc": float,
    "max_ulp": float,
}


def _from_json_value(name: str, value: Any) -> Any:
    return value if value is None or name not in _READ else _READ[name](value)
