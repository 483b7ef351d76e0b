"""The loop around a vector body, as LLVM IR text: rows of any number of dimensions, chunks of vectors, a tail.

The caller passes the extents and strides of all loops as words, so that one text serves every shape. The text depends
on the number of loops, on how each stream is accessed along the innermost one (`InnerAccess`), on the element types and
on the body. The words of ``params``, each an i64, strides counted in elements::

    innermost extent, outer extents [rank], then per stream: innermost stride, outer strides [rank]

where ``rank`` counts the loops around the innermost one, which are listed from the inside out. The innermost extent may
be 0, outer extents are at least 1.

A chunk is `unroll` vectors. The tail of a row, shorter than a chunk, is copied to a chunk-sized scratch buffer on the
stack, computed by the same instructions as every chunk, and copied back: a lane's bits cannot depend on the tail, and
the body, whose size determines the compile time, is emitted once. Strided streams pass through their scratch buffer in
every chunk.

A kernel with several contiguous inputs prefetches each cache line 256 bytes ahead: hardware prefetchers follow few
streams, and stop at page boundaries (benchmarks/choices.py: `prefetch`). More than 12 streams, which often have equal
page offsets, would evict each other's lines from a set of the first cache before they are used.

A loop that `pipelines_loads` is software-pipelined: its float32 inputs are loaded while the chunk before is computed.
This avoids 4 KB aliasing: a load that agrees with an earlier store in the low 12 bits of the address waits for that
store. A result that begins 64 bytes after an input in these bits, as blocks of the C library often do, would make every
chunk wait for the one before (benchmarks/choices.py: `software pipelining`).

Bound: an address increment and a branch per chunk, a copy per stream and row with a tail, and a scalar load and
store per element of a strided stream.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field

from ttnn_jit.kernels.chunk_folds import ChunkFold, ChunkFolds
from ttnn_jit.kernels.llvm_line import Line
from ttnn_jit.kernels.outer_loops import OuterLoops, word
from ttnn_jit.kernels.tail_copies import TailCopies
from ttnn_jit.nest.streams import InnerAccess, Stream
from ttnn_jit.process.cached_property import cached_property
from ttnn_jit.process.dataclass import dataclass

Chunk = Sequence[str]
"""Operand names of a stream's chunk: `unroll` vectors of its elements or of a scalar, or one of all bfloat16 words."""

Body = Callable[[Sequence[Chunk]], tuple[Sequence[Line], Sequence[Chunk]]]
"""The inputs' chunks -> instructions, and the outputs' chunks."""


