"""Native code of the helper threads, which share a kernel's chunks with its caller.

The caller publishes a kernel, wakes a sleeping helper and takes chunks from the front. A helper that wakes up wakes the
next one, registers and takes chunks from the back, so that a chunk's memory mostly stays in the caches of one CPU from
call to call. One word holds both counts. The caller then closes the kernel to further helpers and waits for those that
registered. It never waits for a helper that has not started, so a late helper costs nothing.

Sleeping, and waking another CPU, take tens of microseconds, so both sides first *spin* for about as long. The helper
spins for the next kernel and calls sched_yield. The caller spins for the last chunk and does not yield, because a busy
machine would reschedule it only milliseconds later.

A kernel shorter than a wake is shared with the helpers that are awake. If none is, the caller runs the kernel alone,
and wakes a helper to spin if its last call ended recently. Frequent callers then find a helper at the next call, and
rare callers never pay for a wake.

A helper removes its caller's CPU from its affinity mask: on a host with few CPUs, Linux often wakes it there, and the
two threads would share that CPU (benchmarks/kernels/choices.py: `helper affinity`).

A host without POSIX threads has no helpers, and the caller runs every kernel whole.

Bound: a shared kernel costs the caller two uncontended mutexes, and one wake where a helper sleeps.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from ttnn_jit.kernels.llvm.function import FunctionBuilder, Parameter
from ttnn_jit.kernels.llvm.llvm_module import ModuleText
from ttnn_jit.kernels.llvm.types import I1, I8, I32, I64, PTR, VOID
from ttnn_jit.kernels.llvm.values import FALSE, TRUE, Value, i32, i64, integer, zero
from ttnn_jit.runtime.native.launch_symbols import HELP_SYMBOL, NEW_POOL_SYMBOL, HostThreads
from ttnn_jit.runtime.native.native_record import NativeRecord
from ttnn_jit.runtime.native.structures import LaunchEntry, Pool, Timespec

HELPER_SPINS = 200  # iterations, with a sched_yield in each
CALLER_SPINS = 1000  # iterations, with a pause instruction in each
KEEP_OFF_SYMBOL = "ttnn_jit_keep_off"
CPU_MASK_BYTES = 128  # the size of the C library's cpu_set_t

FREQUENT_NS = 50_000  # between two calls of a frequent caller: about as long as a helper spins

SHARE_SYMBOL = "ttnn_jit_share"
_CPU_SYMBOL = "ttnn_jit_cpu"
_NOW_SYMBOL = "ttnn_jit_now"
_TAKE_CHUNKS_SYMBOL = "ttnn_jit_take_chunks"
_WATCH_CHUNKS_SYMBOL = "ttnn_jit_watch_chunks"
_WATCH_KERNELS_SYMBOL = "ttnn_jit_watch_kernels"

_PAUSES: dict[str, tuple[str, tuple[Value, ...]]] = {
    **dict.fromkeys(("x86_64", "amd64"), ("llvm.x86.sse2.pause", ())),
    **dict.fromkeys(("aarch64", "arm64"), ("llvm.aarch64.hint", (i32(1),))),
}
"""The intrinsic of the spin-wait hint and its arguments, by architecture."""


class _Function(FunctionBuilder):
    """A function of the launch code."""

    def __init__(self, name: str, module: ModuleText, *parameters: Parameter, internal: bool = True) -> None:
        super().__init__(name, module, parameters, is_internal=internal, attributes="")

    def lock(self, pool: NativeRecord) -> None:
        """Lock the pool's mutex."""
        self.intrinsic(I32, "pthread_mutex_lock", pool.address(Pool.mutex))

    def unlock(self, pool: NativeRecord) -> None:
        """Unlock the pool's mutex."""
        self.intrinsic(I32, "pthread_mutex_unlock", pool.address(Pool.mutex))

    def signal(self, condition: Value) -> None:
        """Wake a thread that waits for a condition."""
        self.intrinsic(I32, "pthread_cond_signal", condition)

    def wait(self, condition: Value, pool: NativeRecord) -> None:
        """Wait for a condition; the mutex is locked before and after."""
        self.intrinsic(I32, "pthread_cond_wait", condition, pool.address(Pool.mutex))


def _pointers(*names: str) -> list[Parameter]:
    return [Parameter(name, PTR) for name in names]


