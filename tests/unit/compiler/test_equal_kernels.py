"""Equal kernels are lowered once if nobody inspects the stages, with the same result as otherwise."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.expressions import evaluate, expressions
from ttnn_jit import ttnn
from ttnn_jit.compiler.driver import compile_program, run_stages
from ttnn_jit.compiler.request import FunctionRequest
from ttnn_jit.dialects.d2m_generic import forget_readings, keep_reading, known_reading
from ttnn_jit.specs.options import CompileOptions
from ttnn_jit.specs.target import PRESETS
from ttnn_jit.specs.tensor_spec import DataType, Layout, TensorSpec
from ttnn_jit.transforms.passes.d2m_insert_dst_register_access import D2MInsertDstRegisterAccess

SPEC = TensorSpec((64, 96), DataType.BFLOAT16, Layout.TILE)
SQUARE = TensorSpec((64, 64), DataType.BFLOAT16, Layout.TILE)
TARGETS = ("cpu", "wormhole_b0")
CAPTURED = CompileOptions(graph_capture=True)


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


NUMBERS = (0.0, -0.0, 1.0, -1.0, 0.5, 3.0, 1e-41, 3.4028234e38, float("inf"), float("nan"))


def every_number(x, first, second):
    return [ttnn.exp(ttnn.add(ttnn.multiply(each, number), first)) for number in NUMBERS for each in (x, second)]


def numbers_of_two_operations(x, first, second):
    def layer(one, other):
        return ttnn.matmul(ttnn.exp(ttnn.subtract(one, ttnn.multiply(x, other))) * one + first, second)

    return [layer(one, other) for one, other in ((2.0, 2.0), (2.0, 3.0), (3.0, 2.0), (0.5, 0.5))]


def parameters(x, first, second):
    for number in (0.1, 0.2, 0.0, 1.0):
        x = ttnn.matmul(ttnn.leaky_relu(ttnn.clamp(x, -number, 3 * number), number), second)
        x = ttnn.matmul(ttnn.addcmul(x, first, second, value=number), second)
    return x, [ttnn.round(each, decimals=decimals) * 0.5 for decimals in (0, 1) for each in (x, first)]


PROGRAMS = {
    layers: SPEC,
    one_tensor_or_two: SPEC,
    views: SPEC,
    numbers: SPEC,
    every_number: SPEC,
    numbers_of_two_operations: SQUARE,
    parameters: SQUARE,
}


def blending(share):
    def blended(x, first, second):
        """Two kernels on chips: a chain of one tensor, and a tree of three."""
        return ttnn.exp(ttnn.tanh(x)), ttnn.add(ttnn.multiply(x, share), ttnn.multiply(ttnn.sin(first), second))

    return blended


blended = blending(0.25)


def elementwise_parameters(x, first, second):
    for number in (0.1, 0.2, 0.0, 1.0):
        x = ttnn.leaky_relu(ttnn.clamp(ttnn.addcmul(x, first, second, value=number), -number, 3 * number), number)
    return x, [ttnn.round(each, decimals=decimals) * 0.5 for decimals in (0, 1) for each in (x, first)]


def signed_zeros(x, first, second):
    return [ttnn.exp(each) + zero for zero in (0.0, -0.0) for each in (x, ttnn.add(first, second))]


def request_of(program, target):
    specs = dict.fromkeys(("x", "first", "second"), PROGRAMS[program])
    return FunctionRequest(program, specs, PRESETS[target], CompileOptions())


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_that_lowers_equal_kernels_once_equals_the_one_that_shows_its_stages(program, target):
    request = request_of(program, target)
    unseen = compile_program(request, use_disk=False).program
    seen = compile_program(request, use_disk=False, keep_texts=True).program
    assert unseen.plan == seen.plan
    assert unseen.objects == seen.objects
    assert [*map(without_source, unseen.descriptors)] == [*map(without_source, seen.descriptors)]


def without_source(descriptor):
    return {name: value for name, value in descriptor.items() if name != "kernel_source"}


def of_one_number(x, first, _):
    return ttnn.layer_norm(ttnn.exp(x) * first)


def of_own_numbers(x, first, layer):
    return ttnn.matmul(ttnn.leaky_relu(ttnn.gelu(ttnn.matmul(x, first) + 0.5 * layer), 0.1 + 0.1 * layer), first)


def lowered_kernels(layer_of, count, monkeypatch):
    """The number of kernels that are lowered for a program of `count` layers."""
    lowered = 0
    change = D2MInsertDstRegisterAccess.change

    def counted(stage, generic, target):
        nonlocal lowered
        lowered += 1
        change(stage, generic, target)

    def program(x, first):
        for layer in range(count):
            x = layer_of(x, first, layer)
        return x

    forget_readings()
    monkeypatch.setattr(D2MInsertDstRegisterAccess, "change", counted)
    request = FunctionRequest(program, {"x": SQUARE, "first": SQUARE}, PRESETS["cpu"], CompileOptions())
    compile_program(request, use_disk=False)
    return lowered


@pytest.mark.parametrize("layer_of", [of_one_number, of_own_numbers])
def test_more_layers_of_a_model_lower_no_more_kernels(layer_of, monkeypatch):
    few = lowered_kernels(layer_of, 3, monkeypatch)
    assert few > 1
    assert lowered_kernels(layer_of, 9, monkeypatch) == few


SHAPES = ((64, 96), (32, 32), (1, 96), (96, 1), (40, 33), (2, 64, 128), (0, 96))


def scheduled(request):
    """The plan of a request, the texts of its kernels, and the descriptors of its launches."""
    code, descriptors = run_stages(request.lower().module, request.options, None)
    return code.plan, code.texts, descriptors


def of_shape(program, target, shape, dtype):
    arguments = dict.fromkeys(("x", "first", "second"), spec(shape, dtype))
    return FunctionRequest(program, arguments, PRESETS[target], CompileOptions())


def spec(shape, dtype):
    return TensorSpec(shape, dtype, Layout.TILE)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("program", [blended, numbers, signed_zeros, every_number, elementwise_parameters])
@pytest.mark.parametrize("dtype", [DataType.FLOAT32, DataType.BFLOAT16])
def test_a_program_whose_kernels_are_known_from_other_sizes_equals_the_one_that_lowers_them(program, target, dtype):
    requests = [of_shape(program, target, shape, dtype) for shape in SHAPES]
    found = [scheduled(request) for request in requests]
    for request, known in zip(requests, found, strict=True):
        forget_readings()
        assert scheduled(request) == known


@given(expressions(), st.permutations(SHAPES))
def test_the_plans_of_expressions_depend_on_no_size_that_was_compiled_before(expression, shapes):
    def program(x, first, second, y):
        return evaluate(expression, (x, first, second, y))

    for target in TARGETS:
        names = ("x", "first", "second", "y")
        requests = [
            FunctionRequest(program, dict.fromkeys(names, spec(shape, DataType.BFLOAT16)), PRESETS[target], CAPTURED)
            for shape in shapes[:2]
        ]
        found = [scheduled(request) for request in requests]
        forget_readings()
        assert scheduled(requests[1]) == found[1]


def test_a_new_size_lowers_no_kernel_again_whose_loops_are_all_parallel(monkeypatch):
    first, other = (of_shape(blended, "wormhole_b0", shape, DataType.BFLOAT16) for shape in ((64, 96), (256, 512)))
    scheduled(first)
    monkeypatch.setattr(D2MInsertDstRegisterAccess, "change", lambda *_: pytest.fail("a kernel was lowered"))
    scheduled(other)


def test_kernels_are_lowered_for_another_target_but_not_for_other_numbers(monkeypatch):
    forget_readings()
    scheduled(of_shape(blended, "wormhole_b0", (64, 96), DataType.BFLOAT16))
    lowered = []
    change = D2MInsertDstRegisterAccess.change
    monkeypatch.setattr(
        D2MInsertDstRegisterAccess, "change", lambda *given: (lowered.append(given[1]), change(*given))[1]
    )
    scheduled(of_shape(blended, "blackhole", (64, 96), DataType.BFLOAT16))
    assert len(lowered) == 2
    request = of_shape(blending(0.75), "wormhole_b0", (64, 96), DataType.BFLOAT16)
    found = scheduled(request)
    assert len(lowered) == 2
    forget_readings()
    assert scheduled(request) == found


def test_the_readings_of_the_kernels_that_were_read_last_are_kept():
    forget_readings()
    for number in range(300):
        keep_reading(number, str(number))
        assert known_reading(0) == "0", "it was asked for again and again"
    known = [number for number in range(300) if known_reading(number) is not None]
    assert known == [0, *range(45, 300)]
