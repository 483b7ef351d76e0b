"""Bodies with many inputs run in stages, block by block: the choice of stages, and equal bits."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.codegen.programs import assert_same_bits, bfloat16, host_isa, kernel_of, native, scheduled
from ttnn_jit.codegen.blocking import fission, lookup
from ttnn_jit.codegen.blocking.fission import (
    MAX_STAGE_INPUTS,
    MAX_STAGE_INSTRUCTIONS,
    MIN_INSTRUCTIONS_PER_CUT,
    fission_of,
)
from ttnn_jit.codegen.bodies import steps
from ttnn_jit.codegen.bodies.steps import Apply, Load, SizeClass
from ttnn_jit.codegen.host import host_steps
from ttnn_jit.codegen.host.host_program import host_plan
from ttnn_jit.codegen.reading.kernel_reader import read_kernels
from ttnn_jit.codegen.schedules.kernel import Loops
from ttnn_jit.interpreters.tile_interpreter import interpret
from ttnn_jit.kernels.isa import AVX512
from ttnn_jit.nest.limits import CHAIN_BLOCK, MANY_STREAMS_BLOCK
from ttnn_jit.specs.tensor_spec import DataType, Layout, TensorSpec

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
    """The body for tensors that exceed the last cache."""
    return replace(body, streams=tuple(replace(s, nontemporal=s.written) for s in body.streams))


def stages_of(body, *, each=1, vectors=1, size_class=SizeClass.LARGE):
    """The fission of a body whose every op has `each` instructions."""
    return fission_of(
        replace(body, size_class=size_class),
        {k: each * isinstance(step, Apply) for k, step in enumerate(body.steps)},
        vectors,
    )


def test_stages_read_few_inputs_each_and_do_every_op_once():
    body = from_memory(body_of(tile_specs(31, F32), ladder(31)))
    found = stages_of(body, each=0)
    for stage in found.stages:
        assert 2 <= sum(operand < len(body.streams) - 1 for operand in stage.operands) <= MAX_STAGE_INPUTS
    ops = [step for stage in found.stages for step in stage.body.steps if isinstance(step, Apply)]
    assert len(ops) == 30
    assert len(found.scratch) == 2


def test_a_tensor_that_two_stages_read_is_loaded_by_both():
    calls = [*ladder(12), ("multiply", 22, 0)]
    found = stages_of(from_memory(body_of(tile_specs(12, F32), calls)), each=0)
    assert [stage.operands.count(0) for stage in found.stages] == [1, 1]
    assert all(any(isinstance(step, Load) for step in stage.body.steps) for stage in found.stages)


@pytest.mark.parametrize(("inputs", "stages"), [(MAX_STAGE_INPUTS, False), (MAX_STAGE_INPUTS + 1, True)])
def test_a_short_body_runs_in_stages_if_it_reads_too_many_inputs_from_memory(inputs, stages):
    body = body_of(tile_specs(inputs, F32), ladder(inputs))
    assert stages_of(body, each=0) is None
    assert (stages_of(from_memory(body), each=0) is not None) is stages


def test_a_long_chain_runs_in_stages_and_two_vectors_of_it_may_be_longer():
    body = body_of(tile_specs(1, F32), [("exp", k) for k in range(4)])
    assert len(stages_of(body, each=MAX_STAGE_INSTRUCTIONS[1]).stages) == 4
    assert stages_of(body, each=MAX_STAGE_INSTRUCTIONS[1] // 4) is None
    assert stages_of(body, each=MAX_STAGE_INSTRUCTIONS[1] // 2, vectors=2) is None
    assert (
        stages_of(body, each=MAX_STAGE_INSTRUCTIONS[1], size_class=SizeClass.MEDIUM) is None
    )  # compiling it would take longer than it saves


def test_long_kernels_of_a_chip_that_the_host_joins_run_in_stages_whatever_their_size():
    # A kernel of the chip takes seven inputs.
    calls = [*ladder(8), ("sin", 14), ("tanh", 15), ("erf", 16)]
    specs = tile_specs(8, F32)
    (chip,), (cpu,) = (
        host_plan(scheduled(specs, calls, target=target), host_isa()).launches for target in ("wormhole_b0", "cpu")
    )
    assert chip.bound.kernel.loops is Loops.BLOCKS
    assert cpu.bound.kernel.one_loop


def test_a_kernel_of_very_many_ops_runs_in_stages_whatever_its_size(monkeypatch):
    monkeypatch.setattr(fission, "MOST_INSTRUCTIONS", 480)
    short, long = (body_of(tile_specs(1, BF16), [("exp", k) for k in range(count)], target="cpu") for count in (40, 60))
    assert stages_of(short, each=12, size_class=SizeClass.SMALL) is None
    assert len(stages_of(long, each=12, size_class=SizeClass.SMALL).stages) == 2


def test_scratch_memory_is_reused_once_its_tile_was_read():
    found = stages_of(body_of(tile_specs(1, F32), [("exp", k) for k in range(40)]), each=MAX_STAGE_INSTRUCTIONS[1])
    assert (len(found.stages), len(found.scratch)) == (40, 2)
    for stage in found.stages:
        assert len(set(stage.operands)) == len(stage.operands) == 2


def test_a_kernel_of_many_stages_has_room_on_the_stack_of_a_thread():
    module, first_row = (
        scheduled([TensorSpec((rows, 256), F32)], [("tanh", k) for k in range(300)]) for rows in (256, 1)
    )
    x = np.linspace(-3, 3, 65_536, dtype=np.float32).reshape(256, 256)
    with ThreadPoolExecutor(1) as thread:
        (got,) = thread.submit(native, module, [x]).result()
    assert kernel_of(read_kernels(module)[0], host_isa()).stages == 300
    assert_same_bits(got[:1], interpret(first_row, [x[:1]])[0])


def test_many_streams_from_memory_take_larger_blocks_than_chains():
    assert stages_of(from_memory(body_of(tile_specs(12, F32), ladder(12)))).block == MANY_STREAMS_BLOCK
    assert stages_of(body_of(tile_specs(12, F32), ladder(12)), each=MAX_STAGE_INSTRUCTIONS[1]).block == CHAIN_BLOCK
    assert stages_of(from_memory(body_of(tile_specs(1, F32), [("exp", 0), ("sin", 1)])), each=20).block == CHAIN_BLOCK


def test_stages_leave_the_order_of_their_stores_to_the_kernel():
    calls = [(name, k) for k, name in enumerate(["sin", "exp", "tanh", "sigmoid"])]
    kernel = kernel_of(body_of(tile_specs(1, F32, (4096, 4096)), calls), host_isa())
    assert kernel.stages > 1
    assert "!nontemporal" in kernel.text
    assert kernel.text.count("fence seq_cst") == 1


def test_values_with_many_readers_keep_a_chain_in_one_stage():
    shared = [("exp", 0), ("sigmoid", 0), ("tanh", 0), ("add", 1, 2), ("multiply", 4, 3), ("add", 5, 1)]
    assert stages_of(body_of(tile_specs(1, F32), shared), each=MAX_STAGE_INSTRUCTIONS[1] // 3) is None


def test_an_input_that_many_steps_read_is_loaded_by_each_stage():
    shared = [("exp", 0), ("add", 0, 1), ("sigmoid", 2), ("multiply", 3, 0)]
    found = stages_of(body_of(tile_specs(1, F32), shared), each=MAX_STAGE_INSTRUCTIONS[1] // 2)
    assert [0 in stage.operands for stage in found.stages] == [True, True]


def test_a_short_tail_of_two_vectors_does_not_pay_for_values_that_cross_the_cut():
    body = body_of(tile_specs(1), [("exp", 0), ("tanh", 1), ("sigmoid", 2), ("neg", 3)])
    each = MAX_STAGE_INSTRUCTIONS[2] // 2
    assert len(stages_of(body, each=each, vectors=2).stages) == 2
    ends_shortly = {k: each * isinstance(step, Apply) for k, step in enumerate(body.steps)}
    *_, last = (k for k, step in enumerate(body.steps) if isinstance(step, Apply))
    for length, stages in ((MIN_INSTRUCTIONS_PER_CUT, 1), (2 * MIN_INSTRUCTIONS_PER_CUT, 2)):
        fission = fission_of(replace(body, size_class=SizeClass.LARGE), ends_shortly | {last - 1: 0, last: length}, 2)
        assert len(fission.stages if fission else [body]) == stages


def test_bodies_with_strided_operands_stay_whole():
    specs = [*[TensorSpec((64, 40), F32)] * 11, TensorSpec((1, 40), F32)]
    assert stages_of(from_memory(body_of(specs, ladder(12)))) is None
    strided = [*[TensorSpec((64, 40), F32)] * 11, TensorSpec((64, 40), F32, strides=(80, 2))]
    assert stages_of(from_memory(body_of(strided, ladder(12)))) is None


def test_the_text_of_stages_contains_no_shape():
    kernels = [
        kernel_of(body_of(tile_specs(31, shape=shape), ladder(31), target="wormhole_b0"), host_isa())
        for shape in [(256, 256), (512, 512)]
    ]
    assert len({kernel.text for kernel in kernels}) == 1
    assert kernels[0].stages > 1


def test_stages_forward_even_and_odd_elements_of_bfloat16_separately():
    calls = [("add", 0, 1), ("multiply", 2, 0.25), ("exp", 3), ("sigmoid", 4)]
    body = body_of(tile_specs(2, shape=(256, 256)), calls)
    found = stages_of(body, each=MAX_STAGE_INSTRUCTIONS[2] // 2, vectors=2)
    assert [stream.forwarded for stream in found.scratch] == [True]
    text = kernel_of(body, replace(AVX512, avx512_bf16=True)).text
    first = text[text.index("@ttnn_jit.part0(ptr noalias") : text.index("@ttnn_jit.part1(ptr noalias")]
    shuffles = [line for line in first.splitlines() if "shufflevector" in line]
    assert not [line for line in shuffles if "%tail.lanes" not in line]  # the existing tails
    assert "= alloca [32 x float]" not in text  # a tail of forwarded values is whole, and so not copied
    assert not any(
        stream.forwarded for stream in stages_of(body, each=MAX_STAGE_INSTRUCTIONS[1] // 2, vectors=1).scratch
    )


@pytest.mark.parametrize("target", ["cpu", "wormhole_b0"])
@pytest.mark.parametrize(
    "rows", [32, MANY_STREAMS_BLOCK // 32, MANY_STREAMS_BLOCK // 32 + 32], ids=["less", "one block", "more"]
)
def test_stages_give_the_bits_of_the_whole(target, rows, monkeypatch):
    monkeypatch.setattr("ttnn_jit.codegen.schedules.bound_kernel.exceeds_last_cache", lambda *_: True)
    monkeypatch.setattr("ttnn_jit.codegen.schedules.bound_kernel.POOLED_RESULT_BYTES", 0)
    monkeypatch.setattr("ttnn_jit.codegen.bodies.steps.LEAST_OF_CLASSES", (0, 0))
    monkeypatch.setattr("ttnn_jit.codegen.blocking.lookup.lookup_candidates", lambda _: ())
    shape = (rows, 32)
    specs = [*tile_specs(11, shape=shape), TensorSpec((1, 1), BF16, Layout.TILE)]
    module = scheduled(specs, [*ladder(12, "multiply"), ("sigmoid", 22)], target=target)
    rng = np.random.default_rng(0)
    numbers = [rng.normal(size=spec.shape).astype(np.float32) for spec in specs]
    numbers[3][0, :6] = [np.inf, -np.inf, np.nan, 1e-39, -0.0, 3e38]
    numbers[9][0, :6] = [-np.inf, -np.inf, 0, -1e-39, -0.0, 3e38]
    inputs = [bfloat16(values) for values in numbers]
    assert all(kernel_of(body, host_isa()).stages > 1 for body in read_kernels(module))
    (expected,) = interpret(module, inputs)
    (got,) = native(module, inputs)
    assert_same_bits(got, expected)


OPS = st.sampled_from(["exp", "sin", "tanh", "sigmoid", "neg", "abs", "erf", "add", "multiply", "subtract", "maximum"])


@contextmanager
def cut_from(instructions):
    """Tensors of any size count as large, and nothing is looked up."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fission, "MAX_STAGE_INSTRUCTIONS", {1: instructions, 2: instructions})
        patch.setattr(fission, "MIN_INSTRUCTIONS_PER_CUT", 0)
        patch.setattr(steps, "LEAST_OF_CLASSES", (0, 0))
        patch.setattr(lookup, "lookup_candidates", lambda _: ())
        host_steps.forget_loops()
        yield
    host_steps.forget_loops()


