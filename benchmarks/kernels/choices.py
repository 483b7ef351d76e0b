"""The gain of each choice of codegen: kernels without it against the same kernels with it.

The threshold of a choice is fitted by changing it and running this again. For every choice and each of its programs:
the time of the kernel on one thread and the time to assemble it, without the choice over with it; above 1 the choice
gains. Both kernels alternate on the same memory, so that other load affects both; times are minima. The affinity of
helper threads is a choice of a whole process: its figures are tenth percentiles of calls by two threads.

Nothing else should run on the machine. It writes no file:

    python -m benchmarks.kernels.choices                       every choice
    python -m benchmarks.kernels.choices "two vectors" ...     some
"""

from __future__ import annotations

import argparse
import math
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any
from unittest import mock

import torch

from benchmarks.harness.harness import table
from ttnn_jit import ttnn
from ttnn_jit.codegen.blocking import fission, kernel_sharing, lookup, tiers
from ttnn_jit.codegen.blocking.tiers import Tier
from ttnn_jit.codegen.bodies import body_emitter
from ttnn_jit.codegen.host import host_steps
from ttnn_jit.codegen.host.host_program import generate
from ttnn_jit.codegen.images.assemble import assemble
from ttnn_jit.codegen.schedules import bound_kernel, launch, vector_loop
from ttnn_jit.compiler.llvm_backend import isa_of_this_host
from ttnn_jit.frontend import FrontendRequest, TensorArgument, lower
from ttnn_jit.kernels.llvm.values import Literal
from ttnn_jit.kernels.loops import tile_loop
from ttnn_jit.runtime.memory.buffer import HOST_POOL
from ttnn_jit.runtime.native.native import host_cpu
from ttnn_jit.runtime.programs.program import Program
from ttnn_jit.specs.options import CompileOptions
from ttnn_jit.specs.target import PRESETS
from ttnn_jit.specs.tensor_spec import DataType, Layout, TensorSpec
from ttnn_jit.transforms import pipeline

DTYPES = {"f32": DataType.FLOAT32, "bf16": DataType.BFLOAT16}
NAMES = "abcdefghijklmnop"
SECONDS = 0.3
"""Measuring time per pair of kernels."""


@dataclass(frozen=True)
class Case:
    """A program, as an expression of tensors a, b, c, ... over `ttnn`, with their dtype and shape, and a target."""

    text: str
    dtype: str
    shape: tuple[int, ...]
    target: str = "cpu"

    @property
    def inputs(self) -> list[str]:
        """The names of the tensors."""
        return [name for name in NAMES if re.search(rf"\b{name}\b", self.text)]

    @property
    def name(self) -> str:
        """The case in tables."""
        return f"{self.text} of {self.dtype} {'x'.join(map(str, self.shape))}, {self.target}"


@dataclass(frozen=True)
class Choice:
    """A choice of codegen: the values that turn it off, and the programs that it affects."""

    off: Sequence[tuple[ModuleType, str, Any]]
    cases: Sequence[Case]


def over(texts: Sequence[str], dtypes: str, sides: Sequence[int], target: str = "cpu") -> list[Case]:
    """The cases of every text, dtype and side of a square."""
    return [Case(text, dtype, (n, n), target) for text in texts for dtype in dtypes.split() for n in sides]


def _never_fast(*arguments: Any) -> tuple[Tier, Sequence[Literal]]:
    tier, constants = tiers.tier_of(*arguments)
    return Tier.UNOPTIMISED if tier is Tier.FAST_ISEL else tier, constants


COSH = "(exp(a) + exp(neg(a))) * 0.5"
CHAIN = "tanh(sigmoid(exp(tanh(sigmoid(exp(a))))))"
SUM = " + ".join("abcdefgh")
LADDER = " + ".join(NAMES)
LONG = "gelu(gelu(gelu(gelu(a))))"
GATE = "(b + 1.0) * (a * sigmoid(a * 1.702))"

