"""Lowers Python functions to modules of the TTNN dialect: two frontends with one result.

A `FrontendRequest` (`frontend/writing/frontend_request.py`) names the function. One frontend interprets the function's
AST (`frontend/ast_frontend.py`, `frontend/python/interpreter.py`). The other traces the function with proxy tensors
(`frontend/capture.py`, `frontend/tensors/proxy.py`). Both write through `frontend/writing/module_builder.py`, and give
the same text and the same locations. That builder adds the rules of ``@jit`` (result layouts, operations of kernels,
refused programs) to the `FunctionBuilder` (`dialects/function_builder.py`), which builds any function of ttnn or ttir
from the declarations. One table lists the functions of Python that programs may call
(`frontend/calls/python_functions.py`); those that call methods of their arguments have handlers
(`frontend/calls/builtin_functions.py`). Functions of the host API that programs may call, such as `zeros`, are written
over one protocol, which also creates, draws, lays out and frees tensors (`ops/host_ops.py`). Its implementations are
eager (`ttnn/calling/eager_ops.py`) or a program's (`frontend/tensors/creations.py`). A call belongs to the program of a
tensor or a device among its arguments, and in a trace to that trace (`ops/traced_calls.py`). Tensors that a function
reaches through globals, closures or objects become hidden inputs after its arguments
(`frontend/tensors/hidden_inputs.py`). So does the state that this package keeps between calls, the count of draws
(`guards/package_state.py`, `runtime/programs/random_state.py`). A tensor of a program, and the program as its tensors
know it, are defined below the operators on tensors and the binding of calls (`frontend/tensors/program_tensor.py`,
`frontend/tensors/emitter.py`). A tensor may be a view of another (`frontend/tensors/views.py`,
`ops/movement/view_rules.py`). A write gives the base of a view a new value (`frontend/tensors/writes.py`). An argument
that is written becomes a result of the function, and an attribute of the argument names that result
(`dialects/argument_notes.py`).
"""

from __future__ import annotations

import logging
import types
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
from ttnn_jit.process.dataclass import replace
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
        # The operation computes in its own dtype; the store converts.
        (result,) = results_of(builder, operation, values, attributes, None, replace(options, dtype=None))
        value, _ = builder.updated(result, written[1].with_(), None)
        return FrontendResult(builder.finish([value], updates={written[0]: 0}), (), None)
    results = results_of(builder, operation, values, attributes, None, options)
    first = next(operand for operand in operands if isinstance(operand, TensorSpec))
    layout = options.placement(operation, first, target.grid)
    return FrontendResult(builder.finish([value for value, _ in results], layout), (), None)
