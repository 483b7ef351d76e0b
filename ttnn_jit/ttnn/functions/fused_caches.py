"""`paged_fused_update_cache`: an update of the caches of keys and of values by one call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.ops.attention.kv_caches import PAGED_UPDATE_CACHE
from ttnn_jit.runtime.tensors.tensor import Tensor
from ttnn_jit.ttnn.calling.eager_functions import functions_of
from ttnn_jit.ttnn.calling.host_function import host_function

_SUBMODULE, _, _NAME = PAGED_UPDATE_CACHE.name.rpartition(".")
_UPDATE = functions_of(_SUBMODULE)[_NAME]


@host_function(name="experimental.paged_fused_update_cache", in_programs=True, chip_only="compute_kernel_config")
def paged_fused_update_cache(  # noqa: PLR0913 - as ttnn has it
    cache_tensor1: Tensor,
    input_tensor1: Tensor,
    cache_tensor2: Tensor,
    input_tensor2: Tensor,
    *,
    update_idxs: Sequence[int] = (),
    update_idxs_tensor: Tensor | None = None,
    share_cache: bool | None = None,
    page_table: Tensor | None = None,
    batch_offset: int = 0,
    compute_kernel_config: object = None,
    mesh_coords: object = None,
) -> tuple[Tensor, Tensor]:
    """`paged_update_cache` of two caches, which are updated in place and returned.

    Source: ttnn.experimental.paged_fused_update_cache. All arguments but the first four apply to both caches.

    Args:
        cache_tensor1: A cache [users, heads, positions, channels], or a paged cache.
        input_tensor1: The rows to write into it, [1, users, heads, channels].
        cache_tensor2: The second cache.
        input_tensor2: The rows to write into it.
        update_idxs: The position of every user.
        update_idxs_tensor: The positions as a tensor; positions outside a cache are skipped.
        share_cache: Whether users share a cache, as its shape implies.
        page_table: Maps the positions of each user to pages.
        batch_offset: The first user, always 0.
        compute_kernel_config: Precision on a chip; nothing is computed.
        mesh_coords: The devices of a mesh that write, always all.

    Raises:
        ArgumentError: `batch_offset` is not 0; and the errors of `paged_update_cache`.
    """
    if batch_offset != 0:
        raise ArgumentError(f"`batch_offset` of paged_fused_update_cache must be 0, got {batch_offset!r}")
    given = {
        "update_idxs_tensor": update_idxs_tensor,
        "page_table": page_table,
        "update_idxs": tuple(update_idxs) or None,
        "share_cache": share_cache,
        "mesh_coords": mesh_coords,
    }
    keywords: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    first = _UPDATE(cache_tensor1, input_tensor1, **keywords)
    return first, _UPDATE(cache_tensor2, input_tensor2, **keywords)