def _spin(name: str, looks: int, module: ModuleText, wait: Callable[[_Function], object]) -> str:
    """``void spin(ptr word, i64 value, i1 holds)``: spins while (word == value) == holds, at most `looks` times."""
    f = _Function(name, module, *_pointers("word"), Parameter("value", I64), Parameter("holds", I1))
    word, value, holds = f.parameters
    with f.while_loop("look", ("looks", i64(0))) as look:
        (number,) = look.values
        equal = f.compare("eq", f.atomic_load(I64, word, hint="now"), value)
        still = f.compare("eq", equal, holds, "still")
        look.leave_unless(f.bit_and(still, f.compare("ult", number, looks, "patient")))
        wait(f)
        look.again(f.add(number, 1))
    return f.build()


def _cpu(module: ModuleText, threads: HostThreads) -> str:
    """``i64 cpu()``: the CPU that the thread runs on; -1 if the host cannot tell."""
    f = FunctionBuilder(_CPU_SYMBOL, module, (), I64, is_internal=True, attributes="")
    on_linux = threads is HostThreads.LINUX
    return f.build(f.sext(f.intrinsic(I32, "sched_getcpu"), I64) if on_linux else i64(-1))


def _keep_off(module: ModuleText, threads: HostThreads) -> str:
    """``void keep_off(ptr pool, ptr allowed, ptr own)``: moves the thread off the caller's CPU.

    Both are affinity masks. `own` is the mask that this function set last. If the thread's current mask differs, the
    user changed it, and it becomes `allowed`, the upper bound of later masks.
    """
    f = _Function(KEEP_OFF_SYMBOL, module, *_pointers("pool", "allowed", "own"))
    pool, allowed, own = f.parameters
    if threads is HostThreads.LINUX:
        size = i64(CPU_MASK_BYTES)
        now = f.alloca(I8, CPU_MASK_BYTES, 8, "now")
        caller = NativeRecord(f, pool).load_atomic(Pool.caller_cpu, "caller")
        meets = f.compare("eq", f.call(I64, _CPU_SYMBOL, hint="here"), caller, "meets")
        named = f.compare("ult", caller, 8 * CPU_MASK_BYTES, "named")
        with f.when(f.bit_and(meets, named), "ask"):
            f.intrinsic(I32, "sched_getaffinity", i32(0), size, now)
            differs = f.intrinsic(I32, "memcmp", now, own, size, hint="differs")
            with f.when(f.compare("ne", differs, 0), "learn"):
                f.copy_bytes(allowed, now, size)
            f.copy_bytes(own, allowed, size)
            byte_at = f.ptr_add(own, f.shift_right_zero(caller, 3), "byte.at")
            bit = f.shift_left(integer(1, I8), f.bit_and(f.narrow(caller, I8), 7), "bit")
            f.store(f.bit_and(f.load(I8, byte_at), f.bit_not(bit)), byte_at)
            f.intrinsic(I32, "sched_setaffinity", i32(0), size, own)  # fails if the mask is empty
    return f.build()


def _share(module: ModuleText) -> str:
    """``void share(ptr pool, ptr at, ptr gathered, i64 chunks)``: runs a kernel with the helpers that join."""
    f = _Function(SHARE_SYMBOL, module, *_pointers("pool", "at", "gathered"), Parameter("chunks", I64))
    pool, entry = NativeRecord(f, f.parameters[0]), NativeRecord(f, f.parameters[1])
    is_long = f.compare("ne", entry.load(LaunchEntry.wakes), 0, "is.long")
    limit, awake = pool.load(Pool.limit, "limit"), pool.load_atomic(Pool.awake, "awake")
    alone, publish = f.new_block("alone"), f.new_block("publish")
    f.branch_if(f.bit_or(is_long, f.compare("sgt", awake, 0)), publish, alone)
    f.begin(alone)
    _run_alone(f, pool, entry)
    f.begin(publish)
    openings = f.select(is_long, limit, f.select(f.compare("slt", awake, limit), awake, limit), "openings")
    f.lock(pool)
    _publish(f, pool, openings)
    sleeps = f.compare("ne", pool.load(Pool.sleepers), 0)
    wakes = f.bit_and(sleeps, is_long, "wakes")
    f.unlock(pool)
    with f.when(wakes, "wake"):
        f.signal(pool.address(Pool.work))
    f.call(VOID, _TAKE_CHUNKS_SYMBOL, *f.parameters, FALSE)
    f.lock(pool)
    pool.store(Pool.is_open, 0)
    _await_helpers(f, pool)
    f.unlock(pool)
    return f.build()


