"""A template of any operation has, for every size for which it holds, the plan of a compile for that size."""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import replace
from itertools import islice

import pytest
import torch

from tests.properties.extents.cold_plans import (
    TILED,
    Case,
    cases_of,
    cold_instance,
    cold_plan,
    dense,
    instance_at,
    plan_at,
    sharded,
    strided,
    template_of,
    with_fixed_numbers,
    without_shared_buffers,
)
from tests.sampling import drawn
from ttnn_jit import ttnn
from ttnn_jit.codegen.bodies.steps import CONSTANT_OF_A_KERNEL
from ttnn_jit.compiler.driver import compile_program
from ttnn_jit.compiler.stored_programs import StoredPrograms
from ttnn_jit.compiler.template import compile_template
from ttnn_jit.diagnostics.errors import TtnnJitError
from ttnn_jit.ops import GRADIENTS, OPERATIONS, Elementwise, declared_in
from ttnn_jit.runtime.plans.plan import ProgramPlan
from ttnn_jit.specs.cores.memory_config import L1_MEMORY_CONFIG
from ttnn_jit.specs.tensor_spec import DataType, Layout, TensorMemoryLayout

CASES = defaultdict(list)
for _operation in (*OPERATIONS, *declared_in(GRADIENTS)):
    CASES[type(_operation).__name__] += cases_of(_operation)
for _cases in CASES.values():
    random.Random(len(_cases)).shuffle(_cases)
FAMILIES = pytest.mark.parametrize("family", sorted(family for family, cases in CASES.items() if cases))
LEAST_SERVED = 0.6
LEAST_SERVED_OF_FEW = 0.3
"""Of a few sizes, the first of which has a template that is made for it."""
SEVERAL = 6
"""Sizes of which templates may serve most."""
MOST_RUN_ELEMENTS = 1 << 16


def plans_of(case: Case) -> dict[int, ProgramPlan]:
    """The plan of every size that the operation takes, in an arbitrary order of sizes."""
    sizes = case.sizes
    random.Random(len(CASES)).shuffle(sizes)
    plans = {}
    for size in sizes:
        try:
            plans[size] = cold_plan(case.at(size))
        except TtnnJitError:  # the attributes, or other extents, do not fit
            continue
    return plans


@FAMILIES
def test_a_template_has_the_plan_of_a_compile_and_serves_most_sizes(family, monkeypatch):
    without_shared_buffers(monkeypatch)
    with_fixed_numbers(monkeypatch)
    pairs = served = 0
    for case in CASES[family][: drawn(48)]:
        plans, templates, reused = plans_of(case), {}, 0
        for size, plan in plans.items():
            found = next((plan_at(each, case, size) for each in templates.values() if holds(each, case, size)), None)
            if found is None:
                templates[size] = template_of(case, size)
                found = plan_at(templates[size], case, size)
            else:
                reused += 1
            assert found.text() == plan.text(), (case, size, [*templates])
        assert not any(holds(each, case, size) for each in templates.values() for size in (0, 1)), case
        if len(plans) >= SEVERAL and not any(map(divides_by_an_extent, templates.values())):
            pairs += len(plans)
            served += reused
    assert served >= LEAST_SERVED * pairs > 0, (served, pairs)


WORLDS = {
    "a chip's DRAM": dense("wormhole_b0", Layout.TILE),
    "a chip's L1": dense("blackhole", Layout.TILE, L1_MEMORY_CONFIG),
    "the L1 of a cpu": dense("cpu", memory_config=L1_MEMORY_CONFIG),
    "strided": strided(),
    **{each.name: sharded("wormhole_b0", each) for each in TensorMemoryLayout if each.name.endswith("SHARDED")},
    "shards of a cpu": sharded("cpu", TensorMemoryLayout.BLOCK_SHARDED),
}

NAMED = {operation.name: operation for operation in OPERATIONS}
OF_WHOLE_TILES = (
    Case(NAMED["exp"], ((64, 320),), (), ((0, 0),)),
    Case(NAMED["add"], ((2, 64, 320), (2, 1, 320)), (), ((0, 2), (1, 2))),
    Case(NAMED["softmax"], ((64, 320),), (-1, False), ((0, 0),)),
    Case(NAMED["matmul"], ((64, 320), (320, 96)), (False, False, None, None), ((0, 0),)),
)
"""On chips, these are shared by several cores, whose number depends on the varying size."""


