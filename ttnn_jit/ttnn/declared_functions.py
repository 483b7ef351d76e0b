"""The functions of the host API that are declared in this folder, found in the text of its files."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

_DECLARED = re.compile(r"^@observed\b.*\n(?:@.*\n)*def ([a-z]\w*)\(", re.MULTILINE)
"""`observed` is what makes a function one of ttnn's: hooks, the tracer and graphs are told of its calls."""


@cache
def declared_functions() -> dict[str, str]:
    """Name -> its module, read from the files: importing them all would take longer than most programs run."""
    return {
        name: f"ttnn_jit.ttnn.{file.stem}"
        for file in sorted(Path(__file__).parent.glob("*.py"))
        for name in _DECLARED.findall(file.read_text(encoding="utf-8"))
    }
