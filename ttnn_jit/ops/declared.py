"""Every operation that programs have; read when one is compiled, and not before."""

from __future__ import annotations

from ttnn_jit.ops import (
    OPERATIONS,
    cache_routines,
    channel_norms,
    convolutions,
    elementwise_calls,
    embedding_gradient,
    integer_division,
    integer_reductions,
    pool_places,
    pools,
    random_numbers,
    resampling,
    rescaling,
    scans,
    sequences,
    sparse_products,
    transposed_convolutions,
    windows,
)
from ttnn_jit.ops.operation import Operation

DECLARED: tuple[Operation, ...] = (
    *OPERATIONS,
    *sequences.OPERATIONS,
    *cache_routines.OPERATIONS,
    *channel_norms.OF_BATCHES,
    *integer_reductions.OPERATIONS,
    *scans.IN_PROGRAMS,
    *elementwise_calls.IN_PROGRAMS,
    *integer_division.IN_PROGRAMS,
    *windows.OPERATIONS,
    *convolutions.OPERATIONS,
    *transposed_convolutions.OPERATIONS,
    *pools.OPERATIONS,
    *pool_places.OPERATIONS,
    *random_numbers.OPERATIONS,
    *embedding_gradient.OPERATIONS,
    *sparse_products.IN_PROGRAMS,
    *resampling.OPERATIONS,
    *rescaling.OPERATIONS,
)
"""Those that may be called, and those that functions of the host API stand for (ops/created_tensors.py)."""
