"""The helper threads that share a kernel's chunks with its caller, in native code.

The caller publishes a kernel, wakes a helper if one sleeps, and takes chunks from the front itself; a helper that wakes
up wakes the next, registers, and takes chunks from the back, so that from call to call a chunk's memory mostly stays in
the caches of one CPU. One word counts both. The caller then closes the kernel to newcomers and waits for helpers that
registered, never for one that has not started: a late helper costs nothing.

Sleeping and waking another CPU take tens of microseconds, so both sides first *spin* for about as long: the helper,
with sched_yield, for the next kernel; the caller, without, for the last chunk, because a busy machine would give its
CPU back only milliseconds later.

A kernel shorter than a wake is shared with the helpers that are awake. If none is, its caller runs it alone, and wakes
one to spin if its last call ended recently: frequent callers find a helper at the next call, rare callers never pay for
a wake.

A helper excludes its caller's CPU from its affinity, for on a host with few CPUs Linux often wakes it there, where the
two could only take turns (benchmarks/choices.py: `helper affinity`).

A host without POSIX threads has no helpers: there the caller runs every kernel whole.

Bound: a shared kernel costs the caller two uncontended mutexes, and one wake where a helper sleeps.
"""

from __future__ import annotations

import time
from enum import Enum

from ttnn_jit.runtime.ir_text import add, add_atomic, place, word
from ttnn_jit.runtime.structures import LaunchEntry, Pool, Timespec

HELP_SYMBOL = "ttnn_jit_help"
NEW_POOL_SYMBOL = "ttnn_jit_new_pool"

HELPER_SPINS = 200  # with a sched_yield between two
CALLER_SPINS = 1000  # with a pause between two
KEEP_OFF_SYMBOL = "ttnn_jit_keep_off"
CPU_MASK_BYTES = 128  # as many CPUs as the C library's cpu_set_t names

OFTEN_NS = 50_000  # from one call to the next: about as long as a helper spins

_DECLARATIONS = """
declare i32 @pthread_mutex_lock(ptr)
declare i32 @pthread_mutex_unlock(ptr)
declare i32 @pthread_cond_wait(ptr, ptr)
declare i32 @pthread_cond_signal(ptr)
declare i32 @sched_yield()
declare i32 @clock_gettime(i32, ptr)
"""


def _pause(architecture: str) -> tuple[str, str]:
    """Declaration and call of what tells a CPU that a thread only looks at a word."""
    match architecture:
        case "x86_64" | "amd64":
            return "declare void @llvm.x86.sse2.pause()", "call void @llvm.x86.sse2.pause()"
        case "aarch64" | "arm64":
            return "declare void @llvm.aarch64.hint(i32)", "call void @llvm.aarch64.hint(i32 1)"
        case _:
            return "", ""


def _spin(name: str, looks: int, wait: str) -> str:
    """Spins on a word while it `holds` that it has a value, or that it has not; so often at most."""
    return f"""
define internal void @{name}(ptr %word, i64 %value, i1 %holds) {{
entry:
  br label %look

look:
  %looks = phi i64 [ 0, %entry ], [ %looks.next, %wait ]
  %now = load atomic i64, ptr %word monotonic, align 8
  %equal = icmp eq i64 %now, %value
  %still = icmp eq i1 %equal, %holds
  %patient = icmp ult i64 %looks, {looks}
  %goes.on = and i1 %still, %patient
  br i1 %goes.on, label %wait, label %done

wait:
  {wait}
  %looks.next = add i64 %looks, 1
  br label %look

done:
  ret void
}}
"""


