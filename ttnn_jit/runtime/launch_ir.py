"""The native entry of every program: runs its kernels in order, and shares the big ones among threads.

A kernel is ``void kernel(ptr pointers, ptr params)``. Python calls a builtin function (`entry.py`) with whole
numbers, which become the words of the launch function's argument: `CallWords` of structures.py and the address of every
buffer of the program. The table is a `LaunchTable` and a `LaunchEntry` for each kernel. A trace (`recorder.py`) is
replayed by two others, which run the calls of a list.

A kernel of several chunks is run chunk by chunk: chunk i has its operands' addresses moved on by i times their bytes
between chunks, and loops over less (`ttnn_jit.runtime.chunks`). Kernels know nothing of it. A caller that finds the
pool taken (another thread's call, or one from inside a kernel) runs its kernels alone.

Bound: a load and a store per operand and kernel (benchmarks/latency.py).
"""

from __future__ import annotations

from ttnn_jit.runtime.copy_ir import COPY_TEXT
from ttnn_jit.runtime.helper_ir import HostThreads, helper_text
from ttnn_jit.runtime.ir_text import behind, word
from ttnn_jit.runtime.structures import WORD_BYTES, CallWords, LaunchEntry, LaunchTable, ReplayedCall, ReplayWords

LAUNCH_SYMBOL = "ttnn_jit_launch"
CALL_SYMBOL = "ttnn_jit_call"
UNLOCKED_CALL_SYMBOL = "ttnn_jit_call_unlocked"
"""The same, but that other Python threads run meanwhile."""
REPLAY_SYMBOL = "ttnn_jit_replay"
UNLOCKED_REPLAY_SYMBOL = "ttnn_jit_replay_unlocked"
"""Likewise, for the calls of a trace."""
BUILTIN_SYMBOLS = (CALL_SYMBOL, UNLOCKED_CALL_SYMBOL, REPLAY_SYMBOL, UNLOCKED_REPLAY_SYMBOL)
"""The functions that Python calls."""
_REPLAY_ALL_SYMBOL = "ttnn_jit_replay_all"
_CALL_ONE_SYMBOL = "ttnn_jit_call_one"
PYTHON_API = ("PyLong_AsVoidPtr", "PyErr_Occurred", "PyEval_SaveThread", "PyEval_RestoreThread", "Py_IncRef")
"""What these call: all of CPython's stable ABI, as is their own form (METH_FASTCALL)."""

_LAUNCH = f"""
define internal void @{LAUNCH_SYMBOL}(ptr %table, ptr %pool, ptr %pointers) {{
entry:
{word("kernels", "table", LaunchTable.kernels)}
{word("widest", "table", LaunchTable.widest)}
  %gathered = alloca ptr, i64 %widest
  %alone = icmp eq ptr %pool, null
{behind("entries", "table", LaunchTable)}
  br label %kernel

kernel:
  %k = phi i64 [ 0, %entry ], [ %k.next, %next ]
  %at = getelementptr [{LaunchEntry.nbytes // WORD_BYTES} x i64], ptr %entries, i64 %k
{word("function", "at", LaunchEntry.function)}
{word("count", "at", LaunchEntry.operands)}
{word("indices", "at", LaunchEntry.indices)}
{word("offsets", "at", LaunchEntry.offsets)}
{word("params", "at", LaunchEntry.params)}
{word("chunks", "at", LaunchEntry.chunks)}
  br label %operand

operand:
  %o = phi i64 [ 0, %kernel ], [ %o.next, %operand ]
  %index.at = getelementptr i64, ptr %indices, i64 %o
  %index = load i64, ptr %index.at
  %pointer.at = getelementptr ptr, ptr %pointers, i64 %index
  %buffer = load ptr, ptr %pointer.at
  %offset.at = getelementptr i64, ptr %offsets, i64 %o
  %offset = load i64, ptr %offset.at
  %pointer = getelementptr i8, ptr %buffer, i64 %offset
  %gathered.at = getelementptr ptr, ptr %gathered, i64 %o
  store ptr %pointer, ptr %gathered.at
  %o.next = add i64 %o, 1
  %operands.left = icmp ult i64 %o.next, %count
  br i1 %operands.left, label %operand, label %gathering.done

gathering.done:
  %one = icmp ult i64 %chunks, 2
  %unshared = or i1 %alone, %one
  br i1 %unshared, label %whole, label %claim

claim:
  %claimed = cmpxchg ptr %pool, i64 0, i64 1 acquire monotonic
  %mine = extractvalue {{ i64, i1 }} %claimed, 1
  br i1 %mine, label %share, label %whole

share:
  call void @ttnn_jit_share(ptr %pool, ptr %at, ptr %gathered, i64 %chunks)
  store atomic i64 0, ptr %pool release, align 8
  br label %next

whole:
  call void %function(ptr %gathered, ptr %params)
  br label %next

next:
  %k.next = add i64 %k, 1
  %kernels.left = icmp ult i64 %k.next, %kernels
  br i1 %kernels.left, label %kernel, label %done

done:
  ret void
}}
"""


