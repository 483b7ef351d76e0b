"""The value of each operation of LLVM's dialect, on numpy scalars or on arrays with one element for each trip."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import Attribute, Operation, SSAValue

from ttnn_jit.dialects.cpu_module.instruction_attributes import address_indices, attribute, numbers, predicate
from ttnn_jit.dialects.cpu_module.memory_layout import member_of, size_of
from ttnn_jit.dialects.text_calls.text_attributes import name_of
from ttnn_jit.interpreters.host_level.address_space import HostFault, NoGoldenOfHost, numpy_type, zero_of

Meaning = Callable[..., Any]
"""The result of an operation on the values of its operands."""


def meaning_of(op: Operation) -> Meaning | None:
    """The meaning of an operation without effects; None if it has none here."""
    make = _MEANINGS.get(name_of(op))
    return None if make is None else make(op)


def _unsigned(x: Any) -> Any:
    return x.view(f"u{x.dtype.itemsize}") if x.dtype.kind == "i" else x


def _signed(x: Any, kind: np.dtype[Any]) -> Any:
    return x if kind.kind == "b" else x.view(kind)


def _of_bits(on_bools: Meaning, on_numbers: Meaning) -> Callable[[Operation], Meaning]:
    def make(op: Operation) -> Meaning:
        return on_bools if numpy_type(op.results[0].type).kind == "b" else on_numbers

    return make


def _always(function: Meaning) -> Callable[[Operation], Meaning]:
    return lambda _: function


def _require_divisor(divisor: Any) -> None:
    if np.any(divisor == 0):
        raise HostFault("a quotient by zero")


def _quotient(name: str) -> Callable[[Operation], Meaning]:
    def make(op: Operation) -> Meaning:
        kind = numpy_type(op.results[0].type)

        def value(first: Any, second: Any) -> Any:
            _require_divisor(second)
            if name[0] == "u":
                divided = np.floor_divide if name == "udiv" else np.remainder
                return _signed(divided(_unsigned(first), _unsigned(second)), kind)
            if name == "srem":
                return np.fmod(first, second)
            return ((first - np.fmod(first, second)) // second).astype(kind)

        return value

    return make


def _shift(name: str) -> Callable[[Operation], Meaning]:
    def make(op: Operation) -> Meaning:
        kind = numpy_type(op.results[0].type)
        width = 8 * kind.itemsize
        if kind.kind == "b":
            return lambda first, second: first & ~second

        def value(first: Any, second: Any) -> Any:
            fits = _unsigned(second) < width
            amount = np.where(fits, second, 0).astype(kind)
            if name == "lshr":
                shifted = _signed(np.right_shift(_unsigned(first), _unsigned(amount)), kind)
            else:
                shifted = (np.left_shift if name == "shl" else np.right_shift)(first, amount)
            return np.where(fits, shifted, kind.type(0))[()]

        return value

    return make


def _compare(op: Operation) -> Meaning:
    name = predicate(op)
    if name_of(op) == "llvm.fcmp":
        return _compare_floats(name)
    function = _ORDERS[name[-2:]]
    if name[0] == "u":
        return lambda first, second: function(_unsigned(first), _unsigned(second))
    return function


_ORDERS: Mapping[str, Meaning] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


def _compare_floats(name: str) -> Meaning:
    def value(first: Any, second: Any) -> Any:
        is_unordered = np.isnan(first) | np.isnan(second)
        match name:
            case "true" | "false":
                return np.full_like(is_unordered, name == "true")[()]
            case "ord":
                return ~is_unordered
            case "uno":
                return is_unordered
        found = _ORDERS[name[-2:]](first, second)
        return (found | is_unordered) if name[0] == "u" else (found & ~is_unordered)

    return value


def _cast(op: Operation) -> Meaning:
    kind, given = numpy_type(op.results[0].type), numpy_type(op.operands[0].type)
    name = name_of(op).removeprefix("llvm.")
    match name:
        case "zext" | "uitofp":
            return lambda x: _unsigned(x).astype(kind)
        case "sext" | "sitofp" if given.kind == "b":
            return lambda x: -(x.astype(kind))
        case "trunc" if kind.kind == "b":
            return lambda x: (x & 1).astype(bool)
        case "bitcast":
            return lambda x: x.view(kind)
        case "fptosi" | "fptoui":
            return _saturated(kind, is_signed=name == "fptosi")
    return lambda x: x.astype(kind)


def _saturated(kind: np.dtype[Any], *, is_signed: bool) -> Meaning:
    whole = np.dtype(f"{'i' if is_signed else 'u'}{kind.itemsize}")
    limits = np.iinfo(whole)

    def value(x: Any) -> Any:
        wide = np.trunc(np.asarray(x, np.float64))
        low, high = wide <= limits.min, wide >= limits.max
        inside = np.where(low | high | np.isnan(wide), 0, wide).astype(whole)
        found = np.where(low, limits.min, np.where(high, limits.max, inside)).astype(whole)
        return found.view(kind)[()]

    return value


def _constant(op: Operation) -> Meaning:
    value, kind = attribute(op, "value"), numpy_type(op.results[0].type)
    made: Any
    if isinstance(value, IntegerAttr):
        width = 8 * kind.itemsize
        if kind.kind == "b":
            made = np.bool_(value.value.data % 2)
        else:
            made = np.array(value.value.data % 2**width, f"u{kind.itemsize}").view(kind)[()]
    elif isinstance(value, FloatAttr):
        made = kind.type(value.value.data)
    else:
        raise NoGoldenOfHost(f"a constant of {op.results[0].type} has no meaning here")
    return lambda: made


def _zeros(op: Operation) -> Meaning:
    made = zero_of(op.results[0].type)
    return lambda *_: made


def _address(op: Operation) -> Meaning:
    """The base, the first index by the size of the element type, each further one by that of its member."""
    kind: Attribute = attribute(op, "elem_type")
    steps: list[tuple[int, int]] = []
    constant, place = 0, 0
    for number, index in enumerate(address_indices(op)):
        is_operand = isinstance(index, SSAValue)
        if number == 0:
            size = size_of(kind)
        elif is_operand:
            size, kind = member_of(kind, 1)
        else:
            size, (offset, kind) = 1, member_of(kind, int(index))  # type: ignore[arg-type]
        if is_operand:
            steps.append((size, place))
            place += 1
        else:
            constant += size * int(index) if number == 0 else offset  # type: ignore[arg-type]

    def value(base: Any, *indices: Any) -> Any:
        found = base + np.array(constant % 2**64, np.uint64).view(np.int64)[()]
        for size, at in steps:
            found = found + indices[at].astype(np.int64) * np.int64(size)
        return found

    return value


def _extract(op: Operation) -> Meaning:
    places = numbers(op, "position")

    def value(whole: Any) -> Any:
        for each in places:
            whole = whole[each]
        return whole

    return value


def _insert(op: Operation) -> Meaning:
    places = numbers(op, "position")

    def inserted(whole: Any, part: Any, path: tuple[int, ...]) -> Any:
        if not path:
            return part
        first, *rest = path
        return [inserted(each, part, tuple(rest)) if index == first else each for index, each in enumerate(whole)]

    return lambda whole, part: inserted(whole, part, places)


def _select(_: Operation) -> Meaning:
    def value(condition: Any, first: Any, second: Any) -> Any:
        if isinstance(first, list):
            return [value(condition, *each) for each in zip(first, second, strict=True)]
        return np.where(condition, first, second)[()]

    return value


def _fused(a: Any, b: Any, c: Any) -> Any:
    return (a.astype(np.float64) * b.astype(np.float64) + c.astype(np.float64)).astype(a.dtype)


def in_double(function: Meaning) -> Meaning:
    """A function in float64, whose result is rounded to the type of its first operand."""

    def value(*operands: Any) -> Any:
        return np.asarray(function(*(each.astype(np.float64) for each in operands))).astype(operands[0].dtype)[()]

    return value


def _max_of(is_max: bool, *, keeps_nan: bool) -> Meaning:
    if keeps_nan:
        return np.maximum if is_max else np.minimum
    return np.fmax if is_max else np.fmin


def _round_half_away(x: Any) -> Any:
    return np.copysign(np.floor(np.abs(x) + 0.5), x)


_AS_NUMPY = """exp exp2 log log2 log10 log1p expm1 sin cos tan sinh cosh tanh cbrt sqrt floor ceil trunc rint"""
_INVERSES = "sin cos tan sinh cosh tanh"

FUNCTIONS: Mapping[str, Meaning] = {
    **{each: in_double(getattr(np, each)) for each in _AS_NUMPY.split()},
    **{f"a{each}": in_double(getattr(np, f"arc{each}")) for each in _INVERSES.split()},
    "atan2": in_double(np.arctan2),
    "pow": in_double(np.power),
    "hypot": in_double(np.hypot),
    "fmod": in_double(np.fmod),
    "fabs": np.abs,
    "copysign": np.copysign,
    "nearbyint": np.rint,
    "roundeven": np.rint,
    "round": in_double(_round_half_away),
    "erf": in_double(np.vectorize(math.erf, otypes=[float])),
    "erfc": in_double(np.vectorize(math.erfc, otypes=[float])),
    "fma": _fused,
    "fmax": np.fmax,
    "fmin": np.fmin,
}
"""Function of the C library, without the suffix of float32, -> its meaning."""

_OF_INTRINSICS: Mapping[str, Meaning] = {
    **{name: FUNCTIONS[name] for name in FUNCTIONS if name not in {"fmax", "fmin", "fmod"}},
    "fmuladd": _fused,
    "maxnum": _max_of(True, keeps_nan=False),
    "minnum": _max_of(False, keeps_nan=False),
    "maximum": _max_of(True, keeps_nan=True),
    "minimum": _max_of(False, keeps_nan=True),
    "abs": np.abs,
    "smax": np.maximum,
    "smin": np.minimum,
    "umax": lambda a, b: _signed(np.maximum(_unsigned(a), _unsigned(b)), a.dtype),
    "umin": lambda a, b: _signed(np.minimum(_unsigned(a), _unsigned(b)), a.dtype),
}

_CASTS = "trunc zext sext fptrunc fpext uitofp sitofp ptrtoint inttoptr bitcast fptosi fptoui"

_MEANINGS: Mapping[str, Callable[[Operation], Meaning]] = {
    "llvm.add": _of_bits(np.logical_xor, np.add),
    "llvm.sub": _of_bits(np.logical_xor, np.subtract),
    "llvm.mul": _of_bits(np.logical_and, np.multiply),
    "llvm.and": _always(np.bitwise_and),
    "llvm.or": _always(np.bitwise_or),
    "llvm.xor": _always(np.bitwise_xor),
    "llvm.fadd": _always(np.add),
    "llvm.fsub": _always(np.subtract),
    "llvm.fmul": _always(np.multiply),
    "llvm.fdiv": _always(np.divide),
    "llvm.frem": _always(FUNCTIONS["fmod"]),
    "llvm.fneg": _always(np.negative),
    "llvm.freeze": _always(lambda x: x),
    "llvm.icmp": _compare,
    "llvm.fcmp": _compare,
    "llvm.select": _select,
    "llvm.mlir.constant": _constant,
    "llvm.mlir.zero": _zeros,
    "llvm.mlir.undef": _zeros,
    "llvm.mlir.poison": _zeros,
    "llvm.intr.stacksave": _zeros,
    "llvm.getelementptr": _address,
    "llvm.extractvalue": _extract,
    "llvm.insertvalue": _insert,
    **{f"llvm.{each}": _quotient(each) for each in ("udiv", "sdiv", "urem", "srem")},
    **{f"llvm.{each}": _shift(each) for each in ("shl", "lshr", "ashr")},
    **{f"llvm.{each}": _cast for each in _CASTS.split()},
    **{f"llvm.intr.{name}": _always(each) for name, each in _OF_INTRINSICS.items()},
}
"""Operation -> what makes its meaning, once for each operation of a text."""
