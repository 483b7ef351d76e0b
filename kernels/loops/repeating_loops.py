"""A kernel that repeats every element several times, contiguously, a vector at a time.

An input vector is shuffled into as many output vectors as there are repetitions. The last vector overlaps the one
before it, which is harmless in a copy.

Bound: the bytes of both tensors; in a cache, a shuffle and a store for each output vector.
"""

from __future__ import annotations

from ttnn_jit.kernels.llvm.kernel_function import KernelFunction
from ttnn_jit.kernels.llvm.llvm_module import ModuleText
from ttnn_jit.kernels.llvm.types import type_of
from ttnn_jit.specs.tensor_spec import DataType


def repeating_loops(name: str, dtype: DataType, rank: int, lanes: int, times: int, module: ModuleText) -> str:
    """A kernel (kernels/llvm/kernel_function.py) of two streams.

    Loop 1 has `times` iterations. Stream 0 is read: it is contiguous along loop 0 and invariant in loop 1. Stream 1 is
    written: it is contiguous along loop 1 and has stride `times` along loop 0.

    Args:
        name: Symbol of the kernel.
        dtype: Element type of both streams.
        rank: Loops around the innermost one, at least 1.
        lanes: Elements of a vector; the extent of loop 0 is at least this.
        times: Number of repetitions.
        module: Receives the declarations.
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
    return b.build()