@pytest.mark.parametrize("world", WORLDS)
def test_a_template_has_the_plan_of_a_compile_wherever_the_tensors_are(world, monkeypatch):
    """The plan, and the bytes of circular buffers, from which a device decides whether a program fits into its L1."""
    without_shared_buffers(monkeypatch)
    pairs = served = 0
    chosen = random.Random(len(world))
    drawn_cases = [case for family in sorted(CASES) for case in CASES[family][: max(1, drawn(6) // 6)]]
    for each in [*drawn_cases, *OF_WHOLE_TILES]:
        case, templates = replace(each, world=WORLDS[world]), {}
        for size in (*chosen.sample(TILED, 5), *chosen.sample(case.sizes, 2)):
            try:
                cold, streamed = cold_instance(case.at(size))
            except TtnnJitError:
                continue
            pairs += 1
            found = next(filter(None, (instance_at(each, case, size) for each in templates.values())), None)
            served += found is not None
            if found is None:
                templates[size] = template_of(case, size)
                found = instance_at(templates[size], case, size)
            assert (found[0].text(), found[1]) == (cold.text(), streamed), (case, size, [*templates])
    assert served >= LEAST_SERVED_OF_FEW * pairs > 0, (served, pairs)


def divides_by_an_extent(template):
    """Whether a number of the program is made of an extent, as in the mean along it: each size is then compiled."""
    return any(each.use == CONSTANT_OF_A_KERNEL for each in template.specialized)


def holds(template, case, size):
    return plan_at(template, case, size) is not None


@FAMILIES
def test_templates_made_from_two_sizes_have_equal_plans_where_both_hold(family, monkeypatch):
    without_shared_buffers(monkeypatch)
    with_fixed_numbers(monkeypatch)
    compared = 0
    of_many_sizes = ((case, sizes) for case in reversed(CASES[family]) if len(sizes := [*plans_of(case)]) > 2)
    for number, (case, sizes) in enumerate(islice(of_many_sizes, drawn(24))):
        one = template_of(case, sizes[number % len(sizes)])
        held = [size for size in sizes if holds(one, case, size)]
        other = template_of(case, held[-1])
        common = [size for size in held if holds(other, case, size)]
        assert held[-1] in common
        for size in common:
            assert plan_at(one, case, size).text() == plan_at(other, case, size).text(), (case, size)
        compared += len(common)
    assert compared


def is_in_torch(case):
    return type(case.operation) is Elementwise and {*case.dtypes} == {DataType.FLOAT32}


@FAMILIES
def test_a_program_of_a_template_has_the_bits_of_a_compiled_one(family, cpu_device):
    checked = 0
    for case in CASES[family][: drawn(12)]:
        try:
            request = case.at(48)
            found = compile_template(request, case.symbols, StoredPrograms.none(request))
        except TtnnJitError:
            continue
        for size in (33, 40, 65, 96):
            tensors = case.tensors(size, cpu_device)
            served = found and found.compilation_for(case.at(size), ())
            if served is None or max(tensor.volume() for tensor in tensors) > MOST_RUN_ELEMENTS:
                continue
            cold = compile_program(case.at(size), use_disk=False).program
            assert_equal_bits(served.program(*tensors), cold(*tensors), case)
            if is_in_torch(case):
                want = case.operation.golden(torch, *map(ttnn.to_torch, tensors), *case.statics)
                got = ttnn.to_torch(served.program(*tensors))
                torch.testing.assert_close(got, want.float(), rtol=1e-3, atol=1e-3, equal_nan=True)
            checked += 1
            break
    assert checked


def assert_equal_bits(got, want, case):
    for one, other in zip(listed(got), listed(want), strict=True):
        assert one.shape == other.shape
        assert torch.equal(one.reshape(-1).view(torch.uint8), other.reshape(-1).view(torch.uint8)), case


def listed(results):
    return [ttnn.to_torch(each) for each in (results if isinstance(results, (list, tuple)) else [results])]


def test_an_element_type_changes_no_template(monkeypatch):
    """Kernels of other types are as independent of extents."""
    without_shared_buffers(monkeypatch)
    with_fixed_numbers(monkeypatch)
    for family in sorted(CASES):
        for case in CASES[family][: drawn(6)]:
            for dtype in {DataType.BFLOAT16, DataType.INT32} & case.operation.dtypes:
                own = Case(case.operation, case.shapes, case.statics, case.varying, dtype)
                plans = plans_of(own)
                if not plans:
                    continue
                template = template_of(own, next(iter(plans)))
                for size, plan in plans.items():
                    found = plan_at(template, own, size)
                    assert found is None or found.text() == plan.text(), (own, size)
