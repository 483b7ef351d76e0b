"""Converts spans of source text from Python's byte columns to the character columns of editors."""

from __future__ import annotations

import ast
import dis
import linecache
from functools import cache
from typing import TypeAlias

from ttnn_jit.diagnostics.source import Location

Span: TypeAlias = tuple[int, int, int, int]
"""First line, last line, first column, last column; columns are 0-based bytes of UTF-8, the last one exclusive."""

# CPython passes this many arguments or more in containers; then the call's span is not moved to the method's name.
_ARGUMENTS_ON_STACK = 15


def location_of_span(file: str, span: Span, called_from: Location | None = None) -> Location:
    """The location in `file` of the byte span, under the call at `called_from`."""
    line, end_line, column, end_column = span
    first = _characters(file, line, column) + 1
    return Location(file, line, first, end_line, _characters(file, end_line, end_column) + 1, called_from)


def _characters(file: str, line: int, column: int) -> int:
    text = linecache.getline(file, line)
    if not text or text.isascii():
        return column
    return len(text.encode()[:column].decode(errors="ignore"))


def span_of_node(node: ast.AST, imported: frozenset[str]) -> Span:
    """The span that CPython's compiler gives the instruction of `node`, in a file that imports the names `imported`.

    It is the node's own span, except that a method call on several lines starts at the method's name.
    """
    line, end_line = node.lineno, node.end_lineno or node.lineno  # type: ignore[attr-defined]
    column, end_column = node.col_offset, node.end_col_offset or 0  # type: ignore[attr-defined]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        name_line = node.func.end_lineno or line
        if name_line != line and _is_method_call(node, imported):
            return name_line, end_line, (node.func.end_col_offset or 0) - len(node.func.attr), end_column
    return line, end_line, column, end_column


def _is_method_call(node: ast.Call, imported: frozenset[str]) -> bool:
    base = node.func.value if isinstance(node.func, ast.Attribute) else node.func
    if isinstance(base, ast.Name) and base.id in imported and not _moves_calls_on_imported_names():
        return False
    if any(isinstance(argument, ast.Starred) for argument in node.args) or any(k.arg is None for k in node.keywords):
        return False
    return len(node.args) + len(node.keywords) + bool(node.keywords) < _ARGUMENTS_ON_STACK


@cache
def _moves_calls_on_imported_names() -> bool:
    """Whether this release of Python compiles ``m.f()`` as a method call where the file imports ``m``."""
    module = compile("import m\ndef f():\n    (m\n    .g())\n", "<probe>", "exec")
    code = next(constant for constant in module.co_consts if hasattr(constant, "co_code"))
    return any(
        i.opname.startswith("CALL") and i.positions.lineno == 4 for i in dis.get_instructions(code) if i.positions
    )
