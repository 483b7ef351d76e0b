"""LLVM IR text of a loop that runs a kernel of rows for a row of tiles after the other, block floats among its streams.

What is read of a row of tiles is unpacked to memory on the stack, the kernel runs over its rows, and what is written is
packed from there: its sweeps meet elements, and no launch of its own takes a whole tensor through memory.

Bound: the bytes of the streams, packed as they are, or the instructions of kernels/packing_loops.py and of the kernel.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ttnn_jit.kernels.outer_loops import OuterLoops, word
from ttnn_jit.nest.limits import MOST_COLUMNS
from ttnn_jit.nest.streams import Stream
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.dtypes import STRIDES_OF_A_TILE
from ttnn_jit.specs.target import TILE_HEIGHT, TILE_WIDTH


@dataclass(frozen=True)
class RowStrips:
    """The function ``void @name(ptr pointers, ptr params)``; the words are those of kernels/outer_loops.py.

    Loop 0 walks columns and loop 1 rows, up to 32; block floats move by whole tiles along the loops around these.

    Attributes:
        name: Its symbol.
        streams: The kernel's.
        scratches: What is kept of those of block floats, in their order.
        rank: Loops around the innermost one, at least 1.
        rows: Symbol of the function over rows, of rank 1, whose streams are these, unpacked.
        repackings: By stream of block floats, the function that unpacks it, or packs it (`PackingLoops`).
    """

    name: str
    streams: tuple[Stream, ...]
    scratches: tuple[Stream, ...]
    rank: int
    rows: str
    repackings: dict[int, str]

    def text(self) -> str:
        """The function."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        units = tuple(f"[{stream.dtype.stride_bytes} x i8]" for stream in self.streams)
        outer = OuterLoops(units, self.rank, innermost=2)
        yield f"define void @{self.name}(ptr noalias readonly %pointers, ptr noalias readonly %params) nounwind {{"
        yield "entry:"
        yield from self._memory()
        yield from self._extents()
        for k, _ in enumerate(self.streams):
            yield f"  %pointer.at{k} = getelementptr ptr, ptr %pointers, i64 {k}"
            yield f"  %at{self.rank + 1}_{k} = load ptr, ptr %pointer.at{k}"
        yield from self._words(outer)
        yield "  %is.empty = icmp eq i64 %columns, 0"
        yield f"  br i1 %is.empty, label %close{self.rank + 1}, label %{outer.first}"
        yield from outer.open()
        yield "row:"
        yield from self._repacked(written=False)
        places = (f"%scratch{k}" if k in self.repackings else f"%at2_{k}" for k, _ in enumerate(self.streams))
        yield from _stored("operand", "%operands", [*places], "ptr")
        yield f"  call void @{self.rows}(ptr %operands, ptr %words)"
        yield from self._repacked(written=True)
        yield "  br label %close2"
        yield from outer.close()
        yield "  ret void"
        yield "}"

    def _memory(self) -> Iterator[str]:
        for k, scratch in zip(self.repackings, self.scratches, strict=True):
            yield f"  %scratch{k} = alloca [{TILE_HEIGHT * MOST_COLUMNS} x {scratch.dtype.traits.llvm}], align 64"
            yield f"  %pair{k} = alloca [2 x ptr]"
            yield f"  %pair.words{k} = alloca [12 x i64]"
        yield f"  %operands = alloca [{len(self.streams)} x ptr]"
        yield f"  %words = alloca [{2 + 2 * len(self.streams)} x i64]"

    def _extents(self) -> Iterator[str]:
        """``%columns`` and ``%rows``, no more than there is memory for; ``%tiles`` beside each other, ``%pitch``."""
        for name, index, most in (("columns", 0, MOST_COLUMNS), ("rows", 1, TILE_HEIGHT)):
            yield from word(f"%{name}.given", index)
            yield f"  %{name}.fit = icmp ult i64 %{name}.given, {most}"
            yield f"  %{name} = select i1 %{name}.fit, i64 %{name}.given, i64 {most}"
        yield f"  %last.column = add i64 %columns, {TILE_WIDTH - 1}"
        yield f"  %tiles = udiv i64 %last.column, {TILE_WIDTH}"
        yield f"  %pitch = mul i64 %tiles, {TILE_WIDTH}"

    def _words(self, outer: OuterLoops) -> Iterator[str]:
        """The words of all calls, which are the same for every row of tiles."""
        words = ["%columns", "%rows"]
        for k, _ in enumerate(self.streams):
            if k in self.repackings:
                words += ["1", "%pitch"]
                continue
            for loop in range(2):
                yield from word(f"%stride{k}.{loop}", outer.stride_index(k, loop))
            words += [f"%stride{k}.0", f"%stride{k}.1"]
        yield from _stored("word", "%words", words, "i64")
        packed, dense = ["0", "0", f"{STRIDES_OF_A_TILE}", "0"], ["1", "%pitch", f"{TILE_WIDTH}", "0"]
        for k in self.repackings:
            strides = [*dense, *packed] if self.streams[k].written else [*packed, *dense]
            extents = [f"{TILE_WIDTH}", f"{TILE_HEIGHT}", "%tiles", "1"]
            yield from _stored(f"pair.word{k}", f"%pair.words{k}", [*extents, *strides], "i64")

    def _repacked(self, *, written: bool) -> Iterator[str]:
        """The calls that unpack what is read, or pack what is written."""
        for k, function in self.repackings.items():
            if self.streams[k].written is written:
                pair = [f"%scratch{k}", f"%at2_{k}"] if written else [f"%at2_{k}", f"%scratch{k}"]
                yield from _stored(f"pair{k}", f"%pair{k}", pair, "ptr")
                yield f"  call void @{function}(ptr %pair{k}, ptr %pair.words{k})"


def _stored(name: str, array: str, values: Sequence[str], kind: str) -> Iterator[str]:
    for place, value in enumerate(values):
        yield f"  %{name}.{place} = getelementptr {kind}, ptr {array}, i64 {place}"
        yield f"  store {kind} {value}, ptr %{name}.{place}"
