"""Binding values to targets, and going through what a loop or an unpacking goes through."""

from __future__ import annotations

import ast
import operator
from collections.abc import Iterator
from typing import Any

from ttnn_jit.frontend.interpreter import Interpreter
from ttnn_jit.specs.hardware_config import OpenConfig


def assign(interpreter: Interpreter, target: ast.expr, value: Any) -> None:
    """Bind the names of `target`, or write into the container that it stands in."""
    value = interpreter.met(value)
    match target:
        case ast.Name():
            owner = interpreter.frame.owner_of(target.id)
            (owner or interpreter.frame).variables[target.id] = value
        case ast.Tuple(elts=targets) | ast.List(elts=targets):
            _unpack(interpreter, target, targets, value)
        case ast.Subscript():
            container = interpreter.evaluate(target.value)
            index = interpreter.evaluate(target.slice)
            interpreter.at = target
            interpreter.python(operator.setitem, container, index, value)
        case ast.Attribute() if _is_own_config(interpreter, config := interpreter.evaluate(target.value)):
            interpreter.at = target
            interpreter.natively(setattr, config, target.attr, value)
        case _:
            interpreter.refuse(
                "assigning to an attribute cannot be compiled: it would change the world outside the program",
                "keep the value in a local variable, or return it",
                target,
            )


def _is_own_config(interpreter: Interpreter, value: Any) -> bool:
    """Whether `value` is a config that the program made itself."""
    return issubclass(type(value), OpenConfig) and interpreter.recorder.path_of(value) is None


def _unpack(interpreter: Interpreter, target: ast.expr, targets: list[ast.expr], value: Any) -> None:
    interpreter.at = target
    items = interpreter.python(list, value)
    starred = [index for index, part in enumerate(targets) if isinstance(part, ast.Starred)]
    needed = len(targets) - len(starred)
    if len(items) < needed or (not starred and len(items) > needed):
        interpreter.refuse(f"cannot unpack {len(items)} values into {len(targets)} names", node=target)
    if starred:
        first, after = starred[0], needed - starred[0]
        end = len(items) - after
        items[first:end] = [items[first:end]]
    for part, item in zip(targets, items, strict=True):
        assign(interpreter, part.value if isinstance(part, ast.Starred) else part, item)


_END = object()


def iterate(interpreter: Interpreter, node: ast.AST, items: Iterator[Any]) -> Iterator[Any]:
    """The items that a loop goes through, counted; `node` is the place of an error on the way."""
    while True:
        interpreter.at = node
        item = interpreter.python(next, items, _END)
        if item is _END:
            return
        interpreter.count_iteration(node)
        yield item
