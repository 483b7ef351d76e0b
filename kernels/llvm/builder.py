"""The builder of an LLVM function: instructions, blocks, and structured loops and branches."""

from __future__ import annotations

from ttnn_jit.kernels.llvm.blocks import Blocks
from ttnn_jit.kernels.llvm.control_flow import Branch, Choice, CountedLoop, Loop, WhileLoop
from ttnn_jit.kernels.llvm.instructions import Operand
from ttnn_jit.kernels.llvm.values import Value


class Builder(Blocks):
    """Writes a function; see the base classes."""

    def loop(self, hint: str, *carried: tuple[str, Value]) -> Loop:
        """``with b.loop("row", ("at", first)) as row``: a loop of at least one iteration; see `Loop`."""
        return Loop(self, hint, carried)

    def count(
        self, hint: str, end: Operand, *carried: tuple[str, Value], begin: Operand = 0, step: int = 1
    ) -> CountedLoop:
        """``with b.count("i", n) as i``: a loop over signed i64 from `begin` to `end`, at least one iteration."""
        return CountedLoop(self, hint, end, carried, begin, step)

    def while_loop(self, hint: str, *carried: tuple[str, Value]) -> WhileLoop:
        """``with b.while_loop("column", ("c", first)) as each``: a while loop; see `WhileLoop`."""
        return WhileLoop(self, hint, carried)

    def when(self, condition: Value, hint: str, *otherwise: tuple[str, Value], is_rare: bool = False) -> Branch:
        """``with b.when(holds, "found") as found``: an if without else; see `Branch`."""
        return Branch(self, condition, hint, otherwise, is_rare=is_rare)

    def choose(self, condition: Value, hint: str) -> Choice:
        """``with b.choose(holds, "found") as found``: an if with else; see `Choice`."""
        return Choice(self, condition, hint)