# Masks are of the CPUs that a thread may use. `own` is what was set here last; if the thread has another one now, its
# user has changed it, and that is what bounds it from now on.
_PLACE = f"""
declare i32 @sched_getcpu()
declare i32 @sched_getaffinity(i32, i64, ptr)
declare i32 @sched_setaffinity(i32, i64, ptr)
declare i32 @memcmp(ptr, ptr, i64)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

define internal i64 @ttnn_jit_cpu() {{
  %cpu = call i32 @sched_getcpu()
  %wide = sext i32 %cpu to i64
  ret i64 %wide
}}

define internal void @{KEEP_OFF_SYMBOL}(ptr %pool, ptr %allowed, ptr %own) {{
entry:
  %now = alloca i8, i64 {CPU_MASK_BYTES}, align 8
{place("caller.at", "pool", Pool.caller_cpu)}
  %caller = load atomic i64, ptr %caller.at monotonic, align 8
  %here = call i64 @ttnn_jit_cpu()
  %meets = icmp eq i64 %here, %caller
  %named = icmp ult i64 %caller, {8 * CPU_MASK_BYTES}
  %moves = and i1 %meets, %named
  br i1 %moves, label %ask, label %done

ask:
  %asked = call i32 @sched_getaffinity(i32 0, i64 {CPU_MASK_BYTES}, ptr %now)
  %differs = call i32 @memcmp(ptr %now, ptr %own, i64 {CPU_MASK_BYTES})
  %is.own = icmp eq i32 %differs, 0
  br i1 %is.own, label %move, label %learn

learn:
  call void @llvm.memcpy.p0.p0.i64(ptr %allowed, ptr %now, i64 {CPU_MASK_BYTES}, i1 false)
  br label %move

move:
  call void @llvm.memcpy.p0.p0.i64(ptr %own, ptr %allowed, i64 {CPU_MASK_BYTES}, i1 false)
  %byte = lshr i64 %caller, 3
  %byte.at = getelementptr i8, ptr %own, i64 %byte
  %cpus = load i8, ptr %byte.at
  %number = trunc i64 %caller to i8
  %within = and i8 %number, 7
  %bit = shl i8 1, %within
  %others = xor i8 %bit, -1
  %left = and i8 %cpus, %others
  store i8 %left, ptr %byte.at
  %refused.if.none = call i32 @sched_setaffinity(i32 0, i64 {CPU_MASK_BYTES}, ptr %own)
  br label %done

done:
  ret void
}}
"""

_NO_PLACE = f"""
define internal i64 @ttnn_jit_cpu() {{
  ret i64 -1
}}

define internal void @{KEEP_OFF_SYMBOL}(ptr %pool, ptr %allowed, ptr %own) {{
  ret void
}}
"""

_SHARE = f"""
define internal void @ttnn_jit_share(ptr %pool, ptr %at, ptr %gathered, i64 %chunks) {{
entry:
{place("mutex", "pool", Pool.mutex)}
{place("work", "pool", Pool.work)}
{place("finished", "pool", Pool.finished)}
{word("limit", "pool", Pool.limit)}
{word("wakes", "at", LaunchEntry.wakes)}
  %is.long = icmp ne i64 %wakes, 0
{place("awake.at", "pool", Pool.awake)}
  %awake = load atomic i64, ptr %awake.at monotonic, align 8
  %some.awake = icmp sgt i64 %awake, 0
  %is.shared = or i1 %is.long, %some.awake
  br i1 %is.shared, label %publish, label %alone

alone:
{word("function", "at", LaunchEntry.function)}
{word("whole", "at", LaunchEntry.params)}
  %begin = call i64 @ttnn_jit_now()
  call void %function(ptr %gathered, ptr %whole)
  %end = call i64 @ttnn_jit_now()
{word("last.end", "pool", Pool.last_end)}
  store i64 %end, ptr %last.end.at
  %between = sub i64 %begin, %last.end
  %calls.often = icmp ult i64 %between, {OFTEN_NS}
  br i1 %calls.often, label %rouse, label %return

rouse:
  %roused = call i32 @pthread_cond_signal(ptr %work)
  br label %return

return:
  ret void

publish:
  %few = icmp slt i64 %awake, %limit
  %alert = select i1 %few, i64 %awake, i64 %limit
  %places = select i1 %is.long, i64 %limit, i64 %alert
  %locked = call i32 @pthread_mutex_lock(ptr %mutex)
{place("chunks.at", "pool", Pool.chunks)}
  store i64 %chunks, ptr %chunks.at
{place("entry.at", "pool", Pool.entry)}
  store ptr %at, ptr %entry.at
{place("pointers.at", "pool", Pool.pointers)}
  store ptr %gathered, ptr %pointers.at
{place("next.at", "pool", Pool.next_chunk)}
  store atomic i64 0, ptr %next.at monotonic, align 8
  %cpu = call i64 @ttnn_jit_cpu()
{place("cpu.at", "pool", Pool.caller_cpu)}
  store atomic i64 %cpu, ptr %cpu.at monotonic, align 8
{place("places.at", "pool", Pool.places)}
  store i64 %places, ptr %places.at
{add_atomic("round", "pool", Pool.round, 1)}
{place("open.at", "pool", Pool.is_open)}
  store i64 1, ptr %open.at
{word("sleepers", "pool", Pool.sleepers)}
  %any.sleeps = icmp ne i64 %sleepers, 0
  %any = and i1 %any.sleeps, %is.long
  %unlocked = call i32 @pthread_mutex_unlock(ptr %mutex)
  br i1 %any, label %wake, label %run

wake:
  %woken = call i32 @pthread_cond_signal(ptr %work)
  br label %run

run:
  call void @ttnn_jit_take_chunks(ptr %pool, ptr %at, ptr %gathered, i64 %chunks, i1 false)
  %locked.again = call i32 @pthread_mutex_lock(ptr %mutex)
  store i64 0, ptr %open.at
{word("working", "pool", Pool.active)}
  %none.works = icmp eq i64 %working, 0
  br i1 %none.works, label %close, label %watch

watch:
  %unlocked.early = call i32 @pthread_mutex_unlock(ptr %mutex)
  call void @ttnn_jit_watch_chunks(ptr %working.at, i64 0, i1 false)
  %locked.late = call i32 @pthread_mutex_lock(ptr %mutex)
  br label %check

check:
{word("active", "pool", Pool.active)}
  %over = icmp eq i64 %active, 0
  br i1 %over, label %close, label %wait

wait:
  %waited = call i32 @pthread_cond_wait(ptr %finished, ptr %mutex)
  br label %check

close:
  %unlocked.again = call i32 @pthread_mutex_unlock(ptr %mutex)
  ret void
}}
"""

