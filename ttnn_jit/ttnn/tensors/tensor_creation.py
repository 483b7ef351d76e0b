"""Tensors made of one value or of numbers in a row, and the spec of a tensor that is made."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError, DTypeError
from ttnn_jit.ops.host_ops import HostOps
from ttnn_jit.ops.language.kinds import Number
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
"""Up to which a float64, in which numpy counts how many there are, has every one."""


def spec_of_new(
    shape: Iterable[int],
    dtype: DataType,
    layout: Layout | None,
    device: Device | None,
    memory_config: MemoryConfig | None,
) -> TensorSpec:
    """What a tensor of these arguments is: on the host, ROW_MAJOR, where they say nothing else.

    Raises:
        ArgumentError: An argument of another kind.
        DTypeError: An element type that torch and numpy alone have.
        GridError: The shards do not hold the tensor.
    """
    check_of_ttnn(dtype)
    if device is None and memory_config is None:
        memory_config = HOST_MEMORY_CONFIG
    if layout is None:
        layout = Layout.TILE if dtype.is_block_float else Layout.ROW_MAJOR
    return checked(TensorSpec(shape, dtype, layout, memory_config))


def check_of_ttnn(dtype: DataType) -> None:
    """Refuse an element type that torch's and numpy's tensors have, and ttnn's have not.

    Raises:
        DTypeError: It is one.
    """
    if dtype.is_foreign:
        raise DTypeError(
            f"ttnn has no tensors of {dtype.name}", help="name one of ttnn's element types: `ttnn.int32`, `ttnn.uint8`"
        )


@host_function(in_programs=True, over_meshes=True)
def full(
    _ops: HostOps[Tensor],
    shape: Iterable[int],
    fill_value: float,
    dtype: DataType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    memory_config: MemoryConfig | None = None,
) -> Tensor:
    """A tensor of which every element is `fill_value` (ttnn.full); BFLOAT16 and ROW_MAJOR when omitted.

    Raises:
        ArgumentError: An argument of another kind.
        GridError, L1CapacityError: As `from_torch` does.
    """
    spec = spec_of_new(shape, DataType.BFLOAT16 if dtype is None else dtype, layout, device, memory_config)
    number = _as_element(fill_value, spec.dtype, "`fill_value`")
    filled: Tensor = _ops.filled(number, spec, device)
    return filled


def _as_element(value: Number, dtype: DataType, name: str) -> float:
    if dtype.is_integer:
        return dtype.checked_integer(int(value) if isinstance(value, float) and value.is_integer() else value, name)
    try:
        return float(value)
    except OverflowError as error:
        raise ArgumentError(f"{name} has no float: {error}") from None


@host_function(in_programs=True)
def zeros(
    shape: Iterable[int],
    dtype: DataType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    memory_config: MemoryConfig | None = None,
) -> Tensor:
    """A tensor of zeros (ttnn.zeros); the arguments are those of `full`."""
    return full(shape, 0, dtype, layout, device, memory_config)


@host_function(in_programs=True)
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
    """A tensor whose elements nobody has chosen (ttnn.empty); here they are zeros, so that runs repeat."""
    return full(shape, 0, dtype, layout, device, memory_config)


@host_function(in_programs=True, over_meshes=True)
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
    """The integers from `start` up to `end`, which is not among them, `step` apart, in one dimension (ttnn.arange).

    Args:
        start: The first; 0 where it is omitted. Alone it is the end, as `range` has it.
        end: Where they end.
        step: May be below zero.
        dtype: BFLOAT16 when omitted, rounded to nearest even.
        device: Where it goes; None keeps it on the host.
        memory_config: Interleaved DRAM when omitted.
        layout: ROW_MAJOR when omitted.

    Raises:
        ArgumentError: `step` is 0, an argument of another kind, or `dtype` is one of integers and lacks one of them.
        GridError, L1CapacityError: As `from_torch` does.
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


@host_function(in_programs=True, over_meshes=True)
def full_like(
    tensor: Tensor,
    fill_value: float,
    dtype: DataType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    memory_config: MemoryConfig | None = None,
) -> Tensor:
    """A tensor of `fill_value` that is otherwise like `tensor` (ttnn.full_like)."""
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


@host_function(in_programs=True)
def zeros_like(
    tensor: Tensor,
    dtype: DataType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    memory_config: MemoryConfig | None = None,
) -> Tensor:
    """A tensor of zeros that is otherwise like `tensor` (ttnn.zeros_like)."""
    return full_like(tensor, 0, dtype, layout, device, memory_config)


@host_function(in_programs=True)
def ones_like(
    tensor: Tensor,
    dtype: DataType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    memory_config: MemoryConfig | None = None,
) -> Tensor:
    """A tensor of ones that is otherwise like `tensor` (ttnn.ones_like)."""
    return full_like(tensor, 1, dtype, layout, device, memory_config)


@host_function(in_programs=True)
def empty_like(
    tensor: Tensor,
    dtype: DataType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    memory_config: MemoryConfig | None = None,
) -> Tensor:
    """A tensor like `tensor` whose elements nobody has chosen (ttnn.empty_like); here zeros."""
    return full_like(tensor, 0, dtype, layout, device, memory_config)


@host_function(in_programs=True, over_meshes=True)
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
    """Ones where row and column are equal, zeros elsewhere, as torch.eye; BFLOAT16 and ROW_MAJOR when omitted.

    Raises:
        ArgumentError: An argument of another kind.
    """
    shape = (rows, rows if columns is None else columns)
    spec = spec_of_new(shape, DataType.BFLOAT16 if dtype is None else dtype, layout, device, memory_config)

    def elements() -> Any:
        import numpy

        return numpy.eye(*spec.shape, dtype=numpy.float32)

    return _ops.made(EYE, (*spec.shape, spec.dtype, spec.layout), spec, device, elements)
