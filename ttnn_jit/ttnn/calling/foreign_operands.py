"""Eager operations on torch tensors and numpy arrays, while a jitted function runs as plain Python."""

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
from ttnn_jit.runtime.tensors.tensor import Tensor, torch_copy
from ttnn_jit.specs.target import PRESETS, SystemDesc
from ttnn_jit.specs.tensor_spec import Layout, TensorSpec

P = ParamSpec("P")
T = TypeVar("T")

_TARGET: ContextVar[SystemDesc | None] = ContextVar("target of foreign operands", default=None)


@contextlib.contextmanager
def accepting_foreign_operands(target: SystemDesc | None) -> Iterator[None]:
    """Let operations in the body take torch tensors and numpy arrays, on a device of `target`; None disables it."""
    token = _TARGET.set(target)
    try:
        yield
    finally:
        _TARGET.reset(token)


def has_foreign_operand(values: Iterable[Any]) -> bool:
    """Whether `accepting_foreign_operands` is active and a torch tensor or a numpy array is among the arguments."""
    return _TARGET.get() is not None and any(map(is_foreign, values))


def is_foreign(value: object) -> bool:
    """Whether `value` is a torch tensor or a numpy array."""
    return is_torch_tensor(value) or is_numpy_array(value)


def call_with_copies(
    run: Callable[[Sequence[Any], Mapping[str, Any]], Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    written: Container[str] = (),
) -> Any:
    """``run(args, kwargs)`` with foreign tensors copied to ttnn tensors; the result is of the first tensor's library.

    Keywords in `written` are not copied, since the operation writes into them.

    Raises:
        DTypeError, ArgumentError: A foreign tensor is one that compiled functions refuse too.
    """
    values = [*args, *kwargs.values()]
    first = next(value for value in values if is_foreign(value) or isinstance(value, Tensor))
    device = next((value.device() for value in values if isinstance(value, Tensor)), _default_device(_TARGET.get()))

    def copied(value: Any) -> Any:
        return _copy(value, device) if is_foreign(value) else value

    result = run(
        [copied(value) for value in args], {name: v if name in written else copied(v) for name, v in kwargs.items()}
    )
    if isinstance(first, Tensor):
        return result
    return map_leaves(result, lambda leaf: _in_library_of(leaf, first) if isinstance(leaf, Tensor) else leaf)


def foreign_view(bound: BoundCall) -> Any:
    """The result of a movement in the operand's library, which returns a view where it can."""
    import torch

    moved, statics = bound.operands[0], bound.attributes
    found = bound.operation.golden(torch, moved if is_torch_tensor(moved) else torch.from_numpy(moved), *statics)
    return found if is_torch_tensor(moved) else map_leaves(found, lambda leaf: leaf.numpy())


def in_callers_library(result: Any, arguments: Any) -> Any:
    """A function's result with ttnn tensors converted to the library of the first tensor among the arguments."""
    first = next((leaf for leaf in leaves(arguments) if is_foreign(leaf) or isinstance(leaf, Tensor)), None)
    if not is_foreign(first) or not any(isinstance(leaf, Tensor) for leaf in leaves(result)):
        return result
    return map_leaves(result, lambda leaf: _in_library_of(leaf, first) if isinstance(leaf, Tensor) else leaf)


def _default_device(target: SystemDesc | None) -> Device:
    return implicit_cpu_device() if target is None or target is PRESETS["cpu"] else _device_for_target(target)


_device_for_target = cache(Device)


def _copy(value: Any, device: Device | None) -> Tensor:
    import torch

    from ttnn_jit.runtime.tensors.tensors_from_host import from_torch

    spec = spec_of_torch_tensor(value) if is_torch_tensor(value) else spec_of_numpy_array(value)
    tensor = value if is_torch_tensor(value) else torch.from_numpy(value.copy())
    layout = Layout.TILE if device is not None and device.target.tile_aligned_only else Layout.ROW_MAJOR
    return from_torch(tensor, TensorSpec(tuple(value.shape), spec.dtype, layout), device)


def _in_library_of(tensor: Tensor, example: Any) -> Any:
    """`tensor` as a torch tensor or a numpy array, whichever `example` is; bfloat16 becomes float32 in numpy."""
    copied = torch_copy(tensor)
    if is_torch_tensor(example):
        return copied
    return (copied if tensor.dtype.is_integer else copied.float()).numpy()
