"""``--verify-diagnostics``: compares errors with the ``expected-error`` comments of a text, as mlir-opt does."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ttnn_jit.diagnostics.errors import TtnnJitError
from ttnn_jit.events.run_events import Remark
from ttnn_jit.process.dataclass import dataclass

_EXPECTED = re.compile(
    r"//.*?expected-(?P<kind>error|warning|note|remark)(?P<regex>-re)?\s*"
    r"(?:@(?P<at>[+-]\d+|above|below|unknown|\d+))?\s*(?P<count>\d+)?\s*\{\{(?P<text>.*?)\}\}"
)


@dataclass
class _Expected:
    """One comment: what it expects, and on which line; 0 is any."""

    kind: str
    line: int
    text: str
    is_regex: bool
    own_line: int
    met: bool = False

    def fits(self, line: int, message: str) -> bool:
        if self.line not in {0, line}:
            return False
        if not self.is_regex:
            return self.text in message
        parts = re.split(r"\{\{(.*?)\}\}", self.text)
        pattern = "".join(re.escape(part) if index % 2 == 0 else part for index, part in enumerate(parts))
        return re.search(pattern, message) is not None


@dataclass(frozen=True)
class Diagnostic:
    """What is said of a text.

    Attributes:
        kind: ``error`` or ``remark``.
        line: The line that it is said of; 0 of none.
        message: What is said.
    """

    kind: str
    line: int
    message: str


def diagnostic_of_error(error: TtnnJitError) -> Diagnostic:
    """An error as a diagnostic."""
    return Diagnostic("error", 0 if error.location is None else error.location.line, error.message)


def diagnostic_of_remark(remark: Remark) -> Diagnostic:
    """A remark of a pass as a diagnostic."""
    line = remark.location.rpartition(":")[0].rpartition(":")[2]
    return Diagnostic("remark", int(line or 0), remark.message)


def unmet_expectations(
    text: str, first_line: int, diagnostics: Sequence[Diagnostic], *, only_expected: bool = False
) -> list[str]:
    """What the comments of `text` expect and `diagnostics` lack, and the reverse; empty if they agree.

    Args:
        text: A text with ``expected-error`` and ``expected-remark`` comments. Other kinds of diagnostics are not made
            here, and not expected.
        first_line: The number of lines before it in its file.
        diagnostics: What is said of the text.
        only_expected: Whether diagnostics that no comment expects are left out.
    """
    expected = _expectations(text, first_line)
    problems = []
    for own in diagnostics:
        fitting = (each for each in expected if not each.met and each.kind == own.kind)
        found = next((each for each in fitting if each.fits(own.line, own.message)), None)
        if found is None:
            problems += [] if only_expected else [f"line {own.line}: unexpected {own.kind}: {own.message}"]
        else:
            found.met = True
    problems += [
        f'line {each.own_line}: expected {each.kind} "{each.text}" was not produced'
        for each in expected
        if not each.met
    ]
    return problems


def _expectations(text: str, first_line: int) -> list[_Expected]:
    found = []
    lines = text.split("\n")
    for index, content in enumerate(lines):
        for match in _EXPECTED.finditer(content):
            if match["kind"] in {"error", "remark"}:
                own = first_line + index + 1
                line = _line(match["at"], index, lines, first_line)
                found.append(_Expected(match["kind"], line, match["text"], match["regex"] is not None, own))
    return found


def _line(at: str | None, index: int, lines: list[str], first_line: int) -> int:
    """The line that a comment on the line `index` names."""
    own = first_line + index + 1
    if at is None:
        return own
    if at == "unknown":
        return 0
    if at in {"above", "below"}:
        step = -1 if at == "above" else 1
        while 0 <= index + step < len(lines) and lines[index + step].lstrip().startswith("//"):
            index += step
        return first_line + index + step + 1
    return own + int(at) if at[0] in "+-" else int(at)
