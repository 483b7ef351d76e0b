"""The steps of the compile for the host: functions from plans to plans, each with one decision."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from xdsl.dialects.builtin import FunctionType

from tests.unit.codegen.programs import assert_same_bits, host_isa, native, scheduled
from ttnn_jit.codegen.host.host_program import generate, host_plan
from ttnn_jit.codegen.host.host_steps import HOST_STEPS, forget_loops
from ttnn_jit.codegen.schedules.kernel import LoopNest, Loops
from ttnn_jit.codegen.writing.llvm_kernel import kernel_of
from ttnn_jit.diagnostics.errors import InternalError
from ttnn_jit.dialects import verify
from ttnn_jit.interpreters.tile_interpreter import interpret
from ttnn_jit.kernels.loops.tile_loop import TileLoop
from ttnn_jit.nest.buffers import BufferKind
from ttnn_jit.specs.tensor_spec import DataType, Layout, TensorSpec

CHAIN = [("gelu", k) for k in range(4)]
PROGRAMS = {
    "": ([TensorSpec((32, 32), DataType.FLOAT32)], [("abs", 0)]),
    "cut into": ([TensorSpec((512, 512), DataType.FLOAT32)], CHAIN),
    "a table of lgamma": ([TensorSpec((512, 512), DataType.BFLOAT16, Layout.TILE)], [("lgamma", 0)]),
}


@pytest.mark.parametrize("chosen", PROGRAMS, ids=["one loop", "several", "table"])
def test_every_step_returns_a_plan_and_does_not_change_its_input(chosen):
    plan = host_plan(scheduled(*PROGRAMS[chosen]), None)
    (launch,) = plan.launches
    unchosen = replace(launch, bound=replace(launch.bound, kernel=LoopNest(launch.bound.kernel.body)))
    plans = [replace(plan, launches=(unchosen,), isa=host_isa())]
    for step in HOST_STEPS:
        before = plans[-1].launches
        plans.append(step(plans[-1]))
        assert plans[-2].launches is before
        (found,) = (each.bound for each in plans[-1].launches)
        assert replace(found, kernel=None) == replace(launch.bound, kernel=None)
    remarks = [*dict.fromkeys(each.launches[0].remark for each in plans)]
    assert len(remarks) == len({"", chosen})
    assert remarks[-1].startswith(chosen)


TRANSPOSE = [TensorSpec((64, 64), DataType.FLOAT32)], [("permute", 0, (1, 0))]


@pytest.mark.parametrize("program", [*PROGRAMS.values(), TRANSPOSE], ids=["one loop", "several", "table", "transpose"])
def test_no_step_writes_the_text_of_a_loop(program, monkeypatch):
    """A later step may choose other loops: a copy through registers has no loop over elements as a kernel."""
    written = []
    for method in ("definition", "unoptimised_definition"):
        monkeypatch.setattr(TileLoop, method, lambda loop, *_: written.append(loop))
    forget_loops()
    host_plan(scheduled(*program), host_isa())
    assert not written


SOFTMAX = [("softmax", 0, -1, False)]
NESTS = {
    Loops.ELEMENTS: PROGRAMS[""],
    Loops.BLOCKS: PROGRAMS["cut into"],
    Loops.ROWS: ([TensorSpec((64, 64), DataType.FLOAT32)], SOFTMAX),
    Loops.COLUMNS: ([TensorSpec((512, 512), DataType.FLOAT32)], [("sum", 0, (0,), True)]),
    Loops.STRIPS: ([TensorSpec((64, 64), DataType.BFLOAT8_B, Layout.TILE)], [("exp", 0)]),
    Loops.TILE_ROWS: ([TensorSpec((64, 64), DataType.BFLOAT8_B, Layout.TILE)], SOFTMAX),
}


def test_every_kind_of_loops_over_stages_is_in_the_test():
    assert set(NESTS) == set(Loops)


@pytest.mark.parametrize("program", [*NESTS.values(), PROGRAMS["a table of lgamma"]], ids=[*map(str, NESTS), "table"])
def test_a_kind_of_stage_that_the_writer_does_not_know_is_refused(program):
    class Unknown:
        pass

    kernels = (launch.bound.kernel for launch in host_plan(scheduled(*program), host_isa()).launches)
    (nest,) = (kernel for kernel in kernels if isinstance(kernel, LoopNest))
    kernel_of(nest, host_isa())
    for stages in ((*nest.stages, Unknown()), (Unknown(), *nest.stages)):
        with pytest.raises(InternalError, match=f"over {nest.loops.value} cannot hold a Unknown"):
            kernel_of(replace(nest, stages=stages), host_isa())


UNREAD = [("exp", 0), ("softmax", 0, -1, False), ("permute", 0, (1, 0)), ("sum", 0, (1,), True)]


@pytest.mark.parametrize("unread", UNREAD, ids=[name for name, *_ in UNREAD])
@pytest.mark.parametrize("target", ["cpu", "wormhole_b0"])
def test_a_launch_without_readers_is_removed(unread, target):
    """No pass produces such kernels, but edited texts have them, and so do calls with unused results."""
    spec = TensorSpec((64, 64), DataType.FLOAT32, Layout.TILE)
    alone = scheduled([spec], [("neg", 0)], target=target)
    module = scheduled([spec], [unread, ("neg", 0)], results=(1, 2), target=target)
    function = module.body.block.first_op
    returned = function.body.block.last_op
    returned.operands = [returned.operands[1]]
    types = FunctionType.from_lists(function.function_type.inputs.data, [returned.operands[0].type])
    function.properties["function_type"] = types
    verify(module)
    x = np.random.default_rng(3).standard_normal((64, 64)).astype(np.float32)
    for got, wanted in zip(native(module, [x]), interpret(alone, [x]), strict=True):
        assert_same_bits(got, wanted)
    assert len(host_plan(module, host_isa()).launches) == 1


def test_without_vectors_no_step_changes_a_plan_of_one_launch():
    plan = host_plan(scheduled([TensorSpec((512, 512), DataType.FLOAT32)] * 2, [("add", 0, 1)]), None)
    assert all(step(plan) == plan for step in HOST_STEPS)
    ((stage,),) = (launch.bound.kernel.stages for launch in plan.launches)
    assert stage.loop is None


def test_equal_bodies_have_one_loop_nest_and_one_kernel_whatever_the_shapes():
    one, other = (
        generate(scheduled([TensorSpec((rows, 64), DataType.FLOAT32)], CHAIN), host_isa()) for rows in (32, 40)
    )
    assert one.host.launches[0].bound.kernel is other.host.launches[0].bound.kernel
    assert one.kernels == other.kernels


@pytest.mark.parametrize("calls", [[("max", 0, (1,), True)], [("sum", 0, (1,), True)]], ids=["max", "sum"])
def test_bfloat16_is_reduced_where_it_is_read_not_in_a_loop_before(calls):
    """A separate sweep would leave two chains to an operation of any order, which read at half the speed."""
    specs = [TensorSpec((64, 2048), DataType.BFLOAT16)]
    (launch,) = host_plan(scheduled(specs, calls), host_isa()).launches
    assert BufferKind.FOLDED not in {buffer.kind for buffer in launch.bound.kernel.scratch}
