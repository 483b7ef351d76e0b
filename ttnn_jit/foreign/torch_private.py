"""Private functions of torch that make calls quicker, with torch's public functions where they are missing.

`torch.compile` uses each of them itself. This module is imported where torch is loaded already.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch


def _private(path: str) -> Any:
    """The member of ``torch._C`` at a dotted `path`; None if this version of torch lacks it."""
    found: Any = torch._C
    for name in path.split("."):
        found = getattr(found, name, None)
    return found


def empty_strided() -> Callable[..., torch.Tensor]:
    """A function that makes a CPU tensor of a shape, strides and dtype, for any default device."""
    # It bypasses the dispatcher of `torch.empty_strided`.
    return _private("_dynamo.guards._empty_strided_cpu") or (
        lambda shape, strides, dtype: torch.empty_strided(shape, strides, dtype=dtype, device="cpu")
    )


def reinterpret() -> Callable[..., torch.Tensor]:
    """A function that views a flat tensor with a shape and its dense strides."""
    # It bypasses the dispatcher of `Tensor.view`.
    return _private("_dynamo.guards._reinterpret_tensor") or (lambda flat, shape, _: flat.view(shape))


def dispatch_modes() -> Callable[[], int]:
    """A function that counts active dispatch modes, such as a tracer; it returns 1 if torch cannot tell."""
    return _private("_len_torch_dispatch_stack") or (lambda: 1)


def is_tracing() -> bool:
    """Whether ``torch.jit.trace`` runs, which is deprecated and may be removed."""
    state = _private("_get_tracing_state")
    return state is not None and state() is not None


def metadata_guard(tensors: Sequence[torch.Tensor]) -> Callable[..., bool] | None:
    """A function that checks whether other tensors have the metadata of `tensors`; None if this torch lacks it.

    It compares sizes, strides, dtype, device, type, requires_grad and dispatch keys (sparse, negated, fake, batched
    ...) of all tensors, without creating Python objects. It must not get a nested tensor: reading its strides throws an
    exception that ends the process. It returns False if one tensor is given twice.
    """
    guards = _private("_dynamo.guards.TensorGuards")
    shapes: list[Any] = [list(tensor.shape) for tensor in tensors]
    strides: list[Any] = [list(tensor.stride()) for tensor in tensors]
    try:
        check: Callable[..., bool] = guards(*tensors, dynamic_dims_sizes=shapes, dynamic_dims_strides=strides).check
    except (TypeError, AttributeError):  # torch lacks it, or it has other parameters
        return None
    return check
