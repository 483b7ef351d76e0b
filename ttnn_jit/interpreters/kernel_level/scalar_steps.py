"""Steps of arithmetic on indices and numbers."""

from __future__ import annotations

import operator
import struct
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import Operation

from ttnn_jit.dialects.region_loops import refusal
from ttnn_jit.interpreters.kernel_level.faults import fail
from ttnn_jit.interpreters.kernel_level.kernel_core import Thread
from ttnn_jit.interpreters.kernel_level.kernel_steps import Execute, Maker


def _constant(op: Operation) -> Execute:
    assert isinstance(op, arith.ConstantOp)
    match op.value:
        case IntegerAttr():
            value: Any = op.value.value.data
        case FloatAttr():
            value = np.float32(op.value.value.data)
        case _:
            raise refusal(op, "it is no number")
    result = op.result

    def execute(thread: Thread) -> None:
        thread.values[result] = value

    return execute


def _of_two(function: Callable[[Any, Any], Any]) -> Maker:
    def make(op: Operation) -> Execute:
        first, second = op.operands
        (result,) = op.results

        def execute(thread: Thread) -> None:
            values = thread.values
            values[result] = function(values[first], values[second])

        return execute

    return make


def _dividing(function: Callable[[int, int], int]) -> Maker:
    def make(op: Operation) -> Execute:
        first, second = op.operands
        (result,) = op.results

        def execute(thread: Thread) -> None:
            values = thread.values
            if not values[second]:
                fail(op, thread, "it divides by zero")
            values[result] = function(values[first], values[second])

        return execute

    return make


def _of_one(function: Callable[[Any], Any]) -> Maker:
    def make(op: Operation) -> Execute:
        (operand,) = op.operands
        (result,) = op.results

        def execute(thread: Thread) -> None:
            thread.values[result] = function(thread.values[operand])

        return execute

    return make


_COMPARISONS = (
    operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge, operator.lt, operator.le,
    operator.gt, operator.ge,
)  # fmt: skip
"""The comparisons by number; indices and addresses are not negative, so that unsigned ones are the same."""


def _compare(op: Operation) -> Execute:
    assert isinstance(op, arith.CmpiOp)
    return _of_two(_COMPARISONS[op.predicate.value.data])(op)


def _select(op: Operation) -> Execute:
    condition, first, second = op.operands
    (result,) = op.results

    def execute(thread: Thread) -> None:
        values = thread.values
        values[result] = values[first] if values[condition] else values[second]

    return execute


def _bits(number: Any) -> int:
    """The bits of an f32 as an i32."""
    bits: int = struct.unpack("<i", struct.pack("<f", float(number)))[0]
    return bits


def _as_is(value: Any) -> Any:
    return value


STEPS: Mapping[str, Maker] = {
    "arith.constant": _constant,
    "arith.addi": _of_two(operator.add),
    "arith.subi": _of_two(operator.sub),
    "arith.muli": _of_two(operator.mul),
    "arith.andi": _of_two(operator.and_),
    "arith.ori": _of_two(operator.or_),
    "arith.xori": _of_two(operator.xor),
    "arith.shli": _of_two(operator.lshift),
    "arith.shrui": _of_two(operator.rshift),
    "arith.divui": _dividing(operator.floordiv),
    "arith.remui": _dividing(operator.mod),
    "arith.floordivsi": _dividing(operator.floordiv),
    "arith.ceildivsi": _dividing(lambda first, second: -(-first // second)),
    "arith.ceildivui": _dividing(lambda first, second: -(-first // second)),
    "arith.divsi": _dividing(lambda first, second: (abs(first) // abs(second)) * (1 if first * second >= 0 else -1)),
    "arith.remsi": _dividing(lambda first, second: abs(first) % abs(second) * (-1 if first < 0 else 1)),
    "arith.minsi": _of_two(min),
    "arith.maxsi": _of_two(max),
    "arith.minui": _of_two(min),
    "arith.maxui": _of_two(max),
    "arith.addf": _of_two(np.add),
    "arith.mulf": _of_two(np.multiply),
    "arith.cmpi": _compare,
    "arith.select": _select,
    "arith.index_cast": _of_one(_as_is),
    "arith.index_castui": _of_one(_as_is),
    "arith.extui": _of_one(int),
    "arith.extsi": _of_one(int),
    "arith.trunci": _of_one(int),
    "arith.bitcast": _of_one(_bits),
    "builtin.unrealized_conversion_cast": _of_one(_as_is),
}
"""Name of an op -> what translates it."""
