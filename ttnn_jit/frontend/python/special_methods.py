"""Operators in the interpreter: special methods that are written in Python are interpreted.

So their reads are guarded. The method that implements an operator is recorded as read, because classes can change.
"""

from __future__ import annotations

import collections
import operator
import types
from collections.abc import Callable
from typing import Any

from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.diagnostics.origin import is_of_a_library
from ttnn_jit.foreign.library_values import is_numpy_dtype
from ttnn_jit.foreign.numpy_scalar import is_numpy_scalar
from ttnn_jit.foreign.values import (
    ABSENT,
    has_member,
    is_a,
    is_atom,
    is_identity,
    is_implemented_in_c,
    is_python_class,
    member_of,
)
from ttnn_jit.frontend.python.interpreter import Interpreter
from ttnn_jit.frontend.python.tensor_identities import is_same_object
from ttnn_jit.frontend.reads.function_source import is_within_the_language
from ttnn_jit.frontend.tensors.proxy import ProxyTensor
from ttnn_jit.specs.extents.extent import is_of_trace

NATIVE: Any = object()
"""The result of a handler that leaves the call to C."""

Handler = Callable[..., Any]

SCALARS = (int, float, complex, str, bytes)


def may_compute(value: Any) -> bool:
    """Whether the class of `value` may implement an operator in Python."""
    kind = type(value)
    return kind is not ProxyTensor and is_python_class(kind) and not is_atom(value)


def is_default(member: Any) -> bool:
    """Whether a special method is that of `object`, which depends on identity only."""
    return getattr(member, "__objclass__", None) is object


def special_method(interpreter: Interpreter, value: Any, name: str) -> types.FunctionType | None:
    """The user's Python function of a special method of `value`; None if there is none, or one of C or a library.

    Methods of libraries run natively, and the guard runs them again.
    """
    if not may_compute(value):
        return None
    member = interpreter.class_member(value, name)
    plain = isinstance(member, types.FunctionType) and not is_of_a_library(member)
    return member if plain and is_within_the_language(member) else None


# --- One operand ----------------------------------------------------------------------------------------------------


def unary(function: Callable[..., Any], *names: str) -> Handler:
    """For functions of one operand, such as ``-x`` and ``float(x)``: calls the first special method that exists."""

    def handler(interpreter: Interpreter, *args: Any, **kwargs: Any) -> Any:
        if not args or not may_compute(args[0]):
            return NATIVE
        for name in names:
            method = special_method(interpreter, args[0], name)
            if method is not None:
                if name not in _CHECKED:
                    return interpreter.call_with(method, args, kwargs)
                plain = not kwargs and not any(map(may_compute, args[1:]))
                return convert_result(interpreter, function, args, name, method) if plain else NATIVE
            if member_of(type(args[0]), name) is not ABSENT:
                break
        alone = _is_scalar_by_c(args[0], names) and not any(map(may_compute, (*args[1:], *kwargs.values())))
        return interpreter.natively(function, *args, **kwargs) if alone else NATIVE

    return handler


_CHECKED = frozenset({"__float__", "__int__", "__index__", "__trunc__", "__complex__", "__len__", "__bytes__"})
"""Special methods whose result C checks or converts."""


def convert_result(
    interpreter: Interpreter, function: Callable[..., Any], args: tuple[Any, ...], name: str, method: types.FunctionType
) -> Any:
    """The result of `function` from the result of `method`, the special method `name` of the first of `args`.

    C checks and converts that result: `function` gets an object whose special method returns it.
    """
    made = interpreter.call_with(method, args if name == "__format__" else args[:1], {})
    if name == "__len__" and may_compute(made):
        made = index(interpreter, made)
    answering: Any = type(type(args[0]).__name__, (), {name: lambda *_: made})
    return interpreter.natively(function, answering(), *args[1:])


def _is_scalar_by_c(value: Any, names: tuple[str, ...]) -> bool:
    return is_a(value, *SCALARS) and all(
        is_implemented_in_c(member_of(type(value), name)) for name in (*names, *_CONVERSIONS)
    )


_CONVERSIONS = ("__float__", "__index__")
"""Special methods that C calls wherever it needs a number."""


