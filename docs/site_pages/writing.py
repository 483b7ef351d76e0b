"""Writes all generated pages."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from docs.site_pages import calls, commands, programs, reference, rooms, stages

TITLES = {
    "rooms": "# The rooms, file by file\n\nThe docstrings of every folder, and the first line of every file.",
    "commands": "# Commands, one by one",
    "reference": "# API reference\n\nGenerated from signatures and docstrings.",
}
RESULTS = rooms.ROOT / "benchmarks" / "results"


def write(folder: Path) -> None:
    """Write them to `folder`, whose other content is removed."""
    shutil.rmtree(folder, ignore_errors=True)
    with tempfile.TemporaryDirectory() as cache:  # so that the shown compile is not a cache hit
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
