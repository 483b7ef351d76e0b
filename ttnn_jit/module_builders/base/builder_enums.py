"""The enums of arguments; `value` is the member of tt-mlir's enum."""

from __future__ import annotations

from enum import Enum
from typing import Any

from ttnn_jit.ttmlir.enums import enum_of


def _members(name: str) -> Any:
    """The enum of ttcore whose members are those of its C++."""
    return Enum(name, {each.name: each for each in enum_of(name, "ttcore")}, module=__name__)


ReduceType: Any = _members("ReduceType")
MeshShardType: Any = _members("MeshShardType")
MeshShardDirection: Any = _members("MeshShardDirection")
AttentionMaskType: Any = _members("AttentionMaskType")

__all__ = ["AttentionMaskType", "MeshShardDirection", "MeshShardType", "ReduceType"]
