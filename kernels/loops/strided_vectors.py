"""Vectors of elements that lie some stride apart, as most do only at the end of a row or in a transposed tensor.

A whole chunk of a few vectors of adjacent elements is accessed directly. Any other one is copied to or from a chunk in
memory, element by element.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ttnn_jit.kernels.llvm.elements import computed
from ttnn_jit.kernels.llvm.kernel_function import KernelFunction
from ttnn_jit.kernels.llvm.types import FLOAT, Type, type_of
from ttnn_jit.kernels.llvm.values import Value, i64, zero
from ttnn_jit.kernels.vectors.llvm_vector import LlvmVector
from ttnn_jit.specs.dtypes import DataType
from ttnn_jit.specs.target import Numerics


def element_type(dtype: DataType) -> Type:
    """The type of stored elements, as integers if they are not float32."""
    return FLOAT if dtype.is_compute_type and not dtype.is_integer else type_of(f"i{8 * dtype.itemsize}")


class StridedVectors:
    """Loads and stores of chunks of vectors in a kernel; create it in the entry block."""

    def __init__(self, b: KernelFunction, builder: LlvmVector, dtype: DataType, vectors: int) -> None:
        self._b, self._builder, self._dtype = b, builder, dtype
        self._element, lanes = element_type(dtype), builder.isa.lanes
        self._vector, self._vectors, self._size = self._element.times(lanes), vectors, vectors * lanes
        self._memory = b.alloca(self._element, self._size, 64, "chunk")
        self._write([zero(self._vector)] * vectors, self._memory)

    @contextmanager
    def chunks(self, count: Value) -> Iterator[tuple[Value, Value]]:
        """A loop over `count` elements; yields the index of a chunk's first element and the number of its elements."""
        with self._b.count("first", count, step=self._size) as loop:
            yield loop.index, self._b.smin(self._b.sub(count, loop.index), self._size)

    def load(self, row: Value, first: Value, stride: Value, count: Value) -> list[Value]:
        """The `count` elements of a row from the index `first` on, as vectors; the others are undefined."""
        b, address = self._b, self._address(row, first, stride)
        is_whole = self._is_whole(stride, count)
        with b.when(b.compare("eq", is_whole, 0), "gathered"), b.count("k", count) as k:
            b.store(b.load(self._element, self._address(address, k.index, stride)), self._slot(k.index))
        source = b.select(is_whole, address, self._memory)
        vector, align = self._vector, self._element.nbytes
        return [b.load(vector, b.element(source, vector, k), align) for k in range(self._vectors)]

    def store(self, elements: Sequence[Value], row: Value, first: Value, stride: Value, count: Value) -> None:
        """Store `count` elements of a row from the index `first` on."""
        b, address = self._b, self._address(row, first, stride)
        is_whole = self._is_whole(stride, count)
        self._write(elements, b.select(is_whole, address, self._memory))
        with b.when(b.compare("eq", is_whole, 0), "scattered"), b.count("k", count) as k:
            b.store(b.load(self._element, self._slot(k.index)), self._address(address, k.index, stride))

    def _write(self, elements: Sequence[Value], address: Value) -> None:
        for k, vector in enumerate(elements):
            self._b.store(vector, self._b.element(address, self._vector, k), self._element.nbytes)

    def numbers(self, elements: Value) -> Value:
        """The float32 numbers of a vector of elements."""
        return computed(self._b, elements, self._dtype)

    def elements(self, numbers: Value, numerics: Numerics) -> Value:
        """The elements nearest to a vector of float32; of integers, i64, the low bits."""
        if self._dtype.is_integer:
            return self._b.convert("trunc", numbers, self._vector)
        return self._builder.store_bf16(numbers, numerics) if self._dtype.is_upper_half else numbers

    def _is_whole(self, stride: Value, count: Value) -> Value:
        b = self._b
        return b.bit_and(b.compare("eq", stride, 1), b.compare("eq", count, i64(self._size)), "is.whole")

    def _address(self, row: Value, index: Value, stride: Value) -> Value:
        return self._b.element(row, self._element, self._b.mul(index, stride))

    def _slot(self, index: Value) -> Value:
        return self._b.element(self._memory, self._element, index)
