"""Functions with the signature of a kernel, ``void name(ptr pointers, ptr params)``, and calls of them.

``pointers`` has the addresses of all streams. ``params`` has i64 numbers, with strides in elements::

    innermost extent, outer extents [rank], then per stream: innermost stride, outer strides [rank]

where ``rank`` is the number of loops around the innermost one, which are listed from the inside out. Outer extents are
at least 1.
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
    """Builds a kernel, or a function with the signature of one.

    Attributes:
        elements: The element type of each stream.
        rank: Number of loops around the innermost one.
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
        inlining: Body | None = None,
    ) -> None:
        """Begin the function; the arguments are those of the base class and the attributes of this one."""
        super().__init__(name, module, _PARAMETERS, is_internal=is_internal, attributes=attributes, inlining=inlining)
        self.elements = elements
        self.rank = rank
        self._pointers, self._params = self.parameters

    def extent(self, loop: int, hint: str = "") -> Value:
        """The extent of a loop; 0 is the innermost."""
        return self._param(loop, hint)

    def stride(self, k: int, loop: int, hint: str = "") -> Value:
        """The stride of stream k along a loop, in elements."""
        return self._param(1 + self.rank + k * (1 + self.rank) + loop, hint)

    def _param(self, index: int, hint: str) -> Value:
        return self.load(I64, self.element(self._params, I64, index, f"{hint}.at" if hint else ""), hint=hint)

    def stream(self, k: int, hint: str = "") -> Value:
        """The address of stream k's first element."""
        address = self.element(self._pointers, PTR, k, f"{hint}.at" if hint else "")
        return self.load(PTR, address, hint=hint or f"stream{k}")

    def streams(self) -> list[Value]:
        """The addresses of all streams."""
        return [self.stream(k) for k, _ in enumerate(self.elements)]

    @contextmanager
    def outer_loops(self, streams: Sequence[Value], innermost: int = 1) -> Iterator[Sequence[Value]]:
        """The loops from the outermost down to `innermost`.

        ``with function.outer_loops(function.streams()) as addresses`` yields the address of each stream in the current
        iteration.
        """
        yield from self._loops(self.rank, innermost, streams)

    def _loops(self, loop: int, innermost: int, streams: Sequence[Value]) -> Iterator[Sequence[Value]]:
        if loop < innermost:
            yield streams
            return
        carried = [(f"at{loop}_{k}", stream) for k, stream in enumerate(streams)]
        with self.loop(f"loop{loop}", (f"i{loop}", i64(0)), *carried) as rounds:
            number, *addresses = rounds.values
            yield from self._loops(loop - 1, innermost, addresses)
            following = self.add(number, 1, f"i{loop}.next")
            extent = self.extent(loop, f"extent{loop}")
            moved = [
                self.element(each, self.elements[k], self.stride(k, loop, f"outer{loop}_{k}"), f"next{loop}_{k}")
                for k, each in enumerate(addresses)
            ]
            rounds.again_if(self.compare("slt", following, extent, f"more{loop}"), following, *moved)


class NestedCall:
    """A call of a kernel function, with the memory of its arguments; create it in the entry block, run it anywhere."""

    def __init__(
        self, builder: Builder, function: str, operands: int, params: Sequence[Operand] | int, hint: str = ""
    ) -> None:
        """Allocate the arguments of `function` and store its params.

        Args:
            builder: The builder of the caller.
            function: Symbol of the callee.
            operands: Number of its streams.
            params: Its params, if they are the same in every call; or their number.
            hint: Suffix of the memory's names in generated text.
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
        """Store one of the params for the following calls."""
        b = self._builder
        b.store(param if isinstance(param, Value) else i64(param), b.element(self._params, I64, index))

    def run(self, *operands: Value) -> None:
        """Call it with streams at these addresses; trailing ones that are omitted keep their last addresses."""
        b = self._builder
        for index, operand in enumerate(operands):
            b.store(operand, b.element(self._pointers, PTR, index))
        b.call(VOID, self._function, self._pointers, self._params)
