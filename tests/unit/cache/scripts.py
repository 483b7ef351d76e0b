"""Runs a script in its own process."""

from __future__ import annotations

import subprocess
import textwrap
from pathlib import Path

from tests.processes import run_python
from ttnn_jit.cache import disk


def run(script: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    return run_python("-c", textwrap.dedent(script), *arguments, cwd=Path(disk.__file__).parents[2])
