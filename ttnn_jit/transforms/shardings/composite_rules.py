"""Composites that are cut whole, by a rule of their own, and not by those of their operations."""

from __future__ import annotations

from ttnn_jit.ops.families.dialect_conversion import Conversion
from ttnn_jit.ops.texts import text_operations


def has_sharding_rule(target: str) -> bool:
    """Whether the declaration of a composite, or custom call, of this name has a sharding rule."""
    known = text_operations().get(f"stablehlo.custom_call@{target}")
    return isinstance(known, Conversion) and known.sharded_by is not None
