"""Equal kernels are lowered once if nobody inspects the stages, with the same result as otherwise."""

from __future__ import annotations

import pytest

from ttnn_jit import ttnn
from ttnn_jit.compiler.driver import compile_program
from ttnn_jit.compiler.request import FunctionRequest
from ttnn_jit.specs.options import CompileOptions
from ttnn_jit.specs.target import PRESETS
from ttnn_jit.specs.tensor_spec import DataType, Layout, TensorSpec
from ttnn_jit.transforms.passes.d2m_insert_dst_register_access import D2MInsertDstRegisterAccess

SPEC = TensorSpec((64, 96), DataType.BFLOAT16, Layout.TILE)
TARGETS = ("cpu", "wormhole_b0")


def layers(x, first, second):
    for _ in range(4):
        scores = ttnn.softmax(ttnn.matmul(ttnn.gelu(x * 2.0 + first), ttnn.transpose(second, -2, -1)), -1)
        x = ttnn.layer_norm(ttnn.matmul(scores, x) + x)
    return x, ttnn.sum(x, -1)


def one_tensor_or_two(x, first, second):
    products = [ttnn.matmul(x, ttnn.transpose(other, -2, -1)) for other in (second, x)]
    return ttnn.exp(x * x), ttnn.exp(x * first), ttnn.exp(first * first), *products


def views(x, first, second):
    rows, columns = ttnn.transpose(x, -2, -1), ttnn.transpose(first, -2, -1)
    return (
        ttnn.exp(rows) + columns,
        ttnn.exp(columns) + rows,
        ttnn.exp(x) + first,
        ttnn.exp(x[:, :32]) + second[:, 32:64],
    )


def numbers(x, first, second):
    return [ttnn.exp(each * number) + first for number in (1.0, 2.0, 1.0) for each in (x, second)]


def request_of(program, target):
    return FunctionRequest(program, dict.fromkeys(("x", "first", "second"), SPEC), PRESETS[target], CompileOptions())


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("program", [layers, one_tensor_or_two, views, numbers])
def test_a_program_that_lowers_equal_kernels_once_equals_the_one_that_shows_its_stages(program, target):
    request = request_of(program, target)
    unseen = compile_program(request, use_disk=False).program
    seen = compile_program(request, use_disk=False, keep_texts=True).program
    assert unseen.plan == seen.plan
    assert unseen.objects == seen.objects
    assert [*map(without_source, unseen.descriptors)] == [*map(without_source, seen.descriptors)]


def without_source(descriptor):
    return {name: value for name, value in descriptor.items() if name != "kernel_source"}


def lowered_kernels(count, monkeypatch):
    """The number of kernels that are lowered for a program of `count` layers."""
    lowered = 0
    change = D2MInsertDstRegisterAccess.change

    def counted(stage, generic, target):
        nonlocal lowered
        lowered += 1
        change(stage, generic, target)

    def program(x, first):
        for _ in range(count):
            x = ttnn.layer_norm(ttnn.exp(x) * first)
        return x

    monkeypatch.setattr(D2MInsertDstRegisterAccess, "change", counted)
    request = FunctionRequest(program, {"x": SPEC, "first": SPEC}, PRESETS["cpu"], CompileOptions())
    compile_program(request, use_disk=False)
    return lowered


def test_more_layers_of_a_model_lower_no_more_kernels(monkeypatch):
    few = lowered_kernels(3, monkeypatch)
    assert few > 1
    assert lowered_kernels(9, monkeypatch) == few
