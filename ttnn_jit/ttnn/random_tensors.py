"""Tensors of random elements, from a generator that a call seeds, or from the one that all calls share."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.dispatch.observers import observed
from ttnn_jit.foreign.numpy_scalar import python_number
from ttnn_jit.ops.created_tensors import callable_in_programs, maker
from ttnn_jit.ops.kinds import Number
from ttnn_jit.ops.random_numbers import BERNOULLI, DROPOUT, NEXT_DRAW, RAND, RANDN
from ttnn_jit.runtime.device import Device, implicit_cpu_device
from ttnn_jit.runtime.families import TTNN
from ttnn_jit.runtime.random_state import PARTS, on_device, seed_all, seeded, state
from ttnn_jit.runtime.tensor import Tensor, check_tensor, in_order, stored_as
from ttnn_jit.runtime.tensor_words import numbers
from ttnn_jit.specs.dtypes import FLOATS
from ttnn_jit.specs.tensor_spec import (
    HOST_MEMORY_CONFIG,
    DataType,
    Layout,
    MemoryConfig,
    TensorSpec,
    check_kind,
    check_whole_number,
)
from ttnn_jit.ttnn.eager_operation import InPlaceOperation, TtnnOperation
from ttnn_jit.ttnn.mesh import over_meshes
from ttnn_jit.ttnn.plain_python import on_copies
from ttnn_jit.ttnn.tensor_creation import spec_of_new

_RAND, _RANDN, _BERNOULLI, _DROPOUT = (TtnnOperation(each.name, (each,)) for each in (RAND, RANDN, BERNOULLI, DROPOUT))
_NEXT_DRAW = InPlaceOperation("next_draw_", (NEXT_DRAW,))


def manual_seed(seeds: int = 0, device: Device | None = None, **_: object) -> None:  # noqa: ARG001 - there is one generator
    """Seeds the generator of `rand`, `randn`, `bernoulli` and `dropout` calls that have no seed (ttnn.manual_seed).

    Jitted functions draw from it too, of whatever tensors.

    Raises:
        ArgumentError: `seeds` is no whole number of at least 0.
    """
    _check_seed(seeds, "`seeds` of manual_seed")
    seed_all(seeds)


def _check_seed(seed: int, what: str) -> None:
    check_whole_number(seed, what)
    if not 0 <= seed < 1 << 63:
        raise ArgumentError(f"{what} is {seed}, and seeds are at least 0 and have 63 bits")


def _generator(seed: int | None, device: Device, name: str) -> tuple[Any, Any]:
    """What a draw reads: of a generator with that seed; without one, or with 0, of the one that all calls share."""
    if seed is not None:
        _check_seed(seed, f"`seed` of {name}")
    if (made := maker()) is not None:
        return made.generator(seed)
    if seed:
        draw, key = seeded(seed, device)
    else:
        draw, key = (on_device(state(part, TTNN), device) for part in PARTS)
    return draw, key


def _drawn(
    call: TtnnOperation, seed: int | None, device: Device | None, *arguments: Any, tensor: Any = None, **keywords: Any
) -> Any:
    """What `call` makes of a draw: of `tensor`, if one is given, and on the host where no device is."""
    name, made = call.__name__.removeprefix("ttnn."), maker()
    place = implicit_cpu_device() if device is None else device
    if tensor is not None and made is None and device is None:
        tensor = tensor.to(place)
    draw, key = _generator(seed, place, name)
    result = call(*(() if tensor is None else (tensor,)), draw, key, *arguments, **keywords)
    if made is not None and not seed:
        made.count_draw()
    elif not seed:
        _NEXT_DRAW(draw)
    if made is not None or device is not None:
        return result
    return stored_as(result, result.spec.with_(memory_config=HOST_MEMORY_CONFIG), None, name)


def _new(call: TtnnOperation, seed: int | None, spec: TensorSpec, device: Device | None, *numbers: float) -> Tensor:
    """A tensor of random elements that is as `spec` says."""
    place = None if spec.memory_config == HOST_MEMORY_CONFIG else spec.memory_config
    made = maker()
    keywords = {} if place is None or made is not None else {"memory_config": place}
    result = _drawn(call, seed, device, tuple(spec.shape), spec.dtype, spec.layout, *numbers, **keywords)
    if made is not None and place is not None:
        result = made.laid_out(result, spec)
    tensor: Tensor = result
    return tensor


@callable_in_programs
@observed
@over_meshes
def rand(
    shape: Iterable[int],
    device: Device | None = None,
    *,
    dtype: DataType = DataType.BFLOAT16,
    layout: Layout = Layout.TILE,
    memory_config: MemoryConfig | None = None,
    low: float = 0.0,
    high: float = 1.0,
    seed: int | None = None,
) -> Tensor:
    """Random elements, uniform from `low` to before `high` (ttnn.rand); BFLOAT16 and TILE when omitted.

    What would be rounded to `high` is the last number of `dtype` before it.

    Raises:
        ArgumentError: `dtype` is one of integers, or `low` is not below `high`; an argument of another kind.
        ShapeError: `dtype` has no number in between.
    """
    for name, value in (("low", low), ("high", high)):
        _check_number(value, f"`{name}` of rand")
    if not low < high:
        raise ArgumentError(f"rand: `low` is {low}, which is not below `high`, {high}")
    spec = spec_of_new(shape, _float_type(dtype, "rand"), layout, device, memory_config)
    return _new(_RAND, seed, spec, device, float(low), float(high))


@callable_in_programs
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
    return _new(_RANDN, seed, spec_of_new(shape, _float_type(dtype, "randn"), layout, device, memory_config), device)


@callable_in_programs
@observed
@on_copies
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
        ArgumentError: An element is no probability, which is seen where elements can be read before the call;
            `dtype` is one of integers; an argument of another kind.
    """
    if maker() is None:
        check_tensor(input, "`input` of bernoulli")
        _check_probabilities(input)
    wanted = DataType.FLOAT32 if dtype is None else _float_type(dtype, "bernoulli")
    keywords = {} if memory_config is None else {"memory_config": memory_config}
    drawn: Tensor = _drawn(_BERNOULLI, seed, _device_of(input), wanted, tensor=input, **keywords)
    return drawn


def _device_of(tensor: Any) -> Device | None:
    """None inside programs, which know of no devices."""
    return None if maker() is not None else tensor.device()


def _check_probabilities(tensor: Tensor) -> None:
    device = tensor.device()
    if device is not None and device.recorder is not None:
        return
    with in_order(tensor):
        values = numbers(tensor.spec, tensor.buffer("bernoulli"))
    if not bool(((values >= 0) & (values <= 1)).all()):
        raise ArgumentError("bernoulli: an element is not from 0 to 1, hence no probability")


@callable_in_programs
@partial(observed, name="ttnn.experimental.dropout")
@on_copies
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
    if maker() is None:
        check_tensor(input_tensor, "`input_tensor` of dropout")
    for name, value in (("probability", probability), ("scale", scale)):
        _check_number(value, f"`{name}` of dropout")
    if not 0 <= probability <= 1:
        raise ArgumentError(f"dropout: `probability` is {probability}, which is not from 0 to 1")
    keywords = {} if memory_config is None else {"memory_config": memory_config}
    place = _device_of(input_tensor)
    dropped: Tensor = _drawn(_DROPOUT, seed, place, probability, scale, tensor=input_tensor, **keywords)
    return dropped


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
