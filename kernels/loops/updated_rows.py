"""Rows that are written to positions which are elements of a tensor: the new rows of a cache of keys or values.

It is LLVM text because numba takes half a second to compile it, LLVM ten milliseconds.

Bound: the bytes of the new rows.
"""

from __future__ import annotations

from collections.abc import Sequence

from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.kernels.llvm.kernel_function import KernelFunction
from ttnn_jit.kernels.llvm.llvm_module import ModuleText
from ttnn_jit.kernels.loops.gathered_rows import row_number
from ttnn_jit.kernels.loops.strided_vectors import StridedVectors, element_type
from ttnn_jit.kernels.vectors.llvm_vector import LlvmVector
from ttnn_jit.specs.dtypes import DataType
from ttnn_jit.specs.target import Numerics

_VECTORS = 2
"""Vectors of a chunk: rows of keys and values are whole multiples of that."""


def row_update_text(
    name: str, dtypes: Sequence[DataType], rank: int, numerics: Numerics, isa: HostIsa, module: ModuleText
) -> str:
    """A kernel (kernels/llvm/kernel_function.py) over new rows, their positions and the result.

    Its inner loops are, from the inside out: the elements of a row, the positions, the matrices of the result, and the
    new rows. If the result has one matrix, all rows are written to it, else each to its own. A position out of range is
    skipped.

    Args:
        name: Symbol of the kernel.
        dtypes: Element types of the streams; floats, integers, floats.
        rank: Number of loops around the innermost one.
        numerics: The rounding of results.
        isa: The instruction set.
        module: Receives the declarations.
    """
    given, index, kept = dtypes
    b = KernelFunction(name, module, [element_type(dtype) for dtype in dtypes], rank)
    builder, streams = LlvmVector(isa, module, b.body), b.streams()
    width, positions, matrices, rows = (b.extent(loop) for loop in range(4))
    sources, targets = (StridedVectors(b, builder, dtype, _VECTORS) for dtype in (given, kept))
    is_copy = given is kept and numerics is Numerics.IEEE
    to_source, to_listed = b.stride(0, 3), b.stride(1, 3)
    to_position, to_matrix = b.stride(2, 1), b.stride(2, 2)
    across_source, across_target = b.stride(0, 0), b.stride(2, 0)
    with b.outer_loops(streams, innermost=4) as (source, listed, target), b.count("row", rows) as row:
        own = b.load(b.elements[1], b.element(listed, b.elements[1], b.mul(row.index, to_listed)))
        position = row_number(b, index, own)
        is_inside = b.bit_and(b.compare("sge", position, 0), b.compare("slt", position, positions))
        with b.when(is_inside, "inside"):
            matrix = b.select(b.compare("sgt", matrices, 1), row.index, 0)
            offset = b.add(b.mul(matrix, to_matrix), b.mul(position, to_position))
            source_row = b.element(source, b.elements[0], b.mul(row.index, to_source))
            target_row = b.element(target, b.elements[2], offset)
            with targets.chunks(width) as (first, count):
                vectors = sources.load(source_row, first, across_source, count)
                if not is_copy:
                    vectors = [targets.elements(sources.numbers(each), numerics) for each in vectors]
                targets.store(vectors, target_row, first, across_target, count)
    return b.build()
