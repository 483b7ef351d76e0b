"""The syntax tree of a function, verified: compiled again, it gives the code that the function runs.

The text comes from `linecache`, as for tracebacks: files, notebook cells, doctests, the newer interactive prompts.
"""

from __future__ import annotations
import __future__

import ast
import functools
import linecache
import operator
import re
import types
from collections.abc import Iterator, Sequence

from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.diagnostics.source import codes_in, start_of
from ttnn_jit.frontend.reads.spans import Span
from ttnn_jit.guards.fingerprints import code_identity
from ttnn_jit.process.dataclass import dataclass

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

_FUTURE_FLAGS = functools.reduce(
    operator.or_, (getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
)
_MAX_CACHED = 512  # functions
_WORD = re.compile(r"\w+")


class SourceError(CompileError):
    """A function has no source text, or was compiled from another text."""


@dataclass(frozen=True)
class FunctionSource:
    """A function's syntax tree; its line numbers are the file's.

    Attributes:
        node: The definition.
        file: The file's name.
        imported: Names that the file's top level imports; the compiler treats calls on them differently.
    """

    node: FunctionNode
    file: str
    imported: frozenset[str]


_sources: dict[int, tuple[types.CodeType, FunctionSource]] = {}


def function_source(function: types.FunctionType) -> FunctionSource:
    """The syntax tree of `function`.

    Raises:
        SourceError: There is no text, or it was changed after the function was compiled.
    """
    code = function.__code__
    cached = _sources.get(id(code))
    if cached is not None:
        return cached[1]
    source = _read(function)
    while len(_sources) >= _MAX_CACHED:
        _sources.pop(next(iter(_sources)), None)
    # The code object is kept beside its source so that its id is not reused.
    _sources[id(code)] = code, source
    return source


_OUTSIDE_THE_LANGUAGE = (
    ast.AsyncFor,
    ast.AsyncFunctionDef,
    ast.AsyncWith,
    ast.Await,
    ast.ClassDef,
    ast.Global,
    ast.TryStar,
    ast.With,
)
"""Nodes that the interpreter refuses everywhere."""


def is_within_the_language(function: types.FunctionType) -> bool:
    """Whether `function` has a source without nodes that the interpreter refuses everywhere."""
    try:
        node = function_source(function).node
    except SourceError:
        return False
    return not any(isinstance(part, _OUTSIDE_THE_LANGUAGE) or _sets_attribute(part) for part in ast.walk(node))


def _sets_attribute(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load)


def _read(function: types.FunctionType) -> FunctionSource:
    code = function.__code__
    lines = linecache.getlines(code.co_filename, function.__globals__)
    source = _find(code, lines)
    if source is None:
        # The cached text may be that of an older file.
        linecache.checkcache(code.co_filename)
        changed = linecache.getlines(code.co_filename, function.__globals__)
        source = _find(code, changed) if changed != lines else None
        lines = changed
    if source is not None:
        return source
    location = start_of(code)
    if not lines:
        raise SourceError(
            f"the source of `{code.co_name}` cannot be read: there is no text for {code.co_filename}",
            location=location,
            help="define it in a file or a notebook cell, or pass `graph_capture=True`",
        )
    raise SourceError(
        f"the source of `{code.co_name}` is not what the function was compiled from: {code.co_filename} was changed",
        location=location,
        help="import the file again, or pass `graph_capture=True`",
    )


def _find(code: types.CodeType, lines: Sequence[str]) -> FunctionSource | None:
    """The definition in `lines` that compiles to `code`: first in the statement at its line, then in the whole file."""
    if not lines:
        return None
    identity = code_identity(code)
    for text in _candidate_texts(code, lines):
        matches = [found for found in codes_in(_compile(text, code)) if _is_same(found, code, identity)]
        # Several definitions may have equal code: prefer the one with the function's positions.
        matches.sort(key=lambda found: list(found.co_positions()) != list(code.co_positions()))
        tree = ast.parse(text) if matches else ast.Module([], [])
        for match in matches:
            node = _node_of(match, tree)
            if node is not None:
                return FunctionSource(node, code.co_filename, _imported_names(tree))
    return None


def _is_same(found: types.CodeType, code: types.CodeType, identity: tuple[object, ...]) -> bool:
    return found.co_name == code.co_name and found.co_code == code.co_code and code_identity(found) == identity


def _candidate_texts(code: types.CodeType, lines: Sequence[str]) -> Iterator[str]:
    # The statement alone compiles in a fraction of the file's time; a wrong cut does not compile or does not match.
    # The compiler's output depends on the names that the file imports: an import behind the statement adds those used.
    start, end = _top_level_statement(lines, code.co_firstlineno - 1)
    used = {name for part in codes_in(code) for name in part.co_names}
    names = sorted(used.intersection(_words_of_imports(lines)))
    below = f"\nimport {', '.join(names)}\n" if names else ""
    yield "\n" * start + "".join(lines[start:end]) + below
    yield "".join(lines)


def _words_of_imports(lines: Sequence[str]) -> set[str]:
    words: set[str] = set()
    inside = False
    for line in lines:
        if inside or line.startswith(("import ", "from ")):
            words.update(_WORD.findall(line))
            inside = ")" not in line if inside else "(" in line and ")" not in line
    return words


def _imported_names(tree: ast.Module) -> frozenset[str]:
    """The names that imports at the top level of the file bind, also inside its compound statements."""
    names: set[str] = set()
    pending: list[ast.AST] = list(tree.body)
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names.update((alias.asname or alias.name).partition(".")[0] for alias in node.names)
        elif isinstance(node, (ast.If, ast.Try, ast.With, ast.For, ast.While, ast.ExceptHandler)):
            pending += ast.iter_child_nodes(node)
    return frozenset(names)


def _top_level_statement(lines: Sequence[str], index: int) -> tuple[int, int]:
    """The first and the past-the-end line index of the top-level statement that contains line `index`."""
    start = min(index, len(lines) - 1)
    while start > 0 and not _starts_statement(lines[start]):
        start -= 1
    end = start + 1
    decorated = lines[start].startswith("@")
    while end < len(lines) and (decorated or not _starts_statement(lines[end])):
        decorated = decorated and not lines[end].startswith(("def ", "async ", "class "))
        end += 1
    return start, end


def _starts_statement(line: str) -> bool:
    return bool(line.strip()) and line[0] not in " \t\f#)]}\n"


def _compile(text: str, code: types.CodeType) -> types.CodeType:
    flags = code.co_flags & _FUTURE_FLAGS
    try:
        # From text and not from a tree: a tree's depth is limited by Python's stack.
        compiled: types.CodeType = compile(text, code.co_filename, "exec", flags=flags, dont_inherit=True)
    except (SyntaxError, ValueError):
        # A cut inside a string, or no Python at all: not the function's own text.
        compiled = compile("", code.co_filename, "exec")
    return compiled


def _node_of(code: types.CodeType, tree: ast.Module) -> FunctionNode | None:
    """The definition in `tree` that compiles to `code`."""
    if code.co_name == "<lambda>":
        return _lambda_of(code, tree)
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == code.co_name:
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            if first == code.co_firstlineno:
                return node
    return None


def _lambda_of(code: types.CodeType, tree: ast.Module) -> ast.Lambda | None:
    spans: list[Span] = [
        (line, end_line, column, end_column)
        for line, end_line, column, end_column in code.co_positions()
        if line and end_line and column is not None and end_column
    ]
    around = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Lambda)
        and node.lineno == code.co_firstlineno
        and all(_encloses(node.body, span) for span in spans)
    ]
    # The walk is breadth first, so the last match is the innermost.
    return around[-1] if around else None


def _encloses(node: ast.expr, span: Span) -> bool:
    line, end_line, column, end_column = span
    last = (node.end_lineno or node.lineno, node.end_col_offset or 0)
    return (node.lineno, node.col_offset) <= (line, column) and (end_line, end_column) <= last
