"""Arithmetic and comparisons of 64-bit integers, as scalar loops: kernels have no vectors of them.

Programs of ttnn and torch do not call these: texts of other compilers do (ops/families/text_operation.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from ttnn_jit.ops.elementwise.binary import (
    ADD,
    EQ,
    GE,
    GT,
    LE,
    LT,
    MAXIMUM,
    MINIMUM,
    MULTIPLY,
    NE,
    SUBTRACT,
)
from ttnn_jit.ops.elementwise.integer_pairs import routine_of_pairs
from ttnn_jit.ops.elementwise.ternary import CLAMP_TENSOR, WHERE
from ttnn_jit.ops.families.decomposition import Ops, Value
from ttnn_jit.ops.families.routine import Routine
from ttnn_jit.ops.language.axes import broadcast
from ttnn_jit.ops.language.operation import Operation
from ttnn_jit.specs.dtypes import BOOLS, INT64S

Extents = tuple[int, ...]


def _sums(load: Any, store: Any) -> Any:
    """Sums, differences and products, modulo 2**64."""

    def loop(x, xs, y, ys, result, rs, extent, kind):  # type: ignore[no-untyped-def]
        for i in range(extent):
            first, second = load(x[i * xs]), load(y[i * ys])
            found = first + second
            if kind == 1:
                found = first - second
            if kind == 2:
                found = first * second
            result[i * rs] = store(found)

    return loop


def _choices(load: Any, store: Any) -> Any:
    """Maxima and minima."""

    def loop(x, xs, y, ys, result, rs, extent, kind):  # type: ignore[no-untyped-def]
        for i in range(extent):
            first, second = load(x[i * xs]), load(y[i * ys])
            takes_first = first < second if kind else first > second
            result[i * rs] = store(first if takes_first else second)

    return loop


def _comparisons(load: Any, store: Any) -> Any:
    """1 where the first is less (4), equal (2) or greater (1), as the bits of `kind` say; else 0."""

    def loop(x, xs, y, ys, result, rs, extent, kind):  # type: ignore[no-untyped-def]
        for i in range(extent):
            first, second = load(x[i * xs]), load(y[i * ys])
            bit = 4 if first < second else 2 if first == second else 1
            result[i * rs] = store(1 if kind & bit else 0)

    return loop


OF_INT64: Mapping[Operation, Routine] = {
    operation: routine_of_pairs("int64", operation.name, "64-bit integers", INT64S, loop, operation.golden, kind)
    for operation, loop, kind in (
        (ADD, _sums, 0),
        (SUBTRACT, _sums, 1),
        (MULTIPLY, _sums, 2),
        (MAXIMUM, _choices, 0),
        (MINIMUM, _choices, 1),
        (LT, _comparisons, 4),
        (LE, _comparisons, 6),
        (EQ, _comparisons, 2),
        (NE, _comparisons, 5),
        (GE, _comparisons, 3),
        (GT, _comparisons, 1),
    )
}
"""An operation of two tensors -> its loop over 64-bit integers."""


def _call(ops: Ops, operands: Sequence[Value], routine: Routine) -> Value:
    return of_int64(ops, routine, operands)


def of_int64(ops: Ops, routine: Routine, operands: Sequence[Value]) -> Value:
    """The call of a loop on operands that are broadcast to one shape."""
    shape = broadcast([each.shape for each in operands])
    wide = [ops.reshaped(ops.expand(each, shape), shape or (1,)) for each in operands]
    return ops.reshaped(ops.call(routine, wide), shape)


def _clamped(ops: Ops, operands: Sequence[Value]) -> Value:
    x, least, largest = operands
    return of_int64(ops, OF_INT64[MINIMUM], [of_int64(ops, OF_INT64[MAXIMUM], [x, least]), largest])


def _chosen(ops: Ops, operands: Sequence[Value]) -> Value:
    """B + (a - b) * mask, which is exact modulo 2**64."""
    mask, a, b = operands
    (truth,), (wide,) = BOOLS, INT64S
    flags = mask if mask.spec.dtype is truth else ops.typecast(mask, truth)
    away = of_int64(ops, OF_INT64[SUBTRACT], [a, b])
    return of_int64(ops, OF_INT64[ADD], [b, of_int64(ops, OF_INT64[MULTIPLY], [away, ops.typecast(flags, wide)])])


CALLS_OF_INT64: Mapping[Operation, Callable[[Ops, Sequence[Value]], Value]] = {
    **{operation: partial(_call, routine=routine) for operation, routine in OF_INT64.items()},
    CLAMP_TENSOR: _clamped,
    WHERE: _chosen,
}
"""An operation -> ``call(ops, operands)`` on 64-bit integers."""

OPERATIONS = (*OF_INT64.values(),)
