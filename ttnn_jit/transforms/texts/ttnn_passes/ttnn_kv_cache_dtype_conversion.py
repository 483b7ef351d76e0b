"""ttnn-kv-cache-dtype-conversion: caches of keys and values hold block floats."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.dialects.functions import entry_points
from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter
from ttnn_jit.dialects.upstream.rewriting.ttnn_rules.cache_types import narrow_caches
from ttnn_jit.dialects.upstream.rewriting.weight_types import BLOCK_TYPES
from ttnn_jit.transforms.texts.text_pass import TextPass
from ttnn_jit.transforms.texts.ttnn_passes.ttnn_weight_dtype_conversion import NO_TYPE


@dataclass(frozen=True)
class TTNNKVCacheDtypeConversion(TextPass):
    """Arguments with `ttcore.kv_cache` get the type `target-dtype`, and what is written into them is cast.

    A function that writes a cache which is no such argument stays as it is.

    Attributes:
        target_dtype: `bfp_bf8` or `bfp_bf4`; `none` leaves caches as they are.
    """

    name = "ttnn-kv-cache-dtype-conversion"

    target_dtype: str = NO_TYPE

    def __post_init__(self) -> None:
        """Refuses another type."""
        super().__post_init__()
        if self.target_dtype not in {NO_TYPE, *BLOCK_TYPES}:
            raise ArgumentError(
                f"`target-dtype={self.target_dtype}`", help=f"it is one of {', '.join([NO_TYPE, *BLOCK_TYPES])}"
            )

    def change(self, module: ModuleOp, rewriter: Rewriter) -> None:
        """Narrows the caches of the functions that a program calls."""
        if self.target_dtype == NO_TYPE:
            return
        for function in entry_points(module):
            narrow_caches(function, self.target_dtype, rewriter)