_NOW = f"""
define internal i64 @ttnn_jit_now() {{
  %time = alloca [2 x i64], align 8
  %read = call i32 @clock_gettime(i32 {getattr(time, "CLOCK_MONOTONIC", 0)}, ptr %time)
  %seconds = load i64, ptr %time
{word("rest", "time", Timespec.nanoseconds)}
  %whole = mul i64 %seconds, 1000000000
  %now = add i64 %whole, %rest
  ret i64 %now
}}
"""

_TAKE_CHUNKS = f"""
define internal void @ttnn_jit_take_chunks(ptr %pool, ptr %at, ptr %gathered, i64 %chunks, i1 %helps) {{
entry:
{place("next.at", "pool", Pool.next_chunk)}
{word("function", "at", LaunchEntry.function)}
{word("count", "at", LaunchEntry.operands)}
{word("inner", "at", LaunchEntry.chunk_params)}
{word("last", "at", LaunchEntry.last_params)}
{word("steps", "at", LaunchEntry.steps)}
  %own = alloca ptr, i64 %count
  %top = sub i64 %chunks, 1
  br label %take

take:
  %ticket = select i1 %helps, i64 {1 << 32}, i64 1
  %taken = atomicrmw add ptr %next.at, i64 %ticket monotonic
  %back = lshr i64 %taken, 32
  %front = and i64 %taken, {(1 << 32) - 1}
  %all = add i64 %back, %front
  %some = icmp ult i64 %all, %chunks
  br i1 %some, label %place, label %done

place:
  %from.end = sub i64 %top, %back
  %i = select i1 %helps, i64 %from.end, i64 %front
  %is.last = icmp eq i64 %i, %top
  %params = select i1 %is.last, ptr %last, ptr %inner
  br label %operand

operand:
  %o = phi i64 [ 0, %place ], [ %o.next, %operand ]
  %step.at = getelementptr i64, ptr %steps, i64 %o
  %step = load i64, ptr %step.at
  %offset = mul i64 %step, %i
  %base.at = getelementptr ptr, ptr %gathered, i64 %o
  %base = load ptr, ptr %base.at
  %moved = getelementptr i8, ptr %base, i64 %offset
  %own.at = getelementptr ptr, ptr %own, i64 %o
  store ptr %moved, ptr %own.at
  %o.next = add i64 %o, 1
  %left = icmp ult i64 %o.next, %count
  br i1 %left, label %operand, label %call

call:
  call void %function(ptr %own, ptr %params)
  br label %take

done:
  ret void
}}
"""

