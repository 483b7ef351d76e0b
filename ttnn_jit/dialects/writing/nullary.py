"""The base of ops without operands and with one result."""

from __future__ import annotations

from abc import ABC
from typing import Self

from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import Attribute
from xdsl.irdl import IRDLOperation, result_def

from ttnn_jit.dialects.writing.creation import QuickOperation


class NullaryOp(QuickOperation, IRDLOperation, ABC):
    """``dialect.name() attr-dict : type``."""

    assembly_format = "`(` `)` attr-dict `:` type($result)"

    result = result_def()

    @classmethod
    def make(cls, result_type: Attribute, location: LocationAttr | None = None) -> Self:
        """An op whose result is of that type."""
        return cls.create(result_types=(result_type,), location=location)
