"""Integers some step apart. It is LLVM text because numba takes half a second to compile it, LLVM ten milliseconds.

Bound: the bytes of the result.
"""

from __future__ import annotations

from collections.abc import Sequence

from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.kernels.llvm.kernel_function import KernelFunction
from ttnn_jit.kernels.llvm.llvm_module import ModuleText
from ttnn_jit.kernels.llvm.types import FLOAT, I32, I64
from ttnn_jit.kernels.llvm.values import Value, i64, integers
from ttnn_jit.kernels.loops.strided_vectors import StridedVectors, element_type
from ttnn_jit.kernels.vectors.llvm_vector import LlvmVector
from ttnn_jit.specs.dtypes import DataType
from ttnn_jit.specs.target import Numerics

_VECTORS = 8
"""Vectors of a chunk."""


def sequence_text(
    name: str,
    dtypes: Sequence[DataType],
    begin: int | None,
    step: int | None,
    numerics: Numerics,
    isa: HostIsa,
    module: ModuleText,
) -> str:
    """A kernel (kernels/llvm/kernel_function.py) of one loop, which writes begin, begin + step, ... to its last stream.

    Args:
        name: Symbol of the kernel.
        dtypes: Element types of the streams; floats of the result are the nearest to the integers.
        begin: The first integer; None: the one element of the first stream.
        step: The difference of two of them; None: the one element of the next stream.
        numerics: The rounding of results.
        isa: The instruction set.
        module: Receives the declarations.
    """
    b = KernelFunction(name, module, [*map(element_type, dtypes)], 0)
    (*given, result), dtype = b.streams(), dtypes[-1]
    extent, stride = b.extent(0), b.stride(len(given), 0)
    numbers = (b.convert("sext", b.load(I32, each), I64) for each in given)
    first_number, distance = (next(numbers) if each is None else i64(each) for each in (begin, step))
    targets = StridedVectors(b, LlvmVector(isa, module, b.body), dtype, _VECTORS)

    def numbers_from(start: Value, vector: int) -> Value:
        lanes = range(vector * isa.lanes, (vector + 1) * isa.lanes)
        if step is None:
            apart = b.mul(integers(tuple(lanes), I64), b.splat(distance, isa.lanes))
        else:
            apart = integers(tuple(lane * step for lane in lanes), I64)
        numbers = b.add(start, apart)
        return numbers if dtype.is_integer else b.convert("sitofp", numbers, FLOAT.times(isa.lanes))

    with targets.chunks(extent) as (first, count):
        start = b.splat(b.add(b.mul(first, distance), first_number), isa.lanes)
        vectors = [targets.elements(numbers_from(start, vector), numerics) for vector in range(_VECTORS)]
        targets.store(vectors, result, first, stride, count)
    return b.build()
