"""The index constants of a kernel: one `arith.constant` per value, at the top of its region."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Block, Operation, SSAValue

from ttnn_jit.dialects.builders import constant_index
from ttnn_jit.dialects.writing.editing import append, insert_before
from ttnn_jit.process.memoized import keys_as_expressions


class IndexConstants:
    """Constants at the start of `block`; existing ones are reused."""

    def __init__(self, block: Block) -> None:
        self._block = block
        self._values: dict[int, SSAValue] = {}
        self._last: Operation | None = None
        for op in block.ops:
            if not isinstance(op, arith.ConstantOp):
                break
            self._last = op
            if isinstance(op.value, IntegerAttr) and isinstance(op.result.type, IndexType):
                with keys_as_expressions():
                    self._values[op.value.value.data] = op.result

    def value(self, number: int) -> SSAValue:
        """The constant `number`."""
        with keys_as_expressions():
            found = self._values.get(number)
        if found is None:
            constant = constant_index(number, self._block.first_op.location if self._block.first_op else None)
            self.append(constant)
            with keys_as_expressions():
                found = self._values[number] = constant.result
        return found

    def append(self, constant: Operation) -> None:
        """Inserts a constant after those at the start of the block."""
        following = self._block.first_op if self._last is None else self._last.next_op
        if following is None:
            append(self._block, (constant,))
        else:
            insert_before(constant, following)
        self._last = constant
