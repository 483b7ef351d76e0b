"""Collects ``*.mlir``: each file is run through the passes of its header and compared with its CHECK lines.

The header is ``// PASSES: name{option=value},name``; without one, the pass is the file's folder. A file whose header
is followed by ``// FAILS`` must be refused, and the CHECK lines read the error.
"""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Iterator
from pathlib import Path

import pytest


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    return MlirFile.from_parent(parent, path=file_path) if file_path.suffix == ".mlir" else None


class MlirFile(pytest.File):
    def collect(self) -> Iterator[pytest.Item]:
        yield MlirTest.from_parent(self, name=self.path.stem)


class MlirTest(pytest.Item):
    def runtest(self) -> None:
        text = self.path.read_text(encoding="utf-8")
        header = re.match(r"// PASSES: (.*)\n", text)
        passes = header[1] if header else self.path.parent.name
        output = _error_of(text, passes) if "\n// FAILS\n" in text else _lowered(text, passes)
        mismatch = _filecheck(self.path, output)
        if mismatch:
            raise CheckError(f"{mismatch}\n--- output\n{output}")

    def repr_failure(self, excinfo, style=None):
        if isinstance(excinfo.value, CheckError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self):
        return self.path, 0, f"{self.path.parent.name}/{self.name}"


class CheckError(Exception):
    """The output does not match the CHECK lines."""


def _lowered(text: str, passes: str) -> str:
    from ttnn_jit.dialects import parse_module, print_module, verify
    from ttnn_jit.transforms import pipeline

    module = parse_module(text)
    verify(module)
    pipeline.run_passes(module, pipeline.parse_passes(passes), verify_each=True)
    output = print_module(module)
    assert print_module(parse_module(output)) == output, "the output must parse back to itself"
    return output


def _error_of(text: str, passes: str) -> str:
    from ttnn_jit.diagnostics.errors import PassError

    with pytest.raises(PassError) as failure:
        _lowered(text, passes)
    return str(failure.value)


def _filecheck(path: Path, output: str) -> str:
    """The error text of filecheck; "" if `output` matches the CHECK lines of the file."""
    from filecheck.finput import FInput
    from filecheck.matcher import Matcher
    from filecheck.options import Options
    from filecheck.parser import Parser

    options = Options(str(path), enable_var_scope=True)
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        status = Matcher(options, FInput("<output>", output), Parser.from_opts(options)).run()
    return said.getvalue() or "no match" if status else ""
