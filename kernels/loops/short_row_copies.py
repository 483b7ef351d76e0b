"""A copy of rows that a vector holds: the windows of images of few channels, the small dimensions that a permute keeps.

Bound: the bytes of both tensors; in a cache, a load and a store for each row.
"""

from __future__ import annotations

from ttnn_jit.kernels.llvm.kernel_function import KernelFunction
from ttnn_jit.kernels.llvm.llvm_module import ModuleText
from ttnn_jit.kernels.llvm.types import type_of
from ttnn_jit.specs.tensor_spec import DataType


def short_row_copies(name: str, dtype: DataType, rank: int, lanes: int, module: ModuleText) -> str:
    """A kernel (kernels/llvm/kernel_function.py) of two streams, which are contiguous along loop 0.

    Args:
        name: Symbol of the kernel.
        dtype: Element type of both streams.
        rank: Loops around the innermost one, at least 1.
        lanes: The extent of loop 0.
        module: Receives the declarations.
    """
    kind, align = type_of(f"i{8 * dtype.itemsize}"), dtype.itemsize
    b = KernelFunction(name, module, (kind, kind), rank)
    with (
        b.when(b.compare("eq", b.extent(0, "extent"), lanes), "whole"),
        b.outer_loops(b.streams(), innermost=1) as (source, target),
    ):
        b.store(b.load(kind.times(lanes), source, align), target, align)
    return b.build()
