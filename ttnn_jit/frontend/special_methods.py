"""Operators in the interpreter: a special method that is written in Python is interpreted, as any other function is.

So what it reads is guarded. Which method serves an operator is recorded as read, for classes can be changed.
"""

from __future__ import annotations

import operator
import types
from collections.abc import Callable
from typing import Any

from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.diagnostics.origin import is_of_a_library
from ttnn_jit.foreign.values import ABSENT, is_a, is_atom, is_identity, is_python_class, member_of
from ttnn_jit.frontend.function_source import is_within_the_language
from ttnn_jit.frontend.interpreter import Interpreter
from ttnn_jit.frontend.proxy import ProxyTensor

NATIVE: Any = object()
"""What a handler returns that leaves the work to C."""

Handler = Callable[..., Any]

SCALARS = (int, float, complex, str, bytes)


def may_compute(value: Any) -> bool:
    """Whether the class of `value` may have Python behind an operator."""
    kind = type(value)
    return kind is not ProxyTensor and is_python_class(kind) and not is_atom(value)


def is_default(member: Any) -> bool:
    """Whether a special method is that of `object`, which asks for identity alone."""
    return getattr(member, "__objclass__", None) is object


def special_method(interpreter: Interpreter, value: Any, name: str) -> types.FunctionType | None:
    """The Python function of the user's that serves a special method of `value`; None if C or a library does, or none.

    Those of libraries are run as they are, and again by the guard.
    """
    if not may_compute(value):
        return None
    member = interpreter.class_member(value, name)
    plain = isinstance(member, types.FunctionType) and not is_of_a_library(member)
    return member if plain and is_within_the_language(member) else None


# --- One operand ----------------------------------------------------------------------------------------------------


def unary(function: Callable[..., Any], *names: str) -> Handler:
    """For ``-x``, ``float(x)`` and their like: the first of these special methods that the class has."""

    def handler(interpreter: Interpreter, *args: Any, **kwargs: Any) -> Any:
        if not args or not may_compute(args[0]):
            return NATIVE
        for name in names:
            method = special_method(interpreter, args[0], name)
            if method is not None:
                value = interpreter.call_with(method, args, kwargs)
                converts = function in _CONVERSIONS or name in {"__float__", "__index__"}
                return interpreter.natively(function, value) if converts else value
            if member_of(type(args[0]), name) is not ABSENT:
                break
        return interpreter.natively(function, *args, **kwargs) if _is_scalar_by_c(args[0], names) else NATIVE

    return handler


_CONVERSIONS = frozenset({float, int, complex, operator.index})


def _is_scalar_by_c(value: Any, names: tuple[str, ...]) -> bool:
    members = (member_of(type(value), name) for name in names)
    return is_a(value, *SCALARS) and not any(isinstance(member, types.FunctionType) for member in members)


def text(function: Callable[..., Any], *names: str) -> Handler:
    """For ``str(x)``, ``repr(x)`` and ``format(x, spec)``."""

    def handler(interpreter: Interpreter, *args: Any, **kwargs: Any) -> Any:
        if not args or kwargs or not may_compute(args[0]):
            return NATIVE
        for name in names:
            method = special_method(interpreter, args[0], name)
            if method is not None:
                made = interpreter.call_with(method, args if name == "__format__" else args[:1], {})
                return made if is_a(made, str) else interpreter.natively(function, *args)  # which raises
            as_text = name == "__format__" and args[1:] in _EMPTY and is_a(args[0], *SCALARS)
            if not (as_text or is_default(member_of(type(args[0]), name))):
                break
        return interpreter.natively(function, *args) if _is_scalar_by_c(args[0], names) else NATIVE

    return handler


_EMPTY = ((), ("",))


def index(interpreter: Interpreter, value: Any) -> Any:
    """``operator.index(value)``, and what stands for a place: C takes an int as it is, whatever its class overrides."""
    return interpreter.natively(operator.index, value) if is_a(value, int) else _index(interpreter, value)


_index = unary(operator.index, "__index__")


def truth(interpreter: Interpreter, value: Any) -> Any:
    """``bool(value)``."""
    if not may_compute(value):
        return NATIVE
    for name in ("__bool__", "__len__"):
        method = special_method(interpreter, value, name)
        if method is not None:
            return interpreter.natively(bool, interpreter.call_with(method, (value,), {}))
        member = member_of(type(value), name)
        if member is not ABSENT:
            by_c = is_a(value, *SCALARS) and not isinstance(member, types.FunctionType)
            return interpreter.natively(bool, value) if by_c else NATIVE
    return True


def negation(interpreter: Interpreter, value: Any) -> bool:
    """``not value``."""
    return not interpreter.python(bool, value)


# --- Two operands ---------------------------------------------------------------------------------------------------

