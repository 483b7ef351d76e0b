"""Generated tables in Markdown pages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from ttnn_jit.diagnostics.errors import ArgumentError


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; `|` in a cell is escaped."""
    head = [_row(columns), "|---" * len(columns) + "|"]
    return "\n".join([*head, *(_row(cell.replace("|", "\\|") for cell in row) for row in rows)])


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def renew(page: Path, renewed: Callable[[str], str]) -> int:
    """Replaces the text of a page by `renewed` of it; returns the exit status of the command."""
    page.write_text(renewed(page.read_text(encoding="utf-8")), encoding="utf-8")
    return 0


def with_section(document: str, name: str, text: str) -> str:
    """`document` with `text` between its marks ``<!-- NAME: begin -->`` and ``<!-- NAME: end -->``.

    Raises:
        ArgumentError: It has no such marks.
    """
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    before, found_begin, rest = document.partition(begin)
    _, found_end, after = rest.partition(end)
    if not found_begin or not found_end:
        raise ArgumentError(f"the document has no marks {begin} and {end}")
    return f"{before}{begin}\n{text}\n{end}{after}"