def text(function: Callable[..., Any], *names: str) -> Handler:
    """For ``str(x)``, ``repr(x)`` and ``format(x, spec)``."""

    def handler(interpreter: Interpreter, *args: Any, **kwargs: Any) -> Any:
        if not args or kwargs or not may_compute(args[0]):
            return NATIVE
        for name in names:
            method = special_method(interpreter, args[0], name)
            if method is not None:
                given = args if args[1:] or name != "__format__" else (*args, "")
                return convert_result(interpreter, function, given, name, method)
            member = member_of(type(args[0]), name)
            as_text = (
                name == "__format__" and args[1:] in _EMPTY and is_a(args[0], *SCALARS) and is_implemented_in_c(member)
            )
            if not (as_text or is_default(member)):
                break
        return interpreter.natively(function, *args) if _is_scalar_by_c(args[0], names) else NATIVE

    return handler


_EMPTY = ((), ("",))


def index(interpreter: Interpreter, value: Any) -> Any:
    """``operator.index(value)``; C takes an int without calling its ``__index__``."""
    return interpreter.natively(operator.index, value) if is_a(value, int) else _index(interpreter, value)


_index = unary(operator.index, "__index__")


def truth(interpreter: Interpreter, value: Any) -> Any:
    """``bool(value)``."""
    if not may_compute(value):
        return NATIVE
    for name in ("__bool__", "__len__"):
        method = special_method(interpreter, value, name)
        if method is not None:
            return convert_result(interpreter, bool, (value,), name, method)
        member = member_of(type(value), name)
        if member is not ABSENT:
            by_c = is_a(value, *SCALARS) and is_implemented_in_c(member)
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
"""By special method: the reflected method of the other operand, and the symbol."""


_EQUALITIES = {"==": operator.eq, "!=": operator.ne}


def binary(name: str, reflected: str, symbol: str) -> Handler:
    """For binary operators, and comparisons, whose reflected method is that of the other direction."""

    def handler(interpreter: Interpreter, left: Any, right: Any) -> Any:
        if may_compute(left) or may_compute(right):
            return _operate(interpreter, left, right, (name, reflected), symbol)
        if symbol in _EQUALITIES and (is_numpy_dtype(left) or is_numpy_dtype(right)):
            return interpreter.natively(
                _EQUALITIES[symbol], left, right
            )  # a numpy dtype also equals classes and strings
        if symbol in _EQUALITIES and (is_identity(left) or is_identity(right)):
            return same(interpreter, left, right) is (symbol == "==")
        return NATIVE

    return handler


def power(interpreter: Interpreter, base: Any, exp: Any, mod: Any = None) -> Any:
    """``pow(base, exp)``; C computes it with a third operand."""
    return interpreter.python(operator.pow, base, exp) if mod is None else NATIVE


def _operate(interpreter: Interpreter, left: Any, right: Any, names: tuple[str, str], symbol: str) -> Any:
    if type(left) is not type(right) and issubclass(type(right), type(left)):
        interpreter.class_member(right, names[1])  # this method would be called first
    for receiver, name, other in _order(left, right, *names):
        method = special_method(interpreter, receiver, name)
        member = member_of(type(receiver), name)
        if name == "__ne__" and is_default(member):
            equal = _equality(interpreter, receiver, other)
            if equal is not NotImplemented:
                return NATIVE if equal is NATIVE else interpreter.python(operator.not_, equal)
            continue
        if method is not None:
            result = interpreter.call_with(method, (receiver, other), {})
        elif member is ABSENT or member is None or is_default(member) or _is_of_a_sequence(receiver, name, member):
            continue
        elif not (is_implemented_in_c(member) and _reads_only_scalars(receiver, name, other)):
            return NATIVE
        else:
            result = interpreter.natively(getattr(type(receiver), name), receiver, other)
        if result is not NotImplemented:
            return result
    return _sequence_operation(interpreter, left, right, symbol)


_SEQUENCES = (str, bytes, bytearray, list, tuple, collections.deque)


def _is_of_a_sequence(receiver: Any, name: str, member: Any) -> bool:
    """Whether a method is C's concatenation or repetition, which Python tries after both operands' methods."""
    return is_implemented_in_c(member) and name in {"__add__", "__mul__", "__rmul__"} and is_a(receiver, *_SEQUENCES)


def _sequence_operation(interpreter: Interpreter, left: Any, right: Any, symbol: str) -> Any:
    """Concatenation or repetition, after no operand's method returned a result."""
    if symbol == "+" and is_a(left, *_SEQUENCES):
        texts = is_a(left, str, bytes) and is_a(right, str, bytes)
        return interpreter.natively(operator.concat, left, right) if texts else NATIVE
    if symbol == "*" and is_a(left, *_SEQUENCES):
        return _repeated(interpreter, left, right)
    if symbol == "*" and is_a(right, *_SEQUENCES):
        return _repeated(interpreter, right, left)
    return _without_method(interpreter, left, right, symbol)


