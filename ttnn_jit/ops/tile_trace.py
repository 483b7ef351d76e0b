"""Tracing of a Python scalar function to a `TracedBody`: the function runs on values that record operations on them.

The trace records operators, comparisons, functions of `math` and numpy, `ttnn` operations and helper functions. Each
side of a branch is traced in a run of its own, and a select joins the results: a scalar function has no side effects.
Code that needs a concrete number (an ``int()``, a loop until convergence) is not traceable, and raises an error.
"""

from __future__ import annotations

import builtins
import math
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from ttnn_jit.diagnostics.errors import TtnnJitError
from ttnn_jit.ops import OVERLOADS, Elementwise, bind
from ttnn_jit.ops.language.kinds import Number, as_float32
from ttnn_jit.ops.language.rebind import rebind
from ttnn_jit.ops.language.tile_body import DEFAULTS, FUNCTIONS, MASK, VALUE, Call, Operand, TracedBody
from ttnn_jit.specs.dtypes import COMPUTE_TYPE, DataType

MAX_RUNS = 64  # of one function, one for each path through its branches
MAX_CALLS = 4096
SIDE_EFFECTS = (builtins.print, builtins.breakpoint, builtins.input)
"""Functions with side effects that would happen during tracing, and in no call."""


class UntraceableError(Exception):
    """The function cannot be traced; the text completes "because ..."."""


def trace(function: types.FunctionType, parameters: Sequence[str]) -> TracedBody:
    """The body of `function`, whose parameters have these names.

    Raises:
        UntraceableError: It needs a concrete number, or uses a name that does not work on traced values.
    """
    tracer = _Tracer(parameters)
    copied = rebind(function, tracer.replacement)
    arguments = [Traced(tracer, name) for name in parameters]
    try:
        result = tracer.merge_paths(lambda: tracer.operand(copied(*arguments)), ())
    except UntraceableError:
        raise
    except (
        TtnnJitError,
        ArithmeticError,
        AttributeError,
        LookupError,
        NameError,
        RuntimeError,
        TypeError,
        ValueError,
    ) as error:
        raise UntraceableError(f"it cannot run on traced values ({type(error).__name__}: {error})") from error
    return TracedBody(tuple(parameters), tracer.live_calls(result), result)


