"""Every program of programs.py is refused with the message and columns below its offending line."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.refused import programs
from tests.unit.frontend.stand_in import BF16, lowered
from ttnn_jit.diagnostics.errors import CompileError, UnsupportedFunction

LINES = Path(programs.__file__).read_text(encoding="utf-8").splitlines()
EXPECTED = re.compile(r"^#(?P<lead>\s*)(?P<span>\^+|~+) (?P<message>.*)$")


@dataclass(frozen=True)
class Refusal:
    line: int
    column: int
    end_column: int
    whole_line: bool
    message: str
    help: str | None


def refusal_in(function) -> Refusal:
    first = function.__code__.co_firstlineno
    for number, text in enumerate(LINES[first:], first + 1):
        if text.startswith(("def ", "async def ", "class ")):
            break
        if match := EXPECTED.match(text):
            following = LINES[number] if number < len(LINES) else ""
            help_match = re.match(r"^#\s+help: (.*)$", following)
            return Refusal(
                number - 1,
                match.start("span") + 1,
                match.end("span") + 1,
                match["span"].startswith("~"),
                match["message"],
                help_match[1] if help_match else None,
            )
    raise LookupError(function.__name__)


def is_program(value) -> bool:
    return inspect.isfunction(value) and value.__module__ == programs.__name__ and value is not programs.power


PROGRAMS = [value for value in vars(programs).values() if is_program(value)]


def described_by(function):
    doc = function.__doc__ or ""
    return getattr(programs, doc.rpartition("AT ")[2]) if "AT " in doc else function


def check(error: CompileError, refusal: Refusal) -> None:
    assert re.sub(r"\S+programs\.py:\d+:\d+", "LOCATION", error.message) == refusal.message
    assert error.location is not None
    assert Path(error.location.file) == Path(programs.__file__)
    assert error.location.line == refusal.line
    if refusal.help is not None:
        assert error.help == refusal.help


def check_columns(error: CompileError, refusal: Refusal) -> None:
    if not refusal.whole_line:
        assert error.location.column == refusal.column
        if error.location.end_line == error.location.line:
            assert error.location.end_column == refusal.end_column


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda function: function.__name__)
def test_the_interpreter_points_at_the_error(function):
    with pytest.raises(CompileError) as raised:
        lowered(function, BF16)
    check(raised.value, refusal_in(described_by(function)))
    check_columns(raised.value, refusal_in(described_by(function)))


def is_traceable(function) -> bool:
    return "AST only" not in (function.__doc__ or "") and not hasattr(function, "ast_only")


TRACEABLE = [function for function in PROGRAMS if is_traceable(function)]


@pytest.mark.parametrize("function", TRACEABLE, ids=lambda function: function.__name__)
def test_graph_capture_reports_the_same_line(function):
    with pytest.raises(CompileError) as raised:
        lowered(function, BF16, graph_capture=True)
    check(raised.value, refusal_in(function))


def test_an_unknown_operation_is_also_an_assertion_error_as_the_document_says():
    with pytest.raises(UnsupportedFunction, match="Function mul not supported"):
        lowered(programs.an_alias_that_only_eager_ttnn_has, BF16, graph_capture=True)
    with pytest.raises(AssertionError):
        lowered(programs.an_alias_that_only_eager_ttnn_has, BF16)


def test_the_text_of_an_error_shows_the_line_the_carets_and_the_help():
    with pytest.raises(CompileError) as raised:
        lowered(programs.an_alias_that_only_eager_ttnn_has, BF16)
    shown = str(raised.value).splitlines()
    assert shown[0].endswith("Function mul not supported")
    assert shown[1].endswith("    return ttnn.mul(x, 0.5)")
    assert shown[2].endswith("           ^^^^^^^^")
    assert shown[3] == "help: did you mean `multiply`?"


def test_an_error_in_a_helper_names_the_call_that_led_there():
    with pytest.raises(CompileError) as raised:
        lowered(programs.recursion, BF16)
    assert "called from" in str(raised.value)
    assert raised.value.location.called_from is not None
