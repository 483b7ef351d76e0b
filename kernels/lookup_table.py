"""A function of one bfloat16 as a table: each of the 65,536 words computed once, then looked up, as LLVM text.

A lane's bits never depend on its neighbours, so a table that the kernel's own code fills holds the bits of that code
for any function. A launch that finds the table empty fills it; concurrent launches write the same words, and none
waits. A table is used in launches of at least as many elements as it has entries: the first launch costs at most the
lookups more than without a table.

Bound: a load and an insertion per element, from the first cache if the entries in use fit there, as those of
activations do (512 bytes per binade), else from the second. AVX-512's gather is slower. Lookups of words that a kernel
has just computed wait in the reorder buffer for that computation. Rates: benchmarks/results/vector_math.md.
"""

from __future__ import annotations

from ttnn_jit.kernels.llvm_float import TABLE
from ttnn_jit.nest.limits import ENTRIES

_BLOCK = 1 << 10  # words that are filled at once


def lookup_table(name: str, look_up: str, function: str) -> str:
    """The table and the functions of the kernel `name`.

    Args:
        name: Symbol of the kernel.
        look_up: Of the function ``void (ptr pointers, ptr params)`` that is the kernel, once the table is filled.
        function: Of such a function over one run of words that computes what the table holds.
    """
    # Filling runs once: optimising it would cost more than it saves.
    return f"""\
@{TABLE} = internal global [{ENTRIES} x i16] zeroinitializer, align 64
@ttnn_jit.filled = internal global i32 0

define internal void @ttnn_jit.fill() noinline optnone cold nounwind {{
entry:
  %arguments = alloca [{_BLOCK} x i16], align 64
  %pointers = alloca [2 x ptr]
  %params = alloca [3 x i64]
  store i64 {_BLOCK}, ptr %params
  store ptr %arguments, ptr %pointers
  %written = getelementptr ptr, ptr %pointers, i64 1
  br label %block
block:
  %first = phi i64 [0, %entry], [%first.next, %results]
  br label %argument
argument:
  %at = phi i64 [0, %block], [%at.next, %argument]
  %place = getelementptr i16, ptr %arguments, i64 %at
  %index = add i64 %first, %at
  %word = trunc i64 %index to i16
  store i16 %word, ptr %place
  %at.next = add i64 %at, 1
  %more.arguments = icmp ult i64 %at.next, {_BLOCK}
  br i1 %more.arguments, label %argument, label %results
results:
  %entries = getelementptr i16, ptr @{TABLE}, i64 %first
  store ptr %entries, ptr %written
  call void @{function}(ptr %pointers, ptr %params)
  %first.next = add i64 %first, {_BLOCK}
  %more = icmp ult i64 %first.next, {ENTRIES}
  br i1 %more, label %block, label %done
done:
  ret void
}}

define void @{name}(ptr noalias readonly %pointers, ptr noalias readonly %params) nounwind {{
entry:
  %filled = load atomic i32, ptr @ttnn_jit.filled acquire, align 4
  %is.filled = icmp ne i32 %filled, 0
  br i1 %is.filled, label %look.up, label %fill
fill:
  call void @ttnn_jit.fill()
  store atomic i32 1, ptr @ttnn_jit.filled release, align 4
  br label %look.up
look.up:
  call void @{look_up}(ptr %pointers, ptr %params)
  ret void
}}"""
