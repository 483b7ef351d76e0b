"""Writes all pages that are made of the code."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from docs.site_pages import calls, commands, programs, reference, rooms, stages

TITLES = {
    "rooms": "# The rooms, file by file\n\nEvery folder says what it holds, and every file in its first line.",
    "commands": "# Commands, one by one",
    "reference": "# Reference of the API\n\nFrom signatures and docstrings.",
}
RESULTS = rooms.ROOT / "benchmarks" / "results"


def write(folder: Path) -> None:
    """Write them to `folder`, which holds nothing else."""
    shutil.rmtree(folder, ignore_errors=True)
    with tempfile.TemporaryDirectory() as cache:  # a compile that is shown is one, whatever was compiled before
        os.environ["TTNN_JIT_CACHE_DIR"] = cache
        for name, text in _pages():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    shutil.copytree(RESULTS, folder / "results", ignore=shutil.ignore_patterns("*.json", "compare_checkouts.*"))
    with (folder / "results" / "README.md").open("a", encoding="utf-8") as index:
        index.write(programs.TOCTREE)


def _pages() -> Iterator[tuple[str, str]]:
    yield "a_call.md", calls.page()
    yield "a_compile.md", stages.page()
    yield "tutorial.md", programs.tutorial()
    for name in ("CHANGELOG", "CONTRIBUTING"):
        yield f"{name.lower()}.md", f"```{{include}} ../../{name}.md\n:relative-docs: docs/\n```\n"
    yield from ((f"examples/{name}.md", text) for name, text in programs.examples())
    for where, pages, kind in (("rooms", rooms, "md"), ("commands", commands, "md"), ("reference", reference, "rst")):
        yield from ((f"{where}/{name}.{kind}", text) for name, text in pages.pages())
        yield f"{where}/index.md", f"{TITLES[where]}\n\n```{{toctree}}\n:glob:\n\n*\n```\n"
