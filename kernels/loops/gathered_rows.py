"""A gather of rows by indices. It is LLVM text because numba takes half a second to compile it, LLVM ten milliseconds.

Bound: the bytes of the gathered rows, and of the result.
"""

from __future__ import annotations

from ttnn_jit.kernels.llvm.elements import widened
from ttnn_jit.kernels.llvm.kernel_function import KernelFunction
from ttnn_jit.kernels.llvm.llvm_module import ModuleText
from ttnn_jit.kernels.llvm.types import I64, Type, type_of
from ttnn_jit.kernels.llvm.values import Value, i64
from ttnn_jit.specs.dtypes import DataType

_CHUNK = 16  # elements that are copied at once if rows are dense


def gathering_text(name: str, index: DataType, element: DataType, rank: int, module: ModuleText) -> str:
    """A kernel (kernels/llvm/kernel_function.py) over indices, a table and the result.

    The innermost loop runs along a row. The next loop gives the rows of the table, of which an index selects one;
    indices out of range are clamped.

    Args:
        name: Symbol of the kernel.
        index: Element type of the indices; floats are truncated.
        element: Element type of the table and of the result.
        rank: Number of loops around the innermost one.
        module: Receives the declarations.
    """
    given, kind = type_of(f"i{8 * index.itemsize}"), type_of(f"i{8 * element.itemsize}")
    b = KernelFunction(name, module, (given, kind, kind), rank)
    streams, width, count = b.streams(), b.extent(0, "width"), b.extent(1, "count")
    rows, across, step = b.stride(1, 1, "rows"), b.stride(1, 0, "across"), b.stride(2, 0, "step")
    last = b.sub(count, 1, "last")
    is_dense = b.bit_and(b.compare("eq", across, 1), b.compare("eq", step, 1), "is.dense")
    in_chunks = b.select(is_dense, b.bit_and(width, -_CHUNK), 0, "chunked")
    with b.outer_loops(streams, innermost=2) as (indices, table, result):
        number = row_number(b, index, b.load(given, indices, hint="given"))
        first = b.select(b.compare("slt", number, 0), 0, number)
        nearest = b.select(b.compare("sgt", first, last), last, first, "row.number")
        source = b.element(table, kind, b.mul(nearest, rows), "source")
        with b.while_loop("blocks", ("b", i64(0))) as blocks:
            (at,) = blocks.values
            blocks.leave_unless(b.compare("slt", at, in_chunks))
            _copy(b, kind.times(_CHUNK), b.element(source, kind, at), b.element(result, kind, at))
            blocks.again(b.add(at, _CHUNK))
        with b.while_loop("rest", ("r", at)) as rest:
            (at,) = rest.values
            rest.leave_unless(b.compare("slt", at, width))
            _copy(b, kind, b.element(source, kind, b.mul(at, across)), b.element(result, kind, b.mul(at, step)))
            rest.again(b.add(at, 1))
    return b.build()


def row_number(b: KernelFunction, index: DataType, given: Value) -> Value:
    """An element of an index tensor as i64."""
    if index.is_upper_half:
        return b.intrinsic(I64, "llvm.fptosi.sat.i64.f32", widened(b, given), hint="number")
    return b.convert("sext" if index.compute.is_signed else "zext", given, I64, "number")


def _copy(b: KernelFunction, moved: Type, source: Value, target: Value) -> None:
    align = moved.bits // 8
    b.store(b.load(moved, source, align), target, align)
