"""The end of a tensor's memory, which modules of TTNN state; here memory goes back by itself."""

from __future__ import annotations

from xdsl.dialects.builtin import BoolAttr, TensorType
from xdsl.ir import OpResult
from xdsl.irdl import IRDLOperation, operand_def, opt_prop_def
from xdsl.utils.exceptions import VerifyException

from ttnn_jit.dialects.writing.creation import QuickOperation
from ttnn_jit.dialects.writing.direct_access import op_definition


@op_definition
class DeallocateOp(QuickOperation, IRDLOperation):
    """``"ttnn.deallocate"(%x) <{force = false}>``: nothing behind it uses the tensor.

    `force` says that it is so too where other tensors lie in its memory; the verifier sees them to be values of their
    own, which live on.
    """

    name = "ttnn.deallocate"

    input = operand_def(TensorType)
    force = opt_prop_def(BoolAttr)

    def verify_(self) -> None:
        """Refuses an argument, whose memory is the caller's."""
        if not isinstance(self.input, OpResult):
            raise VerifyException("an argument is not deallocated: its memory belongs to the caller")
