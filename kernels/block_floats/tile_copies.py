"""Kernels that copy packed tiles of block floats."""

from __future__ import annotations

from ttnn_jit.kernels.llvm.kernel_function import KernelFunction
from ttnn_jit.kernels.llvm.llvm_module import ModuleText
from ttnn_jit.kernels.llvm.types import I8, array
from ttnn_jit.specs.dtypes import DataType


def tile_copies(name: str, dtype: DataType, rank: int, module: ModuleText) -> str:
    """A kernel (kernels/llvm/kernel_function.py) that copies whole tiles; it does not iterate over loops 0 and 1.

    If loop 0 has extent 0 it copies nothing.

    Args:
        name: Symbol of the kernel.
        dtype: The element type of both streams.
        rank: Number of loops around the innermost one.
        module: Receives the declarations.
    """
    b = KernelFunction(name, module, [array(dtype.stride_bytes, I8)] * 2, rank)
    with (
        b.when(b.compare("ne", b.extent(0, "width"), 0), "some"),
        b.outer_loops(b.streams(), innermost=2) as (read, written),
    ):
        b.copy_bytes(written, read, dtype.itemsize)
    return b.build()
