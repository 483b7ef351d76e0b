"""Bodies of many inputs run in parts, stretch by stretch: which do, and that the bits stay those of the whole."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.unit.codegen.programs import assert_same_bits, bfloat16, host_isa, native, scheduled
from ttnn_jit.codegen.interpreter import interpret
from ttnn_jit.codegen.kernel_body import read_kernels
from ttnn_jit.codegen.llvm_kernel import kernel_text
from ttnn_jit.codegen.relay import LONG_FROM, MOST_INPUTS, relay_of
from ttnn_jit.codegen.steps import Apply, Load
from ttnn_jit.kernels.relayed import STRETCH
from ttnn_jit.tensor_spec import DataType, Layout, TensorSpec

F32, BF16 = DataType.FLOAT32, DataType.BFLOAT16


def ladder(inputs, first="add"):
    """Every input added to a sum; the first two by another op."""
    return [(first, 0, 1)] + [("add", inputs + k, 2 + k) for k in range(inputs - 2)]


def tile_specs(inputs, dtype=BF16, shape=(32, 32)):
    return [TensorSpec(shape, dtype, Layout.TILE)] * inputs


def body_of(specs, calls, **fields):
    (body,) = read_kernels(scheduled(specs, calls, **fields))
    return body


def from_memory(body):
    """The body as it is where the kernel's tensors exceed the last cache."""
    return replace(body, streams=tuple(replace(s, around_caches=s.written) for s in body.streams))


def parts_of(body, *, each=1, vectors=1):
    """The relay of a body whose every op has `each` instructions."""
    return relay_of(body, {k: each * isinstance(step, Apply) for k, step in enumerate(body.steps)}, vectors)


def test_parts_read_few_inputs_each_and_do_every_op_once():
    body = from_memory(body_of(tile_specs(31, F32), ladder(31)))
    relay = parts_of(body, each=0)
    for part in relay.parts:
        assert 2 <= sum(operand < len(body.streams) - 1 for operand in part.operands) <= MOST_INPUTS
    ops = [step for part in relay.parts for step in part.body.steps if isinstance(step, Apply)]
    assert len(ops) == 30
    assert len(relay.handed) == len(relay.parts) - 1


def test_a_tensor_that_two_parts_read_is_loaded_by_both():
    calls = [*ladder(12), ("multiply", 22, 0)]
    relay = parts_of(from_memory(body_of(tile_specs(12, F32), calls)), each=0)
    assert [part.operands.count(0) for part in relay.parts] == [1, 1]
    assert all(any(isinstance(step, Load) for step in part.body.steps) for part in relay.parts)


@pytest.mark.parametrize(("inputs", "parts"), [(MOST_INPUTS, False), (MOST_INPUTS + 1, True)])
def test_a_short_body_runs_in_parts_if_it_reads_too_many_inputs_from_memory(inputs, parts):
    body = body_of(tile_specs(inputs, F32), ladder(inputs))
    assert parts_of(body, each=0) is None
    assert (parts_of(from_memory(body), each=0) is not None) is parts


def test_a_long_chain_runs_in_parts_and_two_vectors_of_it_may_be_longer():
    body = body_of(tile_specs(1, F32), [("exp", k) for k in range(4)])
    assert len(parts_of(body, each=LONG_FROM[1]).parts) == 4
    assert parts_of(body, each=LONG_FROM[1] // 4) is None
    assert parts_of(body, each=LONG_FROM[1] // 2, vectors=2) is None


def test_values_that_many_steps_share_keep_a_chain_whole():
    shared = [("exp", 0), ("sigmoid", 1), ("add", 2, 1), ("multiply", 3, 0)]
    assert parts_of(body_of(tile_specs(1, F32), shared), each=LONG_FROM[1] // 2) is None


def test_bodies_that_do_not_walk_one_run_stay_whole():
    specs = [*[TensorSpec((64, 40), F32)] * 11, TensorSpec((1, 40), F32)]
    assert parts_of(from_memory(body_of(specs, ladder(12)))) is None
    strided = [*[TensorSpec((64, 40), F32)] * 11, TensorSpec((64, 40), F32, strides=(80, 2))]
    assert parts_of(from_memory(body_of(strided, ladder(12)))) is None


def test_the_text_of_parts_holds_no_shape():
    texts = {
        kernel_text(body_of(tile_specs(31, shape=shape), ladder(31), target="wormhole_b0"), host_isa())
        for shape in [(32, 32), (64, 128)]
    }
    assert len(texts) == 1
    assert "ttnn_jit.part1" in texts.pop()


@pytest.mark.parametrize("target", ["cpu", "wormhole_b0"])
@pytest.mark.parametrize("rows", [32, STRETCH // 32, STRETCH // 32 + 32], ids=["less", "one stretch", "more"])
def test_parts_give_the_bits_of_the_whole(target, rows, monkeypatch):
    monkeypatch.setattr("ttnn_jit.codegen.kernel_body._leaves_nothing", lambda *_: True)
    monkeypatch.setattr("ttnn_jit.codegen.kernel_body.POOLED_RESULT_BYTES", 0)
    shape = (rows, 32)
    specs = [*tile_specs(11, shape=shape), TensorSpec((1, 1), BF16, Layout.TILE)]
    module = scheduled(specs, [*ladder(12, "multiply"), ("sigmoid", 22)], target=target)
    rng = np.random.default_rng(0)
    numbers = [rng.normal(size=spec.shape).astype(np.float32) for spec in specs]
    numbers[3][0, :6] = [np.inf, -np.inf, np.nan, 1e-39, -0.0, 3e38]
    numbers[9][0, :6] = [-np.inf, -np.inf, 0, -1e-39, -0.0, 3e38]
    inputs = [bfloat16(values) for values in numbers]
    assert all("ttnn_jit.part1" in kernel_text(body, host_isa()) for body in read_kernels(module))
    (expected,) = interpret(module, inputs)
    (got,) = native(module, inputs)
    assert_same_bits(got, expected)
