"""Tensors of random elements, from torch's generator, or from one that was seeded."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.dispatch.observers import observed
from ttnn_jit.foreign.numpy_scalar import python_number
from ttnn_jit.foreign.torch_tensor import require_torch
from ttnn_jit.ops.kinds import Number
from ttnn_jit.runtime import tensor as storage
from ttnn_jit.runtime.device import Device
from ttnn_jit.runtime.tensor import Tensor, check_tensor
from ttnn_jit.specs.dtypes import FLOATS
from ttnn_jit.specs.tensor_spec import DataType, Layout, MemoryConfig, check_kind, check_whole_number
from ttnn_jit.ttnn.eager_functions import multiply, where
from ttnn_jit.ttnn.mesh import over_meshes
from ttnn_jit.ttnn.tensor_creation import spec_of_new

if TYPE_CHECKING:
    import torch

_SEEDED: list[torch.Generator] = []
"""The generator that `manual_seed` seeded, if it was called."""

_WAY = "give numpy's random numbers to a jitted function"


def manual_seed(seeds: int, device: Device | None = None, **_: object) -> None:  # noqa: ARG001 - there is one generator
    """Seeds the generator of `rand`, `randn`, `bernoulli` and `dropout` calls that have no seed (ttnn.manual_seed).

    Raises:
        ArgumentError: `seeds` is no whole number of at least 0.
    """
    _SEEDED[:] = [_generator_of(seeds, "`seeds` of manual_seed")]


def _generator_of(seed: int, what: str) -> torch.Generator:
    require_torch("manual_seed", _WAY)
    import torch

    check_whole_number(seed, what)
    if not 0 <= seed < 1 << 63:
        raise ArgumentError(f"{what} is {seed}, and seeds are at least 0 and have 63 bits")
    return torch.Generator().manual_seed(seed)


def _generator(seed: int | None, what: str) -> torch.Generator | None:
    """That of a seed; without one, or with 0, that of `manual_seed`, else torch's own."""
    if seed:
        return _generator_of(seed, what)
    return _SEEDED[0] if _SEEDED else None


@observed
@over_meshes
def rand(
    shape: Iterable[int],
    dtype: DataType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    memory_config: MemoryConfig | None = None,
    *,
    low: float = 0.0,
    high: float = 1.0,
    seed: int | None = None,
) -> Tensor:
    """Random elements, uniform from `low` to before `high` (ttnn.rand); BFLOAT16 and ROW_MAJOR when omitted.

    Rounding to BFLOAT16 may give `high` itself.

    Raises:
        ArgumentError: `dtype` is one of integers, or `low` is not below `high`; an argument of another kind.
    """
    for name, value in (("low", low), ("high", high)):
        _check_number(value, f"`{name}` of rand")
    if not low < high:
        raise ArgumentError(f"rand: `low` is {low}, which is not below `high`, {high}")
    require_torch("rand", _WAY)
    import torch

    spec = spec_of_new(shape, _float_type(dtype, "rand"), layout, device, memory_config)
    uniform = torch.rand(tuple(spec.shape), generator=_generator(seed, "`seed` of rand"))
    return storage.from_torch(uniform * (high - low) + low, spec, device)


@observed
@over_meshes
def randn(
    shape: Iterable[int],
    *,
    device: Device | None = None,
    dtype: DataType | None = None,
    layout: Layout | None = None,
    memory_config: MemoryConfig | None = None,
    compute_kernel_config: object = None,  # noqa: ARG001 - how a chip computes
    seed: int | None = None,
) -> Tensor:
    """Random elements of the standard normal distribution (ttnn.randn); BFLOAT16 and ROW_MAJOR when omitted.

    Raises:
        ArgumentError: `dtype` is one of integers; an argument of another kind.
    """
    require_torch("randn", _WAY)
    import torch

    spec = spec_of_new(shape, _float_type(dtype, "randn"), layout, device, memory_config)
    return storage.from_torch(
        torch.randn(tuple(spec.shape), generator=_generator(seed, "`seed` of randn")), spec, device
    )


@observed
@over_meshes
def bernoulli(
    input: Tensor,  # noqa: A002 - ttnn's name
    seed: int | None = None,
    *,
    dtype: DataType | None = None,
    memory_config: MemoryConfig | None = None,
    compute_kernel_config: object = None,  # noqa: ARG001 - how a chip computes
) -> Tensor:
    """1 with the probability that the element is, else 0 (ttnn.bernoulli); FLOAT32 when `dtype` is omitted.

    Raises:
        ArgumentError: An element is no probability, or `dtype` is one of integers; an argument of another kind.
    """
    check_tensor(input, "`input` of bernoulli")
    probabilities = storage_probabilities(input)
    spec = input.spec.with_(
        dtype=DataType.FLOAT32 if dtype is None else _float_type(dtype, "bernoulli"),
        memory_config=memory_config or input.spec.memory_config,
    )
    import torch

    drawn = torch.bernoulli(probabilities, generator=_generator(seed, "`seed` of bernoulli"))
    return storage.from_torch(drawn, spec, input.device())


def storage_probabilities(tensor: Tensor) -> torch.Tensor:
    """The elements of `tensor` in float32.

    Raises:
        ArgumentError: One is not from 0 to 1.
    """
    require_torch("bernoulli", _WAY)
    values = tensor.to_torch().float()
    if not bool(((values >= 0) & (values <= 1)).all()):
        raise ArgumentError("bernoulli: an element is not from 0 to 1, hence no probability")
    return values


@partial(observed, name="ttnn.experimental.dropout")
@over_meshes
def dropout(
    input_tensor: Tensor,
    *,
    probability: float,
    scale: float,
    seed: int | None = None,
    memory_config: MemoryConfig | None = None,
) -> Tensor:
    """Elements times `scale`, or 0 with that `probability`, drawn anew at each call (ttnn.experimental.dropout).

    Raises:
        ArgumentError: `probability` is not from 0 to 1; an argument of another kind.
    """
    check_tensor(input_tensor, "`input_tensor` of dropout")
    for name, value in (("probability", probability), ("scale", scale)):
        _check_number(value, f"`{name}` of dropout")
    if not 0 <= probability <= 1:
        raise ArgumentError(f"dropout: `probability` is {probability}, which is not from 0 to 1")
    require_torch("dropout", _WAY)
    import torch

    uniform = torch.rand(tuple(input_tensor.shape), generator=_generator(seed, "`seed` of dropout"))
    kept = storage.from_torch((uniform >= probability).float(), input_tensor.spec, input_tensor.device())
    return where(kept, multiply(input_tensor, float(scale)), 0.0, memory_config=memory_config)


def _check_number(value: Any, what: str) -> None:
    if not isinstance(python_number(value), Number):
        raise ArgumentError(f"{what} must be a number, got {type(value).__name__}")


def _float_type(dtype: DataType | None, name: str) -> DataType:
    if dtype is None:
        return DataType.BFLOAT16
    check_kind(dtype, DataType, f"`dtype` of {name}")
    if dtype not in FLOATS:
        raise ArgumentError(f"{name}: {dtype.name} holds no random numbers", help="make floats, and cast them")
    return dtype
