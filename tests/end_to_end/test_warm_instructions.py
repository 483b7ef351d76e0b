"""What a warm call costs, kernel included, counted instead of timed."""

import platform
import re
import shutil
import subprocess
import sys
from multiprocessing import get_context
from pathlib import Path

import llvmlite.binding as llvm
import pytest

import ttnn_jit
from tests.end_to_end.counted_calls import CALLS, DUMPED_BY, ZEROED_BY, warm_calls
from ttnn_jit.compiler.backends import backend_for
from ttnn_jit.runtime.native import host_cpu

ROOT = Path(__file__).parents[2]
# Seen: 8,784, 13,818, 14,627, 33,360, 10,028, 10,017 and 13,121. On whatever x86-64, callgrind's own host has AVX2 and
# nothing beyond.
BUDGETS = {
    "1 ttnn tensor": 10_000,
    "1 torch tensor": 15_500,
    "8 ttnn tensors": 16_500,
    "8 torch tensors": 38_000,
    "eager operation of a jitted function": 11_400,
    "eager operation": 11_400,
    "eager operation with a number": 15_000,
}


HASWELL = """64bit aes avx avx2 bmi bmi2 cmov crc32 cx16 cx8 f16c fma fxsr invpcid lzcnt mmx movbe pclmul popcnt rdrnd
    rdseed sahf sse sse2 sse3 sse4.1 sse4.2 ssse3 xsave"""
"""What callgrind's own host has, where the processor has it."""


def compile_for_callgrind():
    """Leave the programs of `warm_calls` on disk, for callgrind's own host, where a compile takes ten times as long.

    What is not found there, because another processor is that host, is compiled there nonetheless.
    """
    known = {name: has and name in HASWELL.split() for name, has in llvm.get_host_cpu_features().items()}
    llvm.get_host_cpu_name = lambda: "haswell"
    llvm.get_host_cpu_features = lambda: llvm.FeatureMap(known)
    host_cpu.cache_clear()
    backend_for.cache_clear()
    ttnn_jit.cache_clear()
    for _ in warm_calls():
        pass


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind, which counts instructions, is not installed")
@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="the budgets are those of CPython 3.11")
@pytest.mark.skipif(platform.machine() != "x86_64", reason="the budgets are those of x86-64")
def test_a_warm_call_stays_within_its_budget_of_instructions(tmp_path):
    compiling = get_context("fork").Process(target=compile_for_callgrind)  # what it changes ends with it
    compiling.start()
    counts = tmp_path / "counts"
    callgrind = ["valgrind", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={counts}"]
    callgrind += [f"--zero-before={ZEROED_BY}", f"--dump-before={DUMPED_BY}"]
    program = [sys.executable, "-c", "from tests.end_to_end import counted_calls; counted_calls.main()"]
    compiling.join()
    assert compiling.exitcode == 0
    run = subprocess.run([*callgrind, *program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    loop, *totals = (totals_of(dump) for dump in sorted(tmp_path.glob("counts.*")))
    taken = {name: (total - loop) // CALLS for name, total in zip(BUDGETS, totals, strict=True)}
    assert {name: count for name, count in taken.items() if count > BUDGETS[name]} == {}
    assert taken["eager operation of a jitted function"] == pytest.approx(taken["eager operation"], rel=0.01)


def totals_of(dump):
    found = re.search(r"^totals: (\d+)", dump.read_text(), re.MULTILINE)
    assert found is not None
    return int(found.group(1))