CHOICES: Mapping[str, Choice] = {
    "two vectors": Choice(
        [(vector_loop, "_MAX_LIVE_FOR_TWO_VECTORS", -1)],
        [*over(["abs(a)", "a + b", SUM], "f32 bf16", [256]), *over([COSH, "a * b + c"], "bf16", [256], "wormhole_b0")],
    ),
    "software pipelining": Choice([(tile_loop, "_MAX_PIPELINED", -1)], over([COSH, LONG, GATE], "f32", [256])),
    "blocked loops": Choice(
        [(launch, "LEAST_BLOCKED_STRIDE", math.inf)],
        over(["exp(transpose(a, 0, 1))"], "f32 bf16", [512, 2048]),
    ),
    "far transposes": Choice(
        [(bound_kernel, "SHARE_OF_TRANSPOSES", math.inf)], over(["transpose(a, 0, 1)"], "f32 bf16", [2048])
    ),
    "prefetch": Choice([(tile_loop, "_MAX_PREFETCHED", 0)], over(["a + b", SUM], "f32 bf16", [256, 4096])),
    "non-temporal stores": Choice(
        [(bound_kernel, "SHARE_OF_LAST_CACHE", math.inf)], over(["abs(a)", "a + b", SUM], "f32", [2048, 4096])
    ),
    "loop fission": Choice(
        [(fission, "MAX_STAGE_INSTRUCTIONS", {1: math.inf, 2: math.inf}), (fission, "MAX_STAGE_INPUTS", math.inf)],
        [*over([COSH, CHAIN, LONG], "f32", [256]), *over([LADDER], "f32", [2048])],
    ),
    "kernel sharing": Choice(
        [(kernel_sharing, "LEAST_KERNELS", math.inf)],
        [
            *over(["matmul(matmul(a, b) + 0.3, b) + 0.7"], "f32 bf16", [64, 512]),
            *over(["cumsum(cumsum(a * 3.0 + 0.5, 1) * 7.0 + 0.3, 1) * 5.0 + 0.9"], "f32 bf16", [32, 256]),
        ],
    ),
    "lookup table": Choice(
        [(lookup, "lookup_candidates", lambda _: ())],
        [
            *over(["exp(a)", "tanh(a)", "log(a)", "gelu(a)", LONG], "bf16", [512]),
            *over(["silu(a) * b", "log(a) * b", "sqrt(a) * b", "gelu(a + b)"], "bf16", [512], "wormhole_b0"),
        ],
    ),
    "both signs": Choice(
        [(body_emitter, "both_signs", lambda _: {}), (vector_loop, "both_signs", lambda _: {})],
        over([COSH, "tanh(a) * exp(neg(a)) + exp(a)"], "f32", [64, 256]),
    ),
    "NaN at the end": Choice(
        [(body_emitter, "propagates_nan", lambda _: False)],
        over(["(a + b) * c + a", f"({SUM}) * a", "((a * b + c) * a + b) * c"], "bf16", [128, 512], "wormhole_b0"),
    ),
    "bodies between bfloat16": Choice(
        [(body_emitter, "between_bfloat16", lambda _: frozenset())],
        over(["exp(a)", "tanh(a)", "sigmoid(a)", "gelu(a)", "reciprocal(a)", "sqrt(a)"], "bf16", [32, 128, 512]),
    ),
    "unoptimised": Choice([(tiers, "_unoptimised", lambda *_: None)], over([COSH, CHAIN, "exp(a)"], "f32 bf16", [128])),
    "constants in registers": Choice(
        [(tiers, "_MAX_CONSTANTS_IN_REGISTERS", -1)], over([COSH, CHAIN, "exp(a)"], "f32 bf16", [128])
    ),
    "fast isel": Choice(
        [(host_steps, "tier_of", _never_fast)], over([COSH, CHAIN, "exp(a)", "a + b"], "f32 bf16", [32, 64])
    ),
}


class Compiled:
    """A program's kernels, callable on memory at `addresses`.

    Attributes:
        assembly_ms: Milliseconds to assemble them, the minimum of some tries.
        names: Names of the kernels.
    """

    def __init__(self, case: Case, addresses: Sequence[int]) -> None:
        isa = isa_of_this_host()
        code = generate(scheduled(case), isa)
        self.assembly_ms = 1000 * least(lambda: [assemble(k.modules.kernel, isa) for k in code.kernels.values()])
        objects = {name: assemble(kernel.modules.whole, isa) for name, kernel in code.kernels.items()}
        self.names = set(objects)
        (native,) = Program(code.plan, objects, built_for=host_cpu()).native
        assert native is not None
        self._native = native
        self._between = [HOST_POOL.allocate(spec.nbytes) for spec in code.plan.scratch]
        self._arguments = (0, native.table, *addresses, *(each.address for each in self._between))

    def __call__(self) -> None:
        """One run on this thread."""
        self._native.function(*self._arguments)


def least(call: Callable[[], Any], tries: int = 7) -> float:
    """Seconds of the fastest of some calls."""
    found = []
    for _ in range(tries):
        start = time.perf_counter()
        call()
        found.append(time.perf_counter() - start)
    return min(found)


