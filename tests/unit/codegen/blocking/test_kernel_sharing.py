"""Kernel sharing: kernels that differ in constants are one, whose bits are those of kernels with constants."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.sampling import shown
from tests.unit.codegen.guarded_programs import hosts
from tests.unit.codegen.programs import assert_same_bits, bfloat16, host_isa, objects_of, run_plan, scheduled
from ttnn_jit.codegen.blocking.kernel_sharing import is_ordinary, share_kernels
from ttnn_jit.codegen.bodies.body_analysis import OPERATION_OF_TILE
from ttnn_jit.codegen.bodies.steps import Apply, Constant
from ttnn_jit.codegen.host import host_program
from ttnn_jit.codegen.host.host_program import generate, host_plan
from ttnn_jit.codegen.host.host_text import host_text
from ttnn_jit.codegen.numba_kernel import numba_program
from ttnn_jit.interpreters.tile_interpreter import interpret
from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.specs.tensor_spec import DataType, Layout, TensorSpec

F32, BF16, I32, U32 = DataType.FLOAT32, DataType.BFLOAT16, DataType.INT32, DataType.UINT32
OWN = [isa for isa in hosts() if not isa.neon]
SHAPE = (3, 50)


def unshared(module, isa: HostIsa, monkeypatch):
    """The program without the step."""
    with monkeypatch.context() as patch:
        patch.setattr(host_program, "HOST_STEPS", tuple(s for s in host_program.HOST_STEPS if s is not share_kernels))
        return generate(module, isa)


def layers(dtype, numbers, *names, shape=SHAPE):
    """For each number, the operations of `names` with it, on a tensor of its own."""
    specs = [TensorSpec(shape, dtype) for _ in numbers]
    calls, results = [], []
    for k, number in enumerate(numbers):
        value = k
        for name in names:
            calls.append((name, value, number))
            value = len(specs) + len(calls) - 1
        results.append(value)
    return specs, calls, tuple(results)


def module_of(*program):
    specs, calls, results = program
    return scheduled(specs, calls, results=results)


def any_bits(spec, generator):
    """Elements of any bits, most of them numbers of usual size."""
    bits = generator.integers(0, 2**32, size=tuple(spec.shape), dtype=np.uint32)
    bits = np.where(generator.random(spec.shape) < 0.8, bits & 0xBFFF_FFFF | 0x3000_0000, bits).astype(np.uint32)
    return (bits >> 16).astype(np.uint16) if spec.dtype is BF16 else bits.view(np.dtype(spec.dtype.traits.numpy))


def kernels_of(module, isa=None) -> int:
    return len(generate(module, isa or host_isa()).plan.kernels)


def results_of(program, isa, inputs):
    return run_plan(program.plan, objects_of(program, isa), inputs)


BINARY = [
    (operation, place, dtype)
    for operation in OPERATION_OF_TILE.values()
    for place in range(operation.arity if operation.arity > 1 else 0)
    for dtype in (F32, BF16, I32, U32)
    if dtype in operation.dtypes
]
ARE_KEPT = {"tile_maximum", "tile_minimum", "tile_logaddexp", "tile_logaddexp2", "tile_clamp_tensor"}
"""Operations that take one instruction less if an operand is a constant."""


@pytest.mark.parametrize(
    ("dtype", "isa"),
    [*((F32, isa) for isa in OWN), *((dtype, host_isa()) for dtype in (BF16, I32, U32))],
    ids=lambda each: each.name,
)
def test_a_shared_kernel_of_every_operation_has_the_bits_of_those_with_constants_even_of_nan(dtype, isa, monkeypatch):
    generator = np.random.default_rng(0)
    numbers = {I32: ((3,), (-7,)), U32: ((3,), (77,))}.get(dtype, (0.3, -2.5))
    shared = set()
    chosen = shown(f"{dtype} on {isa.name}", [(each, place) for each, place, of in BINARY if of is dtype])
    for operation, place in chosen:
        specs, calls = [TensorSpec(SHAPE, dtype)] * (2 * operation.arity), []
        for k, number in enumerate(numbers):
            operands = [k * operation.arity + j for j in range(operation.arity)]
            operands[place] = number
            calls.append((operation.tile_name, *operands, *operation.tested_attributes))
        module = scheduled(specs, calls, results=(len(specs), len(specs) + 1))
        inputs = [any_bits(spec, generator) for spec in specs]
        made, plain = generate(module, isa), unshared(module, isa, monkeypatch)
        if len(made.kernels) == 1:
            shared.add(operation.tile_name)
        for got, expected in zip(results_of(made, isa, inputs), results_of(plain, isa, inputs), strict=True):
            assert got.tobytes() == expected.tobytes(), (operation, place)
    every = {each.tile_name for each, _ in chosen}
    assert every - shared <= (ARE_KEPT if isa.avx512 and dtype in {F32, BF16} else set())


@pytest.mark.parametrize("dtype", [F32, BF16])
@pytest.mark.parametrize(
    "names", [("add",), ("multiply", "exp", "subtract"), ("gelu", "add", "pow", "divide")], ids="-".join
)
def test_layers_with_numbers_of_their_own_are_one_kernel(dtype, names):
    numbers = (0.1, 0.25, -3.0, 1e20)
    unary = {"exp", "gelu"}
    specs, calls, results = layers(dtype, numbers, *names)
    calls = [(name, value) if name in unary else (name, value, number) for name, value, number in calls]
    module = module_of(specs, calls, results)
    inputs = [any_bits(spec, np.random.default_rng(k)) for k, spec in enumerate(specs)]
    program = generate(module, host_isa())
    assert len(program.plan.kernels) == 1
    assert len(program.plan.constants) == 4
    for got, expected in zip(results_of(program, host_isa(), inputs), interpret(module, inputs), strict=True):
        assert_same_bits(got, expected)


def test_a_program_of_kernels_with_one_constant_does_not_change(monkeypatch):
    module = module_of(*layers(F32, (0.5, 0.5, 0.5), "add"))
    program = generate(module, host_isa())
    assert program.plan == unshared(module, host_isa(), monkeypatch).plan
    assert not program.plan.constants


def test_a_constant_that_is_the_same_in_all_kernels_stays_in_their_text():
    specs = [TensorSpec(SHAPE, F32)] * 3
    calls = [("multiply", k, 0.75) for k in range(3)] + [("add", 3 + k, (0.1, 0.2, 0.3)[k]) for k in range(3)]
    plan = host_plan(scheduled(specs, calls, results=(6, 7, 8)), host_isa())
    for launch in plan.launches:
        constants = [each for step in launch.bound.steps if isinstance(step, Apply) for each in step.operands]
        assert [each.value for each in constants if isinstance(each, Constant)] == [0.75]
        assert len(launch.bound.inputs) == 2


def test_two_uses_of_a_number_are_one_operand():
    plan = host_plan(module_of(*layers(F32, (0.1, 0.2, 0.3), "multiply", "add")), host_isa())
    assert [len(launch.bound.inputs) for launch in plan.launches] == [2, 2, 2]
    assert len(plan.constants) == 3


@pytest.mark.parametrize("number", [0.0, -0.0, 1.0, -1.0, float("inf"), float("-inf"), float("nan"), 1e-40])
def test_numbers_whose_arithmetic_is_simplified_stay_constants(number, monkeypatch):
    assert not is_ordinary(Constant.of(number), F32)
    for name in ("add", "multiply", "divide", "subtract"):
        module = module_of(*layers(F32, (number, 0.1, 0.2), name))
        assert kernels_of(module) == 2
        inputs = [any_bits(TensorSpec(SHAPE, F32), np.random.default_rng(k)) for k in range(3)]
        isa = host_isa()
        results = zip(
            results_of(generate(module, isa), isa, inputs),
            results_of(unshared(module, isa, monkeypatch), isa, inputs),
            strict=True,
        )
        assert all(got.tobytes() == expected.tobytes() for got, expected in results)


def test_reductions_share_sweeps(monkeypatch):
    specs = [TensorSpec((20, 70), F32)] * 3
    calls = [("multiply", k, (0.1, 0.2, 0.3)[k]) for k in range(3)] + [("softmax", 3 + k, -1, False) for k in range(3)]
    module = scheduled(specs, calls, results=(6, 7, 8))
    isa, inputs = host_isa(), [np.random.default_rng(k).normal(size=(20, 70)).astype(np.float32) for k in range(3)]
    made, plain = generate(module, isa), unshared(module, isa, monkeypatch)
    assert (len(made.plan.kernels), len(plain.plan.kernels)) == (1, 3)
    for got, expected in zip(results_of(made, isa, inputs), results_of(plain, isa, inputs), strict=True):
        assert got.tobytes() == expected.tobytes()


@pytest.mark.parametrize("columns", [33, 500])
@pytest.mark.parametrize("axis", [-1, 0])
def test_sweeps_over_rows_and_columns_load_numbers(axis, columns, monkeypatch):
    specs = [TensorSpec((64, columns), F32)] * 2
    calls = [("add", k, (0.1, 0.2)[k]) for k in range(2)] + [("sum", 2 + k, (axis,), True) for k in range(2)]
    module = scheduled(specs, calls, results=(4, 5))
    isa, inputs = host_isa(), [np.random.default_rng(k).normal(size=(64, columns)).astype(np.float32) for k in range(2)]
    made, plain = generate(module, isa), unshared(module, isa, monkeypatch)
    assert len(made.plan.kernels) < len(plain.plan.kernels)
    for got, expected in zip(results_of(made, isa, inputs), results_of(plain, isa, inputs), strict=True):
        assert got.tobytes() == expected.tobytes()


@pytest.mark.parametrize("rows", [1, 3, 100])
@pytest.mark.parametrize("dtype", [F32, BF16])
def test_products_share_epilogues(dtype, rows, monkeypatch):
    specs = [TensorSpec((rows, 40), dtype)] * 3 + [TensorSpec((40, 70), dtype)] * 3
    calls = [("matmul", k, 3 + k, False, False, None) for k in range(3)] + [
        ("add", 6 + k, (0.1, 0.2, 0.3)[k]) for k in range(3)
    ]
    module = scheduled(specs, calls, results=(9, 10, 11))
    isa, generator = host_isa(), np.random.default_rng(0)
    inputs = [generator.normal(size=tuple(spec.shape)).astype(np.float32) for spec in specs]
    inputs = [bfloat16(each) for each in inputs] if dtype is BF16 else inputs
    made, plain = generate(module, isa), unshared(module, isa, monkeypatch)
    assert (len(made.plan.kernels), len(plain.plan.kernels)) == (1, 3)
    for got, expected in zip(results_of(made, isa, inputs), results_of(plain, isa, inputs), strict=True):
        assert got.tobytes() == expected.tobytes()


@pytest.mark.parametrize("dtype", [DataType.BFLOAT8_B, DataType.BFLOAT4_B])
@pytest.mark.parametrize("name", ["add", "softmax"])
def test_loops_over_block_floats_load_numbers(dtype, name, monkeypatch):
    specs = [TensorSpec((64, 96), dtype, Layout.TILE)] * 3
    calls = [("multiply", k, (0.1, 0.2, 0.3)[k]) for k in range(3)]
    calls += [("softmax", 3 + k, -1, False) if name == "softmax" else ("exp", 3 + k) for k in range(3)]
    module = scheduled(specs, calls, results=(6, 7, 8))
    isa, generator = host_isa(), np.random.default_rng(0)
    inputs = [generator.integers(0, 256, spec.nbytes).astype(np.uint8) for spec in specs]
    made, plain = generate(module, isa), unshared(module, isa, monkeypatch)
    assert len(made.plan.kernels) < len(plain.plan.kernels)
    for got, expected in zip(results_of(made, isa, inputs), results_of(plain, isa, inputs), strict=True):
        assert got.tobytes() == expected.tobytes()


def test_kernels_with_tables_keep_their_constants():
    specs = [TensorSpec((512, 512), BF16, Layout.TILE)] * 3
    calls = [("add", k, (0.1, 0.2, 0.3)[k]) for k in range(3)] + [("lgamma", 3 + k) for k in range(3)]
    plan = host_plan(scheduled(specs, calls, results=(6, 7, 8)), host_isa())
    assert not plan.constants
    assert all("a table of" in launch.remark for launch in plan.launches)


def test_kernels_of_another_compiler_are_shared_too():
    _, plan, sources = numba_program(module_of(*layers(F32, (0.1, 0.2), "add")))
    assert len(plan.constants) == 2
    assert len(sources) == 1


def test_another_compiler_keeps_the_numbers_of_powers():
    """LLVM replaces a power of libm by another function for some of them."""
    assert not host_plan(module_of(*layers(F32, (0.3, 0.7), "pow")), None).constants


def test_the_step_returns_a_plan_without_constants_as_it_is():
    plan = host_plan(module_of(*layers(F32, (0.5, 0.5), "add")), None)
    own = replace(plan, isa=host_isa())
    assert share_kernels(own) is own


def test_the_text_of_the_stage_names_numbers():
    text = host_text(host_plan(module_of(*layers(F32, (0.125, 2.5), "add")), host_isa()))
    assert "reads  number 0.125: 1xf32" in text
    assert "reads  number 2.5: 1xf32" in text
    assert [line.split()[2] for line in text.splitlines() if " writes " in line] == ["%1:", "%3:"]
