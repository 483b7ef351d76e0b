"""Python functions to modules of the TTNN dialect: two separate paths with one result.

`lower` is the entry. The AST frontend (ast_frontend.py) interprets a function's source; graph capture (capture.py)
runs the function itself on tensors without data. Both write through module_builder.py.
"""

from __future__ import annotations

import logging
import types
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.frontend.ast_frontend import interpret
from ttnn_jit.frontend.capture import trace
from ttnn_jit.frontend.function_source import SourceError
from ttnn_jit.frontend.module_builder import ModuleBuilder
from ttnn_jit.frontend.requested_results import activated, results_of
from ttnn_jit.frontend.result import FrontendResult
from ttnn_jit.frontend.result_layout import ResultLayout
from ttnn_jit.frontend.tensor_argument import TensorArgument
from ttnn_jit.ops import Operation
from ttnn_jit.ops.operation import OperandSpec
from ttnn_jit.ops.result_options import NO_OPTIONS, ResultOptions
from ttnn_jit.runtime.families import Family
from ttnn_jit.specs.target import SystemDesc
from ttnn_jit.specs.tensor_spec import TensorSpec

__all__ = ["FrontendResult", "ResultLayout", "TensorArgument", "lower", "lower_operation"]

_log = logging.getLogger("ttnn_jit")


def lower(
    function: Callable[..., Any],
    arguments: Mapping[str, Any],
    target: SystemDesc,
    graph_capture: bool | None = None,
    layout: ResultLayout | None = None,
    family: Family | None = None,
    last_core: tuple[int, int] | None = None,
) -> FrontendResult:
    """The module of `function` for these arguments.

    Args:
        function: A Python function.
        arguments: A value for every parameter, by name: `TensorArgument` for tensors, alone or in tuples, lists and
            dicts; compile-time values as themselves. ``*args`` is a tuple, ``**kwargs`` a dict.
        target: The rules and the numerics to compile for.
        graph_capture: True traces, False interprets the AST, None interprets and traces only where there is no source.
        layout: Where results lie; None leaves each where its first operand does.
        family: Of the call's tensors, which those that the function finds elsewhere must be of; None: any.
        last_core: The last core (x, y) that may be used; None: the target's.

    Raises:
        CompileError: The function is outside the language; the text points into the user's file.
        ArgumentError: It finds a tensor that the call cannot take.
        GridError: A config of `layout` does not hold its result.
    """
    if not isinstance(function, types.FunctionType):
        raise ArgumentError(f"only Python functions can be compiled, got {type(function).__name__}")
    if graph_capture:
        return trace(function, arguments, target, layout, family, last_core)
    try:
        return interpret(function, arguments, target, layout, family, last_core)
    except SourceError as error:
        if graph_capture is False:
            raise
        _log.debug("`%s` is traced: %s", function.__name__, error.message)
    return trace(function, arguments, target, layout, family, last_core)


def lower_operation(
    operation: Operation,
    operands: tuple[OperandSpec, ...],
    attributes: tuple[Any, ...],
    target: SystemDesc,
    options: ResultOptions = NO_OPTIONS,
) -> FrontendResult:
    """The module of one operation, as eager `ttnn` runs it; a TensorSpec is an argument, a number a constant.

    Raises:
        ArgumentError: The numbers of an activation do not fit it.
        CompileError: The operands do not fit the operation or each other.
        GridError: The memory config that is asked for does not hold the result.
    """
    home = "tile_op" if operation.body else "ttnn"
    builder = ModuleBuilder(f"{home}.{operation.name}", target, None)
    values: list[Any] = [
        (builder.argument(operand), operand) if isinstance(operand, TensorSpec) else operand for operand in operands
    ]
    written = values[operation.written_operand]
    for place, applied in enumerate(options.operand_activations):
        values[place] = activated(builder, values[place], applied, None, None)
    if options.in_place:
        # What it computes by itself is what is stored.
        (result,) = results_of(builder, operation, values, attributes, None, replace(options, dtype=None))
        value, _ = builder.updated(result, written[1].with_(), None)
        return FrontendResult(builder.finish([value], updates={written[0]: 0}), (), None)
    results = results_of(builder, operation, values, attributes, None, options)
    first = next(operand for operand in operands if isinstance(operand, TensorSpec))
    layout = options.placement(operation, first, target.grid)
    return FrontendResult(builder.finish([value for value, _ in results], layout), (), None)
