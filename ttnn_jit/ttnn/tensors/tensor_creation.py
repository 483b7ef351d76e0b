"""Creation of tensors from one value, or from a sequence of numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError, DTypeError
from ttnn_jit.ops.host_ops import HostOps
from ttnn_jit.ops.language.kinds import Number, as_float
from ttnn_jit.ops.movement.sequences import ARANGE, EYE
from ttnn_jit.runtime.device import Device
from ttnn_jit.runtime.tensors.tensor import Tensor
from ttnn_jit.specs.tensor_spec import (
    HOST_MEMORY_CONFIG,
    DataType,
    Layout,
    MemoryConfig,
    TensorSpec,
    checked,
)
from ttnn_jit.ttnn.calling.host_function import host_function

EXACT_INTEGERS = 1 << 53
"""Bound of the integers that float64 represents exactly; numpy computes the length of a range in float64."""


def spec_of_new(
    shape: Iterable[int],
    dtype: DataType,
    layout: Layout | None,
    device: Device | None,
    memory_config: MemoryConfig | None,
) -> TensorSpec:
    """The spec of a new tensor; by default it is ROW_MAJOR, on the host.

    Raises:
        ArgumentError: An argument has the wrong type.
        DTypeError: The dtype exists only in torch and numpy.
        GridError: The shards do not hold the tensor.
    """
    check_ttnn_dtype(dtype)
    if device is None and memory_config is None:
        memory_config = HOST_MEMORY_CONFIG
    if layout is None:
        layout = Layout.TILE if dtype.is_block_float else Layout.ROW_MAJOR
    return checked(TensorSpec(shape, dtype, layout, memory_config))


def check_ttnn_dtype(dtype: DataType) -> None:
    """Refuse a dtype that exists only in torch and numpy.

    Raises:
        DTypeError: The dtype is such a one.
    """
    if dtype.is_foreign:
        raise DTypeError(
            f"ttnn has no tensors of {dtype.name}", help="name one of ttnn's element types: `ttnn.int32`, `ttnn.uint8`"
        )


def _golden(number: float | None) -> Callable[..., Any]:
    """The golden of a function that fills a tensor: ttnn's take the shape as `input_shape`."""

    def golden(input_shape: Iterable[int], fill_value: float | None = number, **_: Any) -> Any:
        import torch

        return torch.full(tuple(input_shape), fill_value)  # type: ignore[arg-type]  # one of both is a number

    return golden


@host_function(in_programs=True, over_meshes=True, shares_memory=True, golden=_golden(None))
def full(
    _ops: HostOps[Tensor],
    shape: Iterable[int],
    fill_value: float,
    dtype: DataType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    memory_config: MemoryConfig | None = None,
) -> Tensor:
    """A tensor filled with `fill_value` (ttnn.full); BFLOAT16 and ROW_MAJOR when omitted.

    Raises:
        ArgumentError: An argument has the wrong type.
        GridError, L1CapacityError: As for `from_torch`.
    """
    spec = spec_of_new(shape, DataType.BFLOAT16 if dtype is None else dtype, layout, device, memory_config)
    number = _as_element(fill_value, spec.dtype, "`fill_value`")
    filled: Tensor = _ops.filled(number, spec, device)
    return filled


def _as_element(value: Number, dtype: DataType, name: str) -> float:
    if dtype.is_integer:
        return dtype.checked_integer(int(value) if isinstance(value, float) and value.is_integer() else value, name)
    try:
        return as_float(value)
    except OverflowError as error:
        raise ArgumentError(f"{name} has no float: {error}") from None


@host_function(in_programs=True, golden=_golden(0.0))
def zeros(
    shape: Iterable[int],
    dtype: DataType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    memory_config: MemoryConfig | None = None,
) -> Tensor:
    """A tensor of zeros (ttnn.zeros); the arguments are those of `full`."""
    return full(shape, 0, dtype, layout, device, memory_config)


@host_function(in_programs=True, golden=_golden(1.0))
def ones(
    shape: Iterable[int],
    dtype: DataType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    memory_config: MemoryConfig | None = None,
) -> Tensor:
    """A tensor of ones (ttnn.ones); the arguments are those of `full`."""
    return full(shape, 1, dtype, layout, device, memory_config)


@host_function(in_programs=True)
def empty(
    shape: Iterable[int],
    dtype: DataType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    memory_config: MemoryConfig | None = None,
) -> Tensor:
    """A tensor with unspecified elements (ttnn.empty), which are zeros, so that runs are reproducible."""
    return full(shape, 0, dtype, layout, device, memory_config)


