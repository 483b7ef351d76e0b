"""Integers some step apart. It is LLVM text because numba takes half a second to compile it, LLVM ten milliseconds.

Bound: the bytes of the result.
"""

from __future__ import annotations

from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.kernels.llvm.kernel_function import KernelFunction
from ttnn_jit.kernels.llvm.llvm_module import ModuleText
from ttnn_jit.kernels.llvm.types import FLOAT, I64
from ttnn_jit.kernels.llvm.values import Value, integers
from ttnn_jit.kernels.loops.strided_vectors import StridedVectors, element_type
from ttnn_jit.kernels.vectors.llvm_vector import LlvmVector
from ttnn_jit.specs.dtypes import DataType
from ttnn_jit.specs.target import Numerics

_VECTORS = 8
"""Vectors of a chunk."""


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
    targets = StridedVectors(b, LlvmVector(isa, module, b.body), dtype, _VECTORS)

    def numbers_from(start: Value, vector: int) -> Value:
        lanes = range(vector * isa.lanes, (vector + 1) * isa.lanes)
        numbers = b.add(start, integers(tuple(lane * step for lane in lanes), I64))
        return numbers if dtype.is_integer else b.convert("sitofp", numbers, FLOAT.times(isa.lanes))

    with targets.chunks(extent) as (first, count):
        start = b.splat(b.add(b.mul(first, step), begin), isa.lanes)
        vectors = [targets.elements(numbers_from(start, vector), numerics) for vector in range(_VECTORS)]
        targets.store(vectors, result, first, stride, count)
    return b.build()
