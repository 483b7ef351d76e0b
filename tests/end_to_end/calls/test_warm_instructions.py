"""The cost of a warm call, kernel included, in counted instructions."""

from __future__ import annotations

import ctypes
import os
import platform
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.end_to_end.calls.counted_calls import MARK, REFUSED

ROOT = Path(__file__).parents[3]
# Measured with AVX-512: 8,290, 13,050, 16,120, 35,080, 9,650, 9,640 and 12,670, within half a percent.
BUDGETS = {
    "1 ttnn tensor": 10_000,
    "1 torch tensor": 15_500,
    "8 ttnn tensors": 18_500,
    "8 torch tensors": 40_000,
    "eager operation of a jitted function": 11_400,
    "eager operation": 11_400,
    "eager operation with a number": 15_000,
}
CONTINUE, SINGLE_STEP = 7, 9
"""Requests of Linux's `ptrace`."""

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(sys.platform != "linux", reason="instructions are counted as Linux steps through them"),
    pytest.mark.skipif(platform.machine() != "x86_64", reason="the budgets are those of x86-64"),
    pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="the budgets are those of CPython 3.11"),
]


def test_a_warm_call_stays_within_its_budget_of_instructions():
    nothing, *counts = instructions_between_marks([sys.executable, "-m", "tests.end_to_end.calls.counted_calls"])
    taken = {name: count - nothing for name, count in zip(BUDGETS, counts, strict=True)}
    assert {name: count for name, count in taken.items() if not 0 < count <= BUDGETS[name]} == {}
    assert taken["eager operation of a jitted function"] == pytest.approx(taken["eager operation"], rel=0.02)


def instructions_between_marks(command):
    """The number of instructions that the main thread of a process executes from every other mark to the next."""
    libc = ctypes.CDLL(None, use_errno=True)
    counts = [0]
    with subprocess.Popen(command, cwd=ROOT) as program:
        while True:
            _, status = os.waitpid(program.pid, 0)
            if not os.WIFSTOPPED(status):
                break
            stopped_by = os.WSTOPSIG(status)
            if stopped_by == signal.SIGTRAP:
                counts[-1] += 1
            elif stopped_by == MARK:
                counts.append(0)
            passed_on = 0 if stopped_by in {signal.SIGTRAP, MARK} else stopped_by
            request = CONTINUE if len(counts) % 2 else SINGLE_STEP
            if libc.ptrace(request, program.pid, None, passed_on) != 0:
                program.kill()  # otherwise it would stay stopped
                raise OSError(ctypes.get_errno(), "the process cannot be stepped through")
        program.returncode = os.waitstatus_to_exitcode(status)
    if program.returncode == REFUSED:
        pytest.skip("processes here may not look into each other")
    assert program.returncode == 0
    return counts[1::2]
