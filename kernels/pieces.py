"""One kernel that runs several loops over each block of elements, as LLVM IR text.

The loops are functions of tile_loop.py without outer loops. What one leaves to another lies in a block-sized run on the
stack, which stays in the first cache: 1,024 elements, for a block costs some 15 ns a loop.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ttnn_jit.kernels.tile_loop import ELEMENT, Stream
from ttnn_jit.tensor_spec import DataType

BLOCK = 1 << 10


@dataclass(frozen=True)
class PieceCall:
    """A loop over a block.

    Attributes:
        symbol: Its function.
        streams: For each of its streams, that of the kernel, counted on by the runs on the stack.
    """

    symbol: str
    streams: tuple[int, ...]


@dataclass(frozen=True)
class InPieces:
    """The function ``void @name(ptr pointers, ptr params)`` that calls `pieces` for every block.

    Attributes:
        name: Symbol of the kernel.
        streams: Its streams.
        kept: Element types of the runs on the stack.
        pieces: In the order of the calls.
    """

    name: str
    streams: tuple[Stream, ...]
    kept: tuple[DataType, ...]
    pieces: tuple[PieceCall, ...]

    def text(self) -> str:
        """The definition."""
        head = f"define void @{self.name}(ptr noalias readonly %pointers, ptr noalias readonly %params) nounwind {{"
        # Other threads see stores around the caches in no order otherwise.
        fence = ["  fence seq_cst"] if any(stream.around_caches for stream in self.streams) else []
        return "\n".join([head, *self._entry(), *self._block(), "done:", *fence, "  ret void", "}"])

    def _entry(self) -> Iterator[str]:
        yield "entry:"
        for j, dtype in enumerate(self.kept):
            yield f"  %kept_{j} = alloca [{BLOCK} x {ELEMENT[dtype]}], align 64"
        for k in range(len(self.streams)):
            yield f"  %pointer.at_{k} = getelementptr ptr, ptr %pointers, i64 {k}"
            yield f"  %all_{k} = load ptr, ptr %pointer.at_{k}"
            yield f"  %stride.at_{k} = getelementptr i64, ptr %params, i64 {1 + k}"
            yield f"  %stride_{k} = load i64, ptr %stride.at_{k}"
        for p, piece in enumerate(self.pieces):
            yield f"  %pointers_{p} = alloca [{len(piece.streams)} x ptr]"
            yield f"  %params_{p} = alloca [{1 + len(piece.streams)} x i64]"
            for q, k in enumerate(piece.streams):
                j = k - len(self.streams)
                yield f"  %pointer_{p}.{q} = getelementptr ptr, ptr %pointers_{p}, i64 {q}"
                yield f"  %stride_{p}.{q} = getelementptr i64, ptr %params_{p}, i64 {1 + q}"
                yield f"  store i64 {'1' if j >= 0 else f'%stride_{k}'}, ptr %stride_{p}.{q}"
                if j >= 0:
                    yield f"  store ptr %kept_{j}, ptr %pointer_{p}.{q}"
        yield "  %n = load i64, ptr %params"
        yield "  %some = icmp ne i64 %n, 0"
        yield "  br i1 %some, label %block, label %done"

    def _block(self) -> Iterator[str]:
        yield "block:"
        yield "  %first = phi i64 [0, %entry], [%first.next, %block]"
        yield "  %left = sub i64 %n, %first"
        yield f"  %whole = icmp ugt i64 %left, {BLOCK}"
        yield f"  %count = select i1 %whole, i64 {BLOCK}, i64 %left"
        for k, stream in enumerate(self.streams):
            yield f"  %offset_{k} = mul i64 %first, %stride_{k}"
            yield f"  %now_{k} = getelementptr {ELEMENT[stream.dtype]}, ptr %all_{k}, i64 %offset_{k}"
        for p, piece in enumerate(self.pieces):
            yield f"  store i64 %count, ptr %params_{p}"
            for q, k in enumerate(piece.streams):
                if k < len(self.streams):
                    yield f"  store ptr %now_{k}, ptr %pointer_{p}.{q}"
            yield f"  call void @{piece.symbol}(ptr %pointers_{p}, ptr %params_{p})"
        yield f"  %first.next = add i64 %first, {BLOCK}"
        yield "  %more = icmp ult i64 %first.next, %n"
        yield "  br i1 %more, label %block, label %done"
