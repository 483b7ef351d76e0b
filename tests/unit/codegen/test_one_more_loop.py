"""A loop is one file and one line: the text of docs/how_to_add.md adds one to a copy of the package."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.copies import package_with_own
from tests.processes import run_python

ROOT = Path(__file__).parents[3]

USE = """
import torch
import ttnn_jit
from ttnn_jit import ttnn
from ttnn_jit.interpreters.tile_interpreter import interpret
from ttnn_jit.dialects import parse_module


def moved(x):
    return x[:-1]


def computed(x):
    return ttnn.exp(x)


SHOWN = "cut into 1 loops, over blocks"
for extent in (2, 33, 513, 1_000_003):
    for dtype in (torch.float32, torch.int32, torch.bfloat16):
        bits = torch.randint(-(2**31), 2**31, (extent,), generator=torch.Generator().manual_seed(extent))
        bits = bits.to(torch.int16 if dtype is torch.bfloat16 else torch.int32)
        x = bits.view(dtype)  # NaN with all payloads among them
        jitted = ttnn_jit.jit()(moved)
        is_moved = dtype is not torch.bfloat16
        assert (SHOWN in jitted.ir(x, stage="host")) is is_moved, jitted.ir(x, stage="host")
        if is_moved:
            assert torch.equal(jitted(x).view(bits.dtype), bits[:-1])
        if is_moved and extent < 1000:
            module = parse_module(jitted.ir(x, stage="d2m-insert-dst-register-access"))
            (interpreted,) = interpret(module, [x.numpy()])
            assert (interpreted.view("int32") == bits[:-1].numpy()).all()
assert SHOWN not in ttnn_jit.jit()(computed).ir(torch.zeros(99), stage="host")
x = torch.randn(600, 70)
assert torch.equal(ttnn_jit.jit()(lambda x: ttnn.permute(x, (1, 0)))(x), x.T)
assert torch.equal(ttnn_jit.jit(backend="numba")(moved)(x), x[:-1])
print("done")
"""


@pytest.mark.process
def test_the_page_adds_a_loop_with_one_file_and_one_line(tmp_path):
    section = (ROOT / "docs" / "how_to_add.md").read_text().partition("## A loop")[2].partition("\n## ")[0]
    (text,) = re.findall(r"```python\n(.*?)```", section, flags=re.DOTALL)
    (line,) = re.findall(r"```text\n(.*?)```", section, flags=re.DOTALL)
    (file,) = {
        name for name in re.findall(r"`codegen/(\w+\.py)`", section) if not (ROOT / "ttnn_jit/codegen" / name).exists()
    }
    codegen = package_with_own("codegen", tmp_path) / "codegen"
    (codegen / file).write_text(text)
    (path,) = codegen.glob("**/host_steps.py")
    steps = path.read_text()
    (old,) = re.findall(r"^KERNEL_STEPS: .*\n", steps, re.MULTILINE)
    assert line.replace(", move_words)", ")") == old
    path.write_text(steps.replace(old, f"from ttnn_jit.codegen.{file[:-3]} import move_words\n{line}"))
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "TTNN_JIT_CACHE": "0"}
    done = run_python("-c", USE, cwd=tmp_path, env=environment)
    assert done.stdout == "done\n", done.stderr
