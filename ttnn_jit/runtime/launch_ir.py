"""The launch function: runs every kernel of a program in one native call.

A kernel is ``void kernel(ptr pointers, ptr params)``. The launch function has the same signature, so that a program of
one kernel calls that directly: ``pointers`` holds the address of every buffer of the program, ``params`` is a table::

    number of kernels, largest number of operands,
    then per kernel: function, number of operands, address of its i64 operand indices, address of its params

For each kernel it gathers the addresses of its operands and calls it: a few nanoseconds per kernel and operand.
"""

from __future__ import annotations

LAUNCH_SYMBOL = "ttnn_jit_launch"
HEADER_WORDS = 2
ENTRY_WORDS = 4

_TEXT = f"""
define void @{LAUNCH_SYMBOL}(ptr %pointers, ptr %table) {{
entry:
  %kernels = load i64, ptr %table
  %widest.at = getelementptr i64, ptr %table, i64 1
  %widest = load i64, ptr %widest.at
  %gathered = alloca ptr, i64 %widest
  %entries = getelementptr i64, ptr %table, i64 {HEADER_WORDS}
  br label %kernel

kernel:
  %k = phi i64 [ 0, %entry ], [ %k.next, %call ]
  %function.at = getelementptr [{ENTRY_WORDS} x i64], ptr %entries, i64 %k
  %function = load ptr, ptr %function.at
  %count.at = getelementptr i64, ptr %function.at, i64 1
  %count = load i64, ptr %count.at
  %indices.at = getelementptr i64, ptr %function.at, i64 2
  %indices = load ptr, ptr %indices.at
  %params.at = getelementptr i64, ptr %function.at, i64 3
  %params = load ptr, ptr %params.at
  br label %operand

operand:
  %o = phi i64 [ 0, %kernel ], [ %o.next, %operand ]
  %index.at = getelementptr i64, ptr %indices, i64 %o
  %index = load i64, ptr %index.at
  %pointer.at = getelementptr ptr, ptr %pointers, i64 %index
  %pointer = load ptr, ptr %pointer.at
  %gathered.at = getelementptr ptr, ptr %gathered, i64 %o
  store ptr %pointer, ptr %gathered.at
  %o.next = add i64 %o, 1
  %operands.left = icmp ult i64 %o.next, %count
  br i1 %operands.left, label %operand, label %call

call:
  call void %function(ptr %gathered, ptr %params)
  %k.next = add i64 %k, 1
  %kernels.left = icmp ult i64 %k.next, %kernels
  br i1 %kernels.left, label %kernel, label %done

done:
  ret void
}}
"""


def launch_text() -> str:
    """The launch function as LLVM text. Every kernel has at least one operand, every table at least one kernel."""
    return _TEXT
