"""What this machine can do at most: multiply-adds, and bytes copied, by one thread and by all.

Runs in a process of its own; threads are Python's, each in one native call of some milliseconds. A roof is the best of
several tries: it is what others are measured against.
"""

from __future__ import annotations

import ctypes
import os
import threading
import time
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import llvmlite.binding as llvm

from ttnn_jit.codegen.assemble import assemble
from ttnn_jit.kernels.isa import HostIsa, isa_for
from ttnn_jit.kernels.llvm_module import LlvmModule, ModuleText
from ttnn_jit.kernels.llvm_vector import LlvmVector
from ttnn_jit.runtime.buffer import Buffer, BufferPool
from ttnn_jit.runtime.native import kernel_address

TRY_SECONDS = 5e-3
ACCUMULATORS = 12
FMA_ITERATIONS = 2_000_000  # milliseconds, of which waking a second thread is little
NEAR_NOTHING = ", !nontemporal !0"


def host_isa() -> HostIsa:
    """What this host runs."""
    llvm.initialize_native_target()
    return isa_for(llvm.get_host_cpu_name(), llvm.get_host_cpu_features(), llvm.get_process_triple())


@cache
def native(name: str) -> Callable[..., None]:
    """One of the probes, callable; Python's lock is free meanwhile."""
    isa = host_isa()
    address = kernel_address(name, assemble(LlvmModule(_text(isa)), isa))
    return ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)(address)


def _text(isa: HostIsa) -> str:
    vector, copies = (
        f"<{isa.lanes} x float>",
        (_copy_text(isa, "copy", ""), _copy_text(isa, "copy_around", NEAR_NOTHING)),
    )
    declaration = f"declare {vector} @llvm.fma.v{isa.lanes}f32({vector}, {vector}, {vector})\n"
    fma = [
        f"  %b{k} = call {vector} @llvm.fma.v{isa.lanes}f32({vector} %a{k}, {vector} %f, {vector} %g)"
        for k in range(ACCUMULATORS)
    ]
    module = ModuleText()
    builder = LlvmVector(isa, module, prefix="v", block="loop")
    pairs = []
    for k in range(ACCUMULATORS):
        total = builder.add_products(f"%a{k}", "%x", "%y")
        pairs += [*builder.lines, f"  %b{k} = bitcast {vector} {total} to {vector}"]
        builder.code.clear()
    declared = "".join(f"{each}\n" for each in module.declarations)
    probes = _products_text(isa, "fma", fma) + _products_text(isa, "pairs", pairs)
    return declaration + declared + probes + "".join(copies) + "!0 = !{i32 1}\n"


def _products_text(isa: HostIsa, name: str, steps: Sequence[str]) -> str:
    """A loop of `steps`, each of which makes ``%b<k>`` of ``%a<k>`` and of factors, floats or pairs of bfloat16."""
    vector, words = f"<{isa.lanes} x float>", f"<{isa.lanes} x i32>"
    rows = range(ACCUMULATORS)
    phis = "\n".join(f"  %a{k} = phi {vector} [ zeroinitializer, %entry ], [ %b{k}, %loop ]" for k in rows)
    sums = "\n".join(f"  %s{k + 1} = fadd {vector} %s{k}, %b{k}" for k in rows)
    return f"""
define void @{name}(ptr %out, ptr %in, i64 %n, i64 %unused) {{
entry:
  %f = load {vector}, ptr %in, align 4
  %g = load {vector}, ptr %out, align 4
  %x = bitcast {vector} %f to {words}
  %y = bitcast {vector} %g to {words}
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %loop ]
{phis}
{chr(10).join(steps)}
  %i.next = add i64 %i, 1
  %more = icmp ult i64 %i.next, %n
  br i1 %more, label %loop, label %done
done:
  %s0 = fadd {vector} %b0, %b1
{sums}
  store {vector} %s{ACCUMULATORS}, ptr %out, align 4
  ret void
}}
"""


