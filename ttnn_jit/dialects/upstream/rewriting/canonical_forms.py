"""The canonical forms of all operations."""

from __future__ import annotations

from ttnn_jit.dialects.upstream.rewriting import movement_folds, value_folds
from ttnn_jit.dialects.upstream.rewriting.greedy import merged

CANONICAL = merged(value_folds.FOLDS.by_name, movement_folds.FOLDS.by_name)
"""Name of an operation -> the rules that bring it into its canonical form."""
