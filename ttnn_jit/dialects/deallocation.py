"""`ttnn.deallocate`, which modules of TTNN contain; this runtime frees memory by itself."""

from __future__ import annotations

from xdsl.dialects.builtin import BoolAttr, TensorType
from xdsl.ir import OpResult
from xdsl.irdl import IRDLOperation, operand_def, opt_prop_def
from xdsl.utils.exceptions import VerifyException

from ttnn_jit.dialects.writing.creation import QuickOperation
from ttnn_jit.dialects.writing.direct_access import op_definition


@op_definition
class DeallocateOp(QuickOperation, IRDLOperation):
    """``"ttnn.deallocate"(%x) <{force = false}>``: no later op uses the tensor.

    `force` deallocates a tensor that has aliases too. To the verifier aliases are separate values, which stay usable.
    """

    name = "ttnn.deallocate"

    input = operand_def(TensorType)
    force = opt_prop_def(BoolAttr)

    def verify_(self) -> None:
        """Refuses an argument: its memory belongs to the caller."""
        if not isinstance(self.input, OpResult):
            raise VerifyException("an argument is not deallocated: its memory belongs to the caller")
