"""A stage that unpacks block floats into a scratch buffer, or packs the buffer."""

from __future__ import annotations

from collections.abc import Iterable

from ttnn_jit.codegen.bodies.steps import KernelBody
from ttnn_jit.kernels.block_floats.packing_loops import PackingLoops
from ttnn_jit.kernels.llvm.llvm_module import ModuleText
from ttnn_jit.nest.streams import InnerAccess, Stream
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.dtypes import DataType
from ttnn_jit.specs.target import Numerics

PICOSECONDS_OF_PACKING = 100
"""Predicted per element: about 25 instructions for a group of 16."""


@dataclass(frozen=True)
class Conversion:
    """The conversion of one block-float stream: unpacked before the other stages, or packed behind them.

    Attributes:
        stream: The number of the nest's stream.
        packed: The stream in its storage format.
        scratch: The buffer of its elements.
        numerics: The rounding of elements.
    """

    stream: int
    packed: Stream
    scratch: Stream
    numerics: Numerics

    @property
    def direction(self) -> str:
        """The direction of the conversion, for reports."""
        return "packed" if self.packed.written else "unpacked"

    @property
    def symbol(self) -> str:
        """The symbol of its function."""
        return f"ttnn_jit.{'pack' if self.packed.written else 'unpack'}{self.stream}"

    def functions(self, module: ModuleText) -> list[str]:
        """The definition of its function; declarations that it uses are added to `module`."""
        read, written = (self.packed.dtype, self.scratch.dtype)[:: -1 if self.packed.written else 1]
        return PackingLoops(self.symbol, read, written, self.numerics, module, is_internal=True).definitions()


def conversions_of(body: KernelBody, dtypes: Iterable[DataType]) -> tuple[Conversion, ...]:
    """The conversions of a body's block-float streams, whose elements have the types `dtypes`, in order."""
    packed = ((k, stream) for k, stream in enumerate(body.streams) if stream.dtype.is_block_float)
    return tuple(
        Conversion(k, stream, Stream(dtype, InnerAccess.CONTIGUOUS), body.numerics)
        for (k, stream), dtype in zip(packed, dtypes, strict=True)
    )
