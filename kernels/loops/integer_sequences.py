"""Integers some step apart. It is LLVM text because numba takes half a second to compile it, LLVM ten milliseconds.

Bound: the bytes of the result.
"""

from __future__ import annotations

from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.kernels.llvm.kernel_function import KernelFunction
from ttnn_jit.kernels.llvm.llvm_module import ModuleText
from ttnn_jit.kernels.llvm.types import FLOAT, I64
from ttnn_jit.kernels.llvm.values import integers
from ttnn_jit.kernels.loops.strided_vectors import StridedVectors, element_type
from ttnn_jit.kernels.vectors.llvm_vector import LlvmVector
from ttnn_jit.specs.dtypes import DataType
from ttnn_jit.specs.target import Numerics


def sequence_text(
    name: str, dtype: DataType, begin: int, step: int, numerics: Numerics, isa: HostIsa, module: ModuleText
) -> str:
    """A kernel (kernels/llvm/kernel_function.py) of one stream and one loop, which writes begin, begin + step, ...

    Args:
        name: Symbol of the kernel.
        dtype: Element type of the result; floats are the nearest to the integers.
        begin: The first integer.
        step: The difference of two of them.
        numerics: The rounding of results.
        isa: The instruction set.
        module: Receives the declarations.
    """
    b = KernelFunction(name, module, (element_type(dtype),), 0)
    (result,), extent, stride = b.streams(), b.extent(0), b.stride(0, 0)
    targets = StridedVectors(b, LlvmVector(isa, module, b.body), dtype)
    lanes = targets.lanes
    with targets.vectors(extent) as (first, count):
        start = b.splat(b.add(b.mul(first, step), begin), lanes)
        numbers = b.add(start, integers(tuple(k * step for k in range(lanes)), I64))
        given = numbers if dtype.is_integer else b.convert("sitofp", numbers, FLOAT.times(lanes))
        targets.store(targets.elements(given, numerics), result, first, stride, count)
    return b.build()
