"""The interface of a kind of stage: how its loop is scheduled and emitted, as LLVM text and as Python."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Self

from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.kernels.llvm.llvm_module import ModuleText
from ttnn_jit.kernels.numba.python_scalar import PythonScalar


class NestStage:
    """A loop over the elements of a part of a loop nest. Each kind is a subclass in a file of its own.

    Attributes:
        operands: Per stream of the stage, the number of the nest's stream or, above those, of its scratch memory.
    """

    operands: tuple[int, ...]

    @property
    def picoseconds(self) -> float:
        """Predicted per element."""
        raise NotImplementedError

    def functions(self, name: str, module: ModuleText) -> list[str]:
        """The definition of its function `name`; declarations that it uses are added to `module`.

        The function has the ABI of a kernel (kernels/llvm/kernel_function.py). It has one loop over a block or a row,
        and two over a strip. Over a block it gets no strides: streams are contiguous or scalars. A stage that computes
        nothing has no function.
        """
        raise NotImplementedError

    def write(self, builder: PythonScalar, elements: Sequence[str]) -> None:
        """Emit the Python statements for one element to `builder`; `elements` has an expression per stream."""
        raise NotImplementedError

    def lines(self) -> Iterator[str]:
        """Its computation as lines of the dump ``host``."""
        raise NotImplementedError

    def vectorized(self, isa: HostIsa | None, vectors: int | None = None, **options: bool) -> Self:
        """The stage with its loop scheduled for vectors; the arguments are those of `vector_loop`."""
        del isa, vectors, options
        return self
