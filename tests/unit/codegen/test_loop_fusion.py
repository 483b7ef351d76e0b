"""Kernels that the host runs as one loop have the bits of kernels that store every tensor."""

from __future__ import annotations

import random

import numpy as np
import pytest
import torch

from tests.unit.codegen.programs import assert_same_bits, bfloat16, host_isa, native, scheduled
from ttnn_jit import jit, ttnn
from ttnn_jit.codegen.bodies.steps import Load, Store
from ttnn_jit.codegen.fusion import loop_fusion
from ttnn_jit.codegen.host.host_program import generate, host_plan
from ttnn_jit.interpreters.tile_interpreter import interpret
from ttnn_jit.specs.tensor_spec import DataType, Layout, TensorSpec

F32, BF16 = DataType.FLOAT32, DataType.BFLOAT16
SQUARE, ROW = (64, 96), (1, 96)
TREE = [("add", 0, 1), ("add", 2, 3), ("add", 8, 9), ("add", 4, 5), ("add", 6, 7), ("add", 11, 12), ("add", 10, 13)]


def on_chip(shapes, calls, *, dtype=F32, results=(-1,)):
    return scheduled(
        [TensorSpec(shape, dtype, Layout.TILE) for shape in shapes], calls, target="wormhole_b0", results=results
    )


def launches_of(module):
    return generate(module, host_isa()).plan.launches


def test_a_tree_that_a_chip_splits_is_one_loop_without_intermediate_stores():
    found = generate(on_chip([SQUARE] * 8, TREE), host_isa()).plan
    assert len(found.launches) == 1
    assert not found.intermediates


def test_a_value_with_several_users_stays_in_registers():
    module = on_chip([SQUARE], [("exp", 0), ("add", 1, 1), ("multiply", 1, 2)])
    assert len(launches_of(module)) == 1


def test_a_value_that_is_returned_is_stored_by_the_same_loop():
    module = on_chip([SQUARE], [("exp", 0), ("sigmoid", 1)], results=(1, 2))
    (launch,) = launches_of(module)
    assert len(launch.operands) == 3


def test_kernels_over_different_elements_are_not_fused():
    module = on_chip([SQUARE, ROW], [("exp", 1), ("multiply", 0, 2)])
    assert len(launches_of(module)) == 2


def test_kernels_that_share_only_an_input_are_not_fused():
    module = on_chip([SQUARE], [("exp", 0), ("sigmoid", 0)], results=(1, 2))
    assert len(launches_of(module)) == 2


def test_a_producer_whose_result_another_loop_reads_first_is_not_moved():
    # multiply over all rows and the last add read exp's row; the add must not take exp's loop past the multiply.
    module = on_chip([SQUARE, ROW], [("exp", 1), ("multiply", 0, 2), ("add", 2, 1)], results=(3, 4))
    assert len(launches_of(module)) == 3


def test_a_loop_holds_no_more_tiles_than_the_hosts_own_target_allows():
    exps = [("exp", 0)] + [("add", k, float(k)) for k in range(1, 40)]
    sums = [("add", 40, 39)] + [("add", 40 + k, 39 - k) for k in range(1, 39)]
    assert len(launches_of(on_chip([SQUARE], exps + sums))) > 1


@pytest.mark.parametrize("dtype", [F32, BF16], ids=["f32", "bf16"])
def test_one_loop_gives_the_bits_of_one_kernel_after_another(dtype):
    calls = [("reciprocal", 0), ("multiply", 2, 2), ("log", 0), ("subtract", 4, 3), ("multiply", 5, 1), ("exp", 2)]
    calls += [("add", 6, 7)]
    module = on_chip([SQUARE, SQUARE], calls, dtype=dtype, results=(3, 8))
    numbers = np.random.default_rng(0).normal(size=(2, *SQUARE)).astype(np.float32)
    numbers[:, :4, :8] = np.array([np.inf, -np.inf, np.nan, 0, -0.0, 1e-39, -1e-39, 3e38], np.float32)
    inputs = [bfloat16(values) for values in numbers] if dtype is BF16 else list(numbers)
    assert len(launches_of(module)) == 1
    for ours, literal in zip(native(module, inputs), interpret(module, inputs), strict=True):
        assert_same_bits(ours, literal)


def ops_of(launch):
    return sum(not isinstance(step, Load | Store) for step in launch.bound.steps)