ARITHMETIC = {
    "__add__": "+", "__sub__": "-", "__mul__": "*", "__truediv__": "/", "__floordiv__": "//", "__mod__": "%",
    "__pow__": "**", "__matmul__": "@", "__lshift__": "<<", "__rshift__": ">>", "__and__": "&", "__or__": "|",
    "__xor__": "^",
}  # fmt: skip
COMPARISONS = {
    "__eq__": ("__eq__", "=="), "__ne__": ("__ne__", "!="), "__lt__": ("__gt__", "<"), "__le__": ("__ge__", "<="),
    "__gt__": ("__lt__", ">"), "__ge__": ("__le__", ">="),
}  # fmt: skip
"""By special method, the one of the other operand, and the symbol."""


def binary(name: str, reflected: str, symbol: str) -> Handler:
    """For ``a + b`` and its like, and comparisons, whose reflected method is that of the other direction."""

    def handler(interpreter: Interpreter, left: Any, right: Any) -> Any:
        if may_compute(left) or may_compute(right):
            return _operate(interpreter, left, right, (name, reflected), symbol)
        if symbol in {"==", "!="} and (is_identity(left) or is_identity(right)):
            return same(interpreter, left, right) is (symbol == "==")
        return NATIVE

    return handler


def power(interpreter: Interpreter, base: Any, exp: Any, mod: Any = None) -> Any:
    """``pow(base, exp)``; with a third operand, C's."""
    return interpreter.python(operator.pow, base, exp) if mod is None else NATIVE


def _operate(interpreter: Interpreter, left: Any, right: Any, names: tuple[str, str], symbol: str) -> Any:
    if type(left) is not type(right) and issubclass(type(right), type(left)):
        interpreter.class_member(right, names[1])  # which would come first
    for asked, name, other in _order(left, right, *names):
        method = special_method(interpreter, asked, name)
        if name == "__ne__" and is_default(member_of(type(asked), name)):
            equal = _equality(interpreter, asked, other)
            if equal is not NotImplemented:
                return NATIVE if equal is NATIVE else interpreter.python(operator.not_, equal)
            continue
        if method is not None:
            result = interpreter.call_with(method, (asked, other), {})
        else:
            member = member_of(type(asked), name)
            if member is ABSENT or member is None or is_default(member):
                continue
            if isinstance(member, types.FunctionType) or not _asks_itself_alone(asked, name):
                return NATIVE
            result = interpreter.natively(getattr(type(asked), name), asked, other)
        if result is not NotImplemented:
            return result
    return _without_method(interpreter, left, right, symbol)


def _equality(interpreter: Interpreter, asked: Any, other: Any) -> Any:
    """What ``__eq__`` says, which serves ``!=`` where a class has no method of its own for it."""
    method = special_method(interpreter, asked, "__eq__")
    if method is not None:
        return interpreter.call_with(method, (asked, other), {})
    return NotImplemented if is_default(member_of(type(asked), "__eq__")) else NATIVE


def _order(left: Any, right: Any, name: str, reflected: str) -> list[tuple[Any, str, Any]]:
    """Who is asked, by which method, about what: Python's order of the two operands."""
    first, second = (left, name, right), (right, reflected, left)
    a, b = type(left), type(right)
    if a is b and reflected == f"__r{name[2:]}":
        return [first]
    overrides = a is not b and issubclass(b, a) and member_of(b, reflected) is not member_of(a, reflected)
    # Python has another slot for sequences, which it asks last.
    sequence = a in {list, tuple, str, bytes} and name in {"__add__", "__mul__"}
    return [second, first] if overrides or sequence else [first, second]


def _asks_itself_alone(asked: Any, name: str) -> bool:
    """Whether C's method reads nothing but what `asked` is made of, and gives up on what is no number or text."""
    if is_a(asked, str, bytes):
        return name not in {"__mod__", "__rmod__"}
    return type(asked) is ProxyTensor or is_a(asked, *SCALARS) or is_atom(asked)


def _without_method(interpreter: Interpreter, left: Any, right: Any, symbol: str) -> bool:
    """What is left where neither operand has an answer."""
    if symbol in {"==", "!="}:
        return same(interpreter, left, right) is (symbol == "==")
    kinds = f"'{type(left).__name__}' and '{type(right).__name__}'"
    message = f"unsupported operand type(s) for {symbol}: {kinds}"
    if symbol in {"<", "<=", ">", ">="}:
        message = f"'{symbol}' not supported between instances of {kinds}"
    raise CompileError(f"TypeError: {message}", location=interpreter.location())


def same(interpreter: Interpreter, left: Any, right: Any) -> bool:
    """``left is right``: of two objects of the user's world, that they are one is read."""
    if not (is_atom(left) and is_atom(right)):
        interpreter.recorder.call(operator.is_, (left, right), left is right)
    return left is right


def not_same(interpreter: Interpreter, left: Any, right: Any) -> bool:
    """``left is not right``."""
    return not same(interpreter, left, right)


def in_place(name: str, plain: Callable[[Any, Any], Any]) -> Handler:
    """For ``a += b`` and its like."""

    def handler(interpreter: Interpreter, left: Any, right: Any) -> Any:
        method = special_method(interpreter, left, name)
        if method is not None:
            result = interpreter.call_with(method, (left, right), {})
            if result is not NotImplemented:
                return result
        return interpreter.python(plain, left, right) if may_compute(left) or may_compute(right) else NATIVE

    return handler
