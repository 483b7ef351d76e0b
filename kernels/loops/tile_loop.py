"""The loop around a vector body, as an LLVM function: rows of any number of dimensions, chunks of vectors, a tail.

The caller passes the extents and strides of all loops in ``params``, so that one text serves every shape. The text
depends on the number of loops, on how each stream is accessed along the innermost one (`InnerAccess`), on the element
types and on the body. The numbers of ``params``, each an i64, strides counted in elements::

    innermost extent, outer extents [rank], then per stream: innermost stride, outer strides [rank]

where ``rank`` counts the loops around the innermost one, which are listed from the inside out. The innermost extent may
be 0, outer extents are at least 1.

A chunk is `unroll` vectors. The tail of a row, shorter than a chunk, is copied to a chunk-sized scratch buffer on the
stack, computed by the same instructions as every chunk, and copied back: a lane's bits cannot depend on the tail, and
the body, whose size determines the compile time, is emitted once. Strided streams pass through their scratch buffer in
every chunk.

A kernel with several contiguous inputs prefetches each cache line 256 bytes ahead: hardware prefetchers follow few
streams, and stop at page boundaries (benchmarks/kernels/choices.py: `prefetch`). More than 12 streams, which often have
equal page offsets, would evict each other's lines from a set of the first cache before they are used.

A loop that `pipelines_loads` is software-pipelined: its float32 inputs are loaded while the chunk before is computed.
This avoids 4 KB aliasing: a load that agrees with an earlier store in the low 12 bits of the address waits for that
store. A result that begins 64 bytes after an input in these bits, as blocks of the C library often do, would make every
chunk wait for the one before (benchmarks/kernels/choices.py: `software pipelining`).

Bound: an address increment and a branch per chunk, a copy per stream and row with a tail, and a scalar load and
store per element of a strided stream.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from ttnn_jit.kernels.llvm.blocks import Region
from ttnn_jit.kernels.llvm.elements import computed
from ttnn_jit.kernels.llvm.kernel_function import KernelFunction
from ttnn_jit.kernels.llvm.llvm_module import KERNEL, ModuleText
from ttnn_jit.kernels.llvm.types import I1, I64, PTR, Type, type_of
from ttnn_jit.kernels.llvm.values import FALSE, TRUE, Block, Code, Literal, Value, i64, zero
from ttnn_jit.kernels.loops.chunk_folds import ChunkFold, elements_alone
from ttnn_jit.kernels.loops.tail_copies import TailCopies
from ttnn_jit.nest.limits import LINE
from ttnn_jit.nest.streams import InnerAccess, Stream
from ttnn_jit.process.dataclass import dataclass

Chunk = Sequence[Value]
"""A stream's chunk: `unroll` vectors of its elements or of a scalar, or one of all bfloat16 words."""


@dataclass(frozen=True)
class TileLoop:
    """The function ``void @name(ptr pointers, ptr params)`` that runs a body over all elements.

    Attributes:
        streams: Inputs, then outputs, in the order of ``pointers``; where one that is written is SCALAR, all are.
        rank: Loops around the innermost one.
        region: A chunk's computation: its parameters are the chunks of all inputs, its results those of all outputs.
        lanes: Lanes of a vector of float32.
        unroll: Vectors in a chunk.
        pipelines_loads: Whether the vectors of up to four contiguous float32 inputs are loaded a chunk ahead, which
            takes a register each. For long bodies on hosts with enough registers.
        module: What its definitions need; complete once they are written.
        fences: Whether it fences its non-temporal stores before it returns; otherwise its caller does.
        prefetches: Whether it prefetches its inputs at all: not those that a loop before it has read.
        folds: By FOLDED stream, how it is reduced; of a loop without others around it, whose chunks are all chains.
        masked: Whether the host loads and stores some lanes of a vector.
    """

    streams: tuple[Stream, ...]
    rank: int
    region: Region
    lanes: int
    unroll: int
    pipelines_loads: bool
    module: ModuleText
    fences: bool = True
    prefetches: bool = True
    folds: Mapping[int, ChunkFold] = field(default_factory=dict)
    masked: bool = False

    def definition(self, name: str = KERNEL) -> str:
        """The function; only its module sees one that is no kernel."""
        function = KernelFunction(name, *self._form, is_internal=name != KERNEL, taking_in=self.region.body)
        return _Writer(self, function, ()).text()

    def unoptimised_definition(self, constants: Sequence[Literal] = ()) -> str:
        """The function for a compile without optimiser, with `constants` in registers before each loop."""
        attributes, body = "nounwind noinline optnone", self.region.body
        function = KernelFunction(KERNEL, *self._form, attributes=attributes, taking_in=body)
        return _Writer(self, function, constants).text()

    @property
    def code(self) -> Code:
        """The body's instructions."""
        return self.region.body.code

    @property
    def _form(self) -> tuple[ModuleText, list[Type], int]:
        return self.module, [type_of(stream.dtype.traits.llvm) for stream in self.streams], self.rank

    @property
    def chunk_size(self) -> int:
        """Elements of a chunk."""
        return self.lanes * self.unroll


