"""Copies of the package in which a test changes a room."""

from __future__ import annotations

import shutil
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "ttnn_jit"
HALF_WRITTEN = "*.pyc.*"
"""Bytecode that another process writes: it is renamed when it is complete."""


def package_with_own(room: str, parent: Path) -> Path:
    """A package in `parent` whose `room` is a copy; all other rooms are links.

    The bytecode that there is comes along: of the copied files Python compiles those that the test changes.
    """
    package = parent / "ttnn_jit"
    package.mkdir(parents=True)
    for entry in PACKAGE.iterdir():
        if entry.name not in {room, "__pycache__"}:
            (package / entry.name).symlink_to(entry)
    shutil.copytree(PACKAGE / room, package / room, ignore=shutil.ignore_patterns(HALF_WRITTEN))
    return package
