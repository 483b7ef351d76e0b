"""Copies of the package in which a test changes a room."""

from __future__ import annotations

import shutil
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "ttnn_jit"


def package_with_own(room: str, parent: Path) -> Path:
    """A package in `parent` whose `room` is a copy; all other rooms are links, with their existing bytecode."""
    package = parent / "ttnn_jit"
    package.mkdir(parents=True)
    for entry in PACKAGE.iterdir():
        if entry.name not in {room, "__pycache__"}:
            (package / entry.name).symlink_to(entry)
    shutil.copytree(PACKAGE / room, package / room, ignore=shutil.ignore_patterns("__pycache__"))
    return package
