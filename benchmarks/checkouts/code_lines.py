"""Code lines of the package per room, without docstrings, comments and blank lines.

CHECKOUT is a folder or a git revision; the default is the checkout of this file. For two checkouts it prints the lines
of both and their difference.
"""

from __future__ import annotations

import ast
import sys
import tokenize
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from io import StringIO
from pathlib import Path

from benchmarks.checkouts.checkouts import ROOT, UnknownCheckoutError, checkout
from benchmarks.harness.harness import command_line, table

FOLDERS = ("ttnn_jit", "kernels", "cache")
"""The installed folders; `ttnn_jit/kernels` and `ttnn_jit/cache` are links to the other two."""
WITHOUT_CODE = frozenset(
    {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
)


def code_lines(text: str) -> int:
    """The number of lines of code of Python source `text`; string statements are docstrings."""
    documented = {
        line
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    counted: set[int] = set()
    for token in tokenize.generate_tokens(StringIO(text).readline):
        first, last = token.start[0], token.end[0]
        if token.type not in WITHOUT_CODE and not (token.type == tokenize.STRING and first in documented):
            counted.update(range(first, last + 1))
    return len(counted)


def lines_of_rooms(folder: Path) -> Counter[str]:
    """Room -> code lines of the checkout in `folder`; files outside rooms count as `ttnn_jit`'s."""
    rooms: Counter[str] = Counter()
    for name in FOLDERS:
        for path in (folder / name).rglob("*.py"):
            inner = path.relative_to(folder).parts[1:-1]
            rooms[inner[0] if inner and name == "ttnn_jit" else name] += code_lines(path.read_text(encoding="utf-8"))
    return rooms


def report(counts: Sequence[Counter[str]]) -> str:
    """A table of one or two counts, the larger rooms first, with the sums last."""
    rooms = sorted(set().union(*counts), key=lambda room: (-counts[-1][room], room))
    rows = [(room, [count[room] for count in counts]) for room in rooms]
    rows.append(("all", [count.total() for count in counts]))
    head = ["room", "code lines"] if len(counts) == 1 else ["room", "before", "after", "difference"]
    body = [[room, *(f"{n:,}" for n in lines), *(f"{lines[1] - n:+,}" for n in lines[:-1])] for room, lines in rows]
    return table([head, *body])


def main() -> int:
    """Prints the lines of one or two checkouts."""
    parser = command_line("code_lines")
    parser.add_argument("checkouts", metavar="CHECKOUT", nargs="*", default=[str(ROOT)], help="at most two")
    names = parser.parse_args().checkouts
    if len(names) > 2:
        parser.error("name at most two checkouts")
    with ExitStack() as stack:
        try:
            folders = [stack.enter_context(checkout(name)) for name in names]
        except UnknownCheckoutError as error:
            parser.error(str(error))
        print(report([lines_of_rooms(folder) for folder in folders]), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
