"""Operations on torch tensors and numpy arrays, where a jitted function of them runs as plain Python."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from functools import cache
from typing import Any, ParamSpec, TypeVar

from ttnn_jit.foreign.numpy_array import is_numpy_array, spec_of_numpy_array
from ttnn_jit.foreign.pytrees import leaves, map_leaves
from ttnn_jit.foreign.torch_tensor import is_torch_tensor, spec_of_torch_tensor
from ttnn_jit.ops import BoundCall
from ttnn_jit.runtime.device import Device, implicit_cpu_device
from ttnn_jit.runtime.tensors.tensor import Tensor
from ttnn_jit.specs.target import PRESETS, SystemDesc
from ttnn_jit.specs.tensor_spec import Layout, TensorSpec

P = ParamSpec("P")
T = TypeVar("T")

_TARGET: ContextVar[SystemDesc | None] = ContextVar("target of foreign operands", default=None)


@contextlib.contextmanager
def foreign_operands(target: SystemDesc | None) -> Iterator[None]:
    """In its body operations take torch tensors and numpy arrays, and compute on a device of `target`; None: not."""
    token = _TARGET.set(target)
    try:
        yield
    finally:
        _TARGET.reset(token)


def has_foreign_operand(values: Iterable[Any]) -> bool:
    """Whether an operation shall take a torch tensor or a numpy array among its arguments."""
    return _TARGET.get() is not None and any(map(is_foreign, values))


def is_foreign(value: object) -> bool:
    """Whether `value` is a torch tensor or a numpy array."""
    return is_torch_tensor(value) or is_numpy_array(value)


def call_on_copies(
    run: Callable[[Sequence[Any], Mapping[str, Any]], Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    written: Container[str] = (),
) -> Any:
    """``run(args, kwargs)`` with ttnn tensors for foreign ones; the result is of the first tensor's kind.

    Keywords in `written` are given as they are: no copy of a tensor is written into.

    Raises:
        DTypeError, ArgumentError: A foreign tensor is one that no compiled function takes either.
    """
    values = [*args, *kwargs.values()]
    first = next(value for value in values if is_foreign(value) or isinstance(value, Tensor))
    device = next((value.device() for value in values if isinstance(value, Tensor)), _device_of(_TARGET.get()))

    def own(value: Any) -> Any:
        return _copy(value, device) if is_foreign(value) else value

    result = run([own(value) for value in args], {name: v if name in written else own(v) for name, v in kwargs.items()})
    if isinstance(first, Tensor):
        return result
    return map_leaves(result, lambda leaf: _of_kind(leaf, first) if isinstance(leaf, Tensor) else leaf)


def views_of(bound: BoundCall) -> Any:
    """What a movement of a foreign tensor gives in its library, where it is a view if the library gives one."""
    import torch

    moved, statics = bound.operands[0], bound.attributes
    found = bound.operation.golden(torch, moved if is_torch_tensor(moved) else torch.from_numpy(moved), *statics)
    return found if is_torch_tensor(moved) else map_leaves(found, lambda leaf: leaf.numpy())


def as_callers_kind(result: Any, arguments: Any) -> Any:
    """A function's result for a caller whose first tensor is foreign: ttnn tensors in it are made of that kind."""
    first = next((leaf for leaf in leaves(arguments) if is_foreign(leaf) or isinstance(leaf, Tensor)), None)
    if not is_foreign(first) or not any(isinstance(leaf, Tensor) for leaf in leaves(result)):
        return result
    return map_leaves(result, lambda leaf: _of_kind(leaf, first) if isinstance(leaf, Tensor) else leaf)


def _device_of(target: SystemDesc | None) -> Device:
    return implicit_cpu_device() if target is None or target is PRESETS["cpu"] else _device_of_rules(target)


_device_of_rules = cache(Device)


def _copy(value: Any, device: Device | None) -> Tensor:
    import torch

    from ttnn_jit.runtime.tensors.tensor import from_torch

    spec = spec_of_torch_tensor(value) if is_torch_tensor(value) else spec_of_numpy_array(value)
    tensor = value if is_torch_tensor(value) else torch.from_numpy(value.copy())
    layout = Layout.TILE if device is not None and device.target.tile_aligned_only else Layout.ROW_MAJOR
    return from_torch(tensor, TensorSpec(tuple(value.shape), spec.dtype, layout), device)


def _of_kind(tensor: Tensor, example: Any) -> Any:
    """`tensor` as a torch tensor, or as a numpy array, which holds no bfloat16."""
    copied = tensor.to_torch()
    if is_torch_tensor(example):
        return copied
    return (copied if tensor.dtype.is_integer else copied.float()).numpy()
