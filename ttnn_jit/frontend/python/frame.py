"""Activations of functions in the interpreter, and the local names of functions."""

from __future__ import annotations

import ast
import types
from collections.abc import Iterable, Iterator
from dataclasses import field
from functools import lru_cache
from typing import Any

from ttnn_jit.diagnostics.source import Location
from ttnn_jit.frontend.reads.function_source import FunctionNode, FunctionSource
from ttnn_jit.guards.reads import Path
from ttnn_jit.process.dataclass import dataclass

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(eq=False)
class Frame:
    """The state of one activation.

    Attributes:
        name: The function's name, for messages.
        source: The function's source.
        function: The function whose globals and closure resolve names that no frame owns.
        path: The path of that function.
        local_names: The names of its local variables.
        variables: The values of the local variables that are assigned.
        outer: The activation of the enclosing function or comprehension.
        called_from: The location of the call.
        comprehension: It is the scope of a comprehension; a ``:=`` in it binds outside.
    """

    name: str
    source: FunctionSource
    function: types.FunctionType
    path: Path | None
    local_names: frozenset[str]
    variables: dict[str, Any] = field(default_factory=dict)
    outer: Frame | None = None
    called_from: Location | None = None
    comprehension: bool = False

    def owner_of(self, name: str) -> Frame | None:
        """This activation or the enclosing one that owns `name`; None if none does."""
        frame: Frame | None = self
        while frame is not None and name not in frame.local_names:
            frame = frame.outer
        return frame

    def bind(self, name: str, value: Any) -> None:
        """Assign `name` in the activation that owns it, or else in this one."""
        (self.owner_of(name) or self).variables[name] = value


def parameter_names(parameters: ast.arguments) -> Iterator[str]:
    """Names of all parameters, ``*args`` and ``**kwargs`` included."""
    for parameter in (*parameters.posonlyargs, *parameters.args, *parameters.kwonlyargs):
        yield parameter.arg
    for extra in (parameters.vararg, parameters.kwarg):
        if extra is not None:
            yield extra.arg


@lru_cache(maxsize=1024)
def local_names_of(node: FunctionNode) -> frozenset[str]:
    """The names that a function binds, parameters included."""
    body = [node.body] if isinstance(node, ast.Lambda) else node.body
    return frozenset({*parameter_names(node.args), *_bound_names(body)} - _names_of_outer_functions(body))


def _names_of_outer_functions(body: Iterable[ast.AST]) -> set[str]:
    """The names that ``nonlocal`` statements of the function itself declare."""
    names: set[str] = set()
    pending: list[Any] = list(body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Nonlocal):
            names.update(node.names)
        elif isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case) and not isinstance(node, _SCOPES):
            pending += [child for child in _children(node) if isinstance(child, ast.AST)]
    return names


def names_in_target(target: ast.expr) -> frozenset[str]:
    """The names that assigning to `target` binds."""
    return frozenset(_bound_names([target]))


def _bound_names(nodes: Iterable[ast.AST]) -> set[str]:
    names: set[str] = set()
    pending: list[Any] = list(nodes)
    while pending:
        node = pending.pop()
        kind = type(node)
        if kind is ast.Name:
            if not isinstance(node.ctx, ast.Load):
                names.add(node.id)
        elif kind in _SCOPES:
            if kind is not ast.Lambda:
                names.add(node.name)
            pending += _evaluated_outside(node)
        elif kind in COMPREHENSIONS:
            pending += _named_within(node)
        elif kind is ast.alias:
            names.add((node.asname or node.name).partition(".")[0])
        else:
            names.update(_name_bound_by(node))
            pending += _children(node)
    return names


def _evaluated_outside(node: Any) -> list[ast.AST]:
    """The parts of a definition that the enclosing scope evaluates."""
    if isinstance(node, ast.ClassDef):
        return [*node.decorator_list, *node.bases, *node.keywords]
    defaults = [each for each in (*node.args.defaults, *node.args.kw_defaults) if each is not None]
    return defaults if isinstance(node, ast.Lambda) else [*node.decorator_list, *defaults]


def _named_within(comprehension: ast.AST) -> list[ast.AST]:
    """The targets of ``:=`` in a comprehension, which bind outside it, unlike names that nested functions bind."""
    found: list[ast.AST] = []
    pending = _children(comprehension)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.NamedExpr):
            found.append(node.target)
        pending += _evaluated_outside(node) if isinstance(node, _SCOPES) else _children(node)
    return found


def _name_bound_by(node: Any) -> Iterator[str]:
    """The name, a string in the node, that an ``except`` or a pattern binds."""
    if isinstance(node, _BINDING):
        name = node.rest if isinstance(node, ast.MatchMapping) else node.name
        if name is not None:
            yield name


_BINDING = (ast.ExceptHandler, ast.MatchAs, ast.MatchStar, ast.MatchMapping)


def _children(node: Any) -> list[Any]:
    """The child nodes, and strings in lists, of a node; `ast.iter_child_nodes` takes twice the time."""
    children: list[Any] = []
    for name in getattr(type(node), "_fields", ()):
        part = getattr(node, name, None)
        if type(part) is list:
            children += part
        elif isinstance(part, ast.AST):
            children.append(part)
    return children


def generator_part(nodes: Iterable[ast.AST]) -> ast.AST | None:
    """The first ``yield`` in these nodes that belongs to the enclosing function."""
    pending: list[ast.AST] = [*nodes]
    while pending:
        part = pending.pop(0)
        if isinstance(part, (ast.Yield, ast.YieldFrom)):
            return part
        if not isinstance(part, _SCOPES):
            pending += ast.iter_child_nodes(part)
    return None


@lru_cache(maxsize=1024)
def makes_generator(node: FunctionNode) -> bool:
    """Whether a call of a function, which is not ``async``, returns a generator."""
    return generator_part([node.body] if isinstance(node, ast.Lambda) else node.body) is not None
