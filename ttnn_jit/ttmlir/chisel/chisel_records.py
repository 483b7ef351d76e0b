"""Records of `chisel`, their report, and their lines of JSON."""

from __future__ import annotations

import json
import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, field, fields
from enum import StrEnum
from pathlib import Path
from typing import Any, Self

from ttnn_jit.golden.typed_values import check_types, loaded_object
from ttnn_jit.process.dataclass import dataclass


class RecordStatus(StrEnum):
    """The outcome of a check."""

    OK = "ok"
    SHAPE_MISMATCH = "shape_mismatch"
    DTYPE_MISMATCH = "dtype_mismatch"
    NUMERICS_FAIL = "numerics_fail"
    ERROR = "error"
    SKIPPED_NUMERICS = "skipped_numerics"
    NO_GOLDEN = "no_golden"
    IR_RUNTIME_MISMATCH = "ir_runtime_mismatch"
    CHISEL_BUG = "chisel_bug"
    GOLDEN_PROMOTED = "golden_promoted"
    GOLDEN_EVICTED = "golden_evicted"


PASS_STATUS = frozenset(
    {
        RecordStatus.OK,
        RecordStatus.SKIPPED_NUMERICS,
        RecordStatus.NO_GOLDEN,
        RecordStatus.GOLDEN_PROMOTED,
        RecordStatus.GOLDEN_EVICTED,
    }
)
"""Outcomes that are no failure."""


class NumericsMode(StrEnum):
    """Whether a golden took the operands of the op, or goldens of earlier ops."""

    ISOLATED = "isolated"
    ACCUMULATED = "accumulated"


@dataclass
class PCCConfig:
    """How results are judged by their correlation.

    Attributes:
        min_pcc: The least correlation.
        atol: Absolute tolerance where there is no correlation: of single and constant elements.
        rtol: Relative tolerance there.
    """

    min_pcc: float = 0.99
    atol: float = 1e-8
    rtol: float = 1e-5


@dataclass
class ChiselChecksConfig:
    """What is checked.

    Attributes:
        pcc: By correlation.
        max_atol: The largest absolute difference; None: any.
        max_rtol: The largest relative difference; None: any.
        isolation: Whether goldens take the operands of each op.
        accumulation: Whether goldens take those of earlier ops.
    """

    pcc: PCCConfig = field(default_factory=PCCConfig)
    max_atol: float | None = None
    max_rtol: float | None = None
    isolation: bool = False
    accumulation: bool = True


@dataclass(frozen=True)
class Payload:
    """What a record says beyond its op; fields that its status does not have are None.

    Attributes:
        status: The outcome.
        mode: Of numerics, which golden.
        pcc: The correlation.
        atol: The largest absolute difference.
        rtol: The largest relative difference.
        device_id: The number of the device.
        expected_shape: Of the golden.
        actual_shape: Of the result.
        traceback: Of an error inside of a handler.
    """

    status: RecordStatus
    mode: NumericsMode | None = None
    pcc: float | None = None
    atol: float | None = None
    rtol: float | None = None
    device_id: int | None = None
    expected_shape: list[int] | None = None
    actual_shape: list[int] | None = None
    traceback: str | None = None


