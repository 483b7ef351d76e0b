"""``match`` in the interpreter: patterns take the steps, and record the reads, of Python's own matching."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence
from typing import Any

from ttnn_jit.foreign.values import ABSENT, is_a
from ttnn_jit.frontend.python.assignment import fit
from ttnn_jit.frontend.python.attributes import attribute_value, has_attribute
from ttnn_jit.frontend.python.containers import get
from ttnn_jit.frontend.python.interpreter import Interpreter

_MATCH_THEMSELVES = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)
"""Classes whose single positional pattern matches the instance itself."""


def matches(interpreter: Interpreter, pattern: ast.pattern, subject: Any) -> bool:
    """Whether `subject` matches; binds the names of the parts that matched."""
    interpreter.at = pattern
    return _PATTERNS[type(pattern)](interpreter, pattern, subject)


def _bind(interpreter: Interpreter, name: str | None, value: Any) -> None:
    if name is not None:
        interpreter.frame.bind(name, interpreter.program_value(value))


def _value(interpreter: Interpreter, pattern: ast.MatchValue, subject: Any) -> bool:
    wanted = interpreter.evaluate(pattern.value)
    return interpreter.truth(pattern.value, interpreter.python(operator.eq, subject, wanted))


def _singleton(_interpreter: Interpreter, pattern: ast.MatchSingleton, subject: Any) -> bool:
    return subject is pattern.value


def _as(interpreter: Interpreter, pattern: ast.MatchAs, subject: Any) -> bool:
    if pattern.pattern is not None and not matches(interpreter, pattern.pattern, subject):
        return False
    _bind(interpreter, pattern.name, subject)
    return True


def _or(interpreter: Interpreter, pattern: ast.MatchOr, subject: Any) -> bool:
    return any(matches(interpreter, each, subject) for each in pattern.patterns)


def _sequence(interpreter: Interpreter, pattern: ast.MatchSequence, subject: Any) -> bool:
    if not is_a(subject, list, tuple, range):
        return False
    items = interpreter.python(list, subject)
    return fit(items, pattern.patterns, ast.MatchStar) and _all(interpreter, pattern.patterns, items)


def _star(interpreter: Interpreter, pattern: ast.MatchStar, subject: Any) -> bool:
    _bind(interpreter, pattern.name, subject)
    return True


def _mapping(interpreter: Interpreter, pattern: ast.MatchMapping, subject: Any) -> bool:
    if not is_a(subject, dict):
        return False
    keys = [interpreter.evaluate(key) for key in pattern.keys]
    items = [get(interpreter, subject, key, ABSENT) for key in keys]
    if any(item is ABSENT for item in items) or not _all(interpreter, pattern.patterns, items):
        return False
    if pattern.rest is not None:
        rest = interpreter.python(dict, subject)
        _bind(interpreter, pattern.rest, {key: item for key, item in rest.items() if key not in keys})
    return True


def _class(interpreter: Interpreter, pattern: ast.MatchClass, subject: Any) -> bool:
    kind = interpreter.evaluate(pattern.cls)
    interpreter.at = pattern
    if not interpreter.python(isinstance, subject, kind):
        return False
    if pattern.patterns and kind in _MATCH_THEMSELVES:
        return matches(interpreter, pattern.patterns[0], subject)
    names: tuple[str, ...] = attribute_value(interpreter, kind, "__match_args__") if pattern.patterns else ()
    if len(names) < len(pattern.patterns):
        given = len(pattern.patterns)
        interpreter.fail(TypeError(f"{kind.__name__}() accepts {len(names)} positional sub-patterns ({given} given)"))
    attributes = [*names[: len(pattern.patterns)], *pattern.kwd_attrs]
    if not all(has_attribute(interpreter, subject, name) for name in attributes):
        return False
    items = [attribute_value(interpreter, subject, name) for name in attributes]
    return _all(interpreter, [*pattern.patterns, *pattern.kwd_patterns], items)


def _all(interpreter: Interpreter, patterns: Sequence[ast.pattern], items: Sequence[Any]) -> bool:
    return all(matches(interpreter, each, item) for each, item in zip(patterns, items, strict=True))


_PATTERNS: dict[type[ast.pattern], Callable[[Interpreter, Any, Any], bool]] = {
    ast.MatchValue: _value,
    ast.MatchSingleton: _singleton,
    ast.MatchAs: _as,
    ast.MatchOr: _or,
    ast.MatchSequence: _sequence,
    ast.MatchStar: _star,
    ast.MatchMapping: _mapping,
    ast.MatchClass: _class,
}
