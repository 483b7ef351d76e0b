"""The loop around a vector body, as LLVM IR text: rows of any number of dimensions, chunks of vectors, a tail.

The text holds no extent: the innermost extent, the outer extents and all strides are words that the caller passes, so
one text serves every shape. What the text does hold is how each stream is walked along the innermost dimension
(`Access`), its element type, and the body. The words of ``params``, each an i64, strides counted in elements::

    innermost extent, rank, outer extents [rank], then per stream: innermost stride, outer strides [rank]

where ``rank`` counts the outer dimensions, which are listed from the inside out. Nothing to do is written as innermost
extent 0 and rank 0; any other extent is at least 1.

A chunk is `unroll` vectors. The elements after the last whole chunk of a row are copied to a chunk-sized scratch on the
stack, pass through the very same instructions as all others, and are copied out: the bits of a lane cannot depend on
the tail, and the body is compiled once.

Bound: the loop adds an address increment and a branch a chunk to the body, and about one scalar move per element and
stream to a tail.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from ttnn_jit.tensor_spec import DataType

VectorText = tuple[Sequence[str], Sequence[str]]
Body = Callable[[Sequence[str]], VectorText]
"""Names of ``<lanes x float>`` inputs -> lines of text and the names of the outputs, one per written stream."""


class Access(enum.Enum):
    """How a stream is walked along the innermost dimension."""

    CONTIGUOUS = "contiguous"  # stride 1: vector loads and stores
    SCALAR = "scalar"  # stride 0: one load a row, copied to all lanes
    STRIDED = "strided"  # any other stride: one load or store a lane


@dataclass(frozen=True, slots=True)
class Stream:
    """One operand of a kernel: element type, walk, and whether the kernel writes it."""

    dtype: DataType
    access: Access
    written: bool = False


@dataclass(frozen=True)
class TileLoop:
    """The function ``void @name(ptr pointers, ptr params)`` that runs `body` over all elements.

    Attributes:
        name: Symbol of the function.
        streams: Inputs, then outputs, in the order of ``pointers``; written streams are never SCALAR.
        body: Text of one vector's computation; asked once per vector of a chunk, with names that are new each time.
            A result for a bf16 stream is already rounded to bf16.
        lanes: Lanes of a vector of float32.
        unroll: Vectors in a chunk.
    """

    name: str
    streams: tuple[Stream, ...]
    body: Body
    lanes: int
    unroll: int

    def text(self) -> str:
        """The definition, without the declarations and constants that the body needs."""
        parts = (self._entry, self._row, self._chunk, self._tail, self._odometer)
        head = f"define void @{self.name}(ptr noalias readonly %pointers, ptr noalias readonly %params) nounwind {{"
        return "\n".join([head, *(line for part in parts for line in part()), "}", ""])

    @cached_property
    def _all(self) -> range:
        return range(len(self.streams))

    @cached_property
    def _moving(self) -> list[int]:
        return [k for k in self._all if self.streams[k].access is not Access.SCALAR]

    @cached_property
    def _scalar(self) -> list[int]:
        return [k for k in self._all if self.streams[k].access is Access.SCALAR]

    @cached_property
    def _strided(self) -> list[int]:
        return [k for k in self._all if self.streams[k].access is Access.STRIDED]

    @cached_property
    def _read(self) -> list[int]:
        return [k for k in self._moving if not self.streams[k].written]

    @cached_property
    def _written(self) -> list[int]:
        return [k for k in self._all if self.streams[k].written]

    @cached_property
    def _paired(self) -> bool:
        # Two vectors of bf16 are one load of words, whose halves are the even and the odd elements: no shuffles.
        return self.unroll == 2 and all(
            self.streams[k].access is Access.CONTIGUOUS and self.streams[k].dtype is DataType.BFLOAT16
            for k in self._moving
        )

    @property
    def _chunk_size(self) -> int:
        return self.lanes * self.unroll

    def _entry(self) -> Iterator[str]:
        yield "entry:"
        yield "  %n = load i64, ptr %params"
        yield "  %rank.at = getelementptr i64, ptr %params, i64 1"
        yield "  %rank = load i64, ptr %rank.at"
        yield "  %extents = getelementptr i64, ptr %params, i64 2"
        yield f"  %main = and i64 %n, {-self._chunk_size}"
        yield "  %rest = sub i64 %n, %main"
        yield "  %has.main = icmp ne i64 %main, 0"
        yield "  %has.rest = icmp ne i64 %rest, 0"
        yield "  %words = add i64 %rank, 1"
        for k in self._all:
            yield f"  %pointer.at_{k} = getelementptr ptr, ptr %pointers, i64 {k}"
            yield f"  %base_{k} = load ptr, ptr %pointer.at_{k}"
            yield f"  %strides.from_{k} = mul i64 %words, {k}"
            yield f"  %strides.index_{k} = add i64 %strides.from_{k}, %rank"
            yield f"  %strides_{k} = getelementptr i64, ptr %extents, i64 %strides.index_{k}"
        for k in self._strided:
            yield f"  %stride_{k} = load i64, ptr %strides_{k}"
        for k in self._moving:
            yield f"  %scratch_{k} = alloca [{self._chunk_size} x {_ELEMENT[self.streams[k].dtype]}], align 64"
        yield "  %counters = alloca i64, i64 %rank"
        yield "  %flat = icmp eq i64 %rank, 0"
        yield "  br i1 %flat, label %row, label %clear"
        yield "clear:"
        yield "  %c = phi i64 [0, %entry], [%c.next, %clear]"
        yield "  %c.at = getelementptr i64, ptr %counters, i64 %c"
        yield "  store i64 0, ptr %c.at"
        yield "  %c.next = add i64 %c, 1"
        yield "  %c.more = icmp ult i64 %c.next, %rank"
        yield "  br i1 %c.more, label %clear, label %row"

    def _row(self) -> Iterator[str]:
        yield "row:"
        for k in self._all:
            yield f"  %row_{k} = phi ptr [%base_{k}, %entry], [%base_{k}, %clear], [%next_{k}, %advance]"
        yield "  br i1 %has.main, label %whole, label %after"
        yield "whole:"
        yield "  br label %start"
        yield "start:"
        yield "  %end = phi i64 [%main, %whole], [" + str(self._chunk_size) + ", %gathered]"
        for k in self._moving:
            yield f"  %in_{k} = phi ptr [%row_{k}, %whole], [%scratch_{k}, %gathered]"
        for k in self._strided:
            yield f"  %step_{k} = phi i64 [%stride_{k}, %whole], [1, %gathered]"
        for k in self._scalar:
            yield from self._splat(k)
        yield "  br label %chunk"

    def _splat(self, k: int) -> Iterator[str]:
        element = _ELEMENT[self.streams[k].dtype]
        yield f"  %scalar_{k} = load {element}, ptr %row_{k}"
        if self.streams[k].dtype is DataType.BFLOAT16:
            yield f"  %scalar.wide_{k} = zext i16 %scalar_{k} to i32"
            yield f"  %scalar.bits_{k} = shl i32 %scalar.wide_{k}, 16"
            yield f"  %scalar.f32_{k} = bitcast i32 %scalar.bits_{k} to float"
        name = f"%scalar_{k}" if element == "float" else f"%scalar.f32_{k}"
        vector = f"<{self.lanes} x float>"
        yield f"  %lane0_{k} = insertelement {vector} poison, float {name}, i64 0"
        yield (
            f"  %splat_{k} = shufflevector {vector} %lane0_{k}, {vector} poison, "
            f"<{self.lanes} x i32> zeroinitializer"
        )

    def _chunk(self) -> Iterator[str]:
        yield "chunk:"
        yield "  %at = phi i64 [0, %start], [%at.next, %latch]"
        moves: _Moves = (_PairedMoves if self._paired else _PlainMoves)(self)
        inputs = moves.loads()
        yield from moves.take()
        outputs = []
        for vector in range(self.unroll):
            lines, results = self.body([inputs[k][vector] for k in self._all if not self.streams[k].written])
            yield from lines
            outputs.append(results)
        moves.stores({k: [results[i] for results in outputs] for i, k in enumerate(self._written)})
        yield from moves.take()
        # The body may have branched; the loop's phi needs a block of a known name.
        yield "  br label %latch"
        yield "latch:"
        yield f"  %at.next = add i64 %at, {self._chunk_size}"
        yield "  %more = icmp slt i64 %at.next, %end"
        yield "  br i1 %more, label %chunk, label %chunks.done"
        yield "chunks.done:"
        first = self._written[0]
        yield f"  %was.tail = icmp eq ptr %in_{first}, %scratch_{first}"
        yield "  br i1 %was.tail, label %scatter, label %after"

    def _tail(self) -> Iterator[str]:
        yield "after:"
        yield "  br i1 %has.rest, label %gather, label %row.done"
        yield "gather:"
        for k in self._read:
            # Lanes past the tail hold zeros, not what the stack held: denormals there would cost time.
            kind = f"[{self._chunk_size} x {_ELEMENT[self.streams[k].dtype]}]"
            yield f"  store {kind} zeroinitializer, ptr %scratch_{k}"
        yield from self._copy_loop("gather", self._read, "gathered", out=False)
        yield "gathered:"
        yield "  br label %start"
        yield "scatter:"
        yield from self._copy_loop("scatter", self._written, "row.done", out=True)

    def _copy_loop(self, block: str, streams: list[int], done: str, *, out: bool) -> Iterator[str]:
        j = f"%{block}.j"
        yield f"  br label %{block}.loop"
        yield f"{block}.loop:"
        yield f"  {j} = phi i64 [0, %{block}], [{j}.next, %{block}.loop]"
        yield f"  {j}.at = add i64 {j}, %main"
        for k in streams:
            element = _ELEMENT[self.streams[k].dtype]
            index = f"{j}.at"
            if self.streams[k].access is Access.STRIDED:
                index = f"{j}.at_{k}"
                yield f"  {index} = mul i64 {j}.at, %stride_{k}"
            yield f"  {j}.far_{k} = getelementptr {element}, ptr %row_{k}, i64 {index}"
            yield f"  {j}.near_{k} = getelementptr {element}, ptr %scratch_{k}, i64 {j}"
            source, target = (f"{j}.near_{k}", f"{j}.far_{k}") if out else (f"{j}.far_{k}", f"{j}.near_{k}")
            yield f"  {j}.value_{k} = load {element}, ptr {source}"
            yield f"  store {element} {j}.value_{k}, ptr {target}"
        yield f"  {j}.next = add i64 {j}, 1"
        yield f"  {j}.more = icmp ult i64 {j}.next, %rest"
        yield f"  br i1 {j}.more, label %{block}.loop, label %{done}"

    def _odometer(self) -> Iterator[str]:
        yield "row.done:"
        yield "  br label %turn"
        yield "turn:"
        yield "  %d = phi i64 [0, %row.done], [%d.next, %wrap]"
        for k in self._all:
            yield f"  %here_{k} = phi ptr [%row_{k}, %row.done], [%back_{k}, %wrap]"
        yield "  %d.next = add i64 %d, 1"
        yield "  %over = icmp eq i64 %d, %rank"
        yield "  br i1 %over, label %exit, label %bump"
        yield "bump:"
        yield "  %counter.at = getelementptr i64, ptr %counters, i64 %d"
        yield "  %counter = load i64, ptr %counter.at"
        yield "  %counter.next = add i64 %counter, 1"
        yield "  %extent.at = getelementptr i64, ptr %extents, i64 %d"
        yield "  %extent = load i64, ptr %extent.at"
        yield "  %fits = icmp slt i64 %counter.next, %extent"
        for k in self._all:
            yield f"  %outer.at_{k} = getelementptr i64, ptr %strides_{k}, i64 %d.next"
            yield f"  %outer_{k} = load i64, ptr %outer.at_{k}"
        yield "  br i1 %fits, label %advance, label %wrap"
        yield "advance:"
        yield "  store i64 %counter.next, ptr %counter.at"
        for k in self._all:
            yield f"  %next_{k} = getelementptr {_ELEMENT[self.streams[k].dtype]}, ptr %here_{k}, i64 %outer_{k}"
        yield "  br label %row"
        yield "wrap:"
        yield "  store i64 0, ptr %counter.at"
        for k in self._all:
            yield f"  %walked_{k} = mul i64 %outer_{k}, %counter"
            yield f"  %rewind_{k} = sub i64 0, %walked_{k}"
            yield f"  %back_{k} = getelementptr {_ELEMENT[self.streams[k].dtype]}, ptr %here_{k}, i64 %rewind_{k}"
        yield "  br label %turn"
        yield "exit:"
        yield "  ret void"


_ELEMENT = {DataType.FLOAT32: "float", DataType.BFLOAT16: "i16"}


class _Moves:
    """Loads and stores of one chunk; `take` hands over the lines written so far."""

    def __init__(self, loop: TileLoop) -> None:
        self._loop = loop
        self._lines: list[str] = []
        self._count = 0
        self._float = f"<{loop.lanes} x float>"
        self._word = f"<{loop.lanes} x i32>"
        self._half = f"<{loop.lanes} x i16>"

    def take(self) -> list[str]:
        lines, self._lines = self._lines, []
        return lines

    def loads(self) -> dict[int, list[str]]:
        """Stream -> the chunk's vectors, as float32."""
        streams = self._loop.streams
        vectors: dict[int, list[str]] = {}
        for k, stream in enumerate(streams):
            if stream.access is Access.SCALAR:
                vectors[k] = [f"%splat_{k}"] * self._loop.unroll
            elif not stream.written:
                vectors[k] = self._load(k)
        return vectors

    def stores(self, results: dict[int, list[str]]) -> None:
        """Stores the chunk's vectors of each written stream."""
        for k, vectors in results.items():
            self._store(k, vectors)

    def _load(self, k: int) -> list[str]:
        raise NotImplementedError

    def _store(self, k: int, vectors: list[str]) -> None:
        raise NotImplementedError

    def _value(self, text: str) -> str:
        self._count += 1
        self._lines.append(f"  %m{self._count} = {text}")
        return f"%m{self._count}"


