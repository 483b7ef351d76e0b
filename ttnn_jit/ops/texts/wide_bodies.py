"""Tile bodies of elementwise operations on floats of 64 bits.

Numbers of a kernel have 32 bits. An operation with numbers is therefore no kernel of 64 bits: its body is executed over
declared operations, one for each function, with its numbers as tensors of one element.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from ttnn_jit.diagnostics.errors import DTypeError
from ttnn_jit.ops import ELEMENTWISE
from ttnn_jit.ops.families.decomposition import Operand, Ops, Value
from ttnn_jit.ops.families.elementwise import Elementwise
from ttnn_jit.specs.dtypes import WIDE_FLOATS, DataType
from ttnn_jit.specs.tensor_spec import TensorSpec


def of_wide_floats(ops: Ops, operation: Elementwise, operands: Sequence[Operand], statics: Sequence[Any]) -> Value:
    """The result of an operation by its body.

    Raises:
        DTypeError: A function of the body has no operation of 64 bits.
    """
    tensors = [each for each in operands if isinstance(each, Value)]
    dtype = next(each.spec.dtype for each in tensors if each.spec.dtype in WIDE_FLOATS)
    body = _WideBody(ops, tensors[0].spec.with_(shape=(1,) * len(tensors[0].shape), dtype=dtype))
    given = [each if isinstance(each, Value) else body.const(float(each or 0.0)) for each in operands]
    found: Value = operation.emit(body, *given, *statics)
    return found


class _WideBody:
    """The protocol of tile bodies (ops/language/emit.py) over operations.

    Args:
        ops: Their protocol.
        number: The spec of a number.
    """

    def __init__(self, ops: Ops, number: TensorSpec) -> None:
        self._ops = ops
        self._number = number

    def const(self, value: float) -> Value:
        return self._ops.filled(value, self._number)

    def fma(self, a: Value, b: Value, c: Value) -> Value:
        found: Value = a * b + c
        return found

    def select(self, mask: Value, a: Value, b: Value) -> Value:
        found: Value = self._ops.where(mask, a, b)
        return found

    def both(self, mask: Value, other: Value) -> Value:
        found: Value = self._ops.logical_and(mask, other)
        return found

    def either(self, mask: Value, other: Value) -> Value:
        found: Value = self._ops.logical_or(mask, other)
        return found

    def invert(self, mask: Value) -> Value:
        found: Value = self._ops.logical_not(mask)
        return found

    def copysign(self, magnitude: Value, sign: Value) -> Value:
        size = self.abs(magnitude)
        return self.select(self._ops.rounded(self._ops.signbit(sign), DataType.BOOL), self.neg(size), size)

    def softplus(self, x: Value, beta: float = 1.0) -> Value:
        scaled = x * beta
        found: Value = self.maximum(scaled, self.const(0.0)) + self.log1p(self.exp(self.neg(self.abs(scaled))))
        return found * (1.0 / beta) if beta != 1.0 else found

    def mish(self, x: Value) -> Value:
        found: Value = x * self.tanh(self.softplus(x))
        return found

    def gelu_tanh(self, x: Value) -> Value:
        """X / (1 + exp(-2 t)) of t, the cubic polynomial in tanh: nothing cancels where tanh is near -1."""
        inner = (x + x * x * x * 0.044715) * (-2.0 * math.sqrt(2.0 / math.pi))
        return self.div(x, self.exp(inner) + 1.0)

    def digamma(self, x: Value) -> Value:
        """The asymptotic series beyond 10, which the recurrence reaches; below 0 by reflection."""
        above = self.gt(x, self.const(0.0))
        y = self.select(above, x, self.neg(x) + 1.0)
        steps = self.div(self.const(1.0), y)
        for _ in range(_DIGAMMA_STEPS - 1):
            y = y + 1.0
            steps = steps + self.div(self.const(1.0), y)
        y = y + 1.0
        inverse = self.div(self.const(1.0), y)
        square, series = inverse * inverse, self.const(_DIGAMMA_TERMS[-1])
        for coefficient in reversed(_DIGAMMA_TERMS[:-1]):
            series = series * square + coefficient
        found = self.log(y) - inverse * 0.5 - series * square - steps
        rest = (x - self.round_even(x)) * math.pi
        cotangent = self.div(self.const(math.pi), self.tan(rest))
        pole = self.eq(rest, self.const(0.0))
        below = self.select(pole, self.const(math.nan), found - cotangent)
        at_zero = self.copysign(self.const(math.inf), self.neg(x))
        return self.select(self.eq(x, self.const(0.0)), at_zero, self.select(above, found, below))

    def i0(self, x: Value) -> Value:
        """Its power series, whose terms are all positive; beyond 30 the asymptotic one."""
        size = self.abs(x)
        near = self.minimum(size, self.const(_I0_FAR))
        square, series = near * near * 0.25, self.const(1.0)
        for k in range(_I0_TERMS, 0, -1):
            series = series * square * (1.0 / (k * k)) + 1.0
        far = self.minimum(self.maximum(size, self.const(_I0_FAR)), self.const(_I0_INFINITE))
        inverse, tail = self.div(self.const(0.125), far), self.const(1.0)
        for k in range(_I0_FAR_TERMS, 0, -1):
            tail = tail * inverse * ((2 * k - 1) ** 2 / k) + 1.0
        half = self.exp(far * 0.5)
        beyond = half * self.div(tail, self.sqrt(far * (2.0 * math.pi))) * half
        return self.select(self.le(size, self.const(_I0_FAR)), series, beyond)

    def __getattr__(self, name: str) -> Callable[..., Value]:
        if name in _COMPARISONS:
            return lambda a, b: self._ops.rounded(getattr(self._ops, name)(a, b), DataType.BOOL)
        operation = _operations().get(name)
        if operation is None:
            raise DTypeError(f"its function `{name}` is not computed in {self._number.dtype.mlir}")
        return lambda *values: self._ops.call(operation, [*values])


_DIGAMMA_STEPS = 10
_DIGAMMA_TERMS = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12)
"""Bernoulli numbers 2 k over 2 k: the first term that is left out is below 5e-17 beyond 10."""
_I0_FAR = 30.0
_I0_INFINITE = 1500.0
"""Beyond it the result is infinite."""
_I0_TERMS, _I0_FAR_TERMS = 70, 20
"""Terms of both series, after which the rest is below 2^-54 of the sum at 30."""
_COMPARISONS = frozenset({"lt", "le", "gt", "ge", "eq", "ne"})


class _Recorder:
    """Tells the one function that a body calls."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, tuple[Any, ...]]] = []

    def __getattr__(self, name: str) -> Callable[..., object]:
        def called(*values: Any) -> object:
            self.calls.append((name, values))
            return self

        return called


@cache
def _operations() -> Mapping[str, Elementwise]:
    """Function of bodies -> the operation of 64 bits that is this function of its operands."""
    found: dict[str, Elementwise] = {}
    for operation in ELEMENTWISE:
        if operation.attributes or not operation.dtypes >= WIDE_FLOATS:
            continue
        recorder, operands = _Recorder(), tuple(object() for _ in operation.operands)
        returned = operation.emit(recorder, *operands)
        if returned is recorder and len(recorder.calls) == 1 and recorder.calls[0][1] == operands:
            found.setdefault(recorder.calls[0][0], operation)
    return found
