"""Basic blocks of an LLVM function, the branches that give them their arguments, and regions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ttnn_jit.kernels.llvm.instructions import Instructions, Operand
from ttnn_jit.kernels.llvm.types import Type
from ttnn_jit.kernels.llvm.values import Block, Body, Value, Work, integer
from ttnn_jit.process.dataclass import dataclass

_RARE = '!prof !{!"branch_weights", i32 1, i32 100000}'


@dataclass(frozen=True)
class Region:
    """Code of one entry and one end, with parameters, that functions take in.

    Attributes:
        body: The code; for its first block stands the one that takes it in.
        parameters: Values that are not its own.
        results: What it computes.
    """

    body: Body
    parameters: Sequence[Value]
    results: Sequence[Value]


class Blocks(Instructions):
    """Writes instructions into blocks; see the base class."""

    def new_block(self, hint: str, *arguments: tuple[Type, str], work: Work = Work.NONE) -> Block:
        """A block that takes arguments, of types and with names; `begin` says where its code stands."""
        label = self.body.named(hint)
        return Block(label, [self.new(type_, name) for type_, name in arguments], work)

    def begin(self, block: Block) -> tuple[Value, ...]:
        """What is written from here on is the block's; its arguments."""
        self.body.code.append(block)
        self.body.block = block
        return block.arguments

    def branch(self, target: Block, *given: Operand) -> None:
        """Ends the block."""
        self._gives(target, given)
        self._do(f"br label %%{target.label}")

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
        """Ends the block; each target gets its arguments."""
        self._gives(then, given)
        self._gives(otherwise, otherwise_given)
        weights = f", {_RARE}" if is_rare else ""
        self._do(f"br i1 %s, label %%{then.label}, label %%{otherwise.label}{weights}", condition)

    def _gives(self, target: Block, given: Sequence[Operand]) -> None:
        arguments = target.arguments
        assert len(given) == len(arguments), f"{target.label} takes {len(arguments)} arguments"
        typed = [
            each if isinstance(each, Value) else integer(each, argument.type)
            for each, argument in zip(given, arguments, strict=True)
        ]
        target.incoming.append((self.body.block, typed))

    def give_back(self, result: Value | None = None) -> None:
        """Returns from the function."""
        if result is None:
            self._do("ret void")
        else:
            self._do(f"ret {result.type} %s", result)

    def take_in(
        self, region: Region, given: Sequence[Value], constants: Mapping[tuple[Type, str], Value] | None = None
    ) -> list[Value]:
        """Writes a region here, over the values that are `given` for its parameters; its results.

        Args:
            region: What is written; its names are free in this body.
            given: One value for each parameter.
            constants: By type and text of its constants, values in their places.
        """
        values, constants = dict(zip(region.parameters, given, strict=True)), constants or {}

        def substituted(operands: Iterable[Value]) -> tuple[Value, ...]:
            if not constants:
                return tuple([values.get(each, each) for each in operands])
            return tuple([constants.get((each.type, each)) or values.get(each, each) for each in operands])

        first, *code = region.body.code
        own = {id(each): Block(each.label, each.arguments, each.work) for each in code if isinstance(each, Block)}
        blocks = {id(first): self.body.block, **own}
        changed, write = None if constants else {*values}, self.body.code.append
        for item in code:
            if not isinstance(item, Block):
                result, template, operands, work = item
                is_same = changed is not None and changed.isdisjoint(operands)
                write(item if is_same else (result, template, substituted(operands), work))
                continue
            block = blocks[id(item)]
            block.incoming = [(blocks[id(before)], substituted(given)) for before, given in item.incoming]
            self.begin(block)
        return [*substituted(region.results)]
