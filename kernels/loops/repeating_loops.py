"""A kernel that copies every element several times side by side, a vector at a time.

A vector that is read is shuffled into as many as its elements are repeated. The last ones are moved a second time with
some before them: it is a copy.

Bound: the bytes of both tensors; in a cache a shuffle and a store for each vector that is written.
"""

from __future__ import annotations

from ttnn_jit.kernels.llvm.kernel_function import KernelFunction
from ttnn_jit.kernels.llvm.llvm_module import ModuleText
from ttnn_jit.kernels.llvm.types import type_of
from ttnn_jit.specs.tensor_spec import DataType


def repeating_loops(name: str, dtype: DataType, rank: int, lanes: int, times: int, module: ModuleText) -> str:
    """A kernel (kernels/llvm/kernel_function.py) of two streams.

    Stream 0 is read, contiguous along loop 0, and does not move along loop 1, of `times` rounds, along which stream 1,
    which is written, is contiguous; along loop 0 it moves by as many.

    Args:
        name: Its symbol.
        dtype: Element type of both streams.
        rank: Loops around the innermost one, at least 1.
        lanes: Elements of a vector, of which loop 0 has as many at least.
        times: How often an element is repeated.
        module: What it declares.
    """
    kind, align = type_of(f"i{8 * dtype.itemsize}"), dtype.itemsize
    b = KernelFunction(name, module, (kind, kind), rank)
    extent, streams = b.extent(0, "extent"), b.streams()
    last = b.sub(extent, lanes, "last")
    with (
        b.when(b.compare("sge", last, 0), "some"),
        b.outer_loops(streams, innermost=2) as (source, target),
        b.count("i", extent, step=lanes) as vector,
    ):
        at = b.smin(vector.index, last, "i.at")
        loaded = b.load(kind.times(lanes), b.element(source, kind, at), align)
        written = b.element(target, kind, b.mul(at, times))
        for part in range(times):
            order = [(part * lanes + k) // times for k in range(lanes)]
            b.store(b.shuffle(loaded, None, order), b.element(written, kind, part * lanes), align)
    return b.ended()
