"""What a kind of stage says of itself: how its loop is chosen and written, in LLVM text and in Python."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Self

from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.kernels.llvm.llvm_module import ModuleText
from ttnn_jit.kernels.numba.python_scalar import PythonScalar


class NestStage:
    """A loop over the elements of a part of a loop nest; a kind of it is a subclass, in a file of its own.

    Attributes:
        operands: For each of its streams, the number of the nest's stream, or, above those, of what is in its scratch.
    """

    operands: tuple[int, ...]

    @property
    def picoseconds(self) -> float:
        """Predicted of an element."""
        raise NotImplementedError

    def functions(self, name: str, module: ModuleText) -> list[str]:
        """The definition of its function, which has that name; `module` gets what it uses.

        It has the form of a kernel (kernels/llvm/kernel_function.py). Over a block or a row it has one loop, and over a
        strip another around that. Over a block it gets no strides: streams are contiguous or scalars. There is none if
        it computes nothing.
        """
        raise NotImplementedError

    def write(self, builder: PythonScalar, elements: Sequence[str]) -> None:
        """Adds the Python statements for one element to `builder`; `elements` are where it is, by stream."""
        raise NotImplementedError

    def lines(self) -> Iterator[str]:
        """What it computes, for a reader of the stage ``host``."""
        raise NotImplementedError

    def vectorized(self, isa: HostIsa | None, vectors: int | None = None, **options: bool) -> Self:
        """The stage with its loop chosen, if there is a choice, for vectors as `vector_loop` takes them."""
        del isa, vectors, options
        return self
