"""Rounding, widening and narrowing of tiles, and exact folds."""

import math
import re

import pytest
from xdsl.dialects import arith

from tests.unit.transforms.ttnn_modules import BF16, F32, Graph, cosh, kernels, lowered, operations, row_major, tiled
from ttnn_jit.dialects import print_module

TILES = r"tile<32x32, (\w+)>"


def _text(module, until="d2m-insert-dst-register-access", **options):
    return print_module(lowered(module, until=until, **options))


def _tile_ops(text):
    return re.findall(r'"d2m\.(tile_\w+)"\([^)]*\)[^:]*: \(([^)]*)\) -> !ttcore\.' + TILES, text)


def test_ieee_kernels_compute_in_f32_and_round_at_the_store():
    text = _text(cosh(row_major(5, 7, dtype=BF16), target="cpu"), until="d2m-generic-fusion")
    assert [(name, result) for name, _, result in _tile_ops(text)] == [
        ("tile_typecast", "f32"),
        ("tile_exp", "f32"),
        ("tile_typecast", "f32"),
        ("tile_neg", "f32"),
        ("tile_exp", "f32"),
        ("tile_add", "f32"),
        ("tile_mul", "f32"),
        ("tile_typecast", "bf16"),
    ]


def test_casts_in_dst_are_next_to_the_buffers():
    text = _text(cosh(row_major(5, 7, dtype=BF16), target="cpu"))
    assert "memref<28x1x1x!ttcore.tile<32x32, f32>, #dst>" in text
    lines = [line.strip() for line in text.splitlines()]
    for at, line in enumerate(lines):
        if "tile_typecast" in line and "-> !ttcore.tile<32x32, f32>" in line:
            assert "affine.load %subview" in lines[at - 1]
            assert "affine.store" in lines[at + 1]
        elif "tile_typecast" in line:
            assert "affine.load %dst" in lines[at - 1]
            assert "affine.store" in lines[at + 1]
            assert "%subview" in lines[at + 1]


def test_ieee_f32_kernels_have_no_casts():
    assert "typecast" not in _text(cosh(row_major(5, 7), target="cpu"))


def test_device_kernels_round_by_result_type_and_have_no_casts():
    text = _text(cosh(tiled(32, 32)))
    assert "typecast" not in text
    assert {result for *_, result in _tile_ops(text)} == {"bf16"}


def test_mixed_dtypes_on_a_device_round_each_op_to_its_own_type():
    graph = Graph(tiled(32, 32), tiled(32, 32, dtype=F32))
    narrow = graph.op("add", *graph.args)
    text = _text(graph.module(graph.op("multiply", graph.args[1], narrow)))
    computed = [(name, result) for name, _, result in _tile_ops(text) if name != "tile_typecast"]
    assert computed == [("tile_add", "bf16"), ("tile_mul", "f32")]
    assert "memref<4x1x1x!ttcore.tile<32x32, f32>, #dst>" in text


def test_a_scalar_is_rounded_to_its_tensors_type_and_costs_no_input():
    graph = Graph(tiled(32, 32))
    (x,) = graph.args
    module = graph.module(graph.op("multiply", x, graph.full(0.1, x)))
    (kernel,) = kernels(lowered(module, until="d2m-generic-fusion"))
    assert len(kernel.inputs) == 1
    assert "ttir.full" not in print_module(module)
    (constant,) = [op for op in kernel.walk() if isinstance(op, arith.ConstantOp)]
    assert constant.value.value.data == BF16.rounded(0.1)


def test_a_scalar_of_f32_keeps_its_bits_under_ieee_numerics():
    graph = Graph(row_major(4, 4, dtype=BF16))
    (x,) = graph.args
    module = graph.module(graph.op("multiply", x, graph.full(0.1, x, dtype=F32)), target="cpu")
    lowered(module, until="d2m-generic-fusion")
    assert "arith.constant 1.000000e-01 : f32" in print_module(module)


@pytest.mark.parametrize(
    ("value", "expected"), [(0.5, 0.5), (0.1, 0.10009765625), (1.00390625, 1.0), (1.01171875, 1.015625), (-0.0, -0.0)]
)
def test_rounding_to_bf16_is_to_nearest_even(value, expected):
    assert BF16.rounded(value) == expected
    assert math.copysign(1, BF16.rounded(value)) == math.copysign(1, expected)


def test_rounding_keeps_nan_and_f32():
    assert math.isnan(BF16.rounded(math.nan))
    assert F32.rounded(0.1) == 0.1


def _times_one_then_neg(spec, target, before=None):
    graph = Graph(spec)
    value = graph.op(before, graph.args[0]) if before else graph.args[0]
    product = graph.op("multiply", value, graph.full(1.0, value))
    return graph.module(graph.op("neg", product), target=target)


@pytest.mark.parametrize(
    ("spec", "target", "before", "folded"),
    [
        (row_major(4, 4), "cpu", None, True),
        (row_major(4, 4, dtype=BF16), "cpu", None, True),
        (tiled(32, 32, dtype=F32), "wormhole_b0", None, True),
        (tiled(32, 32), "wormhole_b0", "exp", True),
        # A bf16 argument may contain a NaN or denormals, which the product would not return.
        (tiled(32, 32), "wormhole_b0", None, False),
    ],
)
def test_multiplying_by_one_is_folded_where_that_is_exact(spec, target, before, folded):
    (kernel,) = kernels(lowered(_times_one_then_neg(spec, target, before), until="d2m-generic-fusion"))
    assert ("multiply" not in operations(kernel)) is folded


@pytest.mark.parametrize(("op", "neutral"), [("add", -0.0), ("subtract", 0.0), ("divide", 1.0)])
def test_neutral_operands_are_folded(op, neutral):
    graph = Graph(row_major(4, 4))
    (x,) = graph.args
    module = graph.module(graph.op("neg", graph.op(op, x, graph.full(neutral, x))), target="cpu")
    (kernel,) = kernels(lowered(module, until="d2m-generic-fusion"))
    assert operations(kernel) == ("neg",)


def test_adding_plus_zero_is_not_folded():
    graph = Graph(row_major(4, 4))
    (x,) = graph.args
    module = graph.module(graph.op("neg", graph.op("add", x, graph.full(0.0, x))), target="cpu")
    (kernel,) = kernels(lowered(module, until="d2m-generic-fusion"))
    assert operations(kernel) == ("add", "neg")


def test_a_result_is_never_folded_into_an_argument():
    graph = Graph(row_major(4, 4))
    (x,) = graph.args
    module = graph.module(graph.op("multiply", x, graph.full(1.0, x)), target="cpu")
    assert len(kernels(lowered(module))) == 1


def test_an_op_without_readers_is_removed():
    graph = Graph(tiled(32, 32))
    graph.op("exp", graph.args[0])
    assert len(kernels(lowered(graph.module(graph.op("neg", graph.args[0]))))) == 1


def test_on_a_chip_equal_ops_are_not_merged():
    graph = Graph(tiled(32, 32))
    (x,) = graph.args
    (kernel,) = kernels(lowered(graph.module(graph.op("add", graph.op("exp", x), graph.op("exp", x)))))
    assert operations(kernel) == ("exp", "exp", "add")
