"""Fusion and scheduling of random programs: within the target's limits, complete, bit for bit equal."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.unit.transforms.ttnn_modules import F32, Graph, kernels, lowered, operations, row_major, tiled
from ttnn_jit.dialects.d2m import AcquireDstOp
from ttnn_jit.dialects.layout import spec_of
from ttnn_jit.interpreters.tile_interpreter import interpret
from ttnn_jit.specs.target import PRESETS

UNARY = ("neg", "abs", "exp", "relu")
BINARY = ("add", "subtract", "multiply", "maximum")


@st.composite
def programs(draw, specs, max_ops=14):
    """(kind, operand numbers) per op over some arguments; every value is read by a later one or returned."""
    arguments = draw(st.lists(st.sampled_from(specs), min_size=1, max_size=5))
    steps = []
    for number in range(draw(st.integers(1, max_ops))):
        values = st.integers(0, len(arguments) + number - 1)
        operands = draw(st.lists(values, min_size=1, max_size=3))
        names = {1: UNARY, 2: BINARY, 3: ("where",)}[len(operands)]
        steps.append((draw(st.sampled_from(names)), tuple(operands)))
    return arguments, steps


def _module(program, target):
    arguments, steps = program
    graph = Graph(*arguments)
    values = list(graph.args)
    for name, operands in steps:
        # A broadcast operand may come first; the result has the shape of the largest.
        largest = max((values[o] for o in operands), key=lambda value: spec_of(value.type).volume)
        dtype = spec_of(values[operands[0]].type).dtype
        spec = spec_of(largest.type).with_(dtype=dtype)
        values.append(graph.op(name, *(values[o] for o in operands), spec=spec))
    read = {operand for _, operands in steps for operand in operands}
    results = [v for n, v in enumerate(values) if n >= len(arguments) and n not in read]
    return graph.module(*results, target=target)


def _arrays(specs, seed):
    """Random bit patterns, including NaN, infinities and denormals."""
    generator = np.random.default_rng(seed)
    arrays = []
    for spec in specs:
        bits = generator.integers(0, 2**32, size=spec.shape, dtype=np.uint32)
        bits = np.where(generator.random(spec.shape) < 0.8, bits & 0xBFFFFFFF | 0x30000000, bits).astype(np.uint32)
        arrays.append(bits.view(np.float32) if spec.dtype is F32 else (bits >> 16).astype(np.uint16))
    return arrays


def _assert_equal_bits(ours, theirs):
    """Asserts equal bits, except that any NaN equals any NaN."""
    assert len(ours) == len(theirs)
    for our, their in zip(ours, theirs, strict=True):
        assert our.dtype == their.dtype
        patterns = np.uint32 if our.dtype == np.float32 else np.uint16
        infinity = 0x7F800000 if patterns is np.uint32 else 0x7F80
        a, b = our.view(patterns), their.view(patterns)
        both_nan = ((a & (infinity * 2 - 1)) > infinity) & ((b & (infinity * 2 - 1)) > infinity)
        assert np.all((a == b) | both_nan)


@settings(max_examples=60, deadline=None)
@given(programs([tiled(32, 32), tiled(32, 32, dtype=F32)]), st.sampled_from(["wormhole_b0", "cpu"]))
def test_every_kernel_obeys_its_target_and_no_op_is_lost(program, name):
    target = PRESETS[name]
    module = lowered(_module(program, name))
    done = [operation for kernel in kernels(module) for operation in operations(kernel)]
    if name == "wormhole_b0":
        assert sorted(done) == sorted(operation for operation, _ in program[1])
    for kernel in kernels(module):
        (dst,) = [op.result.type for op in kernel.walk() if isinstance(op, AcquireDstOp)]
        wide = dst.element_type.dtype is F32
        assert target.max_circular_buffers is None or len(kernel.operands) <= target.max_circular_buffers
        assert target.max_wide_inputs is None or not wide or len(kernel.inputs) <= target.max_wide_inputs
        assert kernel.attributes["d2m.dst_peak"].value.data <= target.dst_capacity(wide=wide)


CHIP_SPECS = [tiled(32, 32), tiled(32, 32, dtype=F32), tiled(64, 32), tiled(1, 32), tiled(64, 1)]
CPU_SPECS = [row_major(2, 3, 5), row_major(3, 1), row_major(2, 1, 5), row_major()]


def _compatible(program):
    """Whether every op's operands broadcast to the largest of them."""
    arguments, steps = program
    shapes = [tuple(spec.shape) for spec in arguments]
    for _, operands in steps:
        largest = max((shapes[o] for o in operands), key=np.prod)
        try:
            if np.broadcast_shapes(*(shapes[o] for o in operands)) != largest:
                return False
        except ValueError:
            return False
        shapes.append(largest)
    return True


@pytest.mark.slow
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(programs(CHIP_SPECS, max_ops=8).filter(_compatible), st.integers(0, 2**32 - 1))
def test_under_device_numerics_neither_fusion_nor_scheduling_changes_a_bit(program, seed):
    arrays = _arrays(program[0], seed)
    alone = interpret(lowered(_module(program, "wormhole_b0"), fuse=False), arrays)
    _assert_equal_bits(interpret(lowered(_module(program, "wormhole_b0")), arrays), alone)
    source_order = lowered(_module(program, "wormhole_b0"), until="d2m-generic-tile-compute-loops")
    _assert_equal_bits(interpret(source_order, arrays), alone)


@pytest.mark.slow
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(programs(CPU_SPECS, max_ops=8).filter(_compatible), st.integers(0, 2**32 - 1))
def test_in_f32_fusion_on_cpu_changes_no_bit(program, seed):
    arrays = _arrays(program[0], seed)
    fused = interpret(lowered(_module(program, "cpu")), arrays)
    alone = interpret(lowered(_module(program, "cpu"), fuse=False), arrays)
    _assert_equal_bits(fused, alone)
