"""Modules of jitted functions, for the interpreter, and their plans."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import ModuleOp

from ttnn_jit.compiler import driver
from ttnn_jit.dialects import parse_module
from ttnn_jit.runtime.plans.plan import ProgramPlan
from ttnn_jit.transforms import pipeline


def scheduled_module(function: Any, *arguments: Any) -> ModuleOp:
    """The input of codegen for a call of `function`, without printing, verification or parsing."""
    request = function.request(*arguments)
    module: ModuleOp = request.lower().module
    pipeline.run(module, request.options, until=pipeline.SCHEDULED)
    return module


def parsed_module(function: Any, *arguments: Any) -> ModuleOp:
    """The same through text, with every stage verified."""
    return parse_module(function.ir(*arguments, stage=pipeline.SCHEDULED))


def plan_of(function: Any, *arguments: Any) -> ProgramPlan:
    """The plan of a call of `function`: the compiled one, if it has been called with such arguments."""
    return driver.compile_program(function.request(*arguments), use_disk=False).program.plan
