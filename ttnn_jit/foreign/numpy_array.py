"""The numpy arrays that a compiled function accepts, and their specs; this file never imports numpy first."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from ttnn_jit.diagnostics.errors import ArgumentError, DTypeError, LayoutError
from ttnn_jit.specs.dtypes import SCALARS, dtypes_of_numpy
from ttnn_jit.specs.tensor_spec import HOST_MEMORY_CONFIG, DataType, Layout, TensorSpec

if TYPE_CHECKING:
    import numpy


def is_numpy_array(value: object) -> bool:
    """Whether `value` is a numpy array, of any subclass."""
    numpy_module = sys.modules.get("numpy")
    return numpy_module is not None and issubclass(type(value), numpy_module.ndarray)


def _is_masked(array: numpy.ndarray) -> bool:
    masked = sys.modules.get("numpy.ma")  # numpy imports it at its first use
    return masked is not None and isinstance(array, masked.MaskedArray)


def are_plain_numpy(values: Sequence[Any]) -> bool:
    """Whether all values are numpy arrays of no subclass, whose dtypes are numpy's own singletons."""
    numpy_module = sys.modules.get("numpy")
    if numpy_module is None:
        return False
    return all(type(value) is numpy_module.ndarray and id(value.dtype) in _supported_dtype_ids() for value in values)


@cache
def _supported_dtype_ids() -> frozenset[int]:
    """The ids of the dtypes that a compiled function accepts."""
    return frozenset(map(id, dtypes_of_numpy()))


def spec_of_numpy_array(array: numpy.ndarray[Any, Any]) -> TensorSpec:
    """The spec of a numpy array, which is used in place.

    Raises:
        ArgumentError: The array is masked or of another subclass.
        DTypeError: ttnn_jit lacks the element type; the text names the cast.
        LayoutError: A stride is not a whole number of elements.
    """
    import numpy

    if _is_masked(array):
        raise ArgumentError(
            "a masked numpy array would lose its mask", help="pass `array.filled(value)`, or choose with `ttnn.where`"
        )
    if type(array) not in {numpy.ndarray, numpy.memmap}:
        raise ArgumentError(
            f"a numpy {type(array).__name__} has rules of its own, which a compiled function does not know",
            help="pass `numpy.asarray(array)`",
        )
    dtype = dtypes_of_numpy().get(array.dtype)
    if dtype is None:
        raise DTypeError(
            f"numpy arrays of {array.dtype} are not supported",
            help="cast it: `array.astype(numpy.float32)`, or `array.astype(numpy.int32)` if it holds integers",
        )
    itemsize = array.dtype.itemsize
    if any(stride % itemsize for stride in array.strides):
        raise LayoutError(
            f"a numpy array has byte strides {array.strides}, which are not whole elements of {itemsize} bytes",
            help="pass `numpy.ascontiguousarray(array)`",
        )
    strides = tuple(stride // itemsize for stride in array.strides)
    return TensorSpec(array.shape, dtype, Layout.ROW_MAJOR, HOST_MEMORY_CONFIG, strides=strides)


def dtype_from_numpy(array: numpy.ndarray[Any, Any]) -> DataType:
    """The default element type of a tensor that is made from an array: the choice of `from_torch`.

    Raises:
        DTypeError: ttnn's tensors have no such element type.
    """
    if (dtype := _dtype_by_numpy().get(array.dtype.newbyteorder("="))) is not None:
        return dtype
    raise DTypeError(
        f"ttnn tensors of numpy's {array.dtype} are not supported",
        help="cast it: `array.astype(numpy.float32)`, or `array.astype(numpy.int32)` if it holds integers",
    )


@cache
def _dtype_by_numpy() -> Mapping[Any, DataType]:
    import numpy

    made = ((name, dtype) for dtype in SCALARS if not dtype.is_foreign for name in dtype.traits.torch)
    return {numpy.dtype(name): dtype for name, dtype in made if hasattr(numpy, name)}


def check_numeric(array: numpy.ndarray[Any, Any], name: str) -> None:
    """Refuse an array from which the function `name` cannot make a tensor.

    Raises:
        ArgumentError: The array is masked.
        DTypeError: The elements are not real numbers.
    """
    if _is_masked(array):
        raise ArgumentError(f"{name}: a masked numpy array would lose its mask", help="pass `array.filled(value)`")
    if array.dtype.kind not in "fiub":
        raise DTypeError(
            f"{name} makes no tensor of a numpy array of {array.dtype}",
            help="pass `array.real` and `array.imag` one by one" if array.dtype.kind == "c" else None,
        )
