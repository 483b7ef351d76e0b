"""LLVM IR text that moves the tail of a row, of fewer elements than a chunk has, into a chunk of its own, and back.

Bound: with AVX-512 a load and a store for each vector of the chunk. Elsewhere it is a memcpy, a call of as many
instructions as a chunk of a short body; and the load of a vector that was stored in parts waits until these are in the
cache.
"""

from __future__ import annotations

from collections.abc import Iterator

from ttnn_jit.process.dataclass import dataclass

_SUFFIXES = {"float": "f32", "double": "f64"}


@dataclass(frozen=True)
class TailCopies:
    """Copies of the ``%rest`` first elements of a chunk.

    Attributes:
        element: LLVM's type of an element.
        itemsize: Its bytes.
        lanes: Elements of a vector.
        vectors: Of a chunk.
        masked: Whether the host loads and stores some lanes of a vector.
    """

    element: str
    itemsize: int
    lanes: int
    vectors: int
    masked: bool

    @property
    def declarations(self) -> tuple[str, ...]:
        """What a module with such copies needs once."""
        if not self.masked:
            return ("declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\n",)
        kind, some = self._kind, f"<{self.lanes} x i1>"
        return (
            f"declare {kind} @llvm.masked.load.{self._suffix}.p0(ptr, i32, {some}, {kind})\n",
            f"declare void @llvm.masked.store.{self._suffix}.p0({kind}, ptr, i32, {some})\n",
        )

    def gather(self, name: str, far: str, chunk: str, fill: str = "zeroinitializer") -> Iterator[str]:
        """The elements at `far` into `chunk`, and `fill`, a vector, in the lanes behind them."""
        kind = self._kind
        if not self.masked:
            # Lanes beyond the tail are set: denormals that the stack may hold would be slow.
            for i in range(self.vectors):
                yield f"  {name}.clear{i} = getelementptr {kind}, ptr {chunk}, i64 {i}"
                yield f"  store {kind} {fill}, ptr {name}.clear{i}, align {self.itemsize}"
            yield from self._memcpy(name, far, chunk)
            return
        for i, places in enumerate(self._places(name, far, chunk)):
            yield from places
            found, loaded = f"{name}.v{i}", f"@llvm.masked.load.{self._suffix}.p0"
            yield f"  {found} = call {kind} {loaded}(ptr {name}.far{i}, {self._masked_by(name, i)}, {kind} {fill})"
            yield f"  store {kind} {found}, ptr {name}.near{i}, align {self.itemsize}"

    def scatter(self, name: str, chunk: str, far: str) -> Iterator[str]:
        """The elements of `chunk` to `far`."""
        kind = self._kind
        if not self.masked:
            yield from self._memcpy(name, chunk, far)
            return
        for i, places in enumerate(self._places(name, far, chunk)):
            yield from places
            stored, found = f"@llvm.masked.store.{self._suffix}.p0", f"{name}.v{i}"
            yield f"  {found} = load {kind}, ptr {name}.near{i}, align {self.itemsize}"
            yield f"  call void {stored}({kind} {found}, ptr {name}.far{i}, {self._masked_by(name, i)})"

    @property
    def _kind(self) -> str:
        return f"<{self.lanes} x {self.element}>"

    @property
    def _suffix(self) -> str:
        return f"v{self.lanes}{_SUFFIXES.get(self.element, self.element)}"

    def _masked_by(self, name: str, vector: int) -> str:
        return f"i32 {self.itemsize}, <{self.lanes} x i1> {name}.mask{vector}"

    def _places(self, name: str, far: str, chunk: str) -> Iterator[list[str]]:
        """For each vector the lines of its place outside, of that in the chunk, and of which of its lanes there are."""
        kind, numbers = self._kind, f"<{self.lanes} x i32>"
        every = [
            f"  {name}.count = trunc i64 %rest to i32",
            f"  {name}.lane = insertelement {numbers} poison, i32 {name}.count, i64 0",
            f"  {name}.lanes = shufflevector {numbers} {name}.lane, {numbers} poison, {numbers} zeroinitializer",
        ]
        for i in range(self.vectors):
            lanes = ", ".join(f"i32 {lane}" for lane in range(i * self.lanes, (i + 1) * self.lanes))
            yield [
                *(every if i == 0 else ()),
                f"  {name}.far{i} = getelementptr {kind}, ptr {far}, i64 {i}",
                f"  {name}.near{i} = getelementptr {kind}, ptr {chunk}, i64 {i}",
                f"  {name}.mask{i} = icmp slt {numbers} <{lanes}>, {name}.lanes",
            ]

    def _memcpy(self, name: str, source: str, target: str) -> Iterator[str]:
        yield f"  {name}.bytes = mul i64 %rest, {self.itemsize}"
        yield f"  call void @llvm.memcpy.p0.p0.i64(ptr {target}, ptr {source}, i64 {name}.bytes, i1 false)"
