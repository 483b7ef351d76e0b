"""The loop around a vector body, as LLVM IR text: rows of any number of dimensions, chunks of vectors, a tail.

The text holds no extent: the extents and strides of all loops are words that the caller passes, so one text serves
every shape. What the text does hold is the number of loops, how each stream is walked along the innermost one
(`Access`), its element type, and the body. The words of ``params``, each an i64, strides counted in elements::

    innermost extent, outer extents [rank], then per stream: innermost stride, outer strides [rank]

where ``rank`` counts the loops around the innermost one, which are listed from the inside out. The innermost extent may
be 0, outer extents are at least 1.

A chunk is `unroll` vectors. The elements after the last whole chunk of a row are copied to a chunk-sized scratch on the
stack, pass through the very same instructions as all others, and are copied out: the bits of a lane cannot depend on
the tail, and the body, whose size decides how long a compile takes, is there once. Strided streams pass through their
scratch in every chunk.

Bound: the loop adds an address increment and a branch a chunk to the body, to a row with a tail one short memcpy a
stream, and to a strided stream one scalar load and store an element.
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
    STRIDED = "strided"  # any other stride: one load and one store an element


@dataclass(frozen=True, slots=True)
class Stream:
    """One operand of a kernel.

    Attributes:
        dtype: Element type.
        access: How it is walked.
        written: Whether the kernel writes it.
        around_caches: Its stores go to memory around the caches, which saves reading every line before writing it, and
            leaves the caches to others. Only for a contiguous stream in a kernel without outer loops, and memory
            aligned to 64 bytes: a store elsewhere faults. Code generators ignore it where a vector of bf16 is narrowed
            by its store, and on aarch64 unless two stores make a pair.
    """

    dtype: DataType
    access: Access
    written: bool = False
    around_caches: bool = False


@dataclass(frozen=True)
class TileLoop:
    """The function ``void @name(ptr pointers, ptr params)`` that runs `body` over all elements.

    Attributes:
        name: Symbol of the function.
        streams: Inputs, then outputs, in the order of ``pointers``; written streams are never SCALAR.
        rank: Loops around the innermost one.
        body: Text of one vector's computation; asked once per vector of a chunk, with names that are new each time.
            Its first line stands in the block `BODY_BLOCK`. A result for a bf16 stream is already rounded to bf16.
        lanes: Lanes of a vector of float32.
        unroll: Vectors in a chunk.
    """

    name: str
    streams: tuple[Stream, ...]
    rank: int
    body: Body
    lanes: int
    unroll: int

    def text(self) -> str:
        """The definition and the declarations that it needs, without those that the body needs."""
        parts = (self._entry, self._open_loops, self._row, self._chunk, self._tail, self._close_loops)
        head = f"define void @{self.name}(ptr noalias readonly %pointers, ptr noalias readonly %params) nounwind {{"
        metadata = [_NONTEMPORAL] if self._around_caches else []
        return "\n".join([head, *(line for part in parts for line in part()), "}", *metadata, _DECLARATION])

    @cached_property
    def _around_caches(self) -> bool:
        return any(stream.around_caches for stream in self.streams)

    @cached_property
    def _strided_inputs(self) -> list[int]:
        return [k for k in self._of(Access.STRIDED) if not self.streams[k].written]

    @cached_property
    def _strided_outputs(self) -> list[int]:
        return [k for k in self._of(Access.STRIDED) if self.streams[k].written]

    @cached_property
    def _all(self) -> range:
        return range(len(self.streams))

    @cached_property
    def _moving(self) -> list[int]:
        return [k for k in self._all if self.streams[k].access is not Access.SCALAR]

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

    def _of(self, access: Access) -> list[int]:
        return [k for k in self._all if self.streams[k].access is access]

    def _element(self, k: int) -> str:
        return _ELEMENT[self.streams[k].dtype]

    def _word(self, name: str, index: int) -> Iterator[str]:
        """``%name``: the word of params at `index`."""
        yield f"  {name}.at = getelementptr i64, ptr %params, i64 {index}"
        yield f"  {name} = load i64, ptr {name}.at"

    def _stride_index(self, k: int, loop: int) -> int:
        return 1 + self.rank + k * (1 + self.rank) + loop

    def _entry(self) -> Iterator[str]:
        yield "entry:"
        for k in self._moving:
            yield f"  %scratch_{k} = alloca [{self._chunk_size} x {self._element(k)}], align 64"
        yield "  %n = load i64, ptr %params"
        yield f"  %main = and i64 %n, {-self._chunk_size}"
        yield "  %rest = sub i64 %n, %main"
        yield "  %has.main = icmp ne i64 %main, 0"
        yield "  %has.rest = icmp ne i64 %rest, 0"
        for k in self._of(Access.STRIDED):
            yield from self._word(f"%stride_{k}", self._stride_index(k, 0))
        for k in self._strided_inputs:
            yield from self._clear(k)
        for k in self._all:
            yield f"  %pointer.at_{k} = getelementptr ptr, ptr %pointers, i64 {k}"
            yield f"  %at{self.rank + 1}_{k} = load ptr, ptr %pointer.at_{k}"
        yield f"  br label %{self._loop_label(self.rank)}"

    def _loop_label(self, loop: int) -> str:
        return f"loop{loop}" if loop else "row"

    def _open_loops(self) -> Iterator[str]:
        for loop in range(self.rank, 0, -1):
            before = f"%loop{loop + 1}" if loop < self.rank else "%entry"
            yield f"loop{loop}:"
            yield f"  %i{loop} = phi i64 [0, {before}], [%i{loop}.next, %close{loop}]"
            for k in self._all:
                yield f"  %at{loop}_{k} = phi ptr [%at{loop + 1}_{k}, {before}], [%next{loop}_{k}, %close{loop}]"
            yield f"  br label %{self._loop_label(loop - 1)}"

    def _close_loops(self) -> Iterator[str]:
        for loop in range(1, self.rank + 1):
            yield f"close{loop}:"
            yield f"  %i{loop}.next = add i64 %i{loop}, 1"
            yield from self._word(f"%extent{loop}", loop)
            for k in self._all:
                yield from self._word(f"%outer{loop}_{k}", self._stride_index(k, loop))
                yield f"  %next{loop}_{k} = getelementptr {self._element(k)}, ptr %at{loop}_{k}, i64 %outer{loop}_{k}"
            yield f"  %more{loop} = icmp slt i64 %i{loop}.next, %extent{loop}"
            yield f"  br i1 %more{loop}, label %loop{loop}, label %close{loop + 1}"
        yield f"close{self.rank + 1}:"
        if self._around_caches:
            yield "  fence seq_cst"  # other threads see these stores in no order otherwise
        yield "  ret void"

    def _row(self) -> Iterator[str]:
        yield "row:"
        for k in self._of(Access.SCALAR):
            yield from self._splat(k)
        yield "  br i1 %has.main, label %whole, label %after"
        yield "whole:"
        yield "  br label %start"
        yield "start:"
        yield f"  %end = phi i64 [%main, %whole], [{self._chunk_size}, %gathered]"
        for k in self._of(Access.CONTIGUOUS):
            yield f"  %in_{k} = phi ptr [%at1_{k}, %whole], [%scratch_{k}, %gathered]"
        if self._of(Access.STRIDED):
            yield "  %origin = phi i64 [0, %whole], [%main, %gathered]"
            yield f"  %count = phi i64 [{self._chunk_size}, %whole], [%rest, %gathered]"
        yield "  br label %chunk"

    def _splat(self, k: int) -> Iterator[str]:
        element, vector = self._element(k), f"<{self.lanes} x float>"
        name = f"%scalar_{k}"
        yield f"  {name} = load {element}, ptr %at1_{k}"
        if self.streams[k].dtype is DataType.BFLOAT16:
            yield f"  {name}.wide = zext i16 {name} to i32"
            yield f"  {name}.bits = shl i32 {name}.wide, 16"
            yield f"  {name}.f32 = bitcast i32 {name}.bits to float"
            name = f"{name}.f32"
        yield f"  %lane0_{k} = insertelement {vector} poison, float {name}, i64 0"
        mask = f"<{self.lanes} x i32> zeroinitializer"
        yield f"  %splat_{k} = shufflevector {vector} %lane0_{k}, {vector} poison, {mask}"

    def _chunk(self) -> Iterator[str]:
        yield "chunk:"
        yield "  %at = phi i64 [0, %start], [%at.next, %latch]"
        if self._of(Access.STRIDED):
            yield "  %first = add i64 %at, %origin"
        yield from self._lanes("collect", "chunk", BODY_BLOCK, self._strided_inputs)
        yield f"{BODY_BLOCK}:"
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
        yield "  br label %done"
        yield "done:"
        yield from self._lanes("spread", "done", "latch", self._strided_outputs)
        yield "latch:"
        yield f"  %at.next = add i64 %at, {self._chunk_size}"
        yield "  %more = icmp slt i64 %at.next, %end"
        yield "  br i1 %more, label %chunk, label %chunks.done"
        yield "chunks.done:"
        runs = [k for k in self._of(Access.CONTIGUOUS) if self.streams[k].written]
        if runs:
            yield f"  %was.tail = icmp eq ptr %in_{runs[0]}, %scratch_{runs[0]}"
        else:
            yield f"  %was.tail = icmp ne i64 %count, {self._chunk_size}"
        yield "  br i1 %was.tail, label %scatter, label %after"

    def _lanes(self, loop: str, before: str, after: str, streams: list[int]) -> Iterator[str]:
        """From block `before` to `after`: the chunk's elements of strided `streams` to their scratch, or back."""
        if not streams:
            yield f"  br label %{after}"
            return
        lane = f"%{loop}.lane"
        yield f"  br label %{loop}"
        yield f"{loop}:"
        yield f"  {lane} = phi i64 [0, %{before}], [{lane}.next, %{loop}]"
        yield f"  {lane}.index = add i64 %first, {lane}"
        for k in streams:
            element = self._element(k)
            yield f"  {lane}.offset_{k} = mul i64 {lane}.index, %stride_{k}"
            yield f"  {lane}.far_{k} = getelementptr {element}, ptr %at1_{k}, i64 {lane}.offset_{k}"
            yield f"  {lane}.near_{k} = getelementptr {element}, ptr %scratch_{k}, i64 {lane}"
            source, target = ("near", "far") if self.streams[k].written else ("far", "near")
            yield f"  {lane}.value_{k} = load {element}, ptr {lane}.{source}_{k}"
            yield f"  store {element} {lane}.value_{k}, ptr {lane}.{target}_{k}"
        yield f"  {lane}.next = add i64 {lane}, 1"
        yield f"  {lane}.more = icmp ult i64 {lane}.next, %count"
        yield f"  br i1 {lane}.more, label %{loop}, label %{after}"

    def _tail(self) -> Iterator[str]:
        runs = self._of(Access.CONTIGUOUS)
        yield "after:"
        yield "  br i1 %has.rest, label %gather, label %close1"
        yield "gather:"
        for k in runs:
            if not self.streams[k].written:
                yield from self._clear(k)
                yield from self._copy_run(f"%gather_{k}", k)
        yield "  br label %gathered"
        yield "gathered:"
        yield "  br label %start"
        yield "scatter:"
        for k in runs:
            if self.streams[k].written:
                yield from self._copy_run(f"%scatter_{k}", k)
        yield "  br label %close1"

    def _clear(self, k: int) -> Iterator[str]:
        # Lanes past a tail hold numbers, not what the stack held: denormals there would cost time.
        vector = f"<{self.lanes} x {self._element(k)}>"
        for i in range(self.unroll):
            yield f"  %clear_{k}.{i} = getelementptr {vector}, ptr %scratch_{k}, i64 {i}"
            yield f"  store {vector} zeroinitializer, ptr %clear_{k}.{i}, align {self.streams[k].dtype.itemsize}"

    def _copy_run(self, name: str, k: int) -> Iterator[str]:
        """The tail of a contiguous stream to its scratch, or back if it is written."""
        yield f"  {name}.far = getelementptr {self._element(k)}, ptr %at1_{k}, i64 %main"
        yield f"  {name}.bytes = mul i64 %rest, {self.streams[k].dtype.itemsize}"
        source, target = f"{name}.far", f"%scratch_{k}"
        if self.streams[k].written:
            source, target = target, source
        yield f"  call void @llvm.memcpy.p0.p0.i64(ptr {target}, ptr {source}, i64 {name}.bytes, i1 false)"