class _Tracer:
    """The emit protocol as a recorder; equal calls are recorded once, also across branches."""

    def __init__(self, parameters: Sequence[str]) -> None:
        self._known: dict[tuple[str, tuple[str, ...]], str] = {}
        self._calls: list[Call] = []
        self._used_names = set(parameters)
        self._forced_outcomes: tuple[bool, ...] = ()
        self._outcomes: dict[str, bool] = {}
        self._runs = 0

    def __getattr__(self, name: str) -> Callable[..., Operand]:
        if name not in FUNCTIONS:
            raise AttributeError(name)
        return lambda *operands: self.call(name, operands)

    def const(self, value: float) -> Operand:
        """A number."""
        return as_float32(value)

    def call(self, function: str, operands: Sequence[Operand]) -> str:
        """The variable that holds what `function` of the emit protocol returns."""
        missing = len(FUNCTIONS[function][0]) - len(operands)
        operands = (*operands, *DEFAULTS[function][-missing:]) if missing else operands
        key = function, tuple(map(repr, operands))
        if key not in self._known:
            if len(self._calls) >= MAX_CALLS:
                raise UntraceableError(f"it takes more than {MAX_CALLS} steps")
            name = next(name for k in range(len(self._calls), 1 << 30) if (name := f"t{k}") not in self._used_names)
            self._used_names.add(name)
            self._known[key] = name
            self._calls.append(Call(name, function, tuple(operands)))
        return self._known[key]

    def live_calls(self, result: Operand) -> tuple[Call, ...]:
        """The calls that `result` needs, in order."""
        needed = {result}
        kept = []
        for call in reversed(self._calls):
            if call.name in needed:
                needed.update(call.operands)
                kept.append(call)
        return tuple(reversed(kept))

    # Branches

    def merge_paths(self, run: Callable[[], Operand], outcomes: tuple[bool, ...]) -> Operand:
        """The result of all paths whose first branches take `outcomes`."""
        self._runs += 1
        if self._runs > MAX_RUNS:
            raise UntraceableError(f"its branches make more than {MAX_RUNS} paths")
        self._forced_outcomes, self._outcomes = outcomes, {}
        result = run()
        masks = list(self._outcomes)
        for k in reversed(range(len(outcomes), len(masks))):
            other = self.merge_paths(run, (*outcomes, *[True] * (k - len(outcomes)), False))
            if repr(other) != repr(result):
                result = self.call("select", (masks[k], result, other))
        return result

    def decide(self, mask: str) -> bool:
        """The outcome of a branch on `mask` in this run; every branch on one mask takes the same outcome."""
        if mask not in self._outcomes:
            at = len(self._outcomes)
            self._outcomes[mask] = self._forced_outcomes[at] if at < len(self._forced_outcomes) else True
        return self._outcomes[mask]

    # Values

    def operand(self, value: Any) -> Operand:
        """The operand of a Python value in the body; a mask becomes 1 or 0."""
        match value:
            case Traced():
                return value.variable
            case TracedMask():
                return self.call("select", (value.variable, 1.0, 0.0))
            case _ if isinstance(value, Number):
                return as_float32(float(value))
            case _:
                raise UntraceableError(f"a {type(value).__name__} is no number")

    def apply(self, function: str, values: Sequence[Any]) -> Traced | TracedMask:
        """The result of `function` of the emit protocol on Python values."""
        kinds, result = FUNCTIONS[function]
        if len(kinds) != len(values):
            raise UntraceableError(f"`{function}` takes {len(kinds)} operands, got {len(values)}")
        operands = [self._mask(v) if kind == MASK else self.operand(v) for kind, v in zip(kinds, values, strict=True)]
        name = self.call(function, operands)
        return Traced(self, name) if result == VALUE else TracedMask(self, name)

    def _mask(self, value: Any) -> str:
        return value.variable if isinstance(value, TracedMask) else self.call("ne", (self.operand(value), 0.0))

    def apply_named(self, name: str, values: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        """The result of the function `name` of `math` or numpy."""
        name = _NAMES.get(name, name)
        if name == "isnan":
            return self.apply("ne", (values[0], values[0]))
        if name == "log" and len(values) == 2 and not keywords:  # math.log(x, base)
            return self.apply("div", [self.apply("log", (value,)) for value in values])
        if name in FUNCTIONS and not keywords:
            return self.apply(name, values)
        if name in OVERLOADS:
            return self.apply_operation(OVERLOADS[name], values, keywords)
        raise UntraceableError(f"`{name}` has no counterpart in the emit protocol")

    def apply_operation(self, overloads: Sequence[Any], values: Sequence[Any], keywords: Mapping[str, Any]) -> Traced:
        """The result of an operation of the registry."""
        values = [Traced(self, str(self.operand(v))) if isinstance(v, TracedMask) else v for v in values]
        name, overloads = overloads[0].name, [each for each in overloads if isinstance(each, Elementwise)]
        if not overloads:
            raise UntraceableError(f"`{name}` is not elementwise, and a tile operation computes each element alone")
        bound = bind(overloads, values, keywords, _dtype_of)
        operands = [self.operand(value) for value in bound.operands]
        operation: Any = bound.operation
        return Traced(self, operation.emit(self, *operands, *bound.attributes))

    # Names

    def replacement(self, value: Any) -> Any:
        """The traced counterpart of the value of a name; `value` itself if it has none."""
        if isinstance(value, types.ModuleType) and value.__name__ in _MODULES:
            return _TracedModule(self, value)
        if value is builtins.min or value is builtins.max:
            return self._smallest if value is builtins.min else self._largest
        if any(value is shown for shown in SIDE_EFFECTS):
            return self._untraceable(f"it calls `{value.__name__}`")
        if value is builtins.float:
            return lambda x=0.0: x if isinstance(x, Traced) else float(x)
        if callable(value) and _belongs_to(value) in _MODULES:
            return self._function(value)
        return value

    def _untraceable(self, reason: str) -> Callable[..., NoReturn]:
        def call(*_: Any, **__: Any) -> NoReturn:
            raise UntraceableError(reason)

        return call

    def _function(self, original: Callable[..., Any]) -> Callable[..., Any]:
        # math.remainder gives the remainder nearest to zero, numpy's has the sign of the divisor.
        name = "math.remainder" if original is math.remainder else original.__name__

        def call(*values: Any, **keywords: Any) -> Any:
            if any(isinstance(value, (Traced, TracedMask)) for value in (*values, *keywords.values())):
                return self.apply_named(name, values, keywords)
            return original(*values, **keywords)

        return call

    def _smallest(self, first: Any, *others: Any) -> Any:
        return self._extremum("lt", first, others, builtins.min)

    def _largest(self, first: Any, *others: Any) -> Any:
        return self._extremum("gt", first, others, builtins.max)

    def _extremum(self, comparison: str, first: Any, others: Sequence[Any], original: Callable[..., Any]) -> Any:
        """As Python's min and max: a later value replaces an earlier one only if it is strictly better."""
        if not any(isinstance(value, Traced) for value in (first, *others)):
            return original(first, *others)
        for other in others:
            first = self.apply("select", (self.apply(comparison, (other, first)), other, first))
        return first


_MODULES = ("math", "numpy")
_NAMES = {
    "fabs": "abs", "absolute": "abs", "rint": "round_even", "power": "pow", "divide": "div", "multiply": "mul",
    "subtract": "sub", "negative": "neg", "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arcsinh": "asinh",
    "arccosh": "acosh", "arctanh": "atanh", "arctan2": "atan2", "less": "lt", "less_equal": "le", "greater": "gt",
    "greater_equal": "ge", "equal": "eq", "not_equal": "ne", "logical_and": "both", "logical_or": "either",
    "logical_not": "invert", "mod": "remainder", "true_divide": "div", "float_power": "pow", "degrees": "rad2deg",
    "radians": "deg2rad",
}  # fmt: skip
"""Name in `math` or numpy -> name in the emit protocol or the registry, where they differ."""


def _belongs_to(function: Any) -> str:
    module = getattr(function, "__module__", None)
    return module if isinstance(module, str) else "numpy" if type(function).__name__ == "ufunc" else ""


class _TracedModule:
    """`math` or numpy for a traced function: its functions accept traced values."""

    def __init__(self, tracer: _Tracer, module: types.ModuleType) -> None:
        self._tracer = tracer
        self._module = module

    def __getattr__(self, name: str) -> Any:
        original = getattr(self._module, name)
        if self._module.__name__ == "numpy" and name == "float32":
            return lambda value: value if isinstance(value, Traced) else original(value)
        return self._tracer._function(original) if callable(original) else original


class TracedMask:
    """A truth value that is not known before the call; a branch on it is traced on both sides."""

    def __init__(self, tracer: _Tracer, variable: str) -> None:
        self._tracer = tracer
        self.variable = variable

    def __bool__(self) -> bool:
        return self._tracer.decide(self.variable)

    def __and__(self, other: Any) -> Any:
        return self._tracer.apply("both", (self, other))

    def __or__(self, other: Any) -> Any:
        return self._tracer.apply("either", (self, other))

    def __invert__(self) -> Any:
        return self._tracer.apply("invert", (self,))


class Traced:
    """A float that is not known before the call."""

    __hash__ = object.__hash__
    __array_ufunc__ = None  # numpy scalars on the left leave the operator to us

    def __init__(self, tracer: _Tracer, variable: Operand) -> None:
        self._tracer = tracer
        self.variable = variable

    def __ttnn_call__(self, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Record a `ttnn` operation."""
        return self._tracer.apply_operation(tuple(function.__ttnn_overloads__), args, kwargs)

    def __bool__(self) -> bool:
        return bool(self._tracer.apply("ne", (self, 0.0)))

    def __pos__(self) -> Traced:
        return self

    def __int__(self) -> NoReturn:
        raise UntraceableError("it takes the `int()` of a value")

    def __index__(self) -> NoReturn:
        raise UntraceableError("it uses a value as an index or a count")

    def __float__(self) -> NoReturn:
        raise UntraceableError("it calls a function that needs a concrete number")


def _dtype_of(value: Any) -> DataType | None:
    return COMPUTE_TYPE if isinstance(value, Traced) else None


def _method(function: str, *, reflected: bool = False) -> Callable[..., Any]:
    def method(self: Traced, *others: Any) -> Any:
        if not all(isinstance(other, Traced | TracedMask | Number) for other in others):
            return NotImplemented
        return self._tracer.apply(function, (*others, self) if reflected else (self, *others))

    return method


def _round(self: Traced, digits: int | None = None) -> Any:
    if digits is not None:
        raise UntraceableError("`round` to digits has no counterpart in the emit protocol")
    return self._tracer.apply("round_even", (self,))


_BINARY = {"add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "pow": "pow"}
_UNARY_AND_COMPARISONS = {
    name: name for name in ("lt", "le", "gt", "ge", "eq", "ne", "neg", "abs", "floor", "ceil", "trunc")
}


def _install_operators() -> None:
    for stem, function in {**_BINARY, **_UNARY_AND_COMPARISONS}.items():
        setattr(Traced, f"__{stem}__", _method(function))
    for stem, function in _BINARY.items():
        setattr(Traced, f"__r{stem}__", _method(function, reflected=True))
    setattr(Traced, "__round__", _round)  # noqa: B010 - beside the others


_install_operators()