_CALL_ONE = f"""
define internal void @{_CALL_ONE_SYMBOL}(ptr %words) {{
{word("table", "words", CallWords.table)}
{word("pool", "words", CallWords.pool)}
{behind("pointers", "words", CallWords)}
  call void @{LAUNCH_SYMBOL}(ptr %table, ptr %pool, ptr %pointers)
  ret void
}}
"""

_REPLAY_ALL = f"""
define internal void @{_REPLAY_ALL_SYMBOL}(ptr %words) {{
entry:
{word("calls", "words", ReplayWords.calls)}
{word("count", "words", ReplayWords.count)}
{word("pool", "words", ReplayWords.pool)}
  br label %call

call:
  %i = phi i64 [ 0, %entry ], [ %i.next, %call ]
  %one.at = getelementptr ptr, ptr %calls, i64 %i
  %one = load ptr, ptr %one.at
{word("table", "one", ReplayedCall.table)}
{behind("pointers", "one", ReplayedCall)}
  call void @{LAUNCH_SYMBOL}(ptr %table, ptr %pool, ptr %pointers)
  %i.next = add i64 %i, 1
  %left = icmp ult i64 %i.next, %count
  br i1 %left, label %call, label %done

done:
  ret void
}}
"""


def _builtin(symbol: str, runs: str, before: str = "", after: str = "") -> str:
    """A builtin function of Python's that `runs` another of its words; `self`, which it returns, is None."""
    return f"""
define ptr @{symbol}(ptr %self, ptr %arguments, i64 %count) {{
entry:
  %words = alloca ptr, i64 %count
  br label %argument

argument:
  %i = phi i64 [ 0, %entry ], [ %i.next, %argument ]
  %number.at = getelementptr ptr, ptr %arguments, i64 %i
  %number = load ptr, ptr %number.at
  %value = call ptr @PyLong_AsVoidPtr(ptr %number)
  %word.at = getelementptr ptr, ptr %words, i64 %i
  store ptr %value, ptr %word.at
  %i.next = add i64 %i, 1
  %arguments.left = icmp ult i64 %i.next, %count
  br i1 %arguments.left, label %argument, label %converted

converted:
  %error = call ptr @PyErr_Occurred()
  %all.numbers = icmp eq ptr %error, null
  br i1 %all.numbers, label %launch, label %refuse

refuse:
  ret ptr null

launch:
{before}
  call void @{runs}(ptr %words)
{after}
  call void @Py_IncRef(ptr %self)
  ret ptr %self
}}
"""


def _builtins(runs: str, symbol: str, unlocked_symbol: str) -> str:
    """Two builtin functions that run another: with Python's lock, and without it."""
    save, restore = "  %thread = call ptr @PyEval_SaveThread()", "  call void @PyEval_RestoreThread(ptr %thread)"
    return _builtin(symbol, runs) + _builtin(unlocked_symbol, runs, save, restore)


_PYTHON = f"""
declare ptr @PyLong_AsVoidPtr(ptr)
declare ptr @PyErr_Occurred()
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
declare void @Py_IncRef(ptr)
{_builtins(_CALL_ONE_SYMBOL, CALL_SYMBOL, UNLOCKED_CALL_SYMBOL)}
{_builtins(_REPLAY_ALL_SYMBOL, REPLAY_SYMBOL, UNLOCKED_REPLAY_SYMBOL)}
"""


def launch_text(architecture: str, threads: HostThreads) -> str:
    """The functions as LLVM text. Every kernel has at least one operand, every table at least one kernel.

    Args:
        architecture: The first part of the host's triple.
        threads: What the host has for helpers.
    """
    return f"{_LAUNCH}{_CALL_ONE}{_REPLAY_ALL}{_PYTHON}{COPY_TEXT}{helper_text(architecture, threads)}"
