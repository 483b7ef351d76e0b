"""Constants of a plan: operands of one element, which lie behind the launch table and belong to the program."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from tests.unit.runtime.kernels import object_code, row_major
from ttnn_jit.diagnostics.errors import InternalError, ProgramFormatError
from ttnn_jit.runtime.plans.plan import Launch, PlanConstant, ProgramPlan
from ttnn_jit.runtime.programs.program import Program
from ttnn_jit.runtime.programs.run_log import run_lines
from ttnn_jit.specs.tensor_spec import DataType

ONE = row_major(1)
X, Y, BETWEEN, FIRST, SECOND = range(5)


def constant(value: float) -> PlanConstant:
    return PlanConstant(DataType.FLOAT32, int(np.float32(value).view(np.uint32)))


def adding(kernel: str, *operands: int) -> Launch:
    return Launch(kernel, operands, (1, 1, 1, 1))


PLAN = ProgramPlan(
    "test",
    (ONE,),
    (ONE,),
    (ONE,),
    (adding("t_add", X, FIRST, BETWEEN), adding("t_sub", BETWEEN, SECOND, Y)),
    constants=(constant(2.5), constant(-0.25)),
)


def program_of(plan: ProgramPlan) -> Program:
    return Program(plan, {kernel: object_code(kernel) for kernel in plan.kernels})


def result_of(program: Program) -> float:
    x, y = np.array([10], np.float32), np.zeros(1, np.float32)
    program.run(x.ctypes.data, y.ctypes.data)
    return float(y[0])


def test_a_launch_reads_the_constants_that_its_operands_name():
    assert result_of(program_of(PLAN)) == 10 + 2.5 + 0.25


def test_programs_of_one_kernel_have_constants_of_their_own():
    others = program_of(replace(PLAN, constants=(constant(100), constant(1))))
    assert [result_of(each) for each in (program_of(PLAN), others, program_of(PLAN))] == [12.75, 109, 12.75]


def test_offsets_of_buffers_beside_a_constant_are_kept():
    launch = replace(adding("t_add", X, 2, Y), offsets=(3, 0, 0))
    plan = ProgramPlan("test", (row_major(5),), (ONE,), (), (launch,), constants=(constant(0.5),))
    x, y = np.arange(5, dtype=np.float32), np.zeros(1, np.float32)
    program_of(plan).run(x.ctypes.data, y.ctypes.data)
    assert y[0] == 3.5


@pytest.mark.parametrize("value", [0.0, -0.0, float("inf"), float("nan"), 1e-45, 0.1])
def test_a_plan_round_trips_through_json_with_the_bits_of_its_constants(value):
    plan = replace(PLAN, constants=(constant(value), PlanConstant(DataType.INT32, 2**32 - 1)))
    again = ProgramPlan.from_json(json.loads(plan.text()))
    assert again == plan
    assert again.hash == plan.hash != PLAN.hash


def test_a_program_round_trips_through_bytes_with_its_constants():
    assert result_of(Program.from_bytes(program_of(PLAN).to_bytes())) == 12.75


def test_a_plan_without_constants_has_the_text_that_it_had():
    plan = ProgramPlan("test", (ONE, ONE), (ONE,), (), (adding("t_add", 0, 1, 2),))
    assert "constants" not in plan.text()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"launches": (adding("t_add", X, 5, Y),)}, "names a buffer that does not exist"),
        ({"launches": (adding("t_add", X, FIRST, SECOND),)}, "writes a constant"),
        ({"launches": (replace(adding("t_add", X, FIRST, Y), offsets=(0, 1, 0)),)}, "leaves the memory of operand 1"),
        ({"launches": (Launch("t_add", (X, FIRST, Y), (2, 0, 1, 0)),)}, "leaves the memory of operand 1"),
        ({"results": (FIRST,)}, "neither an input nor an output"),
    ],
)
def test_launches_that_do_not_read_single_constants_are_refused(changed, message):
    with pytest.raises(InternalError, match=message):
        replace(PLAN, **changed)


@pytest.mark.parametrize("fields", [["FLOAT32", 2**32], ["BFLOAT16", 1], ["FLOAT32", 1.0], ["FLOAT32"], ["F32", 1]])
def test_constants_of_other_forms_are_refused(fields):
    made = PLAN.to_json() | {"constants": [fields, ["FLOAT32", 0]]}
    with pytest.raises((InternalError, TypeError, KeyError)):
        ProgramPlan.from_json(made)


def test_damaged_constants_are_a_program_that_cannot_be_read():
    program = program_of(replace(PLAN))
    program.plan.__dict__["constants"] = ()
    with pytest.raises(ProgramFormatError):
        Program.from_bytes(program.to_bytes())


def test_the_log_of_runs_names_constants():
    assert [line.partition("] ")[2] for line in run_lines(PLAN)] == [
        "t_add arg0: 1xf32, const0: 1xf32, tmp0: 1xf32",
        "t_sub tmp0: 1xf32, const1: 1xf32, out0: 1xf32",
    ]
