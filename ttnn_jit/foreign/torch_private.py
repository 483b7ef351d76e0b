"""What a short call uses of torch that torch does not promise to keep; without it, the longer way of torch's own.

Each of these is a function that `torch.compile` itself calls. Imported where torch is loaded already.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch


def _private(path: str) -> Any:
    """What ``torch._C`` holds at a dotted `path`; None if this torch lacks it."""
    found: Any = torch._C
    for name in path.split("."):
        found = getattr(found, name, None)
    return found


def empty_strided() -> Callable[..., torch.Tensor]:
    """Makes a CPU tensor of a shape, strides and dtype, whatever the default device is."""
    # Without the dispatcher that `torch.empty_strided` goes through.
    return _private("_dynamo.guards._empty_strided_cpu") or (
        lambda shape, strides, dtype: torch.empty_strided(shape, strides, dtype=dtype, device="cpu")
    )


def reinterpret() -> Callable[..., torch.Tensor]:
    """Gives a flat tensor a shape and its dense strides."""
    # Without the dispatcher that `Tensor.view` goes through.
    return _private("_dynamo.guards._reinterpret_tensor") or (lambda flat, shape, _: flat.view(shape))


def dispatch_modes() -> Callable[[], int]:
    """Counts the modes that would see torch's operations, a tracer among them perhaps; else says that there is one."""
    return _private("_len_torch_dispatch_stack") or (lambda: 1)


def is_tracing() -> bool:
    """Whether ``torch.jit.trace`` runs, which is deprecated and so may go altogether."""
    state = _private("_get_tracing_state")
    return state is not None and state() is not None


def metadata_guard(tensors: Sequence[torch.Tensor]) -> Callable[..., bool] | None:
    """Tells whether other tensors have the metadata of `tensors`; None if this torch has no such guard.

    It compares sizes, strides, dtype, device, type, wanted gradients and dispatch keys (sparse, negated, fake, batched
    ...) of all tensors without a Python object for any of them. Of a nested tensor it asks for strides, and the
    exception that it gets ends the process; a tensor given twice it refuses.
    """
    guards = _private("_dynamo.guards.TensorGuards")
    shapes: list[Any] = [list(tensor.shape) for tensor in tensors]
    strides: list[Any] = [list(tensor.stride()) for tensor in tensors]
    try:
        check: Callable[..., bool] = guards(*tensors, dynamic_dims_sizes=shapes, dynamic_dims_strides=strides).check
    except (TypeError, AttributeError):  # there is none, or one that takes other arguments
        return None
    return check
