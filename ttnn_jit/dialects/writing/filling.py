"""The common base of ops that make a tensor of one number."""

from __future__ import annotations

from abc import ABC

from xdsl.dialects.builtin import FloatAttr, IntegerAttr, IntegerType, TensorType, f32, i32
from xdsl.irdl import BaseAttr, IRDLOperation, prop_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ttnn_jit.dialects.writing.creation import QuickOperation


class FillingOp(QuickOperation, IRDLOperation, ABC):
    """``"dialect.full"() <{fill_value = ...}>``; each dialect adds its own operands and properties."""

    fill_value = prop_def(BaseAttr(FloatAttr) | BaseAttr(IntegerAttr))
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def verify_(self) -> None:
        """Requires a fill value of type f32 in a tensor of floats, and of type i32 in one of integers."""
        assert isinstance(self.result.type, TensorType)
        element = self.result.type.element_type
        wanted = i32 if isinstance(element, IntegerType) else f32
        if self.fill_value.type != wanted:
            raise VerifyException(
                f"{self.name} fills a tensor of {element} with an {wanted}, got {self.fill_value.type}"
            )
