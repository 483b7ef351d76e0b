"""What a comparison checks, beside the bounds that operations declare."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import fields
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.golden.comparison_records import Mode
from ttnn_jit.golden.verdict import Verdict
from ttnn_jit.process.dataclass import dataclass

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class ChecksConfig:
    """What a comparison checks.

    An operation is bounded by its declaration. Results of chains, and of operations whose author states no bound, are
    bounded by `pcc`. The other limits are off unless they are given, and make a comparison stricter.

    Attributes:
        isolated: Compare each operation with the golden of the operands that it had.
        accumulated: Compare each operation with a chain of goldens from the first operation on.
        pcc: The correlation from which the bound of chains follows (`ttnn_jit.golden.verdict.relative_of_pcc`).
        min_pcc: The least correlation that any compared result may have.
        max_ulp: The largest distance in units in the last place that any compared result may have.
        max_absolute: The largest absolute difference that any compared result may have.
        operations: Names of the operations that are compared, with the wildcards of shells: ``ttnn.*``. Goldens of
            others are computed for the chain.
    """

    isolated: bool = True
    accumulated: bool = True
    pcc: float = 0.9999
    min_pcc: float | None = None
    max_ulp: float | None = None
    max_absolute: float | None = None
    operations: Sequence[str] = ("*",)

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if each.name in {"isolated", "accumulated"}:
                valid = isinstance(value, bool)
            elif each.name == "operations":
                valid = not isinstance(value, str) and all(isinstance(name, str) for name in value)
            else:
                valid = (value is None and each.name != "pcc") or _is_number(value)
            if not valid:
                raise ArgumentError(f"ChecksConfig: {each.name}={value!r} is not of the type {each.type}")

    def compares(self, operation: str, mode: Mode) -> bool:
        """Whether an operation is compared in this mode."""
        wanted = {Mode.ISOLATED: self.isolated, Mode.ACCUMULATED: self.accumulated}.get(mode, True)
        return wanted and any(fnmatchcase(operation, pattern) for pattern in self.operations)

    def broken_by(self, verdict: Verdict, largest_difference: Callable[[], float]) -> str:
        """Which limit a result breaks that its own bound allows; empty if none."""
        if self.min_pcc is not None and not verdict.pcc >= self.min_pcc:
            return f"the correlation is {verdict.pcc:.6g}, and at least {self.min_pcc:.6g} is required"
        if self.max_ulp is not None and verdict.max_ulp > self.max_ulp:
            return f"it is off by {verdict.max_ulp:.6g} ulp, and at most {self.max_ulp:.6g} are allowed"
        if self.max_absolute is not None:
            largest = largest_difference()
            if largest > self.max_absolute:
                return f"it is off by {largest:.6g}, and at most {self.max_absolute:.6g} is allowed"
        return ""


def largest_difference(got: torch.Tensor, golden: torch.Tensor) -> float:
    """The largest absolute difference; infinite where one alone is NaN, 0 where both are or the values are equal."""
    left, right = got.double(), golden.double()
    same = (left == right) | left.isnan() & right.isnan()
    found = (left - right).abs().nan_to_num(nan=math.inf, posinf=math.inf).masked_fill(same, 0.0)
    return float(found.max()) if found.numel() else 0.0


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and not math.isnan(value)


def require_file_name(path: Path) -> Path:
    """The path of a file that is written, and read again.

    Raises:
        ArgumentError: A folder, a device or a pipe has that name.
    """
    if path.is_dir():
        raise ArgumentError(f"{path} is a folder, and the results are a file of JSON lines", help="name a file in it")
    if path.exists() and not path.is_file():
        raise ArgumentError(f"{path} is a device or a pipe, and the results are a file of JSON lines")
    return path
