"""Functions of a kernel's form, ``void name(ptr pointers, ptr params)``, and calls of them.

``pointers`` are the addresses of all streams. The words of ``params``, each an i64, strides counted in elements::

    innermost extent, outer extents [rank], then per stream: innermost stride, outer strides [rank]

where ``rank`` counts the loops around the innermost one, which are listed from the inside out. Outer extents are at
least 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ttnn_jit.kernels.llvm.builder import Builder
from ttnn_jit.kernels.llvm.function import FunctionBuilder, Parameter
from ttnn_jit.kernels.llvm.instructions import Operand
from ttnn_jit.kernels.llvm.llvm_module import ModuleText
from ttnn_jit.kernels.llvm.types import I64, PTR, VOID, Type
from ttnn_jit.kernels.llvm.values import Body, Value, i64

_PARAMETERS = (Parameter("pointers", PTR, "noalias readonly"), Parameter("params", PTR, "noalias readonly"))


class KernelFunction(FunctionBuilder):
    """Builds a kernel, or a function of its form.

    Attributes:
        elements: The type of each stream's elements.
        rank: Number of the outermost loop.
    """

    def __init__(
        self,
        name: str,
        module: ModuleText,
        elements: Sequence[Type],
        rank: int,
        *,
        is_internal: bool = False,
        attributes: str = "nounwind",
        taking_in: Body | None = None,
    ) -> None:
        """Begins the function; arguments as those of the base class, attributes as those of this one."""
        super().__init__(name, module, _PARAMETERS, is_internal=is_internal, attributes=attributes, taking_in=taking_in)
        self.elements = elements
        self.rank = rank
        self._pointers, self._words = self.parameters

    def extent(self, loop: int, hint: str = "") -> Value:
        """The extent of a loop; 0 is the innermost."""
        return self._word(loop, hint)

    def stride(self, k: int, loop: int, hint: str = "") -> Value:
        """How many elements stream k moves on by with a loop."""
        return self._word(1 + self.rank + k * (1 + self.rank) + loop, hint)

    def _word(self, index: int, hint: str) -> Value:
        return self.load(I64, self.element(self._words, I64, index, f"{hint}.at" if hint else ""), hint=hint)

    def stream(self, k: int, hint: str = "") -> Value:
        """The address of stream k's first element."""
        at = self.element(self._pointers, PTR, k, f"{hint}.at" if hint else "")
        return self.load(PTR, at, hint=hint or f"stream{k}")

    def streams(self) -> list[Value]:
        """Those of all streams."""
        return [self.stream(k) for k, _ in enumerate(self.elements)]

    @contextmanager
    def outer_loops(self, streams: Sequence[Value], innermost: int = 1) -> Iterator[Sequence[Value]]:
        """``with function.outer_loops(function.streams()) as at``: the loops from the outermost to `innermost`.

        Gives where each stream is in this round of all of them.
        """
        yield from self._loops(self.rank, innermost, streams)

    def _loops(self, loop: int, innermost: int, streams: Sequence[Value]) -> Iterator[Sequence[Value]]:
        if loop < innermost:
            yield streams
            return
        carried = [(f"at{loop}_{k}", stream) for k, stream in enumerate(streams)]
        with self.loop(f"loop{loop}", (f"i{loop}", i64(0)), *carried) as rounds:
            number, *at = rounds.values
            yield from self._loops(loop - 1, innermost, at)
            following = self.add(number, 1, f"i{loop}.next")
            extent = self.extent(loop, f"extent{loop}")
            moved = [
                self.element(each, self.elements[k], self.stride(k, loop, f"outer{loop}_{k}"), f"next{loop}_{k}")
                for k, each in enumerate(at)
            ]
            rounds.again_if(self.compare("slt", following, extent, f"more{loop}"), following, *moved)


class NestedCall:
    """A function of a kernel's form, and the memory of its arguments: made in the first block, called anywhere."""

    def __init__(
        self, builder: Builder, function: str, operands: int, words: Sequence[Operand] | int, hint: str = ""
    ) -> None:
        """Allocates the arguments of `function`, and writes its words.

        Args:
            builder: Of the function that calls it.
            function: Its symbol.
            operands: How many streams it has.
            words: Its words, where they are the same in every call; or how many they are.
            hint: Names the memory, in generated text.
        """
        first = () if isinstance(words, int) else words
        count = words if isinstance(words, int) else len(words)
        self._builder = builder
        self._function = function
        self._pointers = builder.alloca(PTR, operands, hint=f"operands{hint}")
        self._words = builder.alloca(I64, count, hint=f"words{hint}")
        for index, word in enumerate(first):
            self.set_word(index, word)

    def set_word(self, index: int, word: Operand) -> None:
        """Writes a word for the calls that follow."""
        b = self._builder
        b.store(word if isinstance(word, Value) else i64(word), b.element(self._words, I64, index))

    def run(self, *operands: Value) -> None:
        """Calls it, of streams at these addresses; those that are left out stay as they were."""
        b = self._builder
        for index, operand in enumerate(operands):
            b.store(operand, b.element(self._pointers, PTR, index))
        b.call(VOID, self._function, self._pointers, self._words)