def _repeated(interpreter: Interpreter, sequence: Any, times: Any) -> Any:
    if may_compute(times) and has_member(type(times), "__index__"):
        times = index(interpreter, times)
    repeat = interpreter.natively if is_a(sequence, str, bytes) else interpreter.compute_in_c
    return repeat(operator.mul, sequence, times)


def _equality(interpreter: Interpreter, receiver: Any, other: Any) -> Any:
    """The result of ``__eq__``, which implements ``!=`` for a class without ``__ne__``."""
    method = special_method(interpreter, receiver, "__eq__")
    if method is not None:
        return interpreter.call_with(method, (receiver, other), {})
    return NotImplemented if is_default(member_of(type(receiver), "__eq__")) else NATIVE


def _order(left: Any, right: Any, name: str, reflected: str) -> list[tuple[Any, str, Any]]:
    """The receivers, methods and other operands in the order in which Python calls them."""
    first, second = (left, name, right), (right, reflected, left)
    a, b = type(left), type(right)
    if a is b and reflected == f"__r{name[2:]}":
        return [first]
    overrides = a is not b and issubclass(b, a) and member_of(b, reflected) is not member_of(a, reflected)
    return [second, first] if overrides else [first, second]


def _reads_only_scalars(receiver: Any, name: str, other: Any) -> bool:
    """Whether C's method reads only numbers and strings of `receiver`, and perhaps of `other`."""
    if type(receiver) is ProxyTensor:
        return True
    if is_a(receiver, *SCALARS) and not is_numpy_scalar(receiver):
        return not (is_a(receiver, str, bytes) and name in {"__mod__", "__rmod__"})
    return is_atom(receiver) and not may_compute(
        other
    )  # numpy calls methods of `other`, and so does a tuple for its items


def _without_method(interpreter: Interpreter, left: Any, right: Any, symbol: str) -> bool:
    """The result, or Python's error, if no operand's method returned a result."""
    if symbol in {"==", "!="}:
        return same(interpreter, left, right) is (symbol == "==")
    kinds = f"'{type(left).__name__}' and '{type(right).__name__}'"
    message = f"unsupported operand type(s) for {symbol}: {kinds}"
    if symbol in {"<", "<=", ">", ">="}:
        message = f"'{symbol}' not supported between instances of {kinds}"
    raise CompileError(f"TypeError: {message}", location=interpreter.location())


def same(interpreter: Interpreter, left: Any, right: Any) -> bool:
    """``left is right``, recorded as read for two objects of the user's world."""
    if type(left) is ProxyTensor or type(right) is ProxyTensor:
        return is_same_object(interpreter, left, right)
    if is_of_trace(left) or is_of_trace(right):
        return left is right  # one number, or one and a value of another class
    interpreter.recorder.record_identity(left, right)
    return left is right


def not_same(interpreter: Interpreter, left: Any, right: Any) -> bool:
    """``left is not right``."""
    return not same(interpreter, left, right)


def in_place(name: str, updating: Callable[[Any, Any], Any], plain: Callable[[Any, Any], Any]) -> Handler:
    """For augmented assignments; `updating` is C's function of ``a += b``, `plain` that of ``a + b``."""

    def handler(interpreter: Interpreter, left: Any, right: Any) -> Any:
        method = special_method(interpreter, left, name)
        if method is not None:
            result = interpreter.call_with(method, (left, right), {})
            if result is not NotImplemented:
                return result
        changes = _changes_in_place(left, name)
        if changes:
            refuse_foreign(interpreter, left)
        if not (may_compute(left) or may_compute(right)):
            return NATIVE
        if not changes:
            return interpreter.python(plain, left, right)
        if name == "__iadd__":
            right = interpreter.python(iter, right)
        elif name == "__imul__" and has_member(type(right), "__index__"):
            right = index(interpreter, right)
        return interpreter.compute_in_c(updating, left, right)

    return handler


def _changes_in_place(value: Any, name: str) -> bool:
    member = member_of(type(value), name)
    return member is not ABSENT and member is not None and is_implemented_in_c(member)


def refuse_foreign(interpreter: Interpreter, container: Any) -> None:
    """Refuse to change a container from outside the program.

    Raises:
        CompileError: The container was found in a global or a closure, or is the caller's.
    """
    if interpreter.recorder.is_foreign(container):
        interpreter.refuse_change(
            f"this {type(container).__name__} comes from outside the function, which a compiled function cannot change",
            "make a copy of it first, or return the new value",
        )
