"""Runs a script in its own process."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

from ttnn_jit.cache import disk


def run(script: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", textwrap.dedent(script), *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=60, check=False, cwd=Path(disk.__file__).parents[2]
    )