class _PairedMoves(_Moves):
    """bf16 by words: the low half of a word is an even element, the high half an odd one (little-endian)."""

    def _load(self, k: int) -> list[str]:
        words = self._value(f"load {self._word}, ptr {self._address(k)}, align 2")
        even = self._value(f"shl {self._word} {words}, splat (i32 16)")
        odd = self._value(f"and {self._word} {words}, splat (i32 -65536)")
        return [self._value(f"bitcast {self._word} {bits} to {self._float}") for bits in (even, odd)]

    def _store(self, k: int, vectors: list[str]) -> None:
        even, odd = (self._value(f"bitcast {self._float} {vector} to {self._word}") for vector in vectors)
        low = self._value(f"lshr {self._word} {even}, splat (i32 16)")
        words = self._value(f"or {self._word} {low}, {odd}")
        self._lines.append(f"  store {self._word} {words}, ptr {self._address(k)}, align 2")

    def _address(self, k: int) -> str:
        return self._value(f"getelementptr i16, ptr %in_{k}, i64 %at")


class _PlainMoves(_Moves):
    """Vector after vector, lane by lane where a stream is strided."""

    def _load(self, k: int) -> list[str]:
        return [self._widened(k, self._load_vector(k, vector)) for vector in range(self._loop.unroll)]

    def _load_vector(self, k: int, vector: int) -> str:
        stream = self._loop.streams[k]
        element = _ELEMENT[stream.dtype]
        kind = f"<{self._loop.lanes} x {element}>"
        if stream.access is Access.CONTIGUOUS:
            return self._value(f"load {kind}, ptr {self._address(k, vector)}, align {stream.dtype.itemsize}")
        result = "poison"
        for lane, address in enumerate(self._lane_addresses(k, vector)):
            value = self._value(f"load {element}, ptr {address}")
            result = self._value(f"insertelement {kind} {result}, {element} {value}, i64 {lane}")
        return result

    def _widened(self, k: int, vector: str) -> str:
        if self._loop.streams[k].dtype is DataType.FLOAT32:
            return vector
        wide = self._value(f"zext {self._half} {vector} to {self._word}")
        bits = self._value(f"shl {self._word} {wide}, splat (i32 16)")
        return self._value(f"bitcast {self._word} {bits} to {self._float}")

    def _store(self, k: int, vectors: list[str]) -> None:
        for vector, value in enumerate(vectors):
            self._store_vector(k, vector, self._narrowed(k, value))

    def _store_vector(self, k: int, vector: int, value: str) -> None:
        stream = self._loop.streams[k]
        element = _ELEMENT[stream.dtype]
        kind = f"<{self._loop.lanes} x {element}>"
        if stream.access is Access.CONTIGUOUS:
            address = self._address(k, vector)
            self._lines.append(f"  store {kind} {value}, ptr {address}, align {stream.dtype.itemsize}")
            return
        for lane, address in enumerate(self._lane_addresses(k, vector)):
            scalar = self._value(f"extractelement {kind} {value}, i64 {lane}")
            self._lines.append(f"  store {element} {scalar}, ptr {address}")

    def _narrowed(self, k: int, vector: str) -> str:
        if self._loop.streams[k].dtype is DataType.FLOAT32:
            return vector
        bits = self._value(f"bitcast {self._float} {vector} to {self._word}")
        high = self._value(f"lshr {self._word} {bits}, splat (i32 16)")
        return self._value(f"trunc {self._word} {high} to {self._half}")

    def _index(self, vector: int) -> str:
        return self._value(f"add i64 %at, {vector * self._loop.lanes}") if vector else "%at"

    def _address(self, k: int, vector: int) -> str:
        element = _ELEMENT[self._loop.streams[k].dtype]
        return self._value(f"getelementptr {element}, ptr %in_{k}, i64 {self._index(vector)}")

    def _lane_addresses(self, k: int, vector: int) -> Iterator[str]:
        element = _ELEMENT[self._loop.streams[k].dtype]
        offset = self._value(f"mul i64 {self._index(vector)}, %step_{k}")
        address = self._value(f"getelementptr {element}, ptr %in_{k}, i64 {offset}")
        yield address
        for _ in range(self._loop.lanes - 1):
            address = self._value(f"getelementptr {element}, ptr {address}, i64 %step_{k}")
            yield address
