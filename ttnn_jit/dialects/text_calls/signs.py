"""Which values must not be negative: those of which a function of later ops has no value at negative numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from xdsl.ir import Operation, SSAValue

from ttnn_jit.diagnostics.errors import CompileError, TtnnJitError
from ttnn_jit.dialects.text_calls.index_limits import moves, through_functions
from ttnn_jit.dialects.text_calls.op_calls import (
    OF_UNCHECKED_ATTRIBUTES,
    OpCall,
    is_allocated,
    read_op,
    values_by_name,
)
from ttnn_jit.dialects.text_calls.tensor_types import is_tensor, spec_in_text
from ttnn_jit.ops.families.dialect_conversion import Conversion
from ttnn_jit.ops.families.elementwise import Elementwise
from ttnn_jit.ops.families.spelling import Spelling
from ttnn_jit.ops.families.text_operation import TextCall


class _Reading(NamedTuple):
    """What the readers of a value want.

    Attributes:
        wanted: Whether one has no value where it is negative.
        followed: The results that are not negative if it is not, and may be else.
    """

    wanted: bool
    followed: tuple[SSAValue, ...]


class Signs:
    """The signs that the values of a module must have; what was found is kept."""

    def __init__(self) -> None:
        self._readings: dict[SSAValue, _Reading] = {}
        self._free: set[SSAValue] = set()

    def is_not_negative(self, value: SSAValue) -> bool:
        """Whether a value must not be negative.

        An op declares it of an operand, such as a variance; or its golden is NaN at negative numbers and no NaN at
        others, as that of a square root. So it is of what such a value is computed from, as long as it is the sum,
        product, maximum or other function of values that are not negative, and would be negative of negative ones:
        a variance to which a constant is added.
        """
        seen: set[SSAValue] = set()
        reached = [value]
        while reached:
            each = reached.pop()
            if each in seen or each in self._free:
                continue
            seen.add(each)
            found = self._readings.get(each)
            if found is None:
                found = self._readings[each] = _reading(each)
            if found.wanted:
                return True
            reached += found.followed
        self._free |= seen
        return False


def _reading(value: SSAValue) -> _Reading:
    followed: list[SSAValue] = []
    for use in value.uses:
        op = use.operation
        followed += through_functions(op, use.index)
        found = _reading_of(op, value)
        if found is None:
            continue
        if found.wanted:
            return found
        followed += found.followed
    return _Reading(False, tuple(followed))


def _reading_of(op: Operation, value: SSAValue) -> _Reading | None:
    """What one op wants; None of one that is not executed."""
    try:
        read = read_op(op)
    except CompileError:
        return None
    if any(read.arguments.get(name) is value for name in read.operation.not_negative):
        return _Reading(True, ())
    results = tuple(each for each in op.results if is_tensor(each.type))
    tensors = [each for each in op.operands if is_tensor(each.type) and not is_allocated(each)]
    if len(tensors) > 1 and not _is_elementwise(read):
        return _Reading(False, results if moves(op) else ())
    try:
        below, above = _values(read, value, _NEGATIVE), _values(read, value, _POSITIVE)
    except (RuntimeError, TtnnJitError, *OF_UNCHECKED_ATTRIBUTES):  # not of a tensor of one element
        return _Reading(False, results if len(tensors) == 1 else ())
    if not above or any(map(math.isnan, above)):
        return _Reading(False, ())
    wanted = any(map(math.isnan, below))
    keeps = min(above) >= 0 > min(below)
    return _Reading(wanted, results if keeps else ())


def _is_elementwise(read: OpCall) -> bool:
    operation = read.operation
    if isinstance(operation, Spelling):
        return isinstance(operation.overloads[0], Elementwise)
    return isinstance(operation, Conversion) and operation.is_elementwise


_NEGATIVE, _POSITIVE = (-1e3, -1.0, -1e-3), (1e-3, 1.0, 1e3)
_OTHER = 1e-6
"""The number of other operands: added, multiplied or compared, it changes no sign."""


def _values(read: OpCall, value: SSAValue, numbers: tuple[float, ...]) -> list[float]:
    """The results where a value is each of these numbers."""
    return [found for number in numbers for found in _at(read, value, number)]


def _at(read: OpCall, value: SSAValue, number: float) -> Iterator[float]:
    """The results of an op on tensors of one element: `number`, the one that the text says, or `_OTHER`."""
    import torch

    def of_one_element(each: SSAValue) -> torch.Tensor:
        shape = (1,) * len(spec_in_text(each.type).shape)
        return torch.full(shape, number if each is value else _OTHER, dtype=torch.float64)

    call = read.call(of_one_element)
    for name, given in values_by_name(read.arguments).items():
        if given is not value and name in read.numbers and isinstance(getattr(call, name, None), torch.Tensor):
            setattr(call, name, torch.full_like(getattr(call, name), float(read.numbers[name])))
    ones = [each.with_(shape=(1,) * len(each.shape)) for each in read.results]
    found = read.operation.golden(torch, TextCall(vars(call), ones))
    for each in found if isinstance(found, list | tuple) else [found]:
        yield from each.to(torch.float64).reshape(-1).tolist()