@pytest.mark.parametrize("target", ["cpu", "wormhole_b0"])
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_any_cut_gives_the_bits_of_the_module(target, data):
    dtypes = data.draw(st.sampled_from([(F32, F32), (BF16, BF16), (F32, BF16), (BF16, F32)]))
    calls = []
    for k in range(2, 2 + data.draw(st.integers(4, 14))):
        name, operands = data.draw(OPS), st.integers(0, k - 1)
        two = name in {"add", "multiply", "subtract", "maximum"}
        calls.append((name, data.draw(operands), data.draw(operands)) if two else (name, data.draw(operands)))
    results = tuple(sorted({len(calls) + 1, data.draw(st.integers(2, len(calls) + 1))}))
    shape = (data.draw(st.sampled_from([1, 32, 33, 128])), data.draw(st.sampled_from([1, 7, 32, 100])))
    shapes = (shape, data.draw(st.sampled_from([shape, (1, 1)])))
    specs = [TensorSpec(own, dtype) for own, dtype in zip(shapes, dtypes, strict=True)]
    module = scheduled(specs, calls, target=target, results=results)
    numbers = [np.random.default_rng(0).normal(size=spec.shape).astype(np.float32) * 3 for spec in specs]
    numbers[0].reshape(-1)[::29] = np.float32("nan")
    numbers[0].reshape(-1)[1::31] = 1e-39
    inputs = [bfloat16(own) if dtype is BF16 else own for own, dtype in zip(numbers, dtypes, strict=True)]
    with cut_from(data.draw(st.sampled_from([1, 8, 32]))):
        found = native(module, inputs)
    for ours, literal in zip(found, interpret(module, inputs), strict=True):
        assert_same_bits(ours, literal)
