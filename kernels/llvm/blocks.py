"""Basic blocks of an LLVM function, branches that pass block arguments, and regions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ttnn_jit.kernels.llvm.instructions import Instructions, Operand
from ttnn_jit.kernels.llvm.types import Type
from ttnn_jit.kernels.llvm.values import Block, Body, InstructionCost, Value, integer
from ttnn_jit.process.dataclass import dataclass

_RARE = '!prof !{!"branch_weights", i32 1, i32 100000}'


@dataclass(frozen=True)
class Region:
    """Single-entry, single-exit code with parameters, which functions inline.

    Attributes:
        body: The code; its first block is merged into the block that inlines it.
        parameters: Values that are defined outside of it.
        results: The values that it computes.
    """

    body: Body
    parameters: Sequence[Value]
    results: Sequence[Value]


class Blocks(Instructions):
    """Writes instructions into blocks; see the base class."""

    def new_block(self, hint: str, *arguments: tuple[Type, str], cost: InstructionCost = InstructionCost.NONE) -> Block:
        """A block with arguments of these types and names; `begin` places it in the function."""
        label = self.body.named(hint)
        return Block(label, [self.new(type_, name) for type_, name in arguments], cost)

    def begin(self, block: Block) -> tuple[Value, ...]:
        """Place the block here and write into it; returns its arguments."""
        self.body.code.append(block)
        self.body.block = block
        return block.arguments

    def branch(self, target: Block, *given: Operand) -> None:
        """End the current block with a branch that passes `given`."""
        self._pass_arguments(target, given)
        self._emit_void(f"br label %%{target.label}")

    def branch_if(
        self,
        condition: Value,
        then: Block,
        otherwise: Block,
        given: Sequence[Operand] = (),
        otherwise_given: Sequence[Operand] = (),
        *,
        is_rare: bool = False,
    ) -> None:
        """End the current block with a conditional branch; each target gets its arguments."""
        self._pass_arguments(then, given)
        self._pass_arguments(otherwise, otherwise_given)
        weights = f", {_RARE}" if is_rare else ""
        self._emit_void(f"br i1 %s, label %%{then.label}, label %%{otherwise.label}{weights}", condition)

    def _pass_arguments(self, target: Block, given: Sequence[Operand]) -> None:
        arguments = target.arguments
        assert len(given) == len(arguments), f"{target.label} takes {len(arguments)} arguments"
        typed = [
            each if isinstance(each, Value) else integer(each, argument.type)
            for each, argument in zip(given, arguments, strict=True)
        ]
        target.incoming.append((self.body.block, typed))

    def ret(self, result: Value | None = None) -> None:
        """Return from the function."""
        if result is None:
            self._emit_void("ret void")
        else:
            self._emit_void(f"ret {result.type} %s", result)

    def inline(
        self, region: Region, given: Sequence[Value], constants: Mapping[tuple[Type, str], Value] | None = None
    ) -> list[Value]:
        """Inline a region with `given` as its arguments; returns its results.

        Args:
            region: The region; its names must be free in this body.
            given: One value for each parameter.
            constants: Values that replace constants of the region, by type and text of the constant; of constants of
                one text, all or none.
        """
        arguments: dict[str, Value] = dict(zip(region.parameters, given, strict=True))
        substituted = _substitution(arguments, constants or {})
        first, *code = region.body.code
        own = {id(each): Block(each.label, each.arguments, each.cost) for each in code if isinstance(each, Block)}
        blocks = {id(first): self.body.block, **own}
        write = self.body.code.append
        for item in code:
            if not isinstance(item, Block):
                template, values, cost = item
                write((template, substituted(values), cost))
                continue
            block = blocks[id(item)]
            block.incoming = [(blocks[id(before)], substituted(given)) for before, given in item.incoming]
            self.begin(block)
        return [*substituted(region.results)]


def _substitution(
    values: dict[str, Value], constants: Mapping[tuple[Type, str], Value]
) -> Callable[[Sequence[Value]], tuple[Value, ...]]:
    """A function that replaces values by others, and constants, which are known by type and text."""
    by_text = values | {text: value for (_, text), value in constants.items()}
    if len(by_text) == len(values) + len(constants):  # their types need not be compared, which takes longer
        find = by_text.get
        return lambda given: tuple(map(find, given, given))  # what is not found is kept
    return lambda given: tuple([constants.get((each.type, each)) or values.get(each, each) for each in given])
