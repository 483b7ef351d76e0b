"""Random programs of layers that differ in numbers have the bits that they have with a kernel for every layer."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.sampling import drawn
from tests.unit.codegen.blocking.test_kernel_sharing import any_bits, unshared
from tests.unit.codegen.programs import assert_same_bits, host_isa, objects_of, run_plan, scheduled, with_shared_kernels
from ttnn_jit.codegen.host.host_program import generate
from ttnn_jit.interpreters.tile_interpreter import interpret
from ttnn_jit.specs.tensor_spec import DataType, Layout, TensorSpec

ORDINARY = [0.5, 2.0, -3.0, 0.1, 1e30, 1e-30, 3e-38]
SPECIAL = [0.0, -0.0, 1.0, -1.0, float("inf"), float("-inf"), float("nan"), 1e-41]
NUMBERS = st.one_of(st.sampled_from(ORDINARY), st.floats(width=32), st.sampled_from(ORDINARY + SPECIAL))
WITH_NUMBER = ("add", "subtract", "multiply", "divide", "pow", "maximum", "lt", "eq", "fmod", "atan2", "hypot")
UNARY = ("exp", "neg", "relu", "sigmoid", "abs")
WITH_PARAMETER = ("leaky_relu", "elu", "celu", "softshrink")


@st.composite
def templates(draw):
    """The operations of a layer: a name, and whether a number is the first operand, the second, or none is.

    A parameter counts as the second operand.
    """
    made = []
    for _ in range(draw(st.integers(1, 3))):
        match draw(st.integers(0, 7)):
            case 0:
                made.append((draw(st.sampled_from(UNARY)), None))
            case 1:
                made.append((draw(st.sampled_from(WITH_PARAMETER)), 1))
            case _:
                made.append((draw(st.sampled_from(WITH_NUMBER)), draw(st.sampled_from([0, 1, 1]))))
    return made, draw(st.sampled_from(["none", "softmax", "sum", "matmul"]))


@st.composite
def programs(draw):
    """Layers of one template, one after the other or on tensors of their own, and the target."""
    layer, last = draw(templates())
    count, chained = draw(st.integers(2, 5)), last != "none" and draw(st.booleans())
    rows, columns = draw(st.sampled_from([(3, 50), (1, 17), (40, 33)]))
    dtype = draw(st.sampled_from([DataType.FLOAT32, DataType.BFLOAT16]))
    layout = draw(st.sampled_from([Layout.TILE, Layout.ROW_MAJOR]))
    specs = [TensorSpec((rows, columns), dtype, layout)] * count + [TensorSpec((columns, columns), dtype, layout)]
    pool = draw(st.lists(NUMBERS, min_size=2, max_size=4, unique_by=repr))
    calls, results = [], []
    for k in range(count):
        value = results[-1] if chained and results else k
        for name, place in layer:
            number = draw(st.sampled_from(pool))
            calls.append((name, value) if place is None else (name, *[(value, number), (number, value)][1 - place]))
            value = len(specs) + len(calls) - 1
        match last:
            case "softmax":
                calls.append(("softmax", value, -1, False))
            case "sum":
                calls += [("sum", value, (-1,), True), ("add", len(specs) + len(calls), value)]
            case "matmul":
                calls.append(("matmul", value, count, False, False, None))
        results.append(len(specs) + len(calls) - 1)
    target = "cpu" if layout is Layout.ROW_MAJOR else draw(st.sampled_from(["cpu", "wormhole_b0"]))
    return specs, calls, tuple(results), target


def test_random_layers_have_the_bits_of_a_kernel_for_each_and_of_the_interpreter(monkeypatch):
    shared = [0, 0]

    @settings(max_examples=drawn(120), deadline=None)  # pytest does not collect it, hence nothing else scales it
    @given(programs(), st.integers(0, 2**32 - 1))
    def run(program, seed):
        specs, calls, results, target = program
        fields = {"results": results, "target": target}
        module = scheduled(specs, calls, **fields)
        generator, isa = np.random.default_rng(seed), host_isa()
        inputs = [any_bits(spec, generator) for spec in specs]
        made, plain = generate(module, isa), unshared(module, isa, monkeypatch)
        assert len(made.plan.kernels) <= len(plain.plan.kernels)
        assert generate(with_shared_kernels(specs, calls, **fields), isa).plan == made.plan
        shared[bool(made.plan.constants)] += 1
        got = run_plan(made.plan, objects_of(made, isa), inputs)
        for own, expected in zip(got, run_plan(plain.plan, objects_of(plain, isa), inputs), strict=True):
            assert_same_bits(own, expected)  # where two NaN meet, the compiler chooses one
        for own, expected in zip(got, interpret(module, inputs), strict=True):
            assert_same_bits(own, expected)

    run()
    assert shared[True] > shared[False] / 10