def _copy_text(isa: HostIsa, name: str, hint: str) -> str:
    vector, width = f"<{isa.lanes} x float>", 4 * isa.lanes
    lines = []
    for k in range(4):
        lines += [
            f"  %at{k} = add i64 %i, {k * width}",
            f"  %from{k} = getelementptr i8, ptr %in, i64 %at{k}",
            f"  %to{k} = getelementptr i8, ptr %out, i64 %at{k}",
            f"  %v{k} = load {vector}, ptr %from{k}, align {width}",
            f"  store {vector} %v{k}, ptr %to{k}, align {width}{hint}",
        ]
    body = "\n".join(lines)
    return f"""
define void @{name}(ptr noalias %out, ptr noalias %in, i64 %bytes, i64 %passes) {{
entry:
  br label %pass
pass:
  %p = phi i64 [ 0, %entry ], [ %p.next, %pass.done ]
  br label %loop
loop:
  %i = phi i64 [ 0, %pass ], [ %i.next, %loop ]
{body}
  %i.next = add i64 %i, {4 * width}
  %more = icmp ult i64 %i.next, %bytes
  br i1 %more, label %loop, label %pass.done
pass.done:
  fence seq_cst
  %p.next = add i64 %p, 1
  %again = icmp ult i64 %p.next, %passes
  br i1 %again, label %pass, label %done
done:
  ret void
}}
"""


def seconds_together(calls: Sequence[Callable[[], None]]) -> float:
    """Seconds from the first start to the last end of calls that start together, a thread each, on a CPU of its own."""
    if len(calls) == 1:
        start = time.perf_counter()
        calls[0]()
        return time.perf_counter() - start
    barrier = threading.Barrier(len(calls))
    times: list[tuple[float, float]] = []

    def run(call: Callable[[], None], cpu: int) -> None:
        if cpus:
            os.sched_setaffinity(0, {cpu})
        barrier.wait()
        start = time.perf_counter()
        call()
        times.append((start, time.perf_counter()))

    cpus = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    places = (cpus * len(calls))[: len(calls)] or [0] * len(calls)
    threads = [threading.Thread(target=run, args=each) for each in zip(calls, places, strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return max(end for _, end in times) - min(start for start, _ in times)


def fma_gflops(threads: int, tries: int, probe: str = "fma") -> float:
    """Billions of float32 operations a second, a multiply-add being two; ``pairs`` of bfloat16 are two of them."""
    pool = BufferPool()
    buffers = [(pool.allocate(4096), pool.allocate(4096)) for _ in range(threads)]
    for pair in buffers:
        for buffer in pair:
            ctypes.memset(buffer.address, 0, 4096)
    calls = [lambda a=a, b=b: native(probe)(a.address, b.address, FMA_ITERATIONS, 0) for a, b in buffers]
    best = min(seconds_together(calls) for _ in range(2 * tries))
    terms = 2 if probe == "pairs" else 1
    return 2 * terms * ACCUMULATORS * host_isa().lanes * FMA_ITERATIONS * threads / best / 1e9


class Copy:
    """A copy of so many bytes, half of them read and half written, shared evenly among threads."""

    def __init__(self, nbytes: int, threads: int, *, around_caches: bool) -> None:
        self._pool = BufferPool()
        self._nbytes = nbytes
        part = nbytes // 2 // threads // 256 * 256
        self._parts: list[tuple[Buffer, Buffer]] = []
        for _ in range(threads):
            pair = (self._pool.allocate(part), self._pool.allocate(part))
            for buffer in pair:
                ctypes.memset(buffer.address, 1, part)
            self._parts.append(pair)
        self._function = native("copy_around" if around_caches else "copy")
        self._part = part

    def seconds(self, passes: int) -> float:
        """For one copy, of so many one after the other."""
        calls = [lambda a=a, b=b: self._function(a.address, b.address, self._part, passes) for a, b in self._parts]
        return seconds_together(calls) / passes

    def gigabytes_per_second(self, tries: int) -> float:
        """The best of several tries."""
        passes = max(1, int(TRY_SECONDS / max(self.seconds(1), 1e-9)))
        return self._nbytes / min(self.seconds(passes) for _ in range(tries)) / 1e9


def roofs(powers: list[int], tries: int) -> dict[str, Any]:
    """Threads -> GFLOP/s of ``fma``, and of ``pairs`` of bfloat16; ``copy``: bytes touched -> kind of copy -> GB/s."""
    counts = sorted({1, os.cpu_count() or 1})
    found: dict[str, Any] = {
        probe: {str(threads): fma_gflops(threads, tries, probe) for threads in counts} for probe in ("fma", "pairs")
    }
    found["copy"] = {}
    for power in powers:
        found["copy"][str(1 << power)] = {
            f"{threads} {'around caches' if around else 'ordinary'}": Copy(
                1 << power, threads, around_caches=around
            ).gigabytes_per_second(tries)
            for threads in counts
            for around in (False, True)
        }
    return found