@host_function(in_programs=True, over_meshes=True, shares_memory=True)
def arange(
    _ops: HostOps[Tensor],
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
    *,
    dtype: DataType | None = None,
    device: Device | None = None,
    memory_config: MemoryConfig | None = None,
    layout: Layout | None = None,
) -> Tensor:
    """The integers of ``range(start, end, step)``, in one dimension (ttnn.arange).

    Args:
        start: The first number, 0 when omitted. With one argument it is the end, as for `range`.
        end: The exclusive end.
        step: The difference between numbers; may be negative.
        dtype: BFLOAT16 when omitted, rounded to nearest even.
        device: Device of the tensor; None for the host.
        memory_config: Interleaved DRAM when omitted.
        layout: ROW_MAJOR when omitted.

    Raises:
        ArgumentError: `step` is 0, an argument has the wrong type, or a number is out of the range of an integer type.
        GridError, L1CapacityError: As for `from_torch`.
    """
    if start is None and end is None:
        raise ArgumentError("arange has neither a start nor an end", help="write `ttnn.arange(end)`")
    first: Any = 0 if start is None or end is None else start
    beyond: Any = start if end is None else end
    if step == 0:
        raise ArgumentError("`step` of arange is 0")
    numbers = range(first, beyond, step)
    spec = spec_of_new((len(numbers),), DataType.BFLOAT16 if dtype is None else dtype, layout, device, memory_config)
    ends = [_as_element(number, spec.dtype, "a number of arange") for number in (*numbers[:1], *numbers[-1:])]

    def elements() -> Any:
        import numpy

        exact = all(abs(number) <= EXACT_INTEGERS for number in (first, beyond, *ends))
        return numpy.arange(first, beyond, step) if exact else numpy.array(numbers, numpy.float64)

    return _ops.made(ARANGE, (first, beyond, step, spec.dtype, spec.layout), spec, device, elements)


@host_function(in_programs=True, over_meshes=True, shares_memory=True)
def full_like(
    tensor: Tensor,
    fill_value: float,
    dtype: DataType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    memory_config: MemoryConfig | None = None,
) -> Tensor:
    """A tensor filled with `fill_value`, by default with the spec and device of `tensor` (ttnn.full_like)."""
    own = tensor.device()
    if memory_config is None and own is not None:
        memory_config = tensor.memory_config()
    return full(
        tensor.shape,
        fill_value,
        tensor.dtype if dtype is None else dtype,
        tensor.layout if layout is None else layout,
        own if device is None else device,
        memory_config,
    )


@host_function(in_programs=True, shares_memory=True)
def zeros_like(
    tensor: Tensor,
    dtype: DataType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    memory_config: MemoryConfig | None = None,
) -> Tensor:
    """A tensor of zeros, by default with the spec and device of `tensor` (ttnn.zeros_like)."""
    return full_like(tensor, 0, dtype, layout, device, memory_config)


@host_function(in_programs=True, shares_memory=True)
def ones_like(
    tensor: Tensor,
    dtype: DataType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    memory_config: MemoryConfig | None = None,
) -> Tensor:
    """A tensor of ones, by default with the spec and device of `tensor` (ttnn.ones_like)."""
    return full_like(tensor, 1, dtype, layout, device, memory_config)


@host_function(in_programs=True, shares_memory=True)
def empty_like(
    tensor: Tensor,
    dtype: DataType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    memory_config: MemoryConfig | None = None,
) -> Tensor:
    """A tensor with unspecified elements, which are zeros, and the spec of `tensor` (ttnn.empty_like)."""
    return full_like(tensor, 0, dtype, layout, device, memory_config)


@host_function(in_programs=True, over_meshes=True, shares_memory=True)
def eye(
    _ops: HostOps[Tensor],
    rows: int,
    columns: int | None = None,
    *,
    dtype: DataType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    memory_config: MemoryConfig | None = None,
) -> Tensor:
    """A matrix with ones on the diagonal, as torch.eye (ttnn.eye); BFLOAT16 and ROW_MAJOR when omitted.

    Raises:
        ArgumentError: An argument has the wrong type.
    """
    shape = (rows, rows if columns is None else columns)
    spec = spec_of_new(shape, DataType.BFLOAT16 if dtype is None else dtype, layout, device, memory_config)

    def elements() -> Any:
        import numpy

        return numpy.eye(*spec.shape, dtype=numpy.float32)

    return _ops.made(EYE, (*spec.shape, spec.dtype, spec.layout), spec, device, elements)
