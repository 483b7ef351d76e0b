"""Python functions to modules of the TTNN dialect: two separate paths with one result.

`lower` is the entry. The AST frontend (ast_frontend.py) interprets a function's source; graph capture (capture.py)
runs the function itself on tensors without data. Both write through module_builder.py.
"""

from __future__ import annotations

import logging
import types
from collections.abc import Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.frontend.asked_results import activated, refuse_for_several, result_of
from ttnn_jit.frontend.ast_frontend import interpret
from ttnn_jit.frontend.capture import trace
from ttnn_jit.frontend.function_source import SourceError
from ttnn_jit.frontend.module_builder import ModuleBuilder
from ttnn_jit.frontend.request import FrontendRequest
from ttnn_jit.frontend.result import FrontendResult
from ttnn_jit.frontend.result_layout import ResultLayout
from ttnn_jit.frontend.tensor_argument import TensorArgument
from ttnn_jit.ops import Operation
from ttnn_jit.ops.applied_unary import AppliedUnary
from ttnn_jit.ops.operation import OperandSpec
from ttnn_jit.specs.target import SystemDesc
from ttnn_jit.specs.tensor_spec import DataType, TensorSpec

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


def lower_operation(  # noqa: PLR0913 - what a caller may ask of a result
    operation: Operation,
    operands: tuple[OperandSpec, ...],
    attributes: tuple[Any, ...],
    target: SystemDesc,
    dtype: DataType | None = None,
    layout: ResultLayout | None = None,
    activations: Sequence[AppliedUnary] = (),
    operand_activations: Sequence[Sequence[AppliedUnary]] = (),
    *,
    in_place: bool = False,
) -> FrontendResult:
    """The module of one operation, as eager `ttnn` runs it; a TensorSpec is an argument, a number a constant.

    The result has the element type `dtype` and lies as `layout` says, if they are given; `activations` are unary
    operations that it goes through, `operand_activations` those of the first operands. With `in_place` the result is
    written into an operand, a tensor: the one that the declaration says.

    Raises:
        ArgumentError: The numbers of an activation do not fit it.
        CompileError: The operands do not fit the operation or each other.
        GridError: The config of `layout` does not hold the result.
    """
    home = "tile_op" if operation.body else "ttnn"
    builder = ModuleBuilder(f"{home}.{operation.name}", target, None)
    values: list[Any] = [
        (builder.argument(operand), operand) if isinstance(operand, TensorSpec) else operand for operand in operands
    ]
    target = values[operation.written_operand]
    for place, applied in enumerate(operand_activations):
        values[place] = activated(builder, values[place], applied, None, None)
    if not operation.gives_one_tensor:
        refuse_for_several(operation, dtype, activations)
        results = builder.results(operation, values, attributes, None)
        return FrontendResult(builder.finish([value for value, _ in results], layout), (), None)
    if in_place:  # what it computes by itself is what is stored
        dtype = None
    result = result_of(builder, operation, values, attributes, None, dtype, activations)
    if in_place:
        assert isinstance(target, tuple), "it is a tensor"
        value, _ = builder.updated(result, target[1].with_(), None)
        return FrontendResult(builder.finish([value], updates={target[0]: 0}), (), None)
    return FrontendResult(builder.finish([result[0]], layout), (), None)
