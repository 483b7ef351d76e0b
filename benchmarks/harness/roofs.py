"""The peaks of this machine: multiply-adds, and bytes copied, by one thread and by all.

It runs in a separate process, with Python threads that each make one native call of some milliseconds. A peak is the
best of several tries.
"""

from __future__ import annotations

import ctypes
import os
import threading
import time
from collections.abc import Callable, Sequence
from functools import cache, reduce
from typing import Any

import llvmlite.binding as llvm

from ttnn_jit.codegen.images.assemble import assemble
from ttnn_jit.kernels.isa import HostIsa, isa_for
from ttnn_jit.kernels.llvm.function import FunctionBuilder, Parameter
from ttnn_jit.kernels.llvm.llvm_module import LlvmModule, ModuleText
from ttnn_jit.kernels.llvm.types import FLOAT, I32, I64, PTR
from ttnn_jit.kernels.llvm.values import zero
from ttnn_jit.kernels.vectors.llvm_vector import LlvmVector
from ttnn_jit.runtime.memory.buffer import Buffer, BufferPool
from ttnn_jit.runtime.native.native import kernel_address

TRY_SECONDS = 5e-3
ACCUMULATORS = 12
FMA_ITERATIONS = 2_000_000  # some milliseconds, much longer than waking a second thread


def host_isa() -> HostIsa:
    """The instruction set of this host."""
    llvm.initialize_native_target()
    return isa_for(llvm.get_host_cpu_name(), llvm.get_host_cpu_features(), llvm.get_process_triple())


@cache
def native(name: str) -> Callable[..., None]:
    """A probe as a callable, which releases the GIL."""
    isa = host_isa()
    address = kernel_address(name, assemble(LlvmModule(_text(isa)), isa))
    return ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)(address)


def _text(isa: HostIsa) -> str:
    module = ModuleText()
    fma, pairs = (_products(isa, module, name) for name in ("fma", "pairs"))
    copies = _copy(isa, module, "copy"), _copy(isa, module, "copy_around", nontemporal=True)
    return "\n".join([fma, pairs, *copies, module.text(), ""])


def _probe(name: str, module: ModuleText, *scalars: str, aliases: str = "") -> FunctionBuilder:
    pointers = (Parameter(each, PTR, aliases) for each in ("out", "in"))
    return FunctionBuilder(name, module, [*pointers, *(Parameter(scalar, I64) for scalar in scalars)], attributes="")


def _products(isa: HostIsa, module: ModuleText, name: str) -> str:
    """A loop of multiply-adds to many independent sums: of floats, or of pairs of bfloat16."""
    b = _probe(name, module, "n", "unused")
    out, source, n, _ = b.parameters
    math, vector, words = LlvmVector(isa, module, b.body), FLOAT.times(isa.lanes), I32.times(isa.lanes)
    x, y = (b.load(vector, address, 4) for address in (source, out))
    factors = b.bitcast(x, words), b.bitcast(y, words)
    with b.count("i", n, *[("sum", zero(vector))] * ACCUMULATORS) as i:
        i.carry(*(math.add_products(a, *factors) if name == "pairs" else math.fma(a, x, y) for a in i.values))
    b.store(reduce(b.add, i.values), out, 4)
    b.give_back()
    return b.text


def _copy(isa: HostIsa, module: ModuleText, name: str, *, nontemporal: bool = False) -> str:
    b = _probe(name, module, "bytes", "passes", aliases="noalias")
    out, source, nbytes, passes = b.parameters
    vector = FLOAT.times(isa.lanes)
    width = vector.nbytes
    with b.count("pass", passes):
        with b.count("i", nbytes, step=4 * width) as i:
            for k in range(4):
                at = b.add(i.index, k * width)
                copied = b.load(vector, b.bytes_on(source, at), width)
                b.store(copied, b.bytes_on(out, at), width, nontemporal=nontemporal)
        b.fence()
    b.give_back()
    return b.text


def seconds_in_parallel(calls: Sequence[Callable[[], None]]) -> float:
    """Seconds from the first start to the last end of simultaneous calls, each in a thread on its own CPU."""
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
    cpu_of_thread = (cpus * len(calls))[: len(calls)] or [0] * len(calls)
    threads = [threading.Thread(target=run, args=each) for each in zip(calls, cpu_of_thread, strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return max(end for _, end in times) - min(start for start, _ in times)


def fma_gflops(threads: int, tries: int, probe: str = "fma") -> float:
    """GFLOP/s in float32, where a multiply-add counts as two; ``pairs`` of bfloat16 count as two multiply-adds."""
    pool = BufferPool()
    buffers = [(pool.allocate(4096), pool.allocate(4096)) for _ in range(threads)]
    for pair in buffers:
        for buffer in pair:
            ctypes.memset(buffer.address, 0, 4096)
    calls = [lambda a=a, b=b: native(probe)(a.address, b.address, FMA_ITERATIONS, 0) for a, b in buffers]
    best = min(seconds_in_parallel(calls) for _ in range(2 * tries))
    terms = 2 if probe == "pairs" else 1
    return 2 * terms * ACCUMULATORS * host_isa().lanes * FMA_ITERATIONS * threads / best / 1e9


class Copy:
    """A copy of `nbytes` bytes, half of them read and half written, distributed evenly over threads."""

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
        """Seconds of a copy, averaged over `passes` consecutive ones."""
        calls = [lambda a=a, b=b: self._function(a.address, b.address, self._part, passes) for a, b in self._parts]
        return seconds_in_parallel(calls) / passes

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
