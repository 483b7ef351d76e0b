"""Operations of TTIR of one kind, by the facts of the tables."""

from __future__ import annotations

from functools import cache

from ttnn_jit.dialects import ttir
from ttnn_jit.dialects.upstream import tables
from ttnn_jit.dialects.upstream.rewriting.rewriter import operation_kind


@cache
def elementwise_names() -> frozenset[str]:
    """The operations that compute element by element, and broadcast their operands."""
    return frozenset(name for name in _names() if issubclass(operation_kind(name), ttir.TensorElementwiseOp))


@cache
def reduction_names() -> tuple[str, ...]:
    """The operations that reduce the dimensions ``dim_arg``, and may keep them."""
    return tuple(
        name
        for name in _names()
        if any({"dim_arg", "keep_dim"} <= {each.name for each in row.attributes} for row in tables.operation_rows(name))
    )


def _names() -> list[str]:
    return [name for name in tables.operation_names() if name.startswith("ttir.")]
