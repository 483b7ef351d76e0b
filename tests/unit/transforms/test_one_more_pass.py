"""A pass is one file and one line: the text of docs/how_to_add.md adds one to a copy of the package."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.copies import package_with_own
from tests.processes import run_python

ROOT = Path(__file__).parents[3]

USE = """
import sys
import torch
import ttnn_jit
from pathlib import Path
from ttnn_jit import ttnn
from ttnn_jit.compiler import driver
from ttnn_jit.dialects import parse_module, print_module
from ttnn_jit.tools.cli import main

NAME = "stamp-kernels"


@ttnn_jit.jit()
def f(x):
    return ttnn.exp(x + 1)


x = torch.zeros(32, 32)
before, after = (f.ir(x, stage=stage) for stage in ("d2m-generic-fusion", NAME))
assert "test.stamp" not in before and after.count("test.stamp") == 1
assert "test.stamp" in f.ir(x, stage="d2m-generic-tile-compute-loops")
assert torch.equal(f(x), torch.exp(x + 1))
ttnn_jit.jit(debug=True)(f.func)(x)
Path("fused.mlir").write_text(before)
assert main(["opt", "fused.mlir", "-p", NAME + '{attribute="mine"}', "-o", "stamped.mlir"]) == 0
assert "mine" in Path("stamped.mlir").read_text()
assert main(["opt", "--list"]) == 0
"""


@pytest.mark.process
def test_the_page_adds_a_pass_with_one_file_and_one_line(tmp_path):
    section = (ROOT / "docs" / "how_to_add.md").read_text().partition("## A pass")[2].partition("\n## ")[0]
    text, _ = re.findall(r"```python\n(.*?)```", section, flags=re.DOTALL)
    line = re.findall(r"```text\n(.*?)```", section, flags=re.DOTALL)[-1]
    copy = package_with_own("transforms", tmp_path)
    (copy / re.search(r"`(transforms/[\w/]+\.py)`", section)[1]).write_text(text.partition("\n\n\nprint(")[0])
    (path,) = copy.glob("transforms/**/stage_order.py")
    order = path.read_text()
    followed = '    "d2m-generic-fusion",\n'
    assert order.count(followed) == 1
    path.write_text(order.replace(followed, followed + line))
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "TTNN_JIT_CACHE": "0"}
    done = run_python("-c", USE, cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stderr
    assert "// -----// IR Dump After stamp-kernels //----- //" in done.stdout + done.stderr
    listed = done.stdout.splitlines()
    place = listed.index("stamp-kernels")
    assert listed[place - 1 : place + 2] == ["d2m-generic-fusion", "stamp-kernels", "d2m-generic-tile-compute-loops"]
