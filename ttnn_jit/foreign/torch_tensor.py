"""The torch tensors that a compiled function accepts, and their specs; this file never imports torch first."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from ttnn_jit.diagnostics.errors import ArgumentError, DTypeError, MissingLibraryError
from ttnn_jit.specs.dtypes import dtypes_of_torch
from ttnn_jit.specs.tensor_spec import HOST_MEMORY_CONFIG, DataType, Layout, TensorSpec

if TYPE_CHECKING:
    import torch


def is_torch_tensor(value: object) -> bool:
    """Whether `value` is a torch tensor, of any subclass."""
    torch_module = sys.modules.get("torch")
    return torch_module is not None and issubclass(type(value), torch_module.Tensor)


def require_torch(user: str, instead: str) -> None:
    """Refuse a function that needs torch where torch is not installed.

    Args:
        user: The function that needs torch.
        instead: The help text: an alternative without torch.

    Raises:
        MissingLibraryError: torch is not installed.
    """
    try:
        import torch  # noqa: F401
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise MissingLibraryError(f"{user} needs torch, which is not installed", help=instead) from None


def spec_of_torch_tensor(tensor: torch.Tensor) -> TensorSpec:
    """The spec of a torch tensor, which is used in place.

    Raises:
        ArgumentError: The tensor is on another device, sparse, nested, without memory, or requires grad under grad
            mode; its negative bit is set; or torch is tracing.
        DTypeError: ttnn_jit lacks the element type; the text names the cast.
    """
    import torch

    _refuse_traced()
    if tensor.is_nested or tensor.device.type != "cpu" or tensor.layout != torch.strided:
        raise ArgumentError(
            f"a torch tensor must be dense on the CPU, got {_kind_of_torch(tensor)} on {tensor.device}",
            help="call `.cpu()` or `.to_dense()` on it first, `.unbind()` on a nested one",
        )
    if tensor.requires_grad and torch.is_grad_enabled():
        raise ArgumentError(
            "a torch tensor requires grad, and compiled functions have no backward",
            help="call it under `torch.no_grad()`, or pass `tensor.detach()`",
        )
    if tensor.is_neg():
        raise ArgumentError(
            "a torch tensor has its negative bit set: its memory holds the negatives of its values",
            help="pass `tensor.resolve_neg()`",
        )
    dtype = dtypes_of_torch().get(tensor.dtype)
    if dtype is None:
        raise DTypeError(
            f"torch tensors of {tensor.dtype} are not supported",
            help="cast it: `tensor.to(torch.float32)`, or `tensor.to(torch.int32)` if it holds integers",
        )
    if tensor.numel() and not _has_memory(tensor):
        raise ArgumentError(
            f"a torch {type(tensor).__name__} has no memory of its own to read: it is fake, a wrapper, inside a "
            "transform such as `torch.vmap`, or its storage was freed",
            help="call the function with plain tensors, outside the transform",
        )
    return _strided_spec(tensor.shape, dtype, tensor.stride())


@lru_cache(maxsize=4096)
def _strided_spec(shape: tuple[int, ...], dtype: DataType, strides: tuple[int, ...]) -> TensorSpec:
    return TensorSpec(shape, dtype, Layout.ROW_MAJOR, HOST_MEMORY_CONFIG, strides=strides)


def _kind_of_torch(tensor: torch.Tensor) -> str:
    return "a nested tensor" if tensor.is_nested else str(tensor.layout)


def _has_memory(tensor: torch.Tensor) -> bool:
    """Whether all elements are in readable storage.

    This is checked when the metadata of a tensor is new. Later calls read the address only: checking the size of the
    storage would cost every call. So a storage that was shrunk under a tensor, but not emptied, is read out of bounds.
    """
    import torch

    if type(tensor).__torch_dispatch__ is not torch.Tensor.__torch_dispatch__:
        return False
    try:
        address = tensor.data_ptr()
    except RuntimeError:  # the tensor has no storage
        return False
    if tensor.is_contiguous():
        span = tensor.numel()
    else:
        span = 1 + sum([(n - 1) * step for n, step in zip(tensor.shape, tensor.stride(), strict=True)])
    return address != 0 and (tensor.storage_offset() + span) * tensor.itemsize <= tensor.untyped_storage().nbytes()


def _refuse_traced() -> None:
    """Refuse calls under a tracer of torch's, which would record the allocation of results but not the writes."""
    tracer = sys.modules.get("torch.fx.experimental.proxy_tensor")
    if _tracing_query()() or (tracer is not None and tracer.get_proxy_mode() is not None):
        raise ArgumentError(
            "a compiled function cannot be traced by torch (`make_fx`, `torch.export`, `torch.jit.trace`)",
            help="call it on the tensors themselves, or wrap it as an operation with `torch.library.custom_op`",
        )


@cache
def _tracing_query() -> Callable[[], bool]:
    """The function that tells whether ``torch.jit.trace`` runs; its import takes longer than its call."""
    from ttnn_jit.foreign.torch_private import is_tracing

    return is_tracing
