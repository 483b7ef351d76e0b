"""Tensors of random elements, from a generator with an explicit seed, or from the shared generator."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Annotated, Any

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.ops.host_ops import HostOps
from ttnn_jit.ops.selection.random_numbers import BERNOULLI, DROPOUT, RAND, RANDN
from ttnn_jit.runtime.device import Device, implicit_cpu_device
from ttnn_jit.runtime.elements.numpy_elements import numbers
from ttnn_jit.runtime.memory.random_words import seed_all
from ttnn_jit.runtime.tensors.tensor import Tensor, in_order, stored_as
from ttnn_jit.specs.dtypes import FLOATS
from ttnn_jit.specs.tensor_spec import (
    HOST_MEMORY_CONFIG,
    DataType,
    Layout,
    MemoryConfig,
    TensorSpec,
)
from ttnn_jit.ttnn.calling.eager_operation import TtnnOperation
from ttnn_jit.ttnn.calling.host_function import host_function
from ttnn_jit.ttnn.tensors.tensor_creation import spec_of_new

Seed = Annotated[int, "at least 0"]

_RAND, _RANDN, _BERNOULLI, _DROPOUT = (TtnnOperation(each.name, (each,)) for each in (RAND, RANDN, BERNOULLI, DROPOUT))


@host_function(observed=False, without_effect={"all devices draw from one generator": "device"})
def manual_seed(seeds: int = 0, device: Device | None = None, **_: object) -> None:
    """Seed the shared generator of `rand`, `randn`, `bernoulli` and `dropout` without a seed (ttnn.manual_seed).

    Jitted functions use the same generator, whatever the library of their tensors.

    Raises:
        ArgumentError: `seeds` is not an integer of at least 0.
    """
    _check_seed(seeds, "`seeds` of manual_seed")
    seed_all(seeds)


def _check_seed(seed: int, what: str) -> None:
    if not 0 <= seed < 1 << 63:
        raise ArgumentError(f"{what} is {seed}, and seeds are at least 0 and have 63 bits")


def _drawn(
    ops: HostOps[Tensor],
    call: TtnnOperation,
    seed: int | None,
    device: Device | None,
    draws: Callable[..., Tensor],
    memory_config: MemoryConfig | None = None,
) -> Tensor:
    """The tensor that `draws` makes on a device by `call`; copied to the host if `device` is None."""
    name = call.__name__.removeprefix("ttnn.")
    if seed is not None:
        _check_seed(seed, f"`seed` of {name}")
    drawing_device = implicit_cpu_device() if device is None else device
    result = ops.drawn(seed, partial(draws, drawing_device), drawing_device, memory_config)
    if device is not None:
        return result
    return stored_as(result, result.spec.with_(memory_config=HOST_MEMORY_CONFIG), None, name)


def _new(
    ops: HostOps[Tensor], call: TtnnOperation, seed: int | None, spec: TensorSpec, device: Device | None, *ends: float
) -> Tensor:
    """A tensor of random elements with `spec`."""

    def draws(_: Device, draw: Tensor, key: Tensor, config: MemoryConfig | None) -> Any:
        return call(draw, key, tuple(spec.shape), spec.dtype, spec.layout, *ends, memory_config=config)

    config = None if spec.memory_config == HOST_MEMORY_CONFIG else spec.memory_config
    return _drawn(ops, call, seed, device, draws, config)


def _of_tensor(
    ops: HostOps[Tensor], call: TtnnOperation, seed: int | None, tensor: Tensor, *arguments: Any, **keywords: Any
) -> Tensor:
    """The result of `call` on a random draw and a tensor, on the device of the tensor or the host."""
    device = tensor.device()

    def draws(drawing_device: Device, draw: Tensor, key: Tensor, _: MemoryConfig | None) -> Any:
        return call(tensor.to(drawing_device) if device is None else tensor, draw, key, *arguments, **keywords)

    return _drawn(ops, call, seed, device, draws)


@host_function(in_programs=True, over_meshes=True)
def rand(
    _ops: HostOps[Tensor],
    shape: Iterable[int],
    device: Device | None = None,
    *,
    dtype: DataType = DataType.BFLOAT16,
    layout: Layout = Layout.TILE,
    memory_config: MemoryConfig | None = None,
    low: float = 0.0,
    high: float = 1.0,
    seed: Seed | None = None,
) -> Tensor:
    """Random elements, uniform in [`low`, `high`) (ttnn.rand); BFLOAT16 and TILE when omitted.

    An element that would be rounded to `high` is the last number of `dtype` below it.

    Raises:
        ArgumentError: `dtype` is an integer type, `low` is not below `high`, or an argument has the wrong type.
        ShapeError: `dtype` has no number in the interval.
    """
    if not low < high:
        raise ArgumentError(f"rand: `low` is {low}, which is not below `high`, {high}")
    spec = spec_of_new(shape, _float_type(dtype, "rand"), layout, device, memory_config)
    return _new(_ops, _RAND, seed, spec, device, float(low), float(high))


@host_function(in_programs=True, over_meshes=True, chip_only="compute_kernel_config")
def randn(
    _ops: HostOps[Tensor],
    shape: Iterable[int],
    *,
    device: Device | None = None,
    dtype: DataType | None = None,
    layout: Layout | None = None,
    memory_config: MemoryConfig | None = None,
    compute_kernel_config: object = None,
    seed: Seed | None = None,
) -> Tensor:
    """Random elements of the standard normal distribution (ttnn.randn); BFLOAT16 and ROW_MAJOR when omitted.

    Raises:
        ArgumentError: `dtype` is an integer type, or an argument has the wrong type.
    """
    spec = spec_of_new(shape, _float_type(dtype, "randn"), layout, device, memory_config)
    return _new(_ops, _RANDN, seed, spec, device)


@host_function(in_programs=True, over_meshes=True, accepts_foreign=True, chip_only="compute_kernel_config")
def bernoulli(
    _ops: HostOps[Tensor],
    input: Tensor,  # noqa: A002 - ttnn's name
    seed: Seed | None = None,
    *,
    dtype: DataType | None = None,
    memory_config: MemoryConfig | None = None,
    compute_kernel_config: object = None,
) -> Tensor:
    """1 with the probability in the element, else 0 (ttnn.bernoulli); FLOAT32 when `dtype` is omitted.

    Raises:
        ArgumentError: An element is not a probability, if elements can be read before the call; `dtype` is an integer
            type, or an argument has the wrong type.
    """
    _check_probabilities(input)
    wanted = DataType.FLOAT32 if dtype is None else _float_type(dtype, "bernoulli")
    return _of_tensor(_ops, _BERNOULLI, seed, input, wanted, memory_config=memory_config)


def _check_probabilities(tensor: Tensor) -> None:
    device = tensor.device()
    if device is not None and device.recorder is not None:
        return
    with in_order(tensor):
        values = numbers(tensor.spec, tensor.buffer("bernoulli"))
    if not bool(((values >= 0) & (values <= 1)).all()):
        raise ArgumentError("bernoulli: an element is not from 0 to 1, hence no probability")


@host_function(name="experimental.dropout", in_programs=True, over_meshes=True, accepts_foreign=True)
def dropout(
    _ops: HostOps[Tensor],
    input_tensor: Tensor,
    *,
    probability: float,
    scale: float,
    seed: Seed | None = None,
    memory_config: MemoryConfig | None = None,
) -> Tensor:
    """Elements times `scale`, or 0 with the given `probability`; each call draws anew (ttnn.experimental.dropout).

    Raises:
        ArgumentError: `probability` is not from 0 to 1, or an argument has the wrong type.
    """
    if not 0 <= probability <= 1:
        raise ArgumentError(f"dropout: `probability` is {probability}, which is not from 0 to 1")
    return _of_tensor(_ops, _DROPOUT, seed, input_tensor, probability, scale, memory_config=memory_config)


def _float_type(dtype: DataType | None, name: str) -> DataType:
    if dtype is None:
        return DataType.BFLOAT16
    if dtype not in FLOATS:
        raise ArgumentError(f"{name}: {dtype.name} holds no random numbers", help="make floats, and cast them")
    return dtype
