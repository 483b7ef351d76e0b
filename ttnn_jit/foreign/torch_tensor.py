"""Which torch tensors a compiled function takes, and what it must know of them; torch is never imported for it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from ttnn_jit.diagnostics.errors import ArgumentError, DTypeError, MissingLibraryError
from ttnn_jit.specs.dtypes import dtypes_of_torch
from ttnn_jit.specs.tensor_spec import HOST_MEMORY_CONFIG, Layout, TensorSpec

if TYPE_CHECKING:
    import torch


def is_torch_tensor(value: object) -> bool:
    """Whether `value` is a torch tensor, of any subclass."""
    torch_module = sys.modules.get("torch")
    return torch_module is not None and issubclass(type(value), torch_module.Tensor)


def require_torch(user: str, instead: str) -> None:
    """Refuse where torch is not installed.

    Args:
        user: What needs it.
        instead: What does without.

    Raises:
        MissingLibraryError: It is not there.
    """
    try:
        import torch  # noqa: F401
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise MissingLibraryError(f"{user} needs torch, which is not installed", help=instead) from None


def spec_of_torch_tensor(tensor: torch.Tensor) -> TensorSpec:
    """The spec of a torch tensor, used where it lies.

    Raises:
        ArgumentError: It is on another device, sparse, nested, without memory, or requires grad under grad mode; its
            negative bit is set; or torch is tracing.
        DTypeError: An element type that ttnn_jit lacks; the text names the cast.
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
    return TensorSpec(tensor.shape, dtype, Layout.ROW_MAJOR, HOST_MEMORY_CONFIG, strides=tensor.stride())


def _kind_of_torch(tensor: torch.Tensor) -> str:
    return "a nested tensor" if tensor.is_nested else str(tensor.layout)


def _has_memory(tensor: torch.Tensor) -> bool:
    """Whether all elements lie in storage that can be read.

    Asked when a tensor's metadata are new. Later calls ask for the address alone, so a storage that is made smaller
    under a tensor, but not empty, is read beyond its end: asking for its bytes would cost every call.
    """
    import torch

    if type(tensor).__torch_dispatch__ is not torch.Tensor.__torch_dispatch__:
        return False
    try:
        address = tensor.data_ptr()
    except RuntimeError:  # torch's way to say that there is none
        return False
    last = tensor.storage_offset() + sum((n - 1) * step for n, step in zip(tensor.shape, tensor.stride(), strict=True))
    return address != 0 and (last + 1) * tensor.itemsize <= tensor.untyped_storage().nbytes()


def _refuse_traced() -> None:
    """A tracer of torch's would see the allocation of the results and not what writes them."""
    from ttnn_jit.foreign.torch_private import is_tracing

    tracer = sys.modules.get("torch.fx.experimental.proxy_tensor")
    if is_tracing() or (tracer is not None and tracer.get_proxy_mode() is not None):
        raise ArgumentError(
            "a compiled function cannot be traced by torch (`make_fx`, `torch.export`, `torch.jit.trace`)",
            help="call it on the tensors themselves, or wrap it as an operation with `torch.library.custom_op`",
        )