@pytest.mark.parametrize("dtype", [F32, BF16], ids=["f32", "bf16"])
@pytest.mark.parametrize("seed", range(3))
def test_loops_have_a_limited_number_of_ops_and_the_bits_of_one_loop(dtype, seed, monkeypatch):
    # Values with several readers end kernels of a chip, which the host joins.
    draw, calls = random.Random(seed), []
    for index in range(60):
        values = [0, 1, *range(max(2, index - 3), index + 2)]
        if draw.random() < 0.5:
            calls.append((draw.choice(["tanh", "neg", "abs"]), index + 1))
        else:
            calls.append((draw.choice(["add", "multiply"]), index + 1, draw.choice(values)))
    module = on_chip([SQUARE, SQUARE], calls, dtype=dtype)
    numbers = np.random.default_rng(0).normal(size=(2, *SQUARE)).astype(np.float32)
    inputs = [bfloat16(values) for values in numbers] if dtype is BF16 else list(numbers)
    (whole,) = native(module, inputs)
    monkeypatch.setattr(loop_fusion, "MOST_FUSED_OPS", 8)
    launches = host_plan(module, host_isa()).launches
    (ours,) = native(module, inputs)
    assert_same_bits(ours, whole)
    assert any(len(launch.ops) > 1 for launch in launches)
    assert all(ops_of(launch) <= 8 or len(launch.ops) == 1 for launch in launches)


@pytest.mark.parametrize("rows", [1, 2, 40])
@pytest.mark.parametrize("columns", [1, 3])
def test_results_of_rows_that_are_read_in_two_shapes_are_written(rows, columns):
    def program(x):
        means = ttnn.mean(x, 1)
        kept = ttnn.reshape(means, (rows, 1))
        return ttnn.subtract(x, kept), ttnn.multiply(means, 2.0), ttnn.reshape(means, (1, rows)), ttnn.exp(kept), kept

    x = torch.randn(rows, columns)
    centred, doubled, row, exponential, kept = jit()(program)(x)
    torch.testing.assert_close(centred, x - x.mean(1, keepdim=True))
    torch.testing.assert_close(doubled, 2 * x.mean(1))
    torch.testing.assert_close(row, x.mean(1)[None])
    torch.testing.assert_close(exponential, x.mean(1)[:, None].exp())
    torch.testing.assert_close(kept, x.mean(1)[:, None])


def _two_moments(x):
    """Sums of a difference and of its square over dimension 1, with a loop over other elements in between."""
    difference = ttnn.subtract(x, ttnn.mean(x, 1, True))
    of_pairs = ttnn.reshape(ttnn.sum(ttnn.square(difference), 1, True), (x.shape[0], x.shape[2] // 2, 2))
    return ttnn.exp(ttnn.sum(of_pairs, 2)), ttnn.sum(difference, 1, True)


def test_a_reduction_joins_the_loop_of_its_operand_that_another_loop_reads_the_results_of():
    x = torch.randn(3, 40, 32)
    function = jit(enable_cache=False)(_two_moments)
    launches = [line for line in str(function.explain(x)).splitlines() if line.startswith("  launch ")]
    assert sum("40 reduced" in line for line in launches) == 1
    assert not any("15,360 bytes" in line for line in launches[1:]), "the difference is not written"
    squares, rest = function(x)
    difference = jit()(lambda x: ttnn.subtract(x, ttnn.mean(x, 1, True)))(x)
    assert_same_bits(rest.numpy(), jit()(lambda x: ttnn.sum(x, 1, True))(difference).numpy())
    of_pairs = jit()(lambda x: ttnn.sum(ttnn.square(x), 1, True))(difference).reshape(3, 16, 2)
    assert_same_bits(squares.numpy(), jit()(lambda x: ttnn.exp(ttnn.sum(x, 2)))(of_pairs).numpy())


def test_a_reduction_that_needs_a_later_loop_stays_behind_it():
    def program(x):
        total = ttnn.sum(x, 1, True)
        scale = ttnn.reshape(ttnn.sum(ttnn.reshape(total, (3, 16, 2)), 2, True), (3, 1, 16))
        return ttnn.sum(ttnn.multiply(ttnn.subtract(x, total)[:, :, :16], scale), 1, True), total

    x = torch.randn(3, 40, 32, dtype=torch.float64)
    found, total = jit(enable_cache=False)(program)(x.float())
    sums = x.float().double().sum(1, keepdim=True)
    scale = sums.reshape(3, 16, 2).sum(2).reshape(3, 1, 16)
    torch.testing.assert_close(total.double(), sums, rtol=1e-5, atol=1e-4)
    expected = ((x.float().double() - sums)[:, :, :16] * scale).sum(1, keepdim=True)
    torch.testing.assert_close(found.double(), expected, rtol=1e-4, atol=1e-1)