_HELP = f"""
define void @{HELP_SYMBOL}(ptr %pool) {{
entry:
{place("mutex", "pool", Pool.mutex)}
{place("work", "pool", Pool.work)}
{place("finished", "pool", Pool.finished)}
  %allowed = alloca i8, i64 {CPU_MASK_BYTES}, align 8
  %own = alloca i8, i64 {CPU_MASK_BYTES}, align 8
  call void @llvm.memset.p0.i64(ptr %own, i8 0, i64 {CPU_MASK_BYTES}, i1 false)
  %locked = call i32 @pthread_mutex_lock(ptr %mutex)
{add_atomic("started", "pool", Pool.awake, 1)}
  br label %look

look:
  %seen = phi i64 [ 0, %entry ], [ %seen, %sleep ], [ %seen, %watch ], [ %round, %served ]
  %watches = phi i1 [ true, %entry ], [ true, %sleep ], [ false, %watch ], [ true, %served ]
{word("open", "pool", Pool.is_open)}
{word("places", "pool", Pool.places)}
{word("round", "pool", Pool.round)}
  %is.open = icmp ne i64 %open, 0
  %has.place = icmp sgt i64 %places, 0
  %is.new = icmp ne i64 %round, %seen
  %joins.open = and i1 %is.open, %has.place
  %joins = and i1 %joins.open, %is.new
  br i1 %joins, label %join, label %idle

idle:
  br i1 %watches, label %watch, label %sleep

watch:
  %unlocked.early = call i32 @pthread_mutex_unlock(ptr %mutex)
  call void @ttnn_jit_watch_kernels(ptr %round.at, i64 %round, i1 true)
  call void @{KEEP_OFF_SYMBOL}(ptr %pool, ptr %allowed, ptr %own)
  %locked.late = call i32 @pthread_mutex_lock(ptr %mutex)
  br label %look

sleep:
{add("more", "pool", Pool.sleepers, 1)}
{add_atomic("awake.before", "pool", Pool.awake, -1)}
  %slept = call i32 @pthread_cond_wait(ptr %work, ptr %mutex)
{add("fewer", "pool", Pool.sleepers, -1)}
{add_atomic("awake.after", "pool", Pool.awake, 1)}
  call void @{KEEP_OFF_SYMBOL}(ptr %pool, ptr %allowed, ptr %own)
  br label %look

join:
  %places.left = sub i64 %places, 1
  store i64 %places.left, ptr %places.at
{add("joined", "pool", Pool.active, 1)}
{word("chunks", "pool", Pool.chunks)}
{word("at", "pool", Pool.entry)}
{word("gathered", "pool", Pool.pointers)}
{word("sleepers", "pool", Pool.sleepers)}
  %unlocked = call i32 @pthread_mutex_unlock(ptr %mutex)
  %others = icmp ne i64 %sleepers, 0
  %room = icmp sgt i64 %places.left, 0
  %wakes = and i1 %others, %room
  br i1 %wakes, label %wake, label %serve

wake:
  %woken = call i32 @pthread_cond_signal(ptr %work)
  br label %serve

serve:
  call void @ttnn_jit_take_chunks(ptr %pool, ptr %at, ptr %gathered, i64 %chunks, i1 true)
  %locked.again = call i32 @pthread_mutex_lock(ptr %mutex)
{add_atomic("left", "pool", Pool.active, -1)}
  %last.out = icmp eq i64 %left, 0
  br i1 %last.out, label %tell, label %served

tell:
  %told = call i32 @pthread_cond_signal(ptr %finished)
  br label %served

served:
  br label %look
}}
"""

_NEW_POOL = f"""
declare i32 @pthread_mutex_init(ptr, ptr)
declare i32 @pthread_cond_init(ptr, ptr)

define void @{NEW_POOL_SYMBOL}(ptr %pool) {{
{place("mutex", "pool", Pool.mutex)}
{place("work", "pool", Pool.work)}
{place("finished", "pool", Pool.finished)}
  %a = call i32 @pthread_mutex_init(ptr %mutex, ptr null)
  %b = call i32 @pthread_cond_init(ptr %work, ptr null)
  %c = call i32 @pthread_cond_init(ptr %finished, ptr null)
  ret void
}}
"""


_NO_SHARE = f"""
define internal void @ttnn_jit_share(ptr %pool, ptr %at, ptr %gathered, i64 %chunks) {{
{word("function", "at", LaunchEntry.function)}
{word("params", "at", LaunchEntry.params)}
  call void %function(ptr %gathered, ptr %params)
  ret void
}}
"""


class HostThreads(Enum):
    """What a host's C library has for helpers."""

    NONE = "none"
    POSIX = "pthread mutexes and conditions"
    LINUX = "those, sched_setaffinity and sched_getcpu"

    @property
    def symbols(self) -> tuple[str, ...]:
        """The functions that `helper_text` exports."""
        return () if self is HostThreads.NONE else (HELP_SYMBOL, NEW_POOL_SYMBOL)


def helper_text(architecture: str, threads: HostThreads) -> str:
    """The functions as LLVM text.

    Args:
        architecture: The first part of the host's triple.
        threads: What the host has for helpers.
    """
    if threads is HostThreads.NONE:
        return _NO_SHARE
    declaration, pause = _pause(architecture)
    spins = (
        _spin("ttnn_jit_watch_chunks", CALLER_SPINS, pause),
        _spin("ttnn_jit_watch_kernels", HELPER_SPINS, "%yielded = call i32 @sched_yield()"),
    )
    place = _PLACE if threads is HostThreads.LINUX else _NO_PLACE
    return "".join((_DECLARATIONS, f"{declaration}\n", *spins, place, _NOW, _SHARE, _TAKE_CHUNKS, _HELP, _NEW_POOL))
