"""The results of a command: a list of records, as JSON and as a report for CI systems."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from ttnn_jit.process.complete_file import is_special, write_complete

PASS, SKIP, ERROR, TEST_ERROR = "pass", "skip", "error", "test_error"
TEST_STATUS = 42
"""The exit status where all ran and some results are wrong; any other failure has 1."""
REPORT = "ttrt_report.xml"


class WrongResultError(Exception):
    """A program ran, and its result is not what it should be."""


class Results:
    """The records of one command.

    Args:
        logger: Not used.
        file_manager: Not used.
    """

    def __init__(self, logger: Any = None, file_manager: Any = None) -> None:
        self.logger, self.file_manager = logger, file_manager
        self.results: list[dict[str, Any]] = []

    def add_result(self, result: Mapping[str, Any]) -> None:
        """Adds a record."""
        self.results.append(dict(result))

    def get_results(self) -> list[dict[str, Any]]:
        """The records."""
        return self.results

    def get_result_code(self) -> int:
        """The exit status: 0 if all passed, `TEST_STATUS` if the others are wrong results, else 1."""
        kinds = {each["result"] for each in self.results}
        if kinds <= {PASS}:
            return 0
        return TEST_STATUS if kinds <= {PASS, TEST_ERROR} else 1

    def save_results(self, file_name: str = "results.json") -> None:
        """Writes the records, and the report of `written_files`.

        Raises:
            OSError: A file cannot be written; an earlier one stays.
        """
        texts = json.dumps(in_json(self.results), indent=2).encode(), _junit(self.results)
        for path, text in zip(written_files(file_name), texts, strict=False):
            write_complete(path, [text])


def written_files(file_name: str) -> list[Path]:
    """The file of the records, and `REPORT` beside it; beside a device or a pipe there is none."""
    path = Path(file_name)
    return [path] if not path.name or is_special(path) else [path, path.with_name(REPORT)]


def in_json(value: Any) -> Any:
    """A value without infinities and NaN, which JSON lacks: they are strings."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, Mapping):
        return {key: in_json(each) for key, each in value.items()}
    return [in_json(each) for each in value] if isinstance(value, list | tuple) else value


def _junit(results: Sequence[Mapping[str, Any]]) -> bytes:
    counts = {
        "name": "TTRT",
        "tests": str(len(results)),
        "failures": str(sum(each["result"] in {ERROR, TEST_ERROR} for each in results)),
        "skipped": str(sum(each["result"] == SKIP for each in results)),
    }
    top = ElementTree.Element("testsuites", counts)
    suite = ElementTree.SubElement(top, "testsuite", counts)
    for each in results:
        fields = {name: _printable(each.get(name, "")) for name in _FIELDS}
        case = ElementTree.SubElement(suite, "testcase", {"name": fields["file_path"], **fields})
        if each["result"] != PASS:
            ElementTree.SubElement(
                case, "skipped" if each["result"] == SKIP else "failure", {"message": fields["exception"]}
            )
    ElementTree.indent(top)
    written: bytes = ElementTree.tostring(top, encoding="utf-8", xml_declaration=True)
    return written


_FIELDS = ("file_path", "result", "exception", "log_file", "artifacts")


def _printable(value: Any) -> str:
    """A text without the characters that XML lacks."""
    return "".join(each if each.isprintable() or each == "\n" else "\N{REPLACEMENT CHARACTER}" for each in str(value))
