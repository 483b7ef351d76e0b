"""A kernel of one bfloat16 argument as a table: each of the 65,536 words computed once, then looked up, as LLVM text.

Every element of such a kernel is a function of one word, and the bits of a lane never depend on its neighbours, so a
table that the kernel's own loop fills has its very bits, whatever the body. The first caller fills it; others that come
meanwhile compute for themselves, and nobody waits. For launches of at least as many elements as the table has entries:
the first of them then costs at most what it would have without a table, and the lookups.

Bound: a load and an insertion for every element, 6.1 elements per ns of one Zen 4 core where the entries that are met
lie in the first cache, as those of activations do (512 bytes for each factor of two that magnitudes spread over), and
2.2 of words at random, which the second cache serves. The gather of AVX-512 gives 2.7 there.
"""

from __future__ import annotations

from collections.abc import Sequence

from ttnn_jit.kernels.tile_loop import Access, Chunk, Stream, TileLoop
from ttnn_jit.tensor_spec import DataType

ENTRIES = 1 << 16
WORDS = 16  # of a chunk: 8 give 4.8 elements per ns, 32 no more than 16
_WORDS_OF_AN_INDEX = 4  # 64-bit registers are taken apart, by shifts


def can_be_tabulated(streams: Sequence[Stream]) -> bool:
    """Whether a kernel over these streams is a function of one bfloat16, with a bfloat16 result."""
    return [stream.written for stream in streams] == [False, True] and all(
        stream.dtype is DataType.BFLOAT16 and stream.access is not Access.SCALAR for stream in streams
    )


def tabulated(loop: TileLoop, function: str) -> tuple[str, list[str]]:
    """What is to stand for `function`, the definition of `loop`: functions and variables, and more declarations."""
    direct = function.replace(f"define void @{loop.name}(", "define internal void @ttnn_jit.direct(", 1)
    look_up = TileLoop("ttnn_jit.look_up", loop.streams, loop.rank, _looked_up, WORDS, 1, loads_early=False)
    parts = [_TABLE, direct, look_up.definition(internal=True), _filling(loop.rank), _choosing(loop.name)]
    return "\n".join(parts), look_up.declarations


def _looked_up(inputs: Sequence[Chunk]) -> tuple[Sequence[str], Sequence[Chunk]]:
    indices = WORDS // _WORDS_OF_AN_INDEX
    lines = [f"  %indices = bitcast <{WORDS} x i16> {inputs[0][0]} to <{indices} x i64>"]
    lines += [f"  %index{k} = extractelement <{indices} x i64> %indices, i64 {k}" for k in range(indices)]
    result = "poison"
    for k in range(WORDS):
        lines += [
            f"  %moved{k} = lshr i64 %index{k // _WORDS_OF_AN_INDEX}, {16 * (k % _WORDS_OF_AN_INDEX)}",
            f"  %word{k} = and i64 %moved{k}, {ENTRIES - 1}",
            f"  %entry{k} = getelementptr i16, ptr @ttnn_jit.results, i64 %word{k}",
            f"  %result{k} = load i16, ptr %entry{k}",
            f"  %found{k} = insertelement <{WORDS} x i16> {result}, i16 %result{k}, i64 {k}",
        ]
        result = f"%found{k}"
    return lines, [[result]]


_TABLE = f"""\
@ttnn_jit.results = internal global [{ENTRIES} x i16] zeroinitializer, align 64
@ttnn_jit.state = internal global i32 0"""
_EMPTY, _BEING_FILLED, _FILLED = range(3)


def _filling(rank: int) -> str:
    """``void @ttnn_jit.fill()``: every word put in its place, then the kernel over them, in place."""
    words = [ENTRIES, *[1] * rank, *[1, *[0] * rank] * 2]
    params = "\n".join(
        f"  %param{k} = getelementptr i64, ptr %params, i64 {k}\n  store i64 {word}, ptr %param{k}"
        for k, word in enumerate(words)
    )
    # It runs once, so that assembling it well would cost more than it gives.
    return f"""\
define internal void @ttnn_jit.fill() noinline optnone cold nounwind {{
entry:
  %pointers = alloca [2 x ptr]
  %params = alloca [{len(words)} x i64]
  store ptr @ttnn_jit.results, ptr %pointers
  %written = getelementptr ptr, ptr %pointers, i64 1
  store ptr @ttnn_jit.results, ptr %written
{params}
  br label %arguments
arguments:
  %at = phi i64 [0, %entry], [%at.next, %arguments]
  %place = getelementptr i16, ptr @ttnn_jit.results, i64 %at
  %word = trunc i64 %at to i16
  store i16 %word, ptr %place
  %at.next = add i64 %at, 1
  %more = icmp ult i64 %at.next, {ENTRIES}
  br i1 %more, label %arguments, label %results
results:
  call void @ttnn_jit.direct(ptr %pointers, ptr %params)
  ret void
}}"""


def _choosing(name: str) -> str:
    """The kernel: which of the functions runs. Whoever looks up sees a whole table."""
    return f"""\
define void @{name}(ptr noalias readonly %pointers, ptr noalias readonly %params) nounwind {{
entry:
  %state = load atomic i32, ptr @ttnn_jit.state acquire, align 4
  %is.filled = icmp eq i32 %state, {_FILLED}
  br i1 %is.filled, label %look.up, label %claim
claim:
  %claimed = cmpxchg ptr @ttnn_jit.state, i32 {_EMPTY}, i32 {_BEING_FILLED} monotonic monotonic
  %mine = extractvalue {{ i32, i1 }} %claimed, 1
  br i1 %mine, label %fill, label %compute
fill:
  call void @ttnn_jit.fill()
  store atomic i32 {_FILLED}, ptr @ttnn_jit.state release, align 4
  br label %look.up
look.up:
  call void @ttnn_jit.look_up(ptr %pointers, ptr %params)
  ret void
compute:
  call void @ttnn_jit.direct(ptr %pointers, ptr %params)
  ret void
}}"""