@dataclass(frozen=True)
class TileLoop:
    """The function ``void @name(ptr pointers, ptr params)`` that runs `body` over all elements.

    Attributes:
        name: Symbol of the function.
        streams: Inputs, then outputs, in the order of ``pointers``; where one that is written is SCALAR, all are.
        rank: Loops around the innermost one.
        body: Text of a chunk's computation. Its first line stands in the block `BODY_BLOCK`.
        lanes: Lanes of a vector of float32.
        unroll: Vectors in a chunk.
        pipelines_loads: Whether the vectors of up to four contiguous float32 inputs are loaded a chunk ahead, which
            takes a register each. For long bodies on hosts with enough registers.
        fences: Whether it fences its non-temporal stores before it returns; otherwise its caller does.
        prefetches: Whether it prefetches its inputs at all: not those that a loop before it has read.
        folds: By FOLDED stream, how it is reduced; of a loop without others around it, whose chunks are all chains.
        masked: Whether the host loads and stores some lanes of a vector.
    """

    name: str
    streams: tuple[Stream, ...]
    rank: int
    body: Body
    lanes: int
    unroll: int
    pipelines_loads: bool
    fences: bool = True
    prefetches: bool = True
    folds: Mapping[int, ChunkFold] = field(default_factory=dict)
    masked: bool = False

    def text(self) -> str:
        """The definition, and the declarations of the loop but not of the body."""
        return "\n".join([self.definition(), *self.declarations])

    def definition(self, internal_name: str | None = None) -> str:
        """The function alone; one with an `internal_name` has that, and only its module sees it."""
        head = f"define internal void @{internal_name}" if internal_name else f"define void @{self.name}"
        return self._function(head, "nounwind", (), self.lines)

    def unoptimised_definition(self, constants: Sequence[str], lines: Sequence[str]) -> str:
        """The function alone, for a compile without optimiser, with `constants` defined before each loop.

        Args:
            constants: Definitions.
            lines: `self.lines`, or the same over these constants.
        """
        return self._function(f"define void @{self.name}", "nounwind noinline optnone", constants, lines)

    @property
    def lines(self) -> Sequence[str]:
        """The body's text."""
        return [line.text for line in self.code]

    @property
    def code(self) -> Sequence[Line]:
        """The body's instructions."""
        return self._computed[0]

    @cached_property
    def _computed(self) -> tuple[Sequence[Line], Sequence[Chunk]]:
        return self.body([self._names(k) for k in self._read])

    def _function(self, head: str, attributes: str, constants: Sequence[str], body: Sequence[str]) -> str:
        parameters = "ptr noalias readonly %pointers, ptr noalias readonly %params"
        before, after = (self._entry, self._outer.open), (self._tail, self._close)
        return "\n".join(
            [
                f"{head}({parameters}) {attributes} {{",
                *(line for part in before for line in part()),
                *self._row(constants),
                *self._chunk(body),
                *(line for part in after for line in part()),
                "}",
            ]
        )

    @property
    def declarations(self) -> list[str]:
        """Declarations that a module with the definition needs once."""
        metadata = [NONTEMPORAL] if self._is_nontemporal else []
        copying = dict.fromkeys(line for copies in self._copies.values() for line in copies.declarations)
        return [*metadata, *copying, *([PREFETCH_DECLARATION] if self._prefetched else [])]

    @cached_property
    def _is_nontemporal(self) -> bool:
        return any(stream.nontemporal for stream in self.streams)

    @cached_property
    def _strided_inputs(self) -> list[int]:
        return [k for k in self._of(InnerAccess.STRIDED) if not self.streams[k].written]

    @cached_property
    def _strided_outputs(self) -> list[int]:
        return [k for k in self._of(InnerAccess.STRIDED) if self.streams[k].written]

    @cached_property
    def _all(self) -> range:
        return range(len(self.streams))

    @cached_property
    def _scratch_streams(self) -> list[int]:
        """The streams with a scratch buffer, for tails or for every chunk."""
        return [
            k
            for k in self._all
            if self.streams[k].access in {InnerAccess.CONTIGUOUS, InnerAccess.STRIDED} and not self.streams[k].forwarded
        ]

    @cached_property
    def _read(self) -> list[int]:
        return [k for k in self._all if not self.streams[k].written]

    @cached_property
    def _written(self) -> list[int]:
        return [k for k in self._all if self.streams[k].written]

    @cached_property
    def _prefetched(self) -> list[int]:
        """The streams that are prefetched."""
        inputs = [k for k in self._of(InnerAccess.CONTIGUOUS) if not self.streams[k].written]
        return inputs if self.prefetches and 1 < len(inputs) <= _MAX_PREFETCHED else []

    @cached_property
    def _pipelined(self) -> list[int]:
        """The streams whose chunks are loaded one chunk ahead."""
        inputs = [k for k in self._of(InnerAccess.CONTIGUOUS) if not self.streams[k].written]
        early = [k for k in inputs if self.streams[k].dtype.is_compute_type]
        return early if self.pipelines_loads and len(early) <= _MAX_PIPELINED else []

    @property
    def _chunk_size(self) -> int:
        return self.lanes * self.unroll

    @cached_property
    def _folding(self) -> ChunkFolds:
        return ChunkFolds(self.folds, self.lanes, self.unroll)

    def _of(self, access: InnerAccess) -> list[int]:
        return [k for k in self._all if self.streams[k].access is access]

    def _element(self, k: int) -> str:
        return self.streams[k].dtype.traits.llvm

    @cached_property
    def _outer(self) -> OuterLoops:
        return OuterLoops(tuple(map(self._element, self._all)), self.rank)

    def _entry(self) -> Iterator[str]:
        yield "entry:"
        for k in self._scratch_streams:
            yield f"  %scratch_{k} = alloca [{self._chunk_size} x {self._element(k)}], align 64"
        yield "  %n = load i64, ptr %params"
        yield f"  %main = and i64 %n, {-self._chunk_size}"
        yield "  %rest = sub i64 %n, %main"
        yield "  %has.main = icmp ne i64 %main, 0"
        yield "  %has.rest = icmp ne i64 %rest, 0"
        for k in self._of(InnerAccess.STRIDED):
            yield from word(f"%stride_{k}", self._outer.stride_index(k, 0))
        for k in self._strided_inputs:
            yield from self._clear(k)
        for k in self._all:
            yield f"  %pointer.at_{k} = getelementptr ptr, ptr %pointers, i64 {k}"
            yield f"  %at{self.rank + 1}_{k} = load ptr, ptr %pointer.at_{k}"
        yield f"  br label %{self._outer.first}"

    def _close(self) -> Iterator[str]:
        yield from self._outer.close()
        if self._is_nontemporal and self.fences:
            yield "  fence seq_cst"  # other threads see these stores in no order otherwise
        yield "  ret void"

    def _row(self, constants: Sequence[str]) -> Iterator[str]:
        yield "row:"
        for k in self._of(InnerAccess.SCALAR):
            if not self.streams[k].written:
                yield from self._splat(k)
        yield "  br i1 %has.main, label %whole, label %after"
        yield "whole:"
        yield "  br label %start"
        yield "start:"
        yield f"  %end = phi i64 [%main, %whole], [{self._chunk_size}, %gathered]"
        yield "  %is.tail = phi i1 [false, %whole], [true, %gathered]"
        for k in self._of(InnerAccess.CONTIGUOUS):
            tail = f"%scratch_{k}" if k in self._scratch_streams else f"%tail_{k}"
            yield f"  %in_{k} = phi ptr [%at1_{k}, %whole], [{tail}, %gathered]"
        if self._of(InnerAccess.STRIDED):
            yield "  %origin = phi i64 [0, %whole], [%main, %gathered]"
            yield f"  %count = phi i64 [{self._chunk_size}, %whole], [%rest, %gathered]"
        yield from self._folding.before_chunks()
        if self._pipelined:
            yield f"  %last = sub i64 %end, {self._chunk_size}"
        for k in self._pipelined:
            yield from self._load(k, "0", ".first")
        yield from constants
        yield "  br label %chunk"

    def _splat(self, k: int) -> Iterator[str]:
        dtype, element = self.streams[k].dtype, self._element(k)
        register = dtype.compute.llvm
        vector = f"<{self.lanes} x {register}>"
        name = f"%scalar_{k}"
        yield f"  {name} = load {element}, ptr %at1_{k}"
        if not dtype.is_compute_type:
            opcode = "sext" if dtype.is_integer and dtype.compute.is_signed else "zext"
            yield f"  {name}.wide = {opcode} {element} {name} to i32"
            name = f"{name}.wide"
        if dtype.is_upper_half:
            yield f"  %scalar_{k}.bits = shl i32 {name}, 16"
            yield f"  %scalar_{k}.f32 = bitcast i32 %scalar_{k}.bits to float"
            name = f"%scalar_{k}.f32"
        yield f"  %lane0_{k} = insertelement {vector} poison, {register} {name}, i64 0"
        mask = f"<{self.lanes} x i32> zeroinitializer"
        yield f"  %splat_{k} = shufflevector {vector} %lane0_{k}, {vector} poison, {mask}"

    def _chunk(self, body: Sequence[str]) -> Iterator[str]:
        yield "chunk:"
        yield "  %at = phi i64 [0, %start], [%at.next, %latch]"
        for k in self._pipelined:
            for name in self._names(k):
                yield f"  {name} = phi {self._vector(k)[0]} [{name}.first, %start], [{name}.early, %latch]"
        yield from self._folding.in_chunk()
        if self._of(InnerAccess.STRIDED):
            yield "  %first = add i64 %at, %origin"
        yield from self._lanes("collect", "chunk", BODY_BLOCK, self._strided_inputs)
        yield f"{BODY_BLOCK}:"
        yield from self._load_next_chunk()
        for k in self._read:
            if k not in self._pipelined:
                yield from self._load(k)
        for k in self._prefetched:
            yield from self._prefetch(k)
        yield from body
        for k, operands in zip(self._written, self._computed[1], strict=True):
            yield from self._store(k, operands)
        # The body may have branched; the loop's phi needs a block of a known name.
        yield "  br label %done"
        yield "done:"
        yield from self._lanes("spread", "done", "latch", self._strided_outputs)
        yield "latch:"
        yield f"  %at.next = add i64 %at, {self._chunk_size}"
        yield "  %more = icmp slt i64 %at.next, %end"
        yield "  br i1 %more, label %chunk, label %chunks.done"
        yield "chunks.done:"
        yield "  br i1 %is.tail, label %scatter, label %after"

    def _vector(self, k: int) -> tuple[str, int, int]:
        """Type of a chunk's operands, their number, and the elements of one."""
        if self.streams[k].dtype.is_upper_half:
            return f"<{self._chunk_size} x i16>", 1, self._chunk_size
        return f"<{self.lanes} x {self._element(k)}>", self.unroll, self.lanes

    def _names(self, k: int) -> list[str]:
        if self.streams[k].access is InnerAccess.SCALAR:
            return [f"%splat_{k}"] * self.unroll
        return [f"%m{k}.{i}" for i in range(self._vector(k)[1])]

    def _load(self, k: int, chunk: str = "%at", suffix: str = "") -> Iterator[str]:
        """A chunk's vectors, the one that begins at `chunk`, under their names with `suffix`."""
        if self.streams[k].access is InnerAccess.SCALAR:
            return
        vector, _, elements = self._vector(k)
        for i, name in enumerate(f"{name}{suffix}" for name in self._names(k)):
            yield from self._address(f"{name}.at", k, i * elements, chunk)
            yield f"  {name} = load {vector}, ptr {name}.at, align {self.streams[k].dtype.itemsize}"

    def _load_next_chunk(self) -> Iterator[str]:
        """Loads the next chunk of the `_pipelined` streams; at the last chunk, the same one again."""
        if not self._pipelined:
            return
        yield f"  %early.next = add i64 %at, {self._chunk_size}"
        yield "  %early.some = icmp slt i64 %early.next, %end"
        yield "  %early.at = select i1 %early.some, i64 %early.next, i64 %last"
        for k in self._pipelined:
            yield from self._load(k, "%early.at", ".early")

    def _store(self, k: int, operands: Chunk) -> Iterator[str]:
        vector, _, elements = self._vector(k)
        itemsize = self.streams[k].dtype.itemsize
        if self.streams[k].access is InnerAccess.SCALAR:
            # Loading as much as was stored: a wider load would wait for all stores before it, those of rows too.
            yield f"  %one_{k} = extractelement {vector} {operands[0]}, i64 0"
            yield f"  store {self._element(k)} %one_{k}, ptr %at1_{k}, align {itemsize}"
            return
        if k in self.folds:
            yield from self._folding.combined(k, operands)
            return
        line = min(elements * itemsize, _LINE_BYTES)
        hint = f"align {line}, !nontemporal !0" if self.streams[k].nontemporal else f"align {itemsize}"
        for name, operand, i in zip(self._names(k), operands, range(len(operands)), strict=True):
            yield from self._address(f"{name}.at", k, i * elements)
            yield f"  store {vector} {operand}, ptr {name}.at, {hint}"

    def _address(self, name: str, k: int, offset: int, chunk: str = "%at") -> Iterator[str]:
        """`name`: where the `chunk`'s elements from `offset` on lie; a strided stream's chunk is in its scratch."""
        if self.streams[k].access is InnerAccess.STRIDED:
            yield f"  {name} = getelementptr {self._element(k)}, ptr %scratch_{k}, i64 {offset}"
            return
        yield f"  {name}.index = add i64 {chunk}, {offset}"
        yield f"  {name} = getelementptr {self._element(k)}, ptr %in_{k}, i64 {name}.index"

    def _prefetch(self, k: int) -> Iterator[str]:
        element, nbytes = self._element(k), self.streams[k].dtype.itemsize
        # A chunk shorter than a line would prefetch each line several times.
        for line in range(self._chunk_size * nbytes // _LINE_BYTES):
            index = (_PREFETCH_BYTES + line * _LINE_BYTES) // nbytes
            yield f"  %ahead.index_{k}.{line} = add i64 %at, {index}"
            yield f"  %ahead_{k}.{line} = getelementptr {element}, ptr %in_{k}, i64 %ahead.index_{k}.{line}"
            yield f"  call void @llvm.prefetch.p0(ptr %ahead_{k}.{line}, i32 0, i32 3, i32 1)"

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
        yield "after:"
        yield from self._folding.after_chunks()
        end = "folded" if self.folds else "close1"
        yield f"  br i1 %has.rest, label %gather, label %{end}"
        yield "gather:"
        for k in self._of(InnerAccess.CONTIGUOUS):
            yield f"  %tail_{k} = getelementptr {self._element(k)}, ptr %at1_{k}, i64 %main"
            if k in self._copies and not self.streams[k].written:
                yield from self._copies[k].gather(f"%gather_{k}", f"%tail_{k}", f"%scratch_{k}")
        yield "  br label %gathered"
        yield "gathered:"
        yield "  br label %start"
        yield "scatter:"
        for k, copies in self._copies.items():
            if self.streams[k].written:
                yield f"  %left_{k} = getelementptr {self._element(k)}, ptr %at1_{k}, i64 %main"
                yield from copies.scatter(f"%scatter_{k}", f"%scratch_{k}", f"%left_{k}")
        yield from self._folding.with_tail(dict(zip(self._written, self._computed[1], strict=True)))
        yield f"  br label %{end}"
        yield from self._fold()

    def _fold(self) -> Iterator[str]:
        """What is reduced in registers, stored as one number."""
        if not self.folds:
            return
        yield "folded:"
        for k, number, lines in self._folding.results():
            yield from lines
            yield f"  store float {number}, ptr %at1_{k}, align 4"
        yield "  br label %close1"

    def _clear(self, k: int) -> Iterator[str]:
        # Lanes beyond the tail are set: denormals that the stack may hold would be slow.
        vector = f"<{self.lanes} x {self._element(k)}>"
        for i in range(self.unroll):
            yield f"  %clear_{k}.{i} = getelementptr {vector}, ptr %scratch_{k}, i64 {i}"
            yield f"  store {vector} zeroinitializer, ptr %clear_{k}.{i}, align {self.streams[k].dtype.itemsize}"

    @cached_property
    def _copies(self) -> Mapping[int, TailCopies]:
        """Of the tails of contiguous streams."""
        contiguous = [k for k in self._of(InnerAccess.CONTIGUOUS) if k in self._scratch_streams]
        sizes = {k: self.streams[k].dtype.itemsize for k in contiguous}
        return {k: TailCopies(self._element(k), sizes[k], self.lanes, self.unroll, self.masked) for k in contiguous}


BODY_BLOCK = "body"
"""Label of the block that the body's text begins in."""

PREFETCH_DECLARATION = "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)\n"
_LINE_BYTES = 64
_PREFETCH_BYTES = 256
_MAX_PREFETCHED = 12  # streams: ways of a set
_MAX_PIPELINED = 4  # streams
NONTEMPORAL = "!0 = !{i32 1}"
