"""A host step is one function and one line: the text of docs/how_to_add.md adds one to a copy of the package."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.copies import package_with_own
from tests.processes import run_python

ROOT = Path(__file__).parents[3]

USE = """
from dataclasses import replace

import torch
import ttnn_jit
from ttnn_jit import ttnn
from ttnn_jit.codegen.host.host_program import host_plan
from ttnn_jit.codegen.host.host_steps import HOST_STEPS
from ttnn_jit.dialects import parse_module


@ttnn_jit.jit()
def both(x):
    return ttnn.exp(x), ttnn.cumsum(x, 1)


assert HOST_STEPS[0].__name__ == "without_unread_launches"
x = torch.randn(33, 40)
for result, expected in zip(both(x), (torch.exp(x), torch.cumsum(x, 1)), strict=True):
    torch.testing.assert_close(result, expected)
plan = host_plan(parse_module(both.ir(x, stage="d2m-insert-dst-register-access")), None)
for results, operations in ((plan.results, {"exp", "cumsum"}), (plan.results[:1], {"exp"}), ((), set())):
    found = replace(plan, results=results)
    for step in HOST_STEPS:
        found = step(found)
    assert {launch.name for launch in found.launches} == operations
print("done")
"""
OWN = "from ttnn_jit.codegen.host.unread_launches import without_unread_launches\n"


@pytest.mark.process
def test_the_page_adds_a_host_step_with_one_file_and_one_line(tmp_path):
    section = (ROOT / "docs" / "how_to_add.md").read_text().partition("## A host step")[2].partition("\n## ")[0]
    text, _ = re.findall(r"```python\n(.*?)```", section, flags=re.DOTALL)
    line = re.findall(r"```text\n(.*?)```", section, flags=re.DOTALL)[-1]
    (file,) = re.findall(r"`(codegen/[\w/]+/unread_launches\.py)`", section)
    package = package_with_own("codegen", tmp_path)
    (package / file).write_text(text.partition("\n\n\nimport torch")[0] + "\n")
    (path,) = package.glob("codegen/**/host_steps.py")
    steps, begins = path.read_text(), "DEVICE_STEPS: tuple[HostStep, ...] = (\n"
    assert steps.count(begins) == 1
    added = f"from ttnn_jit.{file[:-3].replace('/', '.')} import without_unread_launches\n"
    steps = steps.replace(begins, added + begins + line)
    path.write_text(steps)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "TTNN_JIT_CACHE": "0"}
    done = run_python("-c", USE, cwd=tmp_path, env=environment)
    assert done.stdout == "done\n", done.stderr
