"""Kernels that copy tiles of block floats as they lie."""

from __future__ import annotations

from ttnn_jit.kernels.llvm.kernel_function import KernelFunction
from ttnn_jit.kernels.llvm.llvm_module import ModuleText
from ttnn_jit.kernels.llvm.types import I8, array
from ttnn_jit.specs.dtypes import DataType


def tile_copies(name: str, dtype: DataType, rank: int, module: ModuleText) -> str:
    """A kernel (kernels/llvm/kernel_function.py) whose loops 0 and 1, which are in a tile, are no loops of it.

    Without elements it copies nothing.

    Args:
        name: Its symbol.
        dtype: The element type of both streams.
        rank: Number of the outermost loop.
        module: What it declares.
    """
    b = KernelFunction(name, module, [array(dtype.stride_bytes, I8)] * 2, rank)
    with (
        b.when(b.compare("ne", b.extent(0, "width"), 0), "some"),
        b.outer_loops(b.streams(), innermost=2) as (read, written),
    ):
        b.copy_bytes(written, read, dtype.itemsize)
    return b.ended()