def chunk_types(stream: Stream, lanes: int, unroll: int) -> list[Type]:
    """The types of a stream's chunk."""
    if stream.access is InnerAccess.SCALAR and not stream.written:
        return [type_of(stream.dtype.compute.llvm, lanes)] * unroll
    if stream.dtype.is_upper_half:
        return [type_of("i16", lanes * unroll)]
    return [type_of(stream.dtype.traits.llvm, lanes)] * unroll


class _Writer:
    """Writes a loop's function."""

    def __init__(self, loop: TileLoop, function: KernelFunction, constants: Sequence[Literal]) -> None:
        self.loop = loop
        self.b = function
        self.constants = constants
        self.at: Sequence[Value] = ()  # where each stream's row is
        streams = range(len(loop.streams))
        self.read = [k for k in streams if not loop.streams[k].written]
        self.written = [k for k in streams if loop.streams[k].written]
        self.contiguous = self._of(InnerAccess.CONTIGUOUS)
        self.strided = self._of(InnerAccess.STRIDED)
        self.scalars = self._of(InnerAccess.SCALAR)
        inputs = [k for k in self.contiguous if k in self.read]
        self.prefetched = inputs if loop.prefetches and 1 < len(inputs) <= _MAX_PREFETCHED else []
        early = [k for k in inputs if loop.streams[k].dtype.is_compute_type]
        self.pipelined = early if loop.pipelines_loads and len(early) <= _MAX_PIPELINED else []
        self.copies = {
            k: TailCopies(self._element(k).times(loop.lanes), loop.unroll, loop.masked)
            for k in self.contiguous
            if not loop.streams[k].forwarded
        }

    def _of(self, access: InnerAccess) -> list[int]:
        return [k for k, stream in enumerate(self.loop.streams) if stream.access is access]

    def _element(self, k: int) -> Type:
        return self.b.elements[k]

    def _types(self, k: int) -> list[Type]:
        return chunk_types(self.loop.streams[k], self.loop.lanes, self.loop.unroll)

    def text(self) -> str:
        """The function."""
        b, loop = self.b, self.loop
        self._enter()
        with b.outer_loops(b.streams()) as self.at:
            self._row()
        return b.ended(fences=loop.fences and any(stream.nontemporal for stream in loop.streams))

    def _enter(self) -> None:
        b, size = self.b, self.loop.chunk_size
        buffered = sorted({*self.copies, *self.strided})
        self.scratch = {k: b.alloca(self._element(k), size, 64, f"scratch_{k}") for k in buffered}
        n = b.extent(0, "n")
        self.main = b.bit_and(n, -size, "main")
        self.rest = b.sub(n, self.main, "rest")
        self.has_main = b.compare("ne", self.main, 0, "has.main")
        self.has_rest = b.compare("ne", self.rest, 0, "has.rest")
        self.strides = {k: b.stride(k, 0, f"stride_{k}") for k in self.strided}
        for k in self.strided:
            # Lanes beyond the tail are set: denormals that the stack may hold would be slow.
            vector = self._element(k).times(self.loop.lanes)
            for i in range(self.loop.unroll if k in self.read else 0):
                b.store(zero(vector), b.element(self.scratch[k], vector, i), self.loop.streams[k].dtype.itemsize)

    def _row(self) -> None:
        """The chunks of a row, and then its tail, as a chunk of its own."""
        b = self.b
        self.splats = {k: self._splat(k) for k in self.scalars if k in self.read}
        identities = [start for fold in self.loop.folds.values() for start in [fold.start(b.body)] * self.loop.unroll]
        chains = [(each.type, "chain") for each in identities]
        whole, after = b.new_block("whole"), b.new_block("after", *chains)
        b.branch_if(self.has_main, whole, after, (), identities)
        b.begin(whole)
        strided = [(I64, "origin"), (I64, "count")] if self.strided else []
        inner = [(PTR, f"in_{k}") for k in self.contiguous]
        start = b.new_block("start", (I64, "end"), (I1, "is.tail"), *inner, *strided, *chains)
        size = i64(self.loop.chunk_size)
        windows = [i64(0), size] if self.strided else []
        b.branch(start, self.main, FALSE, *(self.at[k] for k in self.contiguous), *windows, *identities)
        scatter, folded = b.new_block("scatter"), b.new_block("folded", *chains)
        results, before = self._chunks(start, scatter, after)
        sums = b.begin(after)
        gather = b.new_block("gather")
        b.branch_if(self.has_rest, gather, folded, (), sums)
        b.begin(gather)
        windows = [self.main, self.rest] if self.strided else []
        b.branch(start, size, TRUE, *self._gathered(), *windows, *sums)
        b.begin(scatter)
        b.branch(folded, *self._scattered(results, before))
        self._fold(b.begin(folded))

    def _splat(self, k: int) -> Value:
        b, dtype = self.b, self.loop.streams[k].dtype
        scalar = b.load(self._element(k), self.at[k], hint=f"scalar_{k}")
        return b.splat(computed(b, scalar, dtype), self.loop.lanes, f"splat_{k}")

    def _chunks(self, start: Block, scatter: Block, after: Block) -> tuple[list[list[Value]], Sequence[Value]]:
        """From `start` to `scatter` or `after`: all chunks up to an end.

        Gives what the last has of each output, and what the chains were before it.
        """
        b, loop, size = self.b, self.loop, self.loop.chunk_size
        end, is_tail, *rest = b.begin(start)
        self.inner = dict(zip(self.contiguous, rest, strict=False))
        del rest[: len(self.contiguous)]
        origin, count = (rest.pop(0), rest.pop(0)) if self.strided else (i64(0), i64(0))
        last = b.sub(end, size, "last") if self.pipelined else end
        early = [vector for k in self.pipelined for vector in self._loaded(k, i64(0))]
        constants = {(each.type, str(each)): b.freeze(each, "constant") for each in self.constants}
        carried = [*(("m", vector) for vector in early), *(("chain", chain) for chain in rest)]
        with b.count("at", end, *carried, step=size) as chunk:
            at, values = chunk.index, list(chunk.values)
            loaded = {k: [values.pop(0) for _ in self._types(k)] for k in self.pipelined}
            first = b.add(at, origin, "first") if self.strided else at
            self._move_lanes("collect", first, count, [k for k in self.strided if k in self.read])
            following = self._load_next_chunk(at, end, last)
            for k in self.read:
                if k not in loaded:
                    loaded[k] = [self.splats[k]] * loop.unroll if k in self.splats else self._loaded(k, at)
            for k in self.prefetched:
                self._prefetch(k, at)
            results = self._computed([vector for k in self.read for vector in loaded[k]], constants)
            before = tuple(values)
            sums = self._store_all(results, at, values)
            self._move_lanes("spread", first, count, [k for k in self.strided if k in self.written])
            chunk.carry(*following, *sums)
        b.branch_if(is_tail, scatter, after, (), chunk.values[len(early) :])
        return results, before

    def _computed(self, vectors: list[Value], constants: Mapping[tuple[Type, str], Value]) -> list[list[Value]]:
        values = self.b.take_in(self.loop.region, vectors, constants)
        return [[values.pop(0) for _ in self._types(k)] for k in self.written]

    def _loaded(self, k: int, at: Value) -> list[Value]:
        """The vectors of the chunk at an index."""
        align = self.loop.streams[k].dtype.itemsize
        types, address = self._types(k), self._address
        return [self.b.load(kind, address(k, i * kind.lanes, at), align, f"m{k}") for i, kind in enumerate(types)]

    def _load_next_chunk(self, at: Value, end: Value, last: Value) -> list[Value]:
        """The vectors of the next chunk of the pipelined streams; at the last chunk, of the same one again."""
        if not self.pipelined:
            return []
        b = self.b
        following = b.add(at, self.loop.chunk_size, "early.next")
        early = b.select(b.compare("slt", following, end, "early.some"), following, last, "early.at")
        return [vector for k in self.pipelined for vector in self._loaded(k, early)]

    def _address(self, k: int, offset: int, at: Value) -> Value:
        """Where the chunk's elements from `offset` on lie; a strided stream's chunk is in its scratch."""
        b, element = self.b, self._element(k)
        if k in self.strides:
            return b.element(self.scratch[k], element, offset)
        return b.element(self.inner[k], element, b.add(at, offset))

    def _prefetch(self, k: int, at: Value) -> None:
        b, nbytes = self.b, self.loop.streams[k].dtype.itemsize
        # A chunk shorter than a line would prefetch each line several times.
        for line in range(self.loop.chunk_size * nbytes // LINE):
            index = b.add(at, (_PREFETCH_BYTES + line * LINE) // nbytes)
            b.prefetch(b.element(self.inner[k], self._element(k), index))

    def _store_all(self, results: list[list[Value]], at: Value, chains: list[Value]) -> list[Value]:
        """Stores a chunk of every output; what is folded goes into its `chains` instead, which are given back."""
        sums: list[Value] = []
        for k, vectors in zip(self.written, results, strict=True):
            if k in self.loop.folds:
                own = [chains.pop(0) for _ in vectors]
                sums += self.loop.folds[k].combined(self.b.body, own, vectors)
            else:
                self._store(k, vectors, at)
        return sums

    def _store(self, k: int, vectors: list[Value], at: Value) -> None:
        b, stream = self.b, self.loop.streams[k]
        itemsize = stream.dtype.itemsize
        if stream.access is InnerAccess.SCALAR:
            # Loading as much as was stored: a wider load would wait for all stores before it, those of rows too.
            b.store(b.extract(vectors[0], 0), self.at[k], itemsize)
            return
        for i, vector in enumerate(vectors):
            line = min(vector.type.lanes * itemsize, LINE)
            align = line if stream.nontemporal else itemsize
            b.store(vector, self._address(k, i * vector.type.lanes, at), align, nontemporal=stream.nontemporal)

    def _move_lanes(self, hint: str, first: Value, count: Value, streams: list[int]) -> None:
        """The chunk's elements of strided `streams` to their scratch, or back."""
        if not streams:
            return
        b = self.b
        with b.count(f"{hint}.lane", count) as lane:
            index = b.add(first, lane.index)
            for k in streams:
                element = self._element(k)
                far = b.element(self.at[k], element, b.mul(index, self.strides[k]))
                near = b.element(self.scratch[k], element, lane.index)
                source, target = (near, far) if k in self.written else (far, near)
                b.store(b.load(element, source), target)

    def _gathered(self) -> list[Value]:
        """The tails of contiguous streams, in their scratch."""
        found = []
        for k in self.contiguous:
            tail = self.b.element(self.at[k], self._element(k), self.main, f"tail_{k}")
            if k in self.copies and k in self.read:
                self.copies[k].gather(self.b, self.rest, tail, self.scratch[k])
            found.append(self.scratch.get(k, tail))
        return found

    def _scattered(self, results: list[list[Value]], chains: Sequence[Value]) -> list[Value]:
        """Takes what the tail's chunk wrote to where it belongs; the chains with its elements."""
        b, left = self.b, list(chains)
        for k in self.copies:
            if k in self.written:
                address = b.element(self.at[k], self._element(k), self.main, f"left_{k}")
                self.copies[k].scatter(b, self.rest, self.scratch[k], address)
        sums: list[Value] = []
        for k, fold in self.loop.folds.items():
            vectors = results[self.written.index(k)]
            kept = elements_alone(b, self.rest, vectors, fold.start(b.body))
            sums += fold.combined(b.body, [left.pop(0) for _ in vectors], kept)
        return sums

    def _fold(self, chains: Sequence[Value]) -> None:
        """What is reduced in registers, stored as one number."""
        unroll = self.loop.unroll
        for index, (k, fold) in enumerate(self.loop.folds.items()):
            number = fold.result(self.b.body, chains[index * unroll : (index + 1) * unroll])
            self.b.store(number, self.at[k], 4)


_PREFETCH_BYTES = 256
_MAX_PREFETCHED = 12  # streams: ways of a set
_MAX_PIPELINED = 4  # streams
