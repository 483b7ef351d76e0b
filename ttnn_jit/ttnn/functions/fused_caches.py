"""`paged_fused_update_cache`: the caches of keys and of values written by one call."""

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


@host_function(name="experimental.paged_fused_update_cache", in_programs=True, of_a_chip="compute_kernel_config")
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
    """`paged_update_cache` of two caches (ttnn.experimental.paged_fused_update_cache), which are written and returned.

    Args:
        cache_tensor1: A cache [users, heads, positions, channels], or in pages.
        input_tensor1: Its rows [1, users, heads, channels].
        cache_tensor2: The other cache.
        input_tensor2: Its rows.
        update_idxs: The position of every user; likewise for both caches, as are the others.
        update_idxs_tensor: The same in a tensor; a position that a cache lacks is left out.
        share_cache: Whether users share a cache; its shape says so.
        page_table: Which page holds which positions of a user.
        batch_offset: The first user: 0.
        compute_kernel_config: How a chip computes; nothing is computed.
        mesh_coords: Which devices of a mesh write: all.

    Raises:
        ArgumentError: `batch_offset` is not 0; and whatever `paged_update_cache` raises.
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
