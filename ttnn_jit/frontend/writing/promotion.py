"""Promotion of operands of different element types: numbers of torch and numpy, and masks beside their values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from ttnn_jit.dialects.function_builder import Operand, TensorOperand
from ttnn_jit.ops import Operation
from ttnn_jit.specs.dtypes import BOOLS, COMPUTE_TYPE, INTEGERS, WIDE
from ttnn_jit.specs.tensor_spec import HOST_MEMORY_CONFIG, DataType, TensorSpec

__all__ = ["Operand", "promote_operands", "promoted_dtype"]

Cast: TypeAlias = Callable[[TensorOperand, DataType], TensorOperand]
"""Casts a tensor to an element type."""


def promote_operands(operation: Operation, operands: Sequence[Operand], cast: Cast) -> Sequence[Operand]:
    """`operands` with the numbers of torch's and numpy's promoted to one element type, and masks cast.

    Operands without a common type stay unchanged, and the operation refuses them.
    """
    numbers = operands[operation.dtype_operand :]
    if operation.promotes and (dtype := _common_type(numbers)) is not None:
        numbers = [cast(each, dtype) if isinstance(each, tuple) else each for each in numbers]
    return [*_masks(operands[: operation.dtype_operand], numbers, cast), *numbers]


def _common_type(operands: Sequence[Operand]) -> DataType | None:
    """The element type for tensors of torch's or numpy's of several types, or of integers beside a float; else None."""
    specs = [each[1] for each in operands if isinstance(each, tuple)]
    dtypes = dict.fromkeys(spec.dtype for spec in specs)
    beside_float = any(isinstance(each, float) for each in operands)
    if len(dtypes) + beside_float < 2:
        return None
    if not (any(spec.dtype.is_foreign for spec in specs) or all(map(_is_on_host, specs))):
        return None
    found: DataType | None = next(iter(dtypes))
    for dtype in dtypes:
        found = None if found is None else promoted_dtype(found, dtype)
    if found is not None and beside_float and found.is_foreign:
        found = promoted_dtype(found, COMPUTE_TYPE)
    return None if len(dtypes) == 1 and found in dtypes else found


def _is_on_host(spec: TensorSpec) -> bool:
    """Whether it is a tensor of torch or numpy."""
    return spec.memory_config == HOST_MEMORY_CONFIG


def _masks(masks: Sequence[Operand], chosen: Sequence[Operand], cast: Cast) -> Sequence[Operand]:
    """Masks cast to the dtype of the chosen tensors, if the cast keeps zero and nonzero.

    If only Python numbers are chosen, masks keep their dtype, except that foreign ones become float for chosen floats.
    """
    beside_float = any(isinstance(each, float) for each in chosen)
    dtype = next((each[1].dtype for each in chosen if isinstance(each, tuple)), None)
    if dtype is None and not beside_float:
        return masks
    if dtype is None:
        return [
            cast(each, COMPUTE_TYPE) if isinstance(each, tuple) and each[1].dtype.is_foreign else each for each in masks
        ]
    return [_mask(each, dtype, cast) if isinstance(each, tuple) else each for each in masks]


def _mask(mask: TensorOperand, dtype: DataType, cast: Cast) -> TensorOperand:
    own = mask[1].dtype
    if own is dtype or not (own.is_integer or dtype in BOOLS):
        return mask
    if dtype in BOOLS or not dtype.is_integer or own.itemsize <= dtype.itemsize:
        return cast(mask, dtype)
    (truth,) = BOOLS
    return cast(cast(mask, truth), dtype)


def promoted_dtype(first: DataType, second: DataType) -> DataType | None:
    """The element type that torch and numpy promote both to; None if kernels do not compute in it.

    A float wins over integers. Two integer types give the narrowest type with the values of both.
    """
    floats = [dtype for dtype in (first, second) if not dtype.is_integer]
    if first is second or len(floats) > 1:
        return first if first is second and first not in WIDE else None
    if WIDE & {first, second}:
        return None
    if floats:
        return floats[0]
    ends = {end for dtype in (first, second) for end in (dtype.values[0], dtype.values[-1])}
    holding = (dtype for dtype in INTEGERS if all(end in dtype.values for end in ends))
    return min(holding, key=lambda dtype: (dtype.itemsize, dtype.compute.is_signed, dtype.value), default=None)
