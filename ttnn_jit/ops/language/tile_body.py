"""Bodies of a user's tile operations, as the IR holds them.

A `TracedBody` is a list of calls of the emit protocol. Its text is complete: a process without the Python function can
parse it. A `ScalarFunction` is Python that could not be traced. Its text is a digest, which only a process that defines
the function can resolve.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.ops.language.emit import Emit
from ttnn_jit.ops.language.kinds import as_float32
from ttnn_jit.process.dataclass import dataclass

VALUE, MASK, NUMBER = "Value", "Mask", "float"


def _functions() -> Mapping[str, tuple[tuple[str, ...], str]]:
    table = {}
    for name, function in inspect.getmembers(Emit, inspect.isfunction):
        kinds = {parameter: kind for parameter, kind in function.__annotations__.items() if parameter != "return"}
        if kinds and set(kinds.values()) <= {VALUE, MASK, NUMBER} and name != "const":
            table[name] = tuple(kinds.values()), str(function.__annotations__["return"])
    return table


FUNCTIONS = _functions()
"""Function of the emit protocol -> the types of its operands (value, mask or plain number) and of its result."""

DEFAULTS = {name: getattr(Emit, name).__defaults__ or () for name in FUNCTIONS}
"""Function of the emit protocol -> the defaults of its last operands."""

Operand = str | float
"""A variable's name, or a number."""


@dataclass(frozen=True)
class Call:
    """``name = function(operands)``."""

    name: str
    function: str
    operands: tuple[Operand, ...]

    def __str__(self) -> str:
        return f"{self.name} = {self.function}({', '.join(map(_operand_text, self.operands))})"


@dataclass(frozen=True)
class TracedBody:
    """Straight-line code over the emit protocol.

    Attributes:
        parameters: Names of the operands.
        calls: The calls in execution order.
        result: The return value: a variable, a parameter or a number.
    """

    parameters: tuple[str, ...]
    calls: tuple[Call, ...]
    result: Operand

    @property
    def text(self) -> str:
        """``x -> t0 = exp(x); t1 = add(t0, 1.0); return t1``; `parse` is the inverse."""
        statements = [*map(str, self.calls), f"return {_operand_text(self.result)}"]
        return f"{', '.join(self.parameters)} -> {'; '.join(statements)}"

    @staticmethod
    def parse(text: str) -> TracedBody:
        """The body with this text.

        Raises:
            ArgumentError: `text` is no body.
        """
        head, arrow, rest = text.partition(" -> ")
        *statements, last = rest.split("; ")
        parameters = tuple(head.split(", "))
        if not arrow or not last.startswith("return ") or not all(name.isidentifier() for name in parameters):
            raise ArgumentError(f"this is no tile body: {text!r}")
        kinds = dict.fromkeys(parameters, VALUE)
        calls = tuple(_parse_call(statement, kinds) for statement in statements)
        return TracedBody(parameters, calls, _parse_operand(last.removeprefix("return "), VALUE, kinds))

    def emit(self, b: Any, *operands: Any) -> Any:
        """The result on the builder `b`."""
        known = dict(zip(self.parameters, operands, strict=True))

        def value(operand: Operand, kind: str = VALUE) -> Any:
            if isinstance(operand, str):
                return known[operand]
            return operand if kind == NUMBER else b.const(operand)

        for call in self.calls:
            kinds, _ = FUNCTIONS[call.function]
            known[call.name] = getattr(b, call.function)(*map(value, call.operands, kinds))
        return value(self.result)


@dataclass(frozen=True)
class ScalarFunction:
    """A Python function of floats, for numba to compile.

    Attributes:
        name: The function's name.
        parameters: Names of its operands.
        digest: Hash of everything that its results depend on.
        function: The function itself.
        reason: Why it could not be traced.
        is_local: Whether no other process can identify it.
    """

    name: str
    parameters: tuple[str, ...]
    digest: str
    function: Callable[..., Any] = field(compare=False, repr=False)
    reason: str = field(compare=False, repr=False)
    is_local: bool = False

    @property
    def text(self) -> str:
        """``x -> python <hash>``."""
        return f"{', '.join(self.parameters)}{PYTHON_BODY}{self.digest}"

    @property
    def symbol(self) -> str:
        """A unique symbol name."""
        return f"{re.sub(r'[^0-9A-Za-z_]', '_', self.name)}_{self.digest[:16]}"

    def emit(self, b: Any, *operands: Any) -> Any:
        """The result on the builder `b`."""
        return b.call_scalar(self, operands)


TileBody = TracedBody | ScalarFunction
PYTHON_BODY = " -> python "


def _parse_call(statement: str, kinds: dict[str, str]) -> Call:
    name, _, value = statement.partition(" = ")
    function, _, rest = value.partition("(")
    operands = rest.removesuffix(")").split(", ")
    wanted, result = FUNCTIONS.get(function, ((), ""))
    is_whole = rest.endswith(")") and len(operands) == len(wanted)
    if not is_whole or name in kinds or not name.isidentifier():
        raise ArgumentError(f"this is no statement of a tile body: {statement!r}")
    call = Call(name, function, tuple(_parse_operand(o, kind, kinds) for o, kind in zip(operands, wanted, strict=True)))
    kinds[name] = result
    return call


def _parse_operand(text: str, kind: str, kinds: Mapping[str, str]) -> Operand:
    if text in kinds:
        if kinds[text] != kind:
            raise ArgumentError(f"`{text}` is a {kinds[text].lower()} where a tile body needs a {kind.lower()}")
        return text
    try:
        number = float(text)
    except ValueError:
        raise ArgumentError(f"`{text}` is neither a variable nor a number of the tile body") from None
    if kind == MASK:
        raise ArgumentError(f"`{text}` is a number where a tile body needs a mask")
    return number


def _operand_text(operand: Operand) -> str:
    # Rounded to float32, so that equal bodies have equal text.
    return operand if isinstance(operand, str) else repr(as_float32(operand))
