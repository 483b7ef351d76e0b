"""Quotients, remainders, greatest common divisors and least common multiples of integers: exact; x / 0 is 0."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ttnn_jit.ops.elementwise.binary import (
    DIVIDE,
    FILL,
    FIRST,
    FLOOR_OF_INTEGERS,
    SECOND,
    TRUNC_OF_INTEGERS,
    golden_of_integers,
)
from ttnn_jit.ops.elementwise.integer_pairs import routine_of_pairs
from ttnn_jit.ops.elementwise.typecast import TYPECAST
from ttnn_jit.ops.families.decomposition import MacroOperation, Ops, Value
from ttnn_jit.ops.families.routine import Routine
from ttnn_jit.ops.language.axes import broadcast
from ttnn_jit.ops.language.operation import torch_function
from ttnn_jit.ops.language.parameter import CHOICE, Parameter
from ttnn_jit.ops.movement.data_movement import REPEAT, RESHAPE
from ttnn_jit.specs.dtypes import COMPUTE_TYPE, INTEGERS

Extents = tuple[int, ...]
Operands = tuple[Value | float, Value | float]


def _quotient_loop(load: Any, store: Any) -> Any:
    """Quotients rounded down or toward zero, or their remainders."""

    def loop(x, xs, y, ys, result, rs, extent, to_zero, returns_remainder):  # type: ignore[no-untyped-def]  # noqa: PLR0913, PLR0917 - as numba calls it
        for i in range(extent):
            dividend, divisor = load(x[i * xs]) + 0, load(y[i * ys]) + 0  # int64 in numba, whatever is loaded
            quotient, remainder = 0, 0
            if divisor != 0:
                quotient = dividend // divisor
                remainder = dividend - quotient * divisor
                if to_zero and remainder != 0 and (dividend < 0) != (divisor < 0):
                    quotient += 1
                    remainder -= divisor
            result[i * rs] = store(remainder if returns_remainder else quotient)

    return loop


def _divisor_loop(load: Any, store: Any) -> Any:
    """Greatest common divisors, or least common multiples."""

    def loop(x, xs, y, ys, result, rs, extent, returns_multiple):  # type: ignore[no-untyped-def]
        for i in range(extent):
            first, second = abs(load(x[i * xs]) + 0), abs(load(y[i * ys]) + 0)
            divisor, other = first, second
            while other != 0:
                divisor, other = other, divisor % other
            if returns_multiple and divisor != 0:
                divisor = first // divisor * second
            result[i * rs] = store(divisor)

    return loop


def _routine(name: str, loop: Callable[..., Any], golden: Callable[..., Any], *constants: bool) -> Routine:
    return routine_of_pairs("integer", name, "integers", INTEGERS, loop, golden, *constants)


def _broadcast_operands(ops: Ops, operands: Operands) -> tuple[list[Value], Extents]:
    """The operands broadcast to one shape of at least one dimension, and the shape of the result."""
    tensors = [each for each in operands if isinstance(each, Value)]
    shape = broadcast([each.shape for each in tensors])
    rows = shape or (1,)
    found = []
    for each in operands:
        tensor = each if isinstance(each, Value) else ops.call(FILL, [tensors[0], each])
        padded = (1,) * (len(rows) - len(tensor.shape)) + tensor.shape
        tensor = tensor if padded == tensor.shape else ops.call(RESHAPE, [tensor], padded)
        repetitions = tuple(target if extent == 1 else 1 for extent, target in zip(padded, rows, strict=True))
        found.append(tensor if all(count == 1 for count in repetitions) else ops.call(REPEAT, [tensor], repetitions))
    return found, shape


def _lowered_to(routine: Routine) -> Callable[..., Value]:
    def decompose(ops: Ops, *operands: Value | float) -> Value:
        (a, b), shape = _broadcast_operands(ops, (operands[0], operands[1]))
        result = ops.call(routine, [a, b])
        return result if result.shape == shape else ops.call(RESHAPE, [result], shape)

    return decompose


def _exact_quotient(ops: Ops, *operands: Value | float) -> Value:
    """In float32, as in torch."""
    floats = [ops.call(TYPECAST, [each], COMPUTE_TYPE) if isinstance(each, Value) else each for each in operands]
    return ops.call(DIVIDE, floats)


def _operation(
    name: str, summary: str, decompose: Callable[..., Value], golden: Callable[..., Any], **fields: Any
) -> MacroOperation:
    return MacroOperation(
        name=name,
        parameters=(FIRST, SECOND, *fields.pop("others", ())),
        summary=summary,
        decompose=decompose,
        takes_dtypes=INTEGERS,
        golden=golden,
        examples=((((3, 40), (3, 40)), ()), (((2, 5, 1), (7,)), ())),
        **fields,
    )


FLOOR = _routine("floor_divide", _quotient_loop, FLOOR_OF_INTEGERS, False, False)
TRUNC = _routine("divide_trunc", _quotient_loop, TRUNC_OF_INTEGERS, True, False)
REMAINDER = _routine("remainder", _quotient_loop, golden_of_integers("remainder"), False, True)
FMOD = _routine("fmod", _quotient_loop, golden_of_integers("fmod"), True, True)
GCD = _routine("gcd", _divisor_loop, torch_function("gcd"), False)
LCM = _routine("lcm", _divisor_loop, torch_function("lcm"), True)

IN_PROGRAMS = (FLOOR, TRUNC, REMAINDER, FMOD, GCD, LCM)
"""The routines of these operations in programs."""

_ZERO = "0 where y is 0."

OPERATIONS = (
    _operation(
        "divide",
        "x / y of integers, in float32.",
        _exact_quotient,
        torch_function("div"),
        others=(Parameter("rounding_mode", CHOICE, None),),
    ),
    _operation(
        "divide",
        f"The floor of the quotient of integers; {_ZERO}",
        _lowered_to(FLOOR),
        FLOOR_OF_INTEGERS,
        others=(Parameter("rounding_mode", CHOICE, "floor"),),
    ),
    _operation(
        "divide",
        f"The quotient of integers without its fraction; {_ZERO}",
        _lowered_to(TRUNC),
        TRUNC_OF_INTEGERS,
        others=(Parameter("rounding_mode", CHOICE, "trunc"),),
    ),
    _operation(
        "floor_divide", f"The floor of the quotient of integers; {_ZERO}", _lowered_to(FLOOR), FLOOR_OF_INTEGERS
    ),
    _operation(
        "remainder",
        f"The remainder of floor division, with the sign of y; {_ZERO}",
        _lowered_to(REMAINDER),
        REMAINDER.golden,
    ),
    _operation("fmod", f"The remainder of the quotient toward zero; {_ZERO}", _lowered_to(FMOD), FMOD.golden),
    _operation(
        "gcd", "The greatest common divisor of integers, not below 0.", _lowered_to(GCD), GCD.golden, aten="gcd"
    ),
    _operation(
        "lcm", "The least common multiple of integers; 0 where one is 0.", _lowered_to(LCM), LCM.golden, aten="lcm"
    ),
)
