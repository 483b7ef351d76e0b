"""What a warm call costs, kernel included, counted instead of timed."""

import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.end_to_end.counted_calls import CALLS, DUMPED_BY, ZEROED_BY

ROOT = Path(__file__).parents[2]
# Seen: 8,666, 13,711, 14,283, 33,244, 9,903, 9,895 and 12,996. On whatever x86-64, callgrind's own host has AVX2 and
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


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind, which counts instructions, is not installed")
@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="the budgets are those of CPython 3.11")
@pytest.mark.skipif(platform.machine() != "x86_64", reason="the budgets are those of x86-64")
def test_a_warm_call_stays_within_its_budget_of_instructions(tmp_path):
    counts = tmp_path / "counts"
    callgrind = ["valgrind", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={counts}"]
    callgrind += [f"--zero-before={ZEROED_BY}", f"--dump-before={DUMPED_BY}"]
    program = [sys.executable, "-m", "tests.end_to_end.counted_calls"]
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
