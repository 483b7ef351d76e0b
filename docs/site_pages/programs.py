"""Pages of the tutorial and the examples."""

from __future__ import annotations

import ast
import contextlib
import io
import itertools
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[1]
TOCTREE = "\n\n```{toctree}\n:hidden:\n:glob:\n\n*\n```\n"


def tutorial() -> str:
    """The notebook, run cell by cell, with the output of its cells."""
    notebook = json.loads((DOCS / "tutorial.ipynb").read_text(encoding="utf-8"))
    names: dict[str, Any] = {"__name__": "__main__"}
    finders, modules = list(sys.meta_path), {*sys.modules}
    try:
        return "\n".join(part for cell in notebook["cells"] for part in _cell(cell, names))
    finally:  # the tutorial makes `import ttnn` find us
        sys.meta_path[:] = finders
        for name in {*sys.modules} - modules:
            if name.partition(".")[0] == "ttnn":
                del sys.modules[name]


def _cell(cell: dict[str, Any], names: dict[str, Any]) -> Iterator[str]:
    text = "".join(cell["source"])
    if cell["cell_type"] != "code":
        yield f"{text}\n"
        return
    yield f"```python\n{text}\n```\n"
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        tree = ast.parse(text)
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, "<tutorial>", "exec"), names)
        value = eval(compile(ast.Expression(last.value), "<tutorial>", "eval"), names) if last else None
        if value is not None:
            print(repr(value))
    if printed.getvalue():
        yield f"```text\n{printed.getvalue().rstrip()}\n```\n"


def examples() -> Iterator[tuple[str, str]]:
    """The page of each example, by its name; the last is the list of them."""
    rows = []
    for path in sorted(DOCS.glob("examples/**/*.py")):
        text = path.read_text(encoding="utf-8")
        about = _first_comment(text)
        run = f"python -m ttnn_jit docs/{path.relative_to(DOCS)}"
        yield path.stem, f"# {path.stem}\n\n{about}\n\n```sh\n{run}\n```\n\n```python\n{text.rstrip()}\n```\n"
        rows.append(f"| [{path.stem}]({path.stem}.md) | {about} |")
    yield (
        "index",
        "# Examples\n\nPrograms that say `import ttnn`.\n\n| program | |\n|---|---|\n" + "\n".join(rows) + TOCTREE,
    )


def _first_comment(text: str) -> str:
    """The description of a program: its first comment, up to an empty line."""
    lines = (line.removeprefix("#").strip() for line in text.splitlines())
    return " ".join(itertools.takewhile(bool, lines))
