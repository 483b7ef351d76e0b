"""Long bodies as several loops over each block: where they are cut, and that the bits stay those of one loop."""

from __future__ import annotations

import re
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.codegen.programs import assert_same_bits, bfloat16, host_isa, native, scheduled
from ttnn_jit.codegen import kernel_body, llvm_kernel
from ttnn_jit.codegen import pieces as cutting
from ttnn_jit.codegen.interpreter import interpret
from ttnn_jit.codegen.kernel_body import read_kernels
from ttnn_jit.codegen.llvm_kernel import kernel_text
from ttnn_jit.codegen.pieces import MOST_INSTRUCTIONS, in_pieces
from ttnn_jit.codegen.steps import Apply, Load, Store
from ttnn_jit.kernels.pieces import BLOCK
from ttnn_jit.tensor_spec import DataType, Layout, TensorSpec

F32, BF16 = DataType.FLOAT32, DataType.BFLOAT16
CHAIN = [("sin", 0), ("exp", 1), ("tanh", 2), ("sigmoid", 3)]


def body_of(calls, *, inputs=1, shape=(64, 96), dtype=F32, target="cpu"):
    (body,) = read_kernels(scheduled([TensorSpec(shape, dtype, Layout.TILE)] * inputs, calls, target=target))
    return body


def pieces_of(body, cost=20, unroll=1, together=None):
    """The pieces where every op takes `cost` instructions."""
    costs = [cost if isinstance(step, Apply) else 0 for step in body.steps]
    return in_pieces(body, costs, unroll, together or {})


def ops_of(piece):
    return [step.tile_name for step in piece.body.steps if isinstance(step, Apply)]


def test_a_short_body_stays_whole():
    assert pieces_of(body_of([("exp", 0)]), cost=MOST_INSTRUCTIONS) is None
    assert pieces_of(body_of(CHAIN), cost=MOST_INSTRUCTIONS // 4) is None


def test_ops_of_which_two_are_too_long_together_are_pieces_each_that_hand_one_tile_on():
    found = pieces_of(body_of(CHAIN))
    assert [len(ops_of(piece)) for piece in found.parts] == [1, 1, 1, 1]
    assert found.kept == (F32, F32, F32)
    assert [piece.streams for piece in found.parts] == [(0, 2), (2, 3), (3, 4), (4, 1)]


def test_an_op_longer_than_a_piece_is_a_piece():
    found = pieces_of(body_of(CHAIN), cost=10 * MOST_INSTRUCTIONS)
    assert [len(ops_of(piece)) for piece in found.parts] == [1, 1, 1, 1]


def test_pieces_are_cut_where_few_tiles_cross_and_load_inputs_anew():
    # Two chains of two ops that are added at last: a cut within a chain crosses less than one that parts all four.
    calls = [("exp", 0), ("sin", 2), ("exp", 1), ("sin", 4), ("add", 3, 5)]
    found = pieces_of(body_of(calls, inputs=2), cost=MOST_INSTRUCTIONS // 2)
    assert [len(ops_of(piece)) for piece in found.parts] in ([2, 2, 1], [2, 1, 2])
    loads = [sum(isinstance(step, Load) for step in piece.body.steps) for piece in found.parts]
    stores = [sum(isinstance(step, Store) for step in piece.body.steps) for piece in found.parts]
    assert stores == [1, 1, 1]
    assert loads[0] == 1


def test_steps_that_share_work_are_in_one_piece():
    body = body_of([("exp", 0), ("neg", 0), ("exp", 2), ("add", 1, 3)])
    first, last = (k for k, step in enumerate(body.steps) if isinstance(step, Apply) and step.tile_name == "tile_exp")
    together = {first: (first, last), last: (first, last)}
    for piece in pieces_of(body, together=together).parts if pieces_of(body, together=together) else ():
        assert ops_of(piece).count("tile_exp") in (0, 2)


def test_a_body_with_outer_loops_stays_whole():
    specs = [TensorSpec((64, 96), F32, Layout.TILE), TensorSpec((64, 1), F32, Layout.TILE)]
    (body,) = read_kernels(scheduled(specs, [("add", 0, 1), *((name, k + 2) for k, (name, _) in enumerate(CHAIN))]))
    assert body.rank
    assert pieces_of(body) is None


def test_two_vectors_at_once_make_longer_pieces():
    body = body_of(CHAIN)
    assert len(pieces_of(body, unroll=2).parts) < len(pieces_of(body, unroll=1).parts)


def test_pieces_leave_the_order_of_their_stores_to_the_kernel():
    text = kernel_text(body_of(CHAIN, shape=(4096, 4096)), host_isa())
    assert text.count("!nontemporal") >= 1
    assert text.count("fence seq_cst") == 1
    assert re.search(r"done:\n  fence seq_cst\n  ret void", text)


@contextmanager
def cut_everywhere(most):
    """Tensors of any size are many elements, and nothing is looked up."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cutting, "MOST_INSTRUCTIONS", most)
        patch.setattr(kernel_body, "ENTRIES", 0)
        patch.setattr(llvm_kernel, "parts_of_one_word", lambda _: ())
        kernel_text.cache_clear()
        yield
    kernel_text.cache_clear()


def test_tensors_of_few_elements_are_run_by_one_loop():
    assert "piece" in kernel_text(body_of(CHAIN, shape=(256, 256)), host_isa())
    assert "piece" not in kernel_text(body_of(CHAIN, shape=(128, 256)), host_isa())


OPS = st.sampled_from(["exp", "sin", "tanh", "sigmoid", "neg", "abs", "erf", "add", "multiply", "subtract", "maximum"])


@pytest.mark.parametrize("target", ["cpu", "wormhole_b0"])
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_pieces_give_the_bits_of_the_module(target, data):
    dtype = data.draw(st.sampled_from([F32, BF16]))
    calls = []
    for k in range(2, 2 + data.draw(st.integers(4, 14))):
        name, operands = data.draw(OPS), st.integers(0, k - 1)
        two = name in {"add", "multiply", "subtract", "maximum"}
        calls.append((name, data.draw(operands), data.draw(operands)) if two else (name, data.draw(operands)))
    results = sorted({len(calls) + 1, data.draw(st.integers(2, len(calls) + 1))})
    height = data.draw(st.sampled_from([1, 32, 33, 128]))
    width = data.draw(st.sampled_from([1, 7, 32, 100]))
    module = scheduled([TensorSpec((height, width), dtype)] * 2, calls, target=target, results=tuple(results))
    numbers = np.random.default_rng(0).normal(size=(2, height, width)).astype(np.float32) * 3
    numbers.reshape(2, -1)[:, ::29] = np.float32("nan")
    numbers.reshape(2, -1)[:, 1::31] = 1e-39
    inputs = [bfloat16(values) for values in numbers] if dtype is BF16 else list(numbers)
    with cut_everywhere(data.draw(st.sampled_from([1, 8, 32]))):
        found = native(module, inputs)
    for ours, literal in zip(found, interpret(module, inputs), strict=True):
        assert_same_bits(ours, literal)


@pytest.mark.parametrize("count", [1, BLOCK - 1, BLOCK, BLOCK + 1, 5 * BLOCK + 17])
def test_blocks_cover_every_element_once(count):
    module = scheduled([TensorSpec((count,), F32)], CHAIN)
    x = np.linspace(-9, 9, count, dtype=np.float32)
    with cut_everywhere(MOST_INSTRUCTIONS):
        assert "piece" in kernel_text(read_kernels(module)[0], host_isa())
        (ours,), (literal,) = native(module, [x]), interpret(module, [x])
    assert_same_bits(ours, literal)
