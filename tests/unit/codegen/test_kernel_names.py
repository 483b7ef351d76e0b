"""Names of kernels, the keys of object code: equal names mean equal code, and launches of one kind."""

from __future__ import annotations

from collections import defaultdict

import pytest

from tests.unit.codegen.programs import host_isa, lowered
from ttnn_jit.codegen.host.host_program import generate
from ttnn_jit.codegen.writing import llvm_kernel, llvm_routines
from ttnn_jit.frontend import lower_operation
from ttnn_jit.kernels.llvm.llvm_module import LlvmModule
from ttnn_jit.ops import OPERATIONS, Routine
from ttnn_jit.runtime.plans.launch_bounds import signature_of
from ttnn_jit.specs.dtypes import FLOATS
from ttnn_jit.specs.target import resolve_target
from ttnn_jit.specs.tensor_spec import DataType, TensorSpec

ROUTINES = [each for each in OPERATIONS if isinstance(each, Routine)]


def plan_of(routine, shapes, statics):
    taken = dict(enumerate(routine.operand_dtypes))
    specs = [
        None
        if shape is None
        else TensorSpec(shape, DataType.FLOAT32 if taken.get(k, FLOATS) >= FLOATS else DataType.INT32)
        for k, shape in enumerate(shapes)
    ]
    return generate(
        lowered(lower_operation(routine, tuple(specs), statics, resolve_target("cpu")).module), host_isa()
    ).plan


@pytest.fixture
def no_kernels_kept():
    """Clears texts before the test and, afterwards, those of the test."""
    llvm_kernel.kernel_of.cache_clear()
    yield
    llvm_kernel.kernel_of.cache_clear()


@pytest.mark.usefixtures("no_kernels_kept")
def test_launches_of_one_kernel_are_of_one_kind(monkeypatch):
    monkeypatch.setattr(llvm_routines, "numba_module", lambda _, source: LlvmModule(source))
    kinds = defaultdict(set)
    for routine in ROUTINES:
        for shapes, statics in routine.examples:
            plan = plan_of(routine, shapes, statics)
            for launch in plan.launches:
                kinds[launch.kernel].add(signature_of(launch, plan.buffers))
    assert len(kinds) > 20
    assert {name: own for name, own in kinds.items() if len(own) > 1} == {}
