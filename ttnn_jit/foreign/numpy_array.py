"""Which numpy arrays a compiled function takes, and what it must know of them; numpy is never imported for it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from ttnn_jit.diagnostics.errors import ArgumentError, DTypeError, LayoutError
from ttnn_jit.foreign.narrowed import narrowed_of_numpy
from ttnn_jit.specs.dtypes import dtypes_of_numpy
from ttnn_jit.specs.tensor_spec import HOST_MEMORY_CONFIG, Layout, TensorSpec

if TYPE_CHECKING:
    import numpy


def is_numpy_array(value: object) -> bool:
    """Whether `value` is a numpy array, of any subclass."""
    numpy_module = sys.modules.get("numpy")
    return numpy_module is not None and issubclass(type(value), numpy_module.ndarray)


def are_plain_numpy(values: Sequence[Any]) -> bool:
    """Whether these are numpy arrays of no subclass, and of types that are numpy's own objects."""
    numpy_module = sys.modules.get("numpy")
    if numpy_module is None:
        return False
    return all(type(value) is numpy_module.ndarray and id(value.dtype) in _own_dtypes() for value in values)


@cache
def _own_dtypes() -> frozenset[int]:
    """Identities of the types that a compiled function takes."""
    return frozenset(map(id, dtypes_of_numpy()))


def spec_of_numpy_array(array: numpy.ndarray[Any, Any]) -> TensorSpec:
    """The spec of a numpy array, used where it lies.

    Raises:
        ArgumentError: It is masked or of another subclass.
        DTypeError: An element type that ttnn_jit lacks; the text names the cast.
        LayoutError: Its elements lie no whole number of elements apart.
    """
    import numpy

    if isinstance(array, numpy.ma.MaskedArray):
        raise ArgumentError(
            "a masked numpy array would lose its mask", help="pass `array.filled(value)`, or choose with `ttnn.where`"
        )
    if type(array) not in {numpy.ndarray, numpy.memmap}:
        raise ArgumentError(
            f"a numpy {type(array).__name__} has rules of its own, which a compiled function does not know",
            help="pass `numpy.asarray(array)`",
        )
    narrowed = narrowed_of_numpy().get(array.dtype)
    dtype = dtypes_of_numpy().get(array.dtype) if narrowed is None else narrowed.dtype
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
    strides = strides if narrowed is None else narrowed.strides(strides)
    return TensorSpec(array.shape, dtype, Layout.ROW_MAJOR, HOST_MEMORY_CONFIG, strides=strides)
