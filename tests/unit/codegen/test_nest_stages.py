"""A kind of stage is one class: all loops over stages run a kind that only this file defines."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.unit.codegen.programs import host_isa, native, run_plan, scheduled
from ttnn_jit.codegen.host import host_program
from ttnn_jit.codegen.host.host_text import host_text
from ttnn_jit.codegen.images.assemble import assemble
from ttnn_jit.codegen.numba_kernel import numba_program
from ttnn_jit.codegen.schedules.kernel import LoopNest, Loops
from ttnn_jit.codegen.schedules.nest_stage import NestStage
from ttnn_jit.codegen.writing.llvm_kernel import kernel_of
from ttnn_jit.codegen.writing.numba_module import numba_module
from ttnn_jit.kernels.isa import AVX2
from ttnn_jit.kernels.llvm.kernel_function import KernelFunction
from ttnn_jit.kernels.llvm.types import FLOAT
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.tensor_spec import DataType, Layout, TensorSpec


@dataclass(frozen=True)
class Tripled(NestStage):
    """Three times each element, for contiguous streams."""

    operands: tuple[int, ...]
    outer: int = 0
    picoseconds = 10.0

    def functions(self, name, module):
        f = KernelFunction(name, module, (FLOAT, FLOAT), self.outer, is_internal=True)
        n = f.extent(0, "n")
        with f.outer_loops(f.streams()) as (source, target), f.count("i", n) as i:
            x = f.load(FLOAT, f.element(source, FLOAT, i.index))
            f.store(f.add(f.add(x, x), x), f.element(target, FLOAT, i.index))
        return [f.build()]

    def write(self, builder, elements):
        source, target = elements
        builder.lines.append(f"{target} = {source} + {source} + {source}")

    def lines(self):
        yield f"t0 = three times s{self.operands[0]}"


NEGATED = [TensorSpec((64, 100), DataType.FLOAT32)], [("neg", 0)]
ADDED_UP = [TensorSpec((64, 100), DataType.FLOAT32)], [("neg", 0), ("sum", 1, (1,), True)]
STRIPS = [TensorSpec((64, 64), DataType.BFLOAT8_B, Layout.TILE)], [("neg", 0)]


def with_tripled(nest: LoopNest) -> LoopNest:
    """The nest with three times an element in place of its negative; loops over all elements as blocks."""
    match nest.loops:
        case Loops.ELEMENTS:
            return replace(nest, loops=Loops.BLOCKS, stages=(Tripled((0, 1)),), block=512)
        case Loops.ROWS:
            first, *others = nest.stages
            return replace(nest, stages=(replace(first, stage=Tripled(first.stage.operands)), *others))
        case _:
            (stage,) = nest.stages
            return replace(nest, stages=(Tripled(stage.operands, outer=1),))


@pytest.fixture
def tripled(monkeypatch):
    def step(plan):
        return plan.with_kernels(with_tripled)

    monkeypatch.setattr(host_program, "HOST_STEPS", (*host_program.HOST_STEPS, step))


@pytest.mark.usefixtures("tripled")
@pytest.mark.parametrize(("program", "sums"), [(NEGATED, False), (ADDED_UP, True)], ids=["blocks", "rows"])
def test_a_new_kind_of_stage_runs_in_blocks_and_in_rows_in_native_code_and_in_python(program, sums):
    x = np.random.default_rng(1).integers(-99, 99, (64, 100)).astype(np.float32)  # sums of these are exact
    wanted = 3 * x.sum(1, keepdims=True) if sums else 3 * x
    module = scheduled(*program)
    isa = AVX2 if host_isa().avx2 else host_isa()  # with more chains in registers the first sweep would reduce as well
    (got,) = native(module, [x], isa)
    np.testing.assert_array_equal(got, wanted)
    _, plan, sources = numba_program(module)
    objects = {name: assemble(numba_module(name, source), host_isa()) for name, source in sources.items()}
    (got,) = run_plan(plan, objects, [x])
    np.testing.assert_array_equal(got, wanted)


@pytest.mark.usefixtures("tripled")
def test_a_kind_of_stage_prints_itself_in_the_host_stage():
    assert "  t0 = three times s0\n" in host_text(host_program.host_plan(scheduled(*ADDED_UP), host_isa()))


@pytest.mark.usefixtures("tripled")
def test_a_strip_of_tiles_runs_a_new_kind_of_stage():
    (launch,) = host_program.host_plan(scheduled(*STRIPS), host_isa()).launches
    assert launch.bound.kernel.loops is Loops.STRIPS
    assert "call void @ttnn_jit.loop(" in kernel_of(launch.bound.kernel, host_isa()).text
