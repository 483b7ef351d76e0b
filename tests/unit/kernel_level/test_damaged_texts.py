"""Damaged texts of kernels are refused, or run: nothing else happens. Errors point at the source that ops stem from."""

from __future__ import annotations

import random
import re

import pytest
import torch

from tests.kernel_texts import arrays, on_one_core, results_and_text, tensor
from ttnn_jit import jit, ttnn
from ttnn_jit.diagnostics.errors import KernelError, TtnnJitError
from ttnn_jit.dialects import parse_module
from ttnn_jit.dialects.text.printer import op_text
from ttnn_jit.dialects.upstream.reading import read_upstream
from ttnn_jit.dialects.upstream.verifying import verify_upstream
from ttnn_jit.interpreters.kernel_level.host_machine import interpret_kernels
from ttnn_jit.transforms.passes.convert_d2m_to_ttkernel import ConvertD2MToTTKernel

NUMBERS = ("0", "1", "2", "7", "99", "4294967296")
WORDS = ("bf16", "si32", "f32", "i32", "index", "true", "l1", "dram", "cb_port", "buffer_address", "local_semaphore")


@pytest.fixture(scope="module")
def module_device():
    with ttnn.manage_device(0) as device:
        yield device


def replaced(line, pattern, choices, rng):
    """The line with one match of a pattern replaced."""
    found = [*re.finditer(pattern, line)]
    if not found:
        return line
    match = rng.choice(found)
    return line[: match.start()] + rng.choice(choices) + line[match.end() :]


def damaged(text, rng):
    lines = text.split("\n")
    at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    match rng.randrange(7):
        case 0:
            del lines[at]
        case 1:
            lines.insert(other, lines[at])
        case 2:
            lines[at], lines[other] = lines[other], lines[at]
        case 3:
            lines[at] = replaced(lines[at], r"\d+", NUMBERS, rng)
        case 4:
            lines[at] = replaced(lines[at], r"%\w+", re.findall(r"%\w+", text), rng)
        case 5:
            lines[at] = replaced(lines[at], r"ttkernel\.\w+", re.findall(r"ttkernel\.\w+", text), rng)
        case _:
            lines[at] = replaced(lines[at], rf"\b({'|'.join(WORDS)})\b", WORDS, rng)
    return "\n".join(lines)


@pytest.mark.parametrize("stage", ["ttkernel", "ttmetal"])
def test_a_damaged_text_is_refused_or_runs(module_device, stage):
    config = on_one_core(32, 64)
    given = [tensor(module_device, torch.randn(32, 64).bfloat16(), config) for _ in range(2)]
    _, text = results_and_text(lambda a, b: ttnn.maximum(ttnn.relu(a) * 2.0 + b, 1.5), given, stage)
    inputs, rng, refused = arrays(given), random.Random(stage), 0
    for _ in range(60):
        try:
            module = read_upstream(damaged(text, rng), "damaged.mlir").module
            verify_upstream(module)
            interpret_kernels(module, inputs)
        except TtnnJitError:
            refused += 1
    assert refused > 20


def test_an_error_points_at_the_source_of_the_op(module_device):
    given = [tensor(module_device, torch.randn(32, 64).bfloat16(), on_one_core(32, 64))]

    def program(a):
        return ttnn.relu(a) + a

    scheduled = jit()(program).ir(*given, stage="d2m-insert-dst-register-access")
    relu = next(line for line in scheduled.split("\n") if "tile_relu" in line)
    located = scheduled.replace(relu, f'{relu} loc("model.py":4:11)')
    module = parse_module(located, "scheduled.mlir")
    ConvertD2MToTTKernel().apply(None, module)
    text = op_text(module, locations=True)
    lines = [line for line in text.split("\n") if "relu_tile_init" not in line]
    with pytest.raises(KernelError, match=r"^model.py:4:11: `ttkernel.relu_tile` in @compute_kernel1 on core \(0, 0\)"):
        interpret_kernels(read_upstream("\n".join(lines), "kernels.mlir").module, arrays(given))
