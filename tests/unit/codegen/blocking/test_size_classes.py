"""Size classes with equal decisions give a kernel the same text."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
import torch

import ttnn_jit
from tests.unit.codegen.programs import lowered
from ttnn_jit import ttnn
from ttnn_jit.codegen.blocking.size_classes import decisions_of
from ttnn_jit.codegen.bodies.steps import SizeClass
from ttnn_jit.codegen.host.host_program import host_plan
from ttnn_jit.codegen.host.host_steps import KERNEL_STEPS, choose_loops
from ttnn_jit.codegen.schedules.kernel import Contract, LoopNest
from ttnn_jit.codegen.writing.llvm_kernel import kernel_of
from ttnn_jit.kernels.isa import AVX2, AVX512, NEON

X = torch.ones(64, 64)


def chain(x):
    for _ in range(3):
        x = ttnn.tanh(ttnn.exp(ttnn.sin(x)))
    return x


FUNCTIONS = {
    "a sum": lambda x: x + x,
    "a row": lambda x: ttnn.add(ttnn.exp(x), x[0]),
    "a chain": chain,
    "a transpose": lambda x: ttnn.exp(ttnn.permute(x, (1, 0))),
    "a copy": lambda x: x[3:, 5:],
    "a product": lambda x: ttnn.matmul(x, x),
    "an epilogue": lambda x: ttnn.gelu(ttnn.add(ttnn.matmul(x, x), x)),
    "a softmax": lambda x: ttnn.softmax(ttnn.exp(x), dim=-1),
}


def bodies(function, dtype, isa):
    """The kernels of a function before their loops are chosen."""
    request = ttnn_jit.jit(enable_cache=False)(function).request(X.to(dtype))
    module = lowered(request.lower().module)
    for launch in host_plan(module, isa).launches:
        match launch.bound.kernel:
            case LoopNest(body=body) if body.reduced is None:
                yield LoopNest(body)
            case Contract(body=body, contracted=contracted):
                yield Contract(body, contracted)


def decided_and_written(kernel, size_class, isa):
    sized = replace(kernel, body=replace(kernel.body, size_class=size_class))
    decisions = decisions_of(choose_loops(replace(sized, body=kernel.body), isa), size_class, isa)
    for step in KERNEL_STEPS:
        sized = step(sized, isa)
    return decisions, kernel_of(sized, isa).name


@pytest.mark.parametrize("isa", [AVX512, AVX2, NEON], ids=lambda isa: isa.name)
def test_classes_with_equal_decisions_have_the_same_text(isa):
    equal = different = 0
    for function, dtype in itertools.product(FUNCTIONS.values(), (torch.float32, torch.bfloat16)):
        for kernel in bodies(function, dtype, isa):
            found = [decided_and_written(kernel, size_class, isa) for size_class in SizeClass]
            for (one, text), (other, another) in itertools.pairwise(found):
                assert (one == other) <= (text == another), kernel
                equal, different = equal + (one == other), different + (text != another)
    assert equal, "or every class would be a template of its own"
    assert different, "or no class would matter"
