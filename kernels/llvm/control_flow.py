"""Structured loops and branches of an LLVM function as ``with`` blocks; `Builder` makes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self

from ttnn_jit.kernels.llvm.blocks import Blocks
from ttnn_jit.kernels.llvm.instructions import Operand
from ttnn_jit.kernels.llvm.types import I64
from ttnn_jit.kernels.llvm.values import Block, InstructionCost, Value, integer


class _LoopBase:
    """A loop with loop-carried values.

    Attributes:
        values: The loop-carried values in this iteration.
        end: Name of the method that must be called last in the loop.
    """

    end: ClassVar[str]

    def __init__(self, builder: Blocks, hint: str, carried: Sequence[tuple[str, Value]]) -> None:
        self._builder = builder
        self._hint = hint
        self._carried = carried
        self.values: tuple[Value, ...] = ()
        self._head: Block

    def __enter__(self) -> Self:
        b = self._builder
        self._head = b.new_block(self._hint, *((first.type, name) for name, first in self._carried))
        b.branch(self._head, *(first for _, first in self._carried))
        self.values = b.begin(self._head)
        return self

    def __exit__(self, *error: object) -> None:
        assert error[0] is not None or self._head.incoming[1:], f"a loop ends with `{self.end}`"


class Loop(_LoopBase):
    """A do-while loop: its condition is at the end.

    Attributes:
        values: The loop-carried values in this iteration; after the loop, their final values.
    """

    end = "again_if"

    def again_if(self, condition: Value, *following: Value) -> None:
        """End the loop body: iterate again if `condition`, with the values `following`."""
        after = self._after(following)
        self._builder.branch_if(condition, self._head, after, following)
        self._builder.begin(after)

    def again_unless(self, condition: Value, *following: Value) -> None:
        """End the loop body: leave the loop if `condition`, else iterate again with the values `following`."""
        after = self._after(following)
        self._builder.branch_if(condition, after, self._head, (), following)
        self._builder.begin(after)

    def _after(self, following: tuple[Value, ...]) -> Block:
        self.values = following
        return self._builder.new_block(f"{self._hint}.done")


class WhileLoop(_LoopBase):
    """A loop whose condition is in its header, after the code that computes it.

    Attributes:
        values: The loop-carried values in this iteration; after the loop, their values in the last header.
    """

    end = "again"
    _after: Block

    def leave_unless(self, condition: Value) -> None:
        """End the header: leave the loop unless `condition`. Called once."""
        b = self._builder
        trip, self._after = b.new_block(f"{self._hint}.trip"), b.new_block(f"{self._hint}.done")
        b.branch_if(condition, trip, self._after)
        b.begin(trip)

    def again(self, *following: Operand) -> None:
        """End the loop body: iterate again with the values `following`."""
        self._builder.branch(self._head, *following)
        self._builder.begin(self._after)


class CountedLoop:
    """A loop over an induction variable.

    Attributes:
        index: The induction variable.
        end: Its upper bound; may be set in the loop, as may `step`.
        step: Its increment.
        values: The loop-carried values in this iteration; after the loop, their final values.
    """

    def __init__(
        self,
        builder: Blocks,
        hint: str,
        end: Operand,
        carried: Sequence[tuple[str, Value]],
        begin: Operand,
        step: Operand,
    ) -> None:
        first = begin if isinstance(begin, Value) else integer(begin, end.type if isinstance(end, Value) else I64)
        self._loop = Loop(builder, f"{hint}.loop", ((hint, first), *carried))
        self._builder = builder
        self._hint = hint
        self.end = end
        self.step = step
        self._following: tuple[Value, ...] = ()
        self.index: Value
        self.values: tuple[Value, ...]

    def __enter__(self) -> CountedLoop:
        self.index, *values = self._loop.__enter__().values
        self.values = tuple(values)
        return self

    def carry(self, *following: Value) -> None:
        """Set the loop-carried values of the next iteration."""
        self._following = following

    def __exit__(self, *error: object) -> None:
        if error[0] is None:
            b, name = self._builder, self._hint
            following = b.add(self.index, self.step, f"{name}.next")
            more = b.compare("slt", following, self.end, f"{name}.more")
            self._loop.again_if(more, following, *self._following)
            self.values = self._following


class _Merge:
    """A control-flow merge of two paths.

    Attributes:
        values: After the merge, the values of the path that was taken.
    """

    _after: Block

    def __init__(self, builder: Blocks, condition: Value, hint: str) -> None:
        self._builder = builder
        self._condition = condition
        self._hint = hint
        self._yielded: tuple[Value, ...] = ()
        self.values: tuple[Value, ...] = ()

    def yield_values(self, *values: Value) -> None:
        """Set the values of the path that is written last."""
        self._yielded = values

    def __exit__(self, *error: object) -> None:
        if error[0] is None:
            self._builder.branch(self._after, *self._yielded)
            self.values = self._builder.begin(self._after)


class Branch(_Merge):
    """An if without else.

    Attributes:
        values: After it, the values of the branch if it was taken, else the defaults.
    """

    def __init__(
        self, builder: Blocks, condition: Value, hint: str, otherwise: Sequence[tuple[str, Value]], *, is_rare: bool
    ) -> None:
        super().__init__(builder, condition, hint)
        self._otherwise = otherwise
        self._is_rare = is_rare

    def __enter__(self) -> Branch:
        b = self._builder
        then = b.new_block(self._hint)
        cost = InstructionCost.ONE if self._is_rare else InstructionCost.NONE
        arguments = ((first.type, name) for name, first in self._otherwise)
        self._after = b.new_block(f"{self._hint}.after", *arguments, cost=cost)
        instead = [first for _, first in self._otherwise]
        b.branch_if(self._condition, then, self._after, (), instead, is_rare=self._is_rare)
        b.begin(then)
        self._was_rare, b.body.is_rare = b.body.is_rare, b.body.is_rare or self._is_rare
        return self

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        self._builder.body.is_rare = self._was_rare


class Choice(_Merge):
    """An if with else; `otherwise` begins the else branch.

    Attributes:
        values: After it, the values of the branch that was taken.
    """

    _other: Block

    def __enter__(self) -> Choice:
        b = self._builder
        then, self._other = b.new_block(self._hint), b.new_block(f"{self._hint}.not")
        b.branch_if(self._condition, then, self._other)
        b.begin(then)
        return self

    def otherwise(self, *given: Value) -> None:
        """End the then branch, with its values `given`, and begin the else branch."""
        b = self._builder
        self._after = b.new_block(f"{self._hint}.after", *((value.type, "") for value in given))
        b.branch(self._after, *given)
        b.begin(self._other)
