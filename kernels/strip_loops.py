"""LLVM IR text of a loop over elements some of which are block floats: unpacked, and packed, strip by strip.

A strip is a few tiles beside each other. What is read of them is unpacked to memory on the stack, the loop runs over
its rows, and what is written is packed from there, so that no launch of its own takes a whole tensor through memory.

Bound: the bytes of the streams, packed as they are; in a cache the instructions of kernels/packing_loops.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ttnn_jit.kernels.outer_loops import word
from ttnn_jit.kernels.staged_loops import StageCall
from ttnn_jit.nest.limits import TILES
from ttnn_jit.nest.streams import InnerAccess, Stream
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.dtypes import STRIDES_OF_A_TILE
from ttnn_jit.specs.target import TILE_HEIGHT, TILE_WIDTH

_WIDTH = TILES * TILE_WIDTH
_LOOPS = 4


@dataclass(frozen=True)
class StripLoops:
    """The function ``void @name(ptr pointers, ptr params)``; the words are those of kernels/outer_loops.py.

    Loops 0 and 1 walk columns and rows of a tile, loop 2 tiles along a row of them, loop 3 rows of tiles.

    Attributes:
        name: Its symbol.
        streams: The kernel's; a strip of those of block floats is in a scratch buffer, in order behind them.
        scratches: What these buffers hold.
        loop: The loop over a strip, of rank 1.
        repackings: By stream of block floats, the function that unpacks it, or packs it (`PackingLoops`).
    """

    name: str
    streams: tuple[Stream, ...]
    scratches: tuple[Stream, ...]
    loop: StageCall
    repackings: dict[int, str]

    def text(self) -> str:
        """The function."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield f"define void @{self.name}(ptr noalias readonly %pointers, ptr noalias readonly %params) nounwind {{"
        yield "entry:"
        yield from self._memory()
        for k, _ in enumerate(self.streams):
            yield f"  %pointer.at{k} = getelementptr ptr, ptr %pointers, i64 {k}"
            yield f"  %base{k} = load ptr, ptr %pointer.at{k}"
            for loop in range(1, _LOOPS):
                yield from word(f"%stride{k}.{loop}", _LOOPS * (k + 1) + loop)
        yield from word("%inner", 0)
        yield from word("%tiles", 2)
        yield from word("%rows", 3)
        yield "  %is.empty = icmp eq i64 %inner, 0"
        yield "  br i1 %is.empty, label %done, label %row"
        yield "row:"
        yield "  %r = phi i64 [0, %entry], [%r.next, %row.end]"
        yield "  br label %strip"
        yield "strip:"
        yield "  %first = phi i64 [0, %row], [%first.next, %strip]"
        yield "  %left = sub i64 %tiles, %first"
        yield f"  %is.last = icmp sle i64 %left, {TILES}"
        yield f"  %count = select i1 %is.last, i64 %left, i64 {TILES}"
        for k, stream in enumerate(self.streams):
            yield from self._address(k, stream)
        yield from self._repacked(written=False)
        yield from self._strip()
        yield from self._repacked(written=True)
        yield f"  %first.next = add i64 %first, {TILES}"
        yield "  br i1 %is.last, label %row.end, label %strip"
        yield "row.end:"
        yield "  %r.next = add i64 %r, 1"
        yield "  %more = icmp slt i64 %r.next, %rows"
        yield "  br i1 %more, label %row, label %done"
        yield "done:"
        yield "  ret void"
        yield "}"

    def _memory(self) -> Iterator[str]:
        for k, scratch in enumerate(self.scratches, len(self.streams)):
            yield f"  %at{k} = alloca [{TILE_HEIGHT * _WIDTH} x {scratch.dtype.traits.llvm}], align 64"
        yield f"  %operands = alloca [{len(self.loop.operands)} x ptr]"
        yield f"  %words = alloca [{2 + 2 * len(self.loop.operands)} x i64]"
        yield "  %pair = alloca [2 x ptr]"
        yield f"  %pair.words = alloca [{3 * _LOOPS} x i64]"

    def _address(self, k: int, stream: Stream) -> Iterator[str]:
        """``%at<k>``: where a stream has the strip."""
        unit = f"[{stream.dtype.stride_bytes} x i8]"
        yield f"  %moved{k}.rows = mul i64 %r, %stride{k}.3"
        yield f"  %moved{k}.tiles = mul i64 %first, %stride{k}.2"
        yield f"  %moved{k} = add i64 %moved{k}.rows, %moved{k}.tiles"
        yield f"  %at{k} = getelementptr {unit}, ptr %base{k}, i64 %moved{k}"

    def _repacked(self, *, written: bool) -> Iterator[str]:
        """The calls that unpack what is read, or pack what is written."""
        for scratch, (k, function) in enumerate(self.repackings.items(), len(self.streams)):
            if self.streams[k].written is not written:
                continue
            packed, dense = (0, 0, STRIDES_OF_A_TILE, 0), (1, _WIDTH, TILE_WIDTH, 0)
            pair = ((scratch, dense), (k, packed)) if written else ((k, packed), (scratch, dense))
            words = [str(TILE_WIDTH), str(TILE_HEIGHT), "%count", "1"]
            for _, strides in pair:
                words += map(str, strides)
            yield from _stored(f"pair{k}", "%pair", [f"%at{number}" for number, _ in pair], "ptr")
            yield from _stored(f"pair{k}.word", "%pair.words", words, "i64")
            yield f"  call void @{function}(ptr %pair, ptr %pair.words)"

    def _strip(self) -> Iterator[str]:
        """The call of the loop."""
        yield f"  %columns = mul i64 %count, {TILE_WIDTH}"
        words = ["%columns", str(TILE_HEIGHT)]
        for k in self.loop.operands:
            if k >= len(self.streams):
                words += ["1", str(_WIDTH)]
            elif self.streams[k].access is InnerAccess.SCALAR:
                words += ["0", "0"]
            else:
                words += ["1", f"%stride{k}.1"]
        yield from _stored("operand", "%operands", [f"%at{k}" for k in self.loop.operands], "ptr")
        yield from _stored("word", "%words", words, "i64")
        yield f"  call void @{self.loop.function}(ptr %operands, ptr %words)"


def _stored(name: str, array: str, values: Sequence[str], kind: str) -> Iterator[str]:
    for place, value in enumerate(values):
        yield f"  %{name}.{place} = getelementptr {kind}, ptr {array}, i64 {place}"
        yield f"  store {kind} {value}, ptr %{name}.{place}"