def _run_alone(f: _Function, pool: NativeRecord, entry: NativeRecord) -> None:
    """Emit: run the whole kernel, wake a helper to spin if the last call ended recently, and return."""
    begin = f.call(I64, _NOW_SYMBOL, hint="begin")
    f.call_at(entry.load(LaunchEntry.function), VOID, f.parameters[2], entry.load(LaunchEntry.params))
    last_end = pool.load(Pool.last_end, "last.end")
    pool.store(Pool.last_end, f.call(I64, _NOW_SYMBOL, hint="end"))
    with f.when(f.compare("ult", f.sub(begin, last_end), FREQUENT_NS, "calls.often"), "rouse"):
        f.signal(pool.address(Pool.work))
    f.ret()


def _publish(f: _Function, pool: NativeRecord, openings: Value) -> None:
    """Emit: publish the kernel to helpers, of which `openings` may join; the mutex is locked."""
    _, at, gathered, chunks = f.parameters
    pool.store(Pool.chunks, chunks)
    pool.store(Pool.entry, at)
    pool.store(Pool.pointers, gathered)
    pool.store_atomic(Pool.next_chunk, 0)
    pool.store_atomic(Pool.caller_cpu, f.call(I64, _CPU_SYMBOL, hint="cpu"))
    pool.store(Pool.openings, openings)
    pool.add_atomic(Pool.round, 1)
    pool.store(Pool.is_open, 1)


def _await_helpers(f: _Function, pool: NativeRecord) -> None:
    """Emit: wait until no helper works, first spinning, then sleeping; the mutex is locked before and after."""
    working = f.compare("ne", pool.load(Pool.active), 0, "some.work")
    with f.when(working, "watch"):
        f.unlock(pool)
        f.call(VOID, _WATCH_CHUNKS_SYMBOL, pool.address(Pool.active), i64(0), FALSE)
        f.lock(pool)
        with f.while_loop("check") as check:
            check.leave_unless(f.compare("ne", pool.load(Pool.active), 0))
            f.wait(pool.address(Pool.finished), pool)
            check.again()


def _now(module: ModuleText) -> str:
    """``i64 now()``: nanoseconds of the monotonic clock."""
    f = FunctionBuilder(_NOW_SYMBOL, module, (), I64, is_internal=True, attributes="")
    time_read = NativeRecord(f, f.alloca(I64, 2, 8, "time"))
    f.intrinsic(I32, "clock_gettime", i32(getattr(time, "CLOCK_MONOTONIC", 0)), time_read.start)
    whole = f.mul(time_read.load(Timespec.seconds), 1_000_000_000)
    return f.build(f.add(whole, time_read.load(Timespec.nanoseconds)))


def _take_chunks(module: ModuleText) -> str:
    """``void take_chunks(ptr pool, ptr at, ptr gathered, i64 chunks, i1 helps)``: runs chunks until none is left."""
    others = Parameter("chunks", I64), Parameter("helps", I1)
    f = _Function(_TAKE_CHUNKS_SYMBOL, module, *_pointers("pool", "at", "gathered"), *others)
    pool, at, gathered, chunks, helps = f.parameters
    next_at, entry = NativeRecord(f, pool).address(Pool.next_chunk), NativeRecord(f, at)
    function, count = entry.load(LaunchEntry.function), entry.load(LaunchEntry.operands, "count")
    inner, last = entry.load(LaunchEntry.chunk_params), entry.load(LaunchEntry.last_params)
    steps, own = entry.load(LaunchEntry.steps), f.alloca(PTR, count, hint="own")
    top = f.sub(chunks, 1, "top")
    with f.while_loop("take") as take:
        ticket = f.select(helps, i64(1 << 32), 1, "ticket")
        taken = f.atomic_add(next_at, ticket, "taken")
        back = f.shift_right_zero(taken, 32, "back")
        front = f.bit_and(taken, (1 << 32) - 1, "front")
        take.leave_unless(f.compare("ult", f.add(back, front), chunks, "some"))
        i = f.select(helps, f.sub(top, back), front, "i")
        params = f.select(f.compare("eq", i, top), last, inner, "params")
        with f.count("operand", count) as operand:
            offset = f.mul(f.load(I64, f.element(steps, I64, operand.index)), i)
            moved = f.ptr_add(f.load(PTR, f.element(gathered, PTR, operand.index)), offset)
            f.store(moved, f.element(own, PTR, operand.index))
        f.call_at(function, VOID, own, params)
        take.again()
    return f.build()


