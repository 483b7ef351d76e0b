"""An element type is one row: the text of docs/how_to_add.md adds one to a copy of the package."""

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
from ttnn_jit.dialects import parse_module, print_module

INT8 = ttnn.DataType.INT8


@ttnn_jit.jit()
def f(x, y):
    return ttnn.bitwise_right_shift(ttnn.minimum(x * y + 100, x), 1)


x = torch.arange(-128, 128, dtype=torch.int8).reshape(8, 32)
y = torch.arange(256).reshape(8, 32).flip(0).to(torch.int8)
expected = torch.minimum(x * y + 100, x) >> 1
assert torch.equal(f(x, y), expected)
assert torch.equal(ttnn_jit.jit(backend="numba")(f.func)(x, y), expected)
text = f.ir(x, y, stage="d2m-insert-dst-register-access")
assert "!ttcore.tile<32x32, si8>" in text and print_module(parse_module(text)) == text
assert torch.equal(torch.from_numpy(interpret(parse_module(text), [x.numpy(), y.numpy()])[0]), expected)
with ttnn.manage_device(0) as device:
    on_device = ttnn.from_torch(x, layout=ttnn.TILE_LAYOUT, device=device)
    assert on_device.dtype is INT8 and torch.equal((-on_device).to_torch(), -x)
    assert torch.equal(ttnn.typecast(on_device, ttnn.float32).to_torch(), x.float())
    rows = ttnn.from_torch(torch.tensor([[2, 0]], dtype=torch.int8), device=device)
    table = ttnn.from_torch(torch.arange(96).bfloat16().reshape(3, 32), device=device)
    assert ttnn.embedding(rows, table).to_torch()[0, :, 0].tolist() == [64, 0]
    far = ttnn.from_torch(torch.tensor([[-1e9, -1.5, 300.0]]), layout=ttnn.TILE_LAYOUT, device=device)
    assert ttnn.typecast(far, INT8).to_torch().tolist() == [[-128, -1, 127]]
assert ttnn.full((2,), -128, dtype=INT8).to_torch().tolist() == [-128, -128]
(shift,) = ttnn.logical_right_shift.__ttnn_overloads__
assert INT8 not in shift.dtypes and {ttnn.int32, ttnn.uint8} <= shift.dtypes  # the sign is copied above an element
print("done")
"""


@pytest.mark.process
def test_the_page_adds_an_element_type_with_one_row(tmp_path):
    section = (ROOT / "docs" / "how_to_add.md").read_text().partition("## An element type")[2].partition("\n## ")[0]
    member, row = re.findall(r"```text\n(.*?)```", section, flags=re.DOTALL)
    (dtypes,) = package_with_own("specs", tmp_path).glob("specs/**/dtypes.py")
    # The package has the type of the example, as one of torch's alone.
    text = re.sub(r"^.*\bINT8( = -4|\.traits = .*)\n", "", dtypes.read_text(), flags=re.MULTILINE)
    last = "    INT32 = 7\n"
    assert text.count(last) == text.count("COMPUTE_TYPE = DataType.FLOAT32\n") == 1
    text = text.replace(last, last + member).replace("COMPUTE_TYPE = ", f"{row}\nCOMPUTE_TYPE = ")
    dtypes.write_text(text)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "TTNN_JIT_CACHE": "0"}
    done = run_python("-c", USE, cwd=tmp_path, env=environment)
    assert done.stdout == "done\n", done.stderr
