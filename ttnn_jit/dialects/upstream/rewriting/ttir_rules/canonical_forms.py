"""The canonical forms of all operations."""

from __future__ import annotations

from ttnn_jit.dialects.upstream.rewriting.greedy import merged
from ttnn_jit.dialects.upstream.rewriting.ttir_rules import movement_folds, value_folds

CANONICAL = merged(value_folds.FOLDS.by_name, movement_folds.FOLDS.by_name)
"""Name of an operation -> the rules that bring it into its canonical form."""

FOLDERS = {
    name: movement_folds.FOLDS.by_name[name]
    for name in ("ttir.reshape", "ttir.permute", "ttir.broadcast", "ttir.slice_static")
}
"""The rules that tt-mlir applies in every rewriting pass."""
