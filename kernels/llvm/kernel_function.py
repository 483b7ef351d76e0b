"""Functions of a kernel's form, ``void name(ptr pointers, ptr params)``, and calls of them.

``pointers`` are the addresses of all streams. The numbers of ``params``, each an i64, strides counted in elements::

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
        self._pointers, self._params = self.parameters

    def extent(self, loop: int, hint: str = "") -> Value:
        """The extent of a loop; 0 is the innermost."""
        return self._param(loop, hint)

    def stride(self, k: int, loop: int, hint: str = "") -> Value:
        """How many elements stream k moves on by with a loop."""
        return self._param(1 + self.rank + k * (1 + self.rank) + loop, hint)

    def _param(self, index: int, hint: str) -> Value:
        return self.load(I64, self.element(self._params, I64, index, f"{hint}.at" if hint else ""), hint=hint)

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
        self, builder: Builder, function: str, operands: int, params: Sequence[Operand] | int, hint: str = ""
    ) -> None:
        """Allocates the arguments of `function`, and writes its params.

        Args:
            builder: Of the function that calls it.
            function: Its symbol.
            operands: How many streams it has.
            params: Its params, where they are the same in every call; or how many they are.
            hint: Names the memory, in generated text.
        """
        first = () if isinstance(params, int) else params
        count = params if isinstance(params, int) else len(params)
        self._builder = builder
        self._function = function
        self._pointers = builder.alloca(PTR, operands, hint=f"operands{hint}")
        self._params = builder.alloca(I64, count, hint=f"words{hint}")
        for index, param in enumerate(first):
            self.set_param(index, param)

    def set_param(self, index: int, param: Operand) -> None:
        """Writes one of the params for the calls that follow."""
        b = self._builder
        b.store(param if isinstance(param, Value) else i64(param), b.element(self._params, I64, index))

    def run(self, *operands: Value) -> None:
        """Calls it, of streams at these addresses; those that are left out stay as they were."""
        b = self._builder
        for index, operand in enumerate(operands):
            b.store(operand, b.element(self._pointers, PTR, index))
        b.call(VOID, self._function, self._pointers, self._params)
