"""The native entry of every program: runs its kernels in order, and shares the long ones among threads.

A kernel is ``void kernel(ptr pointers, ptr params)``. Python calls a builtin function (`entry.py`) with integers. The
builtin stores them in memory as `CallArguments` of structures.py and the address of every buffer of the program, and
passes a pointer to the launch function. The table is a `LaunchTable` and a `LaunchEntry` for each kernel. Two further
builtins replay a trace (`recorder.py`), a list of calls.

A kernel of several chunks runs chunk by chunk: chunk i advances the operands' addresses by i times their step and has
shorter loops (`ttnn_jit.runtime.native.chunks`). Kernels do not see chunks. A caller that finds the pool in use, by
another thread or by a call from inside a kernel, runs its kernels alone.

Short launches that do not depend on each other are a *group* (`ttnn_jit.runtime.native.launch_groups`): one kernel,
whose operands are the addresses of the buffers and the chunks. Each chunk is some of these launches, in order.

Bound: a load and a store per operand and kernel (benchmarks/programs/latency.py).
"""

from __future__ import annotations

from ttnn_jit.kernels.llvm.function import FunctionBuilder, Parameter
from ttnn_jit.kernels.llvm.llvm_module import ModuleText
from ttnn_jit.kernels.llvm.types import I64, PTR, VOID, type_of
from ttnn_jit.kernels.llvm.values import Value, i64, zero
from ttnn_jit.runtime.native.copy_ir import copy_function
from ttnn_jit.runtime.native.helper_ir import SHARE_SYMBOL, helper_functions
from ttnn_jit.runtime.native.launch_symbols import (
    CALL_SYMBOL,
    LAUNCH_EACH_SYMBOL,
    REPLAY_SYMBOL,
    UNLOCKED_CALL_SYMBOL,
    UNLOCKED_REPLAY_SYMBOL,
    HostThreads,
)
from ttnn_jit.runtime.native.native_record import NativeRecord
from ttnn_jit.runtime.native.structures import (
    BUFFERS,
    FIELD_BYTES,
    CallArguments,
    GroupChunk,
    GroupParams,
    LaunchEntry,
    LaunchTable,
    ReplayArguments,
    ReplayedCall,
)

_LAUNCH_SYMBOL = "ttnn_jit_launch"
_REPLAY_ALL_SYMBOL = "ttnn_jit_replay_all"
_CALL_ONE_SYMBOL = "ttnn_jit_call_one"
_ENTRY, _CHUNK = (type_of(f"[{each.nbytes // FIELD_BYTES} x i64]") for each in (LaunchEntry, GroupChunk))


def _function(name: str, module: ModuleText, *parameters: str) -> FunctionBuilder:
    return FunctionBuilder(name, module, [Parameter(each, PTR) for each in parameters], is_internal=True, attributes="")


def _gather(f: FunctionBuilder, entry: NativeRecord, pointers: Value, gathered: Value) -> None:
    """Emit: store the addresses of the operands of a launch."""
    indices, offsets = entry.load(LaunchEntry.indices), entry.load(LaunchEntry.offsets)
    with f.count("operand", entry.load(LaunchEntry.operands, "operands")) as operand:
        index = f.load(I64, f.element(indices, I64, operand.index))
        buffer = f.load(PTR, f.element(pointers, PTR, index), hint="buffer")
        offset = f.load(I64, f.element(offsets, I64, operand.index))
        f.store(f.ptr_add(buffer, offset), f.element(gathered, PTR, operand.index))


def _launch(module: ModuleText) -> str:
    """``void launch(ptr table, ptr pool, ptr pointers)``: all kernels of a table."""
    f = _function(_LAUNCH_SYMBOL, module, "table", "pool", "pointers")
    _, pool, pointers = f.parameters
    table = NativeRecord(f, f.parameters[0])
    kernels, widest = table.load(LaunchTable.kernels, "kernels"), table.load(LaunchTable.widest, "widest")
    f.store(pointers, f.ptr_add(pointers, BUFFERS * FIELD_BYTES))
    gathered = f.alloca(PTR, widest, hint="gathered")
    alone = f.compare("eq", pool, zero(PTR), "alone")
    entries = table.end_of(LaunchTable, "entries")
    with f.count("kernel", kernels) as kernel:
        entry = NativeRecord(f, f.element(entries, _ENTRY, kernel.index, "at"))
        chunks = entry.load(LaunchEntry.chunks, "chunks")
        _gather(f, entry, pointers, gathered)
        whole, claim, share, following = (f.new_block(name) for name in ("whole", "claim", "share", "next"))
        f.branch_if(f.bit_or(alone, f.compare("ult", chunks, 2)), whole, claim)
        f.begin(claim)
        f.branch_if(f.compare_exchange(pool, i64(0), i64(1), "mine"), share, whole)
        f.begin(share)
        f.call(VOID, SHARE_SYMBOL, pool, entry.start, gathered, chunks)
        f.atomic_store(i64(0), pool, "release")
        f.branch(following)
        f.begin(whole)
        f.call_at(entry.load(LaunchEntry.function), VOID, gathered, entry.load(LaunchEntry.params))
        f.branch(following)
        f.begin(following)
    return f.build()