BODY_BLOCK = "body"
"""Label of the block that the body's text begins in."""

_DECLARATION = "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\n"
_NONTEMPORAL = "!0 = !{i32 1}"
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

    def _hint(self, k: int, nbytes: int) -> str:
        """What follows the address in a store of `nbytes` to stream `k`."""
        stream = self._loop.streams[k]
        return f"align {nbytes}, !nontemporal !0" if stream.around_caches else f"align {stream.dtype.itemsize}"

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
        self._lines.append(
            f"  store {self._word} {words}, ptr {self._address(k)}, {self._hint(k, 4 * self._loop.lanes)}"
        )

    def _address(self, k: int) -> str:
        return self._value(f"getelementptr i16, ptr %in_{k}, i64 %at")


class _PlainMoves(_Moves):
    """Vector after vector; a strided stream's chunk lies in its scratch."""

    def _load(self, k: int) -> list[str]:
        return [self._widened(k, self._load_vector(k, vector)) for vector in range(self._loop.unroll)]

    def _load_vector(self, k: int, vector: int) -> str:
        stream = self._loop.streams[k]
        kind = f"<{self._loop.lanes} x {_ELEMENT[stream.dtype]}>"
        return self._value(f"load {kind}, ptr {self._address(k, vector)}, align {stream.dtype.itemsize}")

    def _widened(self, k: int, vector: str) -> str:
        if self._loop.streams[k].dtype is DataType.FLOAT32:
            return vector
        wide = self._value(f"zext {self._half} {vector} to {self._word}")
        bits = self._value(f"shl {self._word} {wide}, splat (i32 16)")
        return self._value(f"bitcast {self._word} {bits} to {self._float}")

    def _store(self, k: int, vectors: list[str]) -> None:
        stream = self._loop.streams[k]
        kind = f"<{self._loop.lanes} x {_ELEMENT[stream.dtype]}>"
        for vector, name in enumerate(vectors):
            value, address = self._narrowed(k, name), self._address(k, vector)
            hint = self._hint(k, stream.dtype.itemsize * self._loop.lanes)
            self._lines.append(f"  store {kind} {value}, ptr {address}, {hint}")

    def _narrowed(self, k: int, vector: str) -> str:
        if self._loop.streams[k].dtype is DataType.FLOAT32:
            return vector
        bits = self._value(f"bitcast {self._float} {vector} to {self._word}")
        high = self._value(f"lshr {self._word} {bits}, splat (i32 16)")
        return self._value(f"trunc {self._word} {high} to {self._half}")

    def _address(self, k: int, vector: int) -> str:
        stream, offset = self._loop.streams[k], vector * self._loop.lanes
        element = _ELEMENT[stream.dtype]
        if stream.access is Access.STRIDED:
            return self._value(f"getelementptr {element}, ptr %scratch_{k}, i64 {offset}")
        index = self._value(f"add i64 %at, {offset}") if offset else "%at"
        return self._value(f"getelementptr {element}, ptr %in_{k}, i64 {index}")