@dataclass(frozen=True)
class ChiselRecord:
    """A check of an op.

    Attributes:
        op: The name of the op.
        check: The name of the check: ``numerics``, or what happened.
        op_asm: The text of the op, of a failure.
        ssa: The name of the value.
        binary_id: The number of the binary.
        program_name: The program.
        program_index: Its number in the binary.
        payload: The outcome.
    """

    op: str
    check: str
    payload: Payload
    op_asm: str | None = None
    ssa: str | None = None
    binary_id: int | None = None
    program_name: str | None = None
    program_index: int | None = None

    @property
    def status(self) -> RecordStatus:
        """The outcome."""
        return self.payload.status

    def to_json(self) -> str:
        """A line of JSON, without fields that are None; infinities and NaN are null, as upstream writes them."""
        values = asdict(self)
        values["payload"] = _given(values["payload"])
        return json.dumps(_given(values))

    @classmethod
    def from_json(cls, line: str) -> Self:
        """The inverse of `to_json`.

        Raises:
            ValueError: The line is no record.
        """
        values = loaded_object(line, "chisel")
        given = values.pop("payload", None)
        own = {each.name for each in fields(cls)}
        if not isinstance(given, dict) or "status" not in given or not values.keys() <= own:
            raise ValueError(f"this is no record of chisel: {line[:80]!r}")
        names = {each.name for each in fields(Payload)}
        known: dict[str, Any] = {name: value for name, value in given.items() if name in names}
        check_types(cls, values)
        check_types(Payload, known, enums=("RecordStatus", "NumericsMode"))
        status, mode = RecordStatus(known.pop("status")), known.pop("mode", None)
        payload = Payload(status, None if mode is None else NumericsMode(mode), **known)
        try:
            return cls(payload=payload, **values)
        except TypeError as error:
            raise ValueError(f"this is no record of chisel: {error}") from None


def _given(values: Mapping[str, Any]) -> dict[str, Any]:
    def shown(value: Any) -> Any:
        return None if isinstance(value, float) and not math.isfinite(value) else value

    return {name: shown(value) for name, value in values.items() if value is not None}


class ChiselReport:
    """The latest records.

    Args:
        capacity: How many are kept.
    """

    def __init__(self, capacity: int = 10_000) -> None:
        self._records: deque[ChiselRecord] = deque(maxlen=capacity)

    def append(self, record: ChiselRecord) -> None:
        """Add a record; the oldest is forgotten if there are too many."""
        self._records.append(record)

    def clear(self) -> None:
        """Forget all records."""
        self._records.clear()

    def __iter__(self) -> Iterator[ChiselRecord]:
        return iter(self._records)

    def __len__(self) -> int:
        return len(self._records)

    @property
    def capacity(self) -> int | None:
        """How many records are kept."""
        return self._records.maxlen

    @property
    def records(self) -> list[ChiselRecord]:
        """The records, the oldest first."""
        return [*self._records]

    def resize(self, capacity: int) -> None:
        """Keep another number of records."""
        self._records = deque(self._records, maxlen=capacity)

    def filter(self, predicate: Callable[[ChiselRecord], bool]) -> ChiselReport:
        """The report of the records that `predicate` accepts."""
        found = [record for record in self._records if predicate(record)]
        made = ChiselReport(max(len(found), self.capacity or 1, 1))
        made._records.extend(found)
        return made

    def by_op(self, name: str) -> ChiselReport:
        """The records of an op."""
        return self.filter(lambda record: record.op == name)

    def by_check(self, name: str) -> ChiselReport:
        """The records of a check."""
        return self.filter(lambda record: record.check == name)

    def by_program(self, name: str) -> ChiselReport:
        """The records of a program."""
        return self.filter(lambda record: record.program_name == name)

    def by_status(self, status: RecordStatus | str | Iterable[RecordStatus | str]) -> ChiselReport:
        """The records of one outcome or several.

        Raises:
            ValueError: There is no such outcome.
        """
        wanted = {RecordStatus(each) for each in ([status] if isinstance(status, str) else status)}
        return self.filter(lambda record: record.status in wanted)

    def failures(self) -> ChiselReport:
        """The records of failures."""
        return self.filter(lambda record: record.status not in PASS_STATUS)

    def passes(self) -> ChiselReport:
        """The other records."""
        return self.filter(lambda record: record.status in PASS_STATUS)

    @classmethod
    def from_jsonl(cls, path: str | Path, *, capacity: int | None = None) -> Self:
        """The report of a file; by default all of its records are kept.

        Raises:
            ValueError: A line is no record.
            OSError: The file cannot be read.
        """
        lines = Path(path).read_text(encoding="utf-8").splitlines()
        records = [ChiselRecord.from_json(line) for line in lines if line.strip()]
        made = cls(max(len(records), 1) if capacity is None else capacity)
        made._records.extend(records)
        return made
