"""A kernel's LLVM text before it is named by a hash of itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ttnn_jit.codegen.vector_loop import Tier
from ttnn_jit.kernels.llvm_module import ModuleText
from ttnn_jit.nest.streams import Stream
from ttnn_jit.ops.reduction import SHORT_ROW
from ttnn_jit.process.dataclass import dataclass


@dataclass(frozen=True)
class Draft:
    """A kernel without a name.

    Attributes:
        definitions: Its functions.
        module: Declarations, tables and rare paths that they use.
        picoseconds: Predicted arithmetic per element.
        after: Functions printed after what `module` holds.
        remarks: Comment lines for the head of the text.
        tier: How it is compiled.
        panels: As `Launch` has it.
    """

    definitions: Sequence[str]
    module: ModuleText
    picoseconds: float
    after: Sequence[str] = ()
    remarks: Sequence[str] = ()
    tier: Tier = Tier.OPTIMISED
    panels: tuple[int, ...] = ()


def types_remark(streams: Iterable[Stream]) -> str:
    """A comment with the element types of the streams, so that kernels of different ones have different names."""
    return f"; streams: {', '.join(stream.dtype.mlir for stream in streams)}"


def rows_remark(*, is_short: bool) -> str:
    """A comment with how long the rows are that a kernel is made for."""
    return f"; rows of {'at most' if is_short else 'more than'} {SHORT_ROW} elements"
