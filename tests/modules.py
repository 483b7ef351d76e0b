"""Modules of jitted functions, for the interpreter, and their plans."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import ModuleOp

from ttnn_jit.compiler import driver
from ttnn_jit.dialects import parse_module
from ttnn_jit.runtime.plans.plan import ProgramPlan
from ttnn_jit.transforms import pipeline


def scheduled_module(function: Any, *arguments: Any) -> ModuleOp:
    """What codegen reads of a call of `function`: nothing is printed, verified or parsed on the way."""
    request = function.request(*arguments)
    module: ModuleOp = request.lower().module
    pipeline.run(module, request.options, until=pipeline.SCHEDULED)
    return module


def parsed_module(function: Any, *arguments: Any) -> ModuleOp:
    """The same by its text, whose every stage is verified."""
    return parse_module(function.ir(*arguments, stage=pipeline.SCHEDULED))


def plan_of(function: Any, *arguments: Any) -> ProgramPlan:
    """What runs at a call of `function`: what was compiled for it, if it has been called so."""
    return driver.compile_program(function.request(*arguments), use_disk=False).program.plan