def _launch_each(module: ModuleText) -> str:
    """``void launch_each(ptr operands, ptr params)``: the launches of some chunks of a group, whole, on this thread.

    The operands are the addresses of the buffers and the first `GroupChunk`; the params are `GroupParams`.
    """
    parameters = Parameter("operands", PTR), Parameter("params", PTR)
    f = FunctionBuilder(LAUNCH_EACH_SYMBOL, module, parameters, attributes="")
    operands, params = f.parameters[0], NativeRecord(f, f.parameters[1])
    pointers = f.load(PTR, operands, hint="pointers")
    chunks = f.load(PTR, f.element(operands, PTR, 1), hint="first")
    gathered = f.alloca(PTR, params.load(GroupParams.widest, "widest"), hint="gathered")
    with f.count("chunk", params.load(GroupParams.chunks, "chunks")) as number:
        chunk = NativeRecord(f, f.element(chunks, _CHUNK, number.index, "chunk.at"))
        entries = f.ptr_add(chunk.start, chunk.load(GroupChunk.entries), "entries")
        with f.count("launch", chunk.load(GroupChunk.launches, "launches")) as launch:
            entry = NativeRecord(f, f.element(entries, _ENTRY, launch.index, "at"))
            _gather(f, entry, pointers, gathered)
            f.call_at(entry.load(LaunchEntry.function), VOID, gathered, entry.load(LaunchEntry.params))
    return f.build()


def _call_one(module: ModuleText) -> str:
    """``void call_one(ptr arguments)``: the call of a program."""
    f = _function(_CALL_ONE_SYMBOL, module, "arguments")
    arguments = NativeRecord(f, f.parameters[0])
    f.call(
        VOID,
        _LAUNCH_SYMBOL,
        arguments.load(CallArguments.table),
        arguments.load(CallArguments.pool),
        arguments.end_of(CallArguments),
    )
    return f.build()


def _replay_all(module: ModuleText) -> str:
    """``void replay_all(ptr arguments)``: the calls of a trace, one at least."""
    f = _function(_REPLAY_ALL_SYMBOL, module, "arguments")
    arguments = NativeRecord(f, f.parameters[0])
    calls, pool = arguments.load(ReplayArguments.calls, "calls"), arguments.load(ReplayArguments.pool, "pool")
    with f.count("call", arguments.load(ReplayArguments.count, "count")) as call:
        one = NativeRecord(f, f.load(PTR, f.element(calls, PTR, call.index), hint="one"))
        f.call(VOID, _LAUNCH_SYMBOL, one.load(ReplayedCall.table), pool, one.end_of(ReplayedCall))
    return f.build()


def _builtin(symbol: str, runs: str, module: ModuleText, *, releases_gil: bool) -> str:
    """A Python builtin that passes its arguments to the function `runs`; it returns `self`, which is None."""
    parameters = Parameter("self", PTR), Parameter("arguments", PTR), Parameter("count", I64)
    f = FunctionBuilder(symbol, module, parameters, PTR, attributes="")
    own, arguments, count = f.parameters
    numbers = f.alloca(PTR, count, hint="numbers")
    with f.count("argument", count) as argument:
        number = f.load(PTR, f.element(arguments, PTR, argument.index), hint="number")
        value = f.intrinsic(PTR, "PyLong_AsVoidPtr", number, hint="value")
        f.store(value, f.element(numbers, PTR, argument.index))
    refuse, launch = f.new_block("refuse"), f.new_block("launch")
    error = f.intrinsic(PTR, "PyErr_Occurred", hint="error")
    f.branch_if(f.compare("eq", error, zero(PTR), "all.numbers"), launch, refuse)
    f.begin(refuse)
    f.ret(zero(PTR))
    f.begin(launch)
    thread = f.intrinsic(PTR, "PyEval_SaveThread", hint="thread") if releases_gil else None
    f.call(VOID, runs, numbers)
    if thread is not None:
        f.intrinsic(VOID, "PyEval_RestoreThread", thread)
    f.intrinsic(VOID, "Py_IncRef", own)
    return f.build(own)


_BUILTINS = (
    (CALL_SYMBOL, _CALL_ONE_SYMBOL, False),
    (UNLOCKED_CALL_SYMBOL, _CALL_ONE_SYMBOL, True),
    (REPLAY_SYMBOL, _REPLAY_ALL_SYMBOL, False),
    (UNLOCKED_REPLAY_SYMBOL, _REPLAY_ALL_SYMBOL, True),
)


def launch_text(architecture: str, threads: HostThreads) -> str:
    """The functions as LLVM text. Every kernel has at least one operand, every table at least one kernel.

    Args:
        architecture: The first part of the host's triple.
        threads: The host's support for helper threads.
    """
    module = ModuleText()
    definitions = [
        *(write(module) for write in (_launch, _launch_each, _call_one, _replay_all, copy_function)),
        *(_builtin(symbol, runs, module, releases_gil=gives) for symbol, runs, gives in _BUILTINS),
        *helper_functions(architecture, threads, module),
    ]
    return "\n".join([*definitions, module.text()])