def scheduled(case: Case) -> Any:
    """The module that codegen reads."""
    names = {name: getattr(ttnn, name) for name in ttnn.__all__}  # most names are loaded on demand
    function = eval(f"lambda {', '.join(case.inputs)}: {case.text}", names)
    spec = TensorSpec(case.shape, DTYPES[case.dtype], Layout.TILE)
    arguments = {name: TensorArgument(spec) for name in case.inputs}
    module = lower(FrontendRequest(function, arguments, PRESETS[case.target], graph_capture=True)).module
    pipeline.run(module, CompileOptions(), until=pipeline.SCHEDULED)
    return module


@contextmanager
def turned_off(choice: Choice) -> Iterator[None]:
    """Codegen without the choice."""
    with ExitStack() as patches:
        for module, name, value in choice.off:
            patches.enter_context(mock.patch.object(module, name, value))
        host_steps.forget_loops()
        yield
    host_steps.forget_loops()


def measure(choice: Choice, case: Case) -> list[float] | None:
    """Microseconds to run and milliseconds to assemble with the choice, and both ratios; None if it has no effect."""
    dtype = torch.float32 if case.dtype == "f32" else torch.bfloat16
    numbers = torch.rand(case.shape, generator=torch.Generator().manual_seed(1)) * 3 + 0.1
    tensors = [numbers.to(dtype, copy=True) for _ in case.inputs]
    out = torch.empty(numbers.numel() + 64, dtype=dtype)
    start = out.data_ptr() + -out.data_ptr() % 64
    addresses = [*(tensor.data_ptr() for tensor in tensors), start]
    ours = Compiled(case, addresses)
    with turned_off(choice):
        other = Compiled(case, addresses)
    if ours.names == other.names:
        return None
    with_it, without = least_of_both(ours, other)
    return [with_it * 1e6, ours.assembly_ms, without / with_it, other.assembly_ms / ours.assembly_ms]


def least_of_both(one: Callable[[], None], other: Callable[[], None]) -> tuple[float, float]:
    """Seconds of both calls, the minima of alternating batches."""
    one(), other()
    batch = max(1, int(1e-4 / max(least(one), 1e-7)))
    found: tuple[list[float], list[float]] = ([], [])
    end = time.perf_counter() + SECONDS
    while time.perf_counter() < end:
        for call, times in zip((one, other), found, strict=True):
            start = time.perf_counter()
            for _ in range(batch):
                call()
            times.append((time.perf_counter() - start) / batch)
    return min(found[0]), min(found[1])


AFFINITY = "helper affinity"
AFFINE_CALLS = """
import sys, time
import torch
from ttnn_jit import jit, ttnn
from ttnn_jit.runtime import native
from ttnn_jit.runtime.native.launch_symbols import HostThreads
if sys.argv[1] == "off":
    native.HOST_THREADS = HostThreads.POSIX
torch.set_num_threads(2)
x = torch.randn(int(sys.argv[2]), int(sys.argv[2]))
call = jit(enable_cache=False)(lambda x: ttnn.sigmoid(x))
for _ in range(20):
    call(x)
times, end = [], time.perf_counter() + 1.0
while time.perf_counter() < end:
    start = time.perf_counter()
    call(x)
    times.append(time.perf_counter() - start)
print(sorted(times)[len(times) // 10])
"""
"""Prints the tenth percentile of warm calls, in seconds."""


def affinity_rows() -> Iterator[list[str]]:
    """Rows that compare helper threads with and without an affinity that excludes the caller's CPU."""
    for side in (512, 1024, 2048):
        found: dict[str, list[float]] = {"on": [], "off": []}
        for mode in [*found] * 4:
            command = [sys.executable, "-c", AFFINE_CALLS, mode, str(side)]
            found[mode].append(float(subprocess.run(command, capture_output=True, text=True, check=True).stdout))
        on, off = (min(times) for times in found.values())
        yield [AFFINITY, f"sigmoid(a) of f32 {side}x{side}, cpu", f"{on * 1e6:.2f}", "-", f"{off / on:.2f}", "-"]


def rows_of(name: str) -> Iterator[list[str]]:
    """The rows of a choice."""
    if name == AFFINITY:
        yield from affinity_rows()
        return
    for case in CHOICES[name].cases:
        found = measure(CHOICES[name], case)
        yield [name, case.name, *(f"{number:.2f}" for number in found)] if found else [name, case.name, *"----"]


def main() -> None:
    """Measures and prints a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    every = [*CHOICES, AFFINITY]
    parser.add_argument("choices", nargs="*", metavar="CHOICE", help=f"of {', '.join(every)}; all by default")
    options = parser.parse_args()
    torch.set_num_threads(1)
    heads = ["choice", "program", "run, us", "assembly, ms", "run without / with", "assembly without / with"]
    rows = [row for name in options.choices or every for row in rows_of(name)]
    print(table([heads, *rows], text_columns=2), end="")


if __name__ == "__main__":
    main()