def _help(module: ModuleText) -> str:
    """``void help(ptr pool)``: the main loop of a helper, which never returns."""
    f = _Function(HELP_SYMBOL, module, *_pointers("pool"), internal=False)
    pool, size = NativeRecord(f, f.parameters[0]), i64(CPU_MASK_BYTES)
    masks = [f.alloca(I8, CPU_MASK_BYTES, 8, hint) for hint in ("allowed", "own")]
    f.clear_bytes(masks[1], size)
    f.lock(pool)
    pool.add_atomic(Pool.awake, 1)
    look = f.new_block("look", (I64, "seen"), (I1, "watches"))
    join, idle = f.new_block("join"), f.new_block("idle")
    f.branch(look, 0, TRUE)
    seen, watches = f.begin(look)
    is_open, openings = pool.load(Pool.is_open), pool.load(Pool.openings, "openings")
    number = pool.load(Pool.round, "round")
    has_opening = f.bit_and(f.compare("ne", is_open, 0), f.compare("sgt", openings, 0))
    f.branch_if(f.bit_and(has_opening, f.compare("ne", number, seen, "is.new")), join, idle)
    f.begin(idle)
    watch, sleep = f.new_block("watch"), f.new_block("sleep")
    f.branch_if(watches, watch, sleep)
    f.begin(watch)
    f.unlock(pool)
    f.call(VOID, _WATCH_KERNELS_SYMBOL, pool.address(Pool.round), number, TRUE)
    f.call(VOID, KEEP_OFF_SYMBOL, f.parameters[0], *masks)
    f.lock(pool)
    f.branch(look, seen, FALSE)
    f.begin(sleep)
    pool.add(Pool.sleepers, 1)
    pool.add_atomic(Pool.awake, -1)
    f.wait(pool.address(Pool.work), pool)
    pool.add(Pool.sleepers, -1)
    pool.add_atomic(Pool.awake, 1)
    f.call(VOID, KEEP_OFF_SYMBOL, f.parameters[0], *masks)
    f.branch(look, seen, TRUE)
    f.begin(join)
    _serve(f, pool, openings)
    f.branch(look, number, TRUE)
    return f.text


def _serve(f: _Function, pool: NativeRecord, openings: Value) -> None:
    """Emit: take chunks of a kernel; the mutex is locked before and after."""
    left = f.sub(openings, 1, "openings.left")
    pool.store(Pool.openings, left)
    pool.add(Pool.active, 1)
    chunks, at = pool.load(Pool.chunks, "chunks"), pool.load(Pool.entry, "at")
    gathered = pool.load(Pool.pointers, "gathered")
    others = f.compare("ne", pool.load(Pool.sleepers), 0, "others")
    f.unlock(pool)
    with f.when(f.bit_and(others, f.compare("sgt", left, 0)), "wake"):
        f.signal(pool.address(Pool.work))
    f.call(VOID, _TAKE_CHUNKS_SYMBOL, f.parameters[0], at, gathered, chunks, TRUE)
    f.lock(pool)
    still = pool.add_atomic(Pool.active, -1)
    with f.when(f.compare("eq", still, 0, "last.out"), "tell"):
        f.signal(pool.address(Pool.finished))


def _new_pool(module: ModuleText) -> str:
    """``void new_pool(ptr pool)``: initializes its mutex and conditions."""
    f = _Function(NEW_POOL_SYMBOL, module, *_pointers("pool"), internal=False)
    pool = NativeRecord(f, f.parameters[0])
    f.intrinsic(I32, "pthread_mutex_init", pool.address(Pool.mutex), zero(PTR))
    for condition in (Pool.work, Pool.finished):
        f.intrinsic(I32, "pthread_cond_init", pool.address(condition), zero(PTR))
    return f.build()


def _share_with_nobody(module: ModuleText) -> str:
    f = _Function(SHARE_SYMBOL, module, *_pointers("pool", "at", "gathered"), Parameter("chunks", I64))
    entry = NativeRecord(f, f.parameters[1])
    f.call_at(entry.load(LaunchEntry.function), VOID, f.parameters[2], entry.load(LaunchEntry.params))
    return f.build()


def helper_functions(architecture: str, threads: HostThreads, module: ModuleText) -> list[str]:
    """The definitions of the functions.

    Args:
        architecture: The first part of the host's triple.
        threads: The host's support for helper threads.
        module: Receives the declarations.
    """
    if threads is HostThreads.NONE:
        return [_share_with_nobody(module)]
    pause = _PAUSES.get(architecture)
    return [
        _spin(_WATCH_CHUNKS_SYMBOL, CALLER_SPINS, module, lambda f: pause and f.intrinsic(VOID, pause[0], *pause[1])),
        _spin(_WATCH_KERNELS_SYMBOL, HELPER_SPINS, module, lambda f: f.intrinsic(I32, "sched_yield")),
        _cpu(module, threads),
        *(write(module) for write in (_now, _share, _take_chunks, _help, _new_pool)),
        _keep_off(module, threads),
    ]
