"""Long functions of one bfloat16 are looked up in kernels with enough elements."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import ttnn_jit
from tests.unit.codegen.programs import (
    ChosenKernel,
    assert_same_bits,
    host_isa,
    kernel_of,
    objects_of,
    run_plan,
    scheduled,
)
from tests.unit.codegen.test_llvm_kernel import STACK_STORE
from tests.unit.kernels.emulated import Machine
from ttnn_jit import ttnn
from ttnn_jit.codegen.bodies.steps import SizeClass
from ttnn_jit.codegen.host.host_program import generate, host_plan, program_plan
from ttnn_jit.codegen.images.assemble import assemble, assembly
from ttnn_jit.codegen.reading.kernel_reader import read_kernels
from ttnn_jit.kernels.isa import AVX2, AVX512, NEON, HostIsa
from ttnn_jit.runtime.plans.host_costs import HOST_COSTS
from ttnn_jit.specs.tensor_spec import DataType, Layout, TensorSpec

F32, BF16 = DataType.FLOAT32, DataType.BFLOAT16
EVERY_BFLOAT16 = np.arange(2**16, dtype=np.uint16)
CHAIN = [("sin", 0), ("exp", 1), ("gelu", 2)]
LARGE = TensorSpec((256, 256), BF16, Layout.TILE)
TARGETS = pytest.mark.parametrize("target", ["cpu", "wormhole_b0"])
ISAS = pytest.mark.parametrize("isa", [AVX512, AVX2, NEON], ids=lambda isa: isa.name)
RUNNABLE = [host_isa(), *([AVX2] if host_isa().avx512 else [])]


def kernel_in(specs: list[TensorSpec], calls: list[tuple], isa: HostIsa, target: str = "cpu") -> ChosenKernel:
    (body,) = read_kernels(scheduled(specs, calls, target=target))
    return kernel_of(body, isa)


def has_table(kernel: ChosenKernel) -> bool:
    assert bool(kernel.looked_up) is ("@ttnn_jit.results" in kernel.text)
    return bool(kernel.looked_up)


def results_of(module, inputs: list[np.ndarray], *, looked_up: bool, isa: HostIsa | None = None) -> np.ndarray:
    """The results of native code, with or without a table, for any number of elements."""
    isa = isa or host_isa()
    size_class = SizeClass.LARGE if looked_up else SizeClass.MEDIUM
    host = host_plan(module, None)
    kernels = [kernel_of(replace(launch.bound.kernel.body, size_class=size_class), isa) for launch in host.launches]
    assert {has_table(kernel) for kernel in kernels} == {looked_up}
    objects = {kernel.name: assemble(kernel.modules.whole, isa) for kernel in kernels}
    plan = program_plan(host, [(kernel.name, 1, ()) for kernel in kernels])
    (found,) = run_plan(plan, objects, inputs)
    return found


@TARGETS
@pytest.mark.parametrize("isa", RUNNABLE, ids=lambda isa: isa.name)
def test_looked_up_values_have_the_bits_of_computed_ones(target: str, isa: HostIsa) -> None:
    patterns, module = EVERY_BFLOAT16.reshape(256, 256), scheduled([LARGE], CHAIN, target=target)
    direct = results_of(module, [patterns], looked_up=False, isa=isa)
    for _ in range(2):  # once as the table is filled, once after
        assert_same_bits(results_of(module, [patterns], looked_up=True, isa=isa), direct)


PARTS = {
    "after a sum": [("add", 0, 1), *[("multiply", 2, 0.25), ("exp", 3), ("gelu", 4)]],
    "before a product": [("tan", 0), ("multiply", 2, 1)],
    "of an input that is read twice": [("tan", 0), ("sin", 2), ("exp", 3), ("multiply", 4, 0), ("add", 5, 1)],
}


@pytest.mark.parametrize("isa", RUNNABLE, ids=lambda isa: isa.name)
@pytest.mark.parametrize("calls", PARTS.values(), ids=PARTS)
def test_a_part_of_a_larger_kernel_is_looked_up_on_a_chip(calls: list[tuple], isa: HostIsa) -> None:
    module = scheduled([LARGE, LARGE], calls, target="wormhole_b0")
    inputs = [np.random.default_rng(k).permutation(EVERY_BFLOAT16).reshape(256, 256) for k in range(2)]
    direct, found = (results_of(module, inputs, looked_up=looked_up, isa=isa) for looked_up in (False, True))
    assert_same_bits(found, direct)


def test_loaded_elements_are_looked_up_beside_two_vectors_and_computed_elements_beside_one() -> None:
    for calls, step in ((PARTS["before a product"], 32), (PARTS["after a sum"], 16)):
        text = kernel_in([LARGE, LARGE], calls, AVX512, "wormhole_b0").text
        looks_up = text[text.index("@ttnn_jit.look_up(") : text.index("@ttnn_jit.function(")]
        assert f"%at.next = add i64 %at, {step}\n" in looks_up


def test_beside_other_steps_shorter_functions_of_loaded_elements_are_looked_up_than_of_computed_ones() -> None:
    loaded, computed = [("silu", 0), ("multiply", 2, 1)], [("add", 0, 1), ("silu", 2), ("multiply", 3, 1)]
    isa = replace(AVX512, avx512_bf16=True)
    assert has_table(kernel_in([LARGE, LARGE], loaded, isa, "wormhole_b0"))
    assert not has_table(kernel_in([LARGE, LARGE], computed, isa, "wormhole_b0"))
    assert not has_table(kernel_in([LARGE, LARGE], [("sqrt", 0), ("multiply", 2, 1)], isa, "wormhole_b0"))


def test_a_value_that_cpu_does_not_round_is_not_looked_up() -> None:
    assert not has_table(kernel_in([LARGE, LARGE], PARTS["after a sum"], host_isa(), "cpu"))
    assert has_table(kernel_in([LARGE, LARGE], PARTS["after a sum"], host_isa(), "wormhole_b0"))


def test_neon_fills_and_reads_its_table() -> None:
    spec = TensorSpec((2**16,), BF16)
    kernel = kernel_in([spec], CHAIN, NEON)
    machine, results = Machine(assemble(kernel.modules.whole, NEON)), []
    source, target = (machine.write(patterns) for patterns in (EVERY_BFLOAT16, EVERY_BFLOAT16))
    pointers, params = np.array([source, target], np.int64), np.array([2**16, 1, 1], np.int64)
    arguments = machine.write(pointers), machine.write(params)
    for _ in range(2):
        machine.call(kernel.name, *arguments)
        results.append(machine.read(target, EVERY_BFLOAT16).copy())
    for result in results:
        assert_same_bits(result, results_of(scheduled([spec], CHAIN), [EVERY_BFLOAT16], looked_up=False))


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 19), min_size=1, max_size=3), st.randoms(use_true_random=False), st.booleans())
def test_tensors_of_any_shape_and_strides_use_the_table(shape: list[int], random, is_strided: bool) -> None:
    strides, step = [0] * len(shape), 1
    for dim in random.sample(range(len(shape)), len(shape)):
        strides[dim] = step * random.choice([1, 2])
        step = max(1, shape[dim]) * strides[dim]
    spec = TensorSpec(shape, BF16, strides=tuple(strides) if is_strided else None)
    patterns = np.array([random.randrange(2**16) for _ in range(int(np.prod(shape)))], np.uint16).reshape(shape)
    module = scheduled([spec], CHAIN)
    direct, found = (results_of(module, [patterns], looked_up=looked_up) for looked_up in (False, True))
    assert_same_bits(found, direct)


def test_threads_that_fill_a_table_at_once_all_see_it_complete() -> None:
    module = scheduled([TensorSpec((2**16,), BF16)], [*CHAIN, ("tanh", 3)])
    direct = results_of(module, [EVERY_BFLOAT16], looked_up=False)
    program = generate(module, host_isa())
    objects = objects_of(program, host_isa())
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: run_plan(program.plan, objects, [EVERY_BFLOAT16])[0], range(24)))
    for result in found:
        assert_same_bits(result, direct)


@TARGETS
@ISAS
def test_long_kernels_of_many_bfloat16_have_a_table_and_short_ones_compute(isa: HostIsa, target: str) -> None:
    for name in ("lgamma", "mish", "tan", "erfinv"):
        assert has_table(kernel_in([LARGE], [(name, 0)], isa, target)), name
    for name in ("abs", "relu", "square", "ceil"):
        assert not has_table(kernel_in([LARGE], [(name, 0)], isa, target)), name


def test_few_elements_and_float32_have_no_table() -> None:
    isa = host_isa()
    small = TensorSpec((255, 256), BF16)
    assert not has_table(kernel_in([small], [("lgamma", 0)], isa))
    assert not has_table(kernel_in([TensorSpec((256, 256), F32)], [("lgamma", 0)], isa))


def test_a_tile_operation_that_numba_compiles_has_no_table_for_it_may_depend_on_more_than_its_argument() -> None:
    @ttnn_jit.tile_op(golden=lambda x: x)
    def steps(x):
        return x * float(int(abs(x) * 4.0))

    @ttnn_jit.jit()
    def program(x):
        return ttnn.erfinv(steps(x))

    text = program.ir(torch.zeros(256, 256, dtype=torch.bfloat16), stage="codegen")
    assert "@ttnn_jit.results" not in text


def test_a_tile_operation_that_numba_compiles_may_be_beside_a_lookup() -> None:
    @ttnn_jit.tile_op(golden=lambda x: x)
    def steps(x):
        return x * float(int(abs(x) * 4.0))

    @ttnn_jit.jit()
    def program(x, y):
        return ttnn.multiply(ttnn.lgamma(x), steps(y))

    device = ttnn.open_device(target="wormhole_b0")
    x = ttnn.from_torch(torch.rand(256, 256).bfloat16(), layout=ttnn.TILE_LAYOUT, device=device)
    assert "@ttnn_jit.results" in program.ir(x, x, stage="codegen")
    assert torch.equal(ttnn.to_torch(program(x, x)), ttnn.to_torch(ttnn.multiply(ttnn.lgamma(x), steps(x))))


@TARGETS
def test_a_program_gives_a_large_tensor_the_bits_of_its_parts(target: str) -> None:
    @ttnn_jit.jit()
    def program(x):
        return ttnn.exp(ttnn.neg(ttnn.sin(x)))

    numbers = torch.randn(512, 256, generator=torch.Generator().manual_seed(1)).bfloat16()
    device = ttnn.open_device(target=target)
    whole, *parts = (
        ttnn.to_torch(program(ttnn.from_torch(part.contiguous(), layout=ttnn.TILE_LAYOUT, device=device)))
        for part in (numbers, *numbers.chunk(4))
    )
    assert torch.equal(whole, torch.cat(parts))


def test_the_text_marks_the_ops_that_are_looked_up() -> None:
    kernel = kernel_in([LARGE, LARGE], PARTS["before a product"], host_isa(), "wormhole_b0")
    assert kernel.looked_up == ("tan",)
    assert kernel.text.splitlines()[1] == "; looked up, in tensors of 65536 elements and more: tan"


def test_the_predicted_cost_of_a_table_is_that_of_lookups() -> None:
    kernel = kernel_in([LARGE], [("lgamma", 0)], host_isa())
    assert kernel.picoseconds == round(1000 / HOST_COSTS.lookups_per_ns)


@ISAS
def test_the_lookup_loop_keeps_its_registers(isa: HostIsa) -> None:
    listing = assembly(kernel_in([LARGE], CHAIN, isa).modules.whole, isa)
    look_up = listing[re.search(r"^ttnn_jit.look_up:", listing, re.MULTILINE).start() :]
    lines = look_up[: look_up.index(".Lfunc_end")].splitlines()
    inserts = [k for k, line in enumerate(lines) if re.search(r"vpinsrw|ld1\s*\{ v\d+\.h \}\[", line)]
    assert len(inserts) >= {AVX512: 14, AVX2: 14, NEON: 7}[isa]
    assert not [line for line in lines[inserts[0] : inserts[-1]] if STACK_STORE.match(line)]
