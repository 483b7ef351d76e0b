"""A kernel that copies rows backwards, or every second element of them, a vector at a time.

Vectors are loaded where their elements lie side by side, and shuffled into one. The last elements of a row are moved a
second time with some before them: it is a copy. Rows shorter than a vector are moved element by element.

Bound: the bytes of both tensors; in a cache a load and a shuffle for each vector that is read.
"""

from __future__ import annotations

from ttnn_jit.kernels.llvm.kernel_function import KernelFunction
from ttnn_jit.kernels.llvm.llvm_module import ModuleText
from ttnn_jit.kernels.llvm.types import Type, type_of
from ttnn_jit.kernels.llvm.values import Value
from ttnn_jit.nest.limits import LINE
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.tensor_spec import DataType


@dataclass(frozen=True)
class SteppingLoops:
    """A kernel (kernels/llvm/kernel_function.py) of two streams.

    Stream 1 is written, contiguous along loop 0; stream 0 is read. A launch with another step than the text's is served
    element by element.

    Attributes:
        name: Its symbol.
        dtype: Element type of both streams.
        rank: Loops around the innermost one.
        lanes: Elements of a vector.
        step: One of `STEPS`.
        module: What it declares.
        nontemporal: Whether it stores past the caches; vectors are whole lines then.
    """

    name: str
    dtype: DataType
    rank: int
    lanes: int
    step: int
    module: ModuleText
    nontemporal: bool = False

    def text(self) -> str:
        """The function."""
        b = KernelFunction(self.name, self.module, (self._kind,) * 2, self.rank)
        extent, step, streams = b.extent(0, "extent"), b.stride(0, 0, "step"), b.streams()
        last = b.sub(extent, self.lanes, "last")
        in_vectors = b.bit_and(b.compare("sge", last, 0), b.compare("eq", step, self.step), "in.vectors")
        with (
            b.when(b.compare("sgt", extent, 0), "some"),
            b.outer_loops(streams) as (source, target),
            b.choose(in_vectors, "vectors") as chosen,
        ):
            with b.count("i", extent, step=self.lanes) as vector:
                self._move_vector(b, source, target, b.smin(vector.index, last, "i.at"))
            chosen.otherwise()
            with b.count("e", extent) as element:
                read = b.element(source, self._kind, b.mul(element.index, step))
                written = b.element(target, self._kind, element.index)
                b.store(b.load(self._kind, read, self.dtype.itemsize), written, self.dtype.itemsize)
        return b.ended(fences=self.nontemporal)

    @property
    def _kind(self) -> Type:
        return type_of(f"i{8 * self.dtype.itemsize}")

    def _move_vector(self, b: KernelFunction, source: Value, target: Value, at: Value) -> None:
        read = b.element(source, self._kind, b.mul(at, self.step), "read")
        # The second of two vectors begins an element early, so that none beyond the last is read.
        firsts = [1 - self.lanes] if self.step < 0 else [0, self.lanes - 1]
        addresses = [b.element(read, self._kind, first) for first in firsts]
        loaded = [b.load(self._kind.times(self.lanes), address, self.dtype.itemsize) for address in addresses]
        lanes = range(self.lanes)
        order = [self.lanes - 1 - k for k in lanes] if self.step < 0 else [2 * k + (2 * k >= self.lanes) for k in lanes]
        moved = b.shuffle(loaded[0], loaded[-1], order, "moved")
        align = LINE if self.nontemporal else self.dtype.itemsize
        b.store(moved, b.element(target, self._kind, at, "written"), align, nontemporal=self.nontemporal)
