"""A type checker takes right programs and finds wrong names and arguments, of operations and of host functions."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import ttnn_jit

PACKAGE = Path(ttnn_jit.__file__).parent
OPERATIONS = """
import ttnn_jit
from ttnn_jit import ttnn

@ttnn_jit.jit()
def f(x: ttnn.Tensor, y: ttnn.Tensor) -> ttnn.Tensor:
    z = 2 * abs(-(x + 1) / y) ** 2 - x
    z = ttnn.where(z > 0.5, z, 0) + ttnn.mul(x, y)
    z = ttnn.leaky_relu(z, negative_slope=0.25) + ttnn.gelu(z, approximate="tanh")
    z = ttnn.divide(z, y, rounding_mode="floor", dtype=ttnn.bfloat16, memory_config=ttnn.DRAM_MEMORY_CONFIG)
    return ttnn.pow(input_tensor=ttnn.clamp(z, max=3), exponent=2)

def g(x: ttnn.Tensor) -> None:
    ttnn.get_golden_function(ttnn.exp)
    ttnn.exxp(x)  # refused
    ttnn.gelu(x, approximate="cubic")  # refused
    ttnn.exp(1.0)  # refused
    ttnn.exp(x, memory_config="DRAM")  # refused
    ttnn.leaky_relu(x, "steep")  # refused
    ttnn.add(x)  # refused
    x @ 2.0  # refused
    x + "1"  # refused
    ttnn.exp(x).shap  # refused
"""
HOST_FUNCTIONS = """
from ttnn_jit import ttnn

def f(x: ttnn.Tensor, device: ttnn.Device) -> None:
    ttnn.conv1d(input_tensor=x, weight_tensor=x, in_channels=1, out_channels=1, batch_size=1, input_length=9,
                kernel_size=3, device=device, conv_config=ttnn.Conv1dConfig())
    ttnn.max_pool2d(x, 1, 8, 8, 32, [2, 2], 2, padding=(0, 0), return_indices=True)
    ttnn.zeros_like(x, ttnn.bfloat16, device=device)
    ttnn.conv1d(input_tensor=x)  # refused
    ttnn.max_pool2d(x, 1, 8, 8, 32, [2, 2], 2, "same")  # refused
    ttnn.max_pool2d(x, 1, 8, 8, 32, [2, 2], 2, 0, return_positions=True)  # refused
    ttnn.zeros_like(3)  # refused
"""
UNSEEN = "ttnn_jit.codegen.*,ttnn_jit.compiler.*,ttnn_jit.dialects.*,ttnn_jit.frontend.*,ttnn_jit.kernels.*"
"""Rooms whose types no signature of the public functions names: a fifth of the time to check."""
CONFIG = f"""[mypy]
[mypy-torch.*,numpy.*,numba.*,llvmlite.*,xdsl.*,diskcache.*,{UNSEEN}]
follow_imports = skip
ignore_missing_imports = True
"""


@pytest.mark.slow
@pytest.mark.process
def test_a_type_checker_takes_right_calls_and_finds_wrong_names_and_arguments(tmp_path):
    programs = {"operations.py": OPERATIONS, "host_functions.py": HOST_FUNCTIONS}
    for name, text in programs.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "mypy.ini").write_text(CONFIG)
    command = [sys.executable, "-m", "mypy", "--follow-imports=silent", "--no-error-summary", *programs]
    environment = {**os.environ, "MYPYPATH": str(PACKAGE.parent)}
    found = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    refused = {tuple(line.split(":")[:2]) for line in found.stdout.splitlines() if ": error:" in line}
    expected = {
        (name, str(number))
        for name, text in programs.items()
        for number, line in enumerate(text.splitlines(), 1)
        if line.endswith("# refused")
    }
    assert refused == expected, found.stdout + found.stderr
