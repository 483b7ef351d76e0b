"""Python functions to modules of the TTNN dialect: two separate paths with one result.

There are two frontends: an interpreter of the function's AST (`frontend/ast_frontend.py`,
`frontend/python/interpreter.py`), or a trace of it with proxy tensors (`frontend/capture.py`,
`frontend/tensors/proxy.py`), of what a `FrontendRequest` asks for (`frontend/writing/frontend_request.py`). Both write
through `frontend/writing/module_builder.py`, and give the same text and the same
locations: it has the rules of ``@jit`` (where results lie, what a kernel runs, what is refused), over a
`FunctionBuilder` (`dialects/function_builder.py`), which builds any function of ttnn or ttir by the declarations and
knows none of them. What Python's own functions do, and which may be called, is one table
(`frontend/calls/python_functions.py`; `frontend/calls/builtin_functions.py` holds what asks the values it is given).
Functions of the host API that programs may call, such as `zeros`, are written over that protocol too, which for them
also makes, draws, lays out and frees tensors (`ops/host_ops.py`): eager ones (`ttnn/calling/eager_ops.py`) or a
program's (`frontend/tensors/creations.py`). A call belongs to the program of a tensor or a device among its arguments,
and in a trace to that (`ops/traced_calls.py`). Tensors that a function finds by a path become arguments behind its own
(`frontend/tensors/hidden_inputs.py`); so does what this package keeps between calls, the count of draws
(`guards/package_state.py`, `runtime/programs/random_state.py`). What a tensor of a program holds, and what it knows of
the program, stand below what functions do with tensors and how calls are written (`frontend/tensors/program_tensor.py`,
`frontend/tensors/emitter.py`). A tensor may lie in the memory of another (`frontend/tensors/views.py`,
`ops/movement/view_rules.py`): a write gives what it lies in a new value (`frontend/tensors/writes.py`), and makes that
a result of the function, which says so of the argument (`dialects/argument_notes.py`).
"""

from __future__ import annotations

import logging
import types
from dataclasses import replace
from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.frontend.ast_frontend import interpret
from ttnn_jit.frontend.capture import trace
from ttnn_jit.frontend.reads.function_source import SourceError
from ttnn_jit.frontend.tensors.program_tensor import TensorArgument
from ttnn_jit.frontend.tensors.requested_results import activated, results_of
from ttnn_jit.frontend.writing.frontend_request import FrontendRequest
from ttnn_jit.frontend.writing.module_builder import ModuleBuilder
from ttnn_jit.frontend.writing.result import FrontendResult
from ttnn_jit.frontend.writing.result_layout import ResultLayout
from ttnn_jit.ops import Operation
from ttnn_jit.ops.language.operation import OperandSpec
from ttnn_jit.ops.result_options import NO_OPTIONS, ResultOptions
from ttnn_jit.specs.target import SystemDesc
from ttnn_jit.specs.tensor_spec import TensorSpec

__all__ = ["FrontendRequest", "FrontendResult", "ResultLayout", "TensorArgument", "lower", "lower_operation"]

_log = logging.getLogger("ttnn_jit")


def lower(request: FrontendRequest) -> FrontendResult:
    """The module of the function that `request` names.

    Raises:
        CompileError: The function is outside the language; the text points into the user's file.
        ArgumentError: It finds a tensor that the call cannot take.
        GridError: A config of the request's `layout` does not hold its result.
    """
    function = request.function
    if not isinstance(function, types.FunctionType):
        raise ArgumentError(f"only Python functions can be compiled, got {type(function).__name__}")
    if request.graph_capture:
        return trace(request)
    try:
        return interpret(request)
    except SourceError as error:
        if request.graph_capture is False:
            raise
        _log.debug("`%s` is traced: %s", function.__name__, error.message)
    return trace(request)


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
        GridError: The requested memory config does not hold the result.
    """
    home = "tile_op" if operation.body else "ttnn"
    builder = ModuleBuilder(f"{home}.{operation.name}", target, None)
    values: list[Any] = [
        (builder.argument(operand), operand) if isinstance(operand, TensorSpec) else operand for operand in operands
    ]
    written = values[operation.written_operand]
    for index, applied in enumerate(options.operand_activations):
        values[index] = activated(builder, values[index], applied, None, None)
    if options.in_place:
        # What it computes by itself is what is stored.
        (result,) = results_of(builder, operation, values, attributes, None, replace(options, dtype=None))
        value, _ = builder.updated(result, written[1].with_(), None)
        return FrontendResult(builder.finish([value], updates={written[0]: 0}), (), None)
    results = results_of(builder, operation, values, attributes, None, options)
    first = next(operand for operand in operands if isinstance(operand, TensorSpec))
    layout = options.placement(operation, first, target.grid)
    return FrontendResult(builder.finish([value for value, _ in results], layout), (), None)
