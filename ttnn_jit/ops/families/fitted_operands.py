"""Integers of texts as operands of operations that do not take their type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ttnn_jit.ops.families.decomposition import Ops, Value
from ttnn_jit.ops.families.elementwise import Elementwise
from ttnn_jit.ops.families.reduction import Reduction
from ttnn_jit.ops.language.operation import Operation
from ttnn_jit.specs.dtypes import BOOLS, COMPUTE_TYPE, WIDE_INTEGERS, DataType


def fitted_operand(ops: Ops, operation: Operation, x: Any, result: DataType) -> Any:
    """An operand in a type that the operation takes; as it is where there is none.

    A function of floats takes an integer as a float, of 64 bits if its result is truncated to an integer, and so does
    a reduction to a float. An operation on integers of 32 bits takes those of fewer bits as such.

    Args:
        ops: The operations.
        operation: What is called.
        x: A value, a number or None.
        result: The element type that the text gives the result.
    """
    if not isinstance(x, Value) or not x.spec.dtype.is_integer:
        return x
    is_wide = x.spec.dtype.itemsize > COMPUTE_TYPE.itemsize
    if isinstance(operation, Reduction) and not result.is_integer:  # a sum is not taken modulo the width of its terms
        return ops.rounded(x, DataType.FLOAT64 if is_wide else COMPUTE_TYPE)
    if operation.accepts(x.spec.dtype):
        return x
    if x.spec.dtype.itemsize < COMPUTE_TYPE.itemsize and operation.accepts(DataType.INT32):
        return ops.typecast(x, DataType.INT32)
    if not _is_function_of_floats(operation):
        return x
    return ops.rounded(x, DataType.FLOAT64 if is_wide or result.is_integer else COMPUTE_TYPE)


def of_one_width(ops: Ops, operation: Operation, operands: Sequence[Any]) -> list[Any]:
    """Operands of an elementwise operation, whose integers are of 64 bits if one of them is and none is a float."""
    dtypes = {each.spec.dtype for each in operands if isinstance(each, Value)}
    wide = [each for each in dtypes if each in WIDE_INTEGERS]
    mixed = len(wide) == 1 < len(dtypes) and all(each.is_integer and each not in BOOLS for each in dtypes)
    if not (mixed and isinstance(operation, Elementwise)):
        return [*operands]
    return [ops.rounded(each, wide[0]) if isinstance(each, Value) else each for each in operands]


def fitted_in_torch(operation: Operation, x: Any) -> Any:
    """An operand of a golden: an integer as a float for a function of floats."""
    is_integer = hasattr(x, "is_floating_point") and not x.is_floating_point()
    return x.double() if is_integer and _is_function_of_floats(operation) else x


def _is_function_of_floats(operation: Operation) -> bool:
    return len(operation.operands) == 1 and not any(each.is_integer for each in operation.dtypes)
