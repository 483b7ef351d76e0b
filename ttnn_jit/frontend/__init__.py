"""Python functions to modules of the TTNN dialect: two separate paths with one result.

`lower` is the entry. The AST frontend (ast_frontend.py) interprets a function's source; graph capture (capture.py)
runs the function itself on tensors without data. Both write through module_builder.py.
"""

from __future__ import annotations

import logging
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError, CompileError
from ttnn_jit.frontend.ast_frontend import interpret
from ttnn_jit.frontend.capture import trace
from ttnn_jit.frontend.function_source import SourceError
from ttnn_jit.frontend.module_builder import ModuleBuilder
from ttnn_jit.frontend.result import FrontendResult
from ttnn_jit.frontend.result_layout import ResultLayout
from ttnn_jit.frontend.tensor_argument import TensorArgument
from ttnn_jit.ops import COPY, Composite, Contraction, Movement, Operation, Reduction, Shorthand
from ttnn_jit.ops.applied_unary import AppliedUnary
from ttnn_jit.ops.operation import OperandSpec
from ttnn_jit.runtime.families import Family
from ttnn_jit.specs.dtypes import COMPUTE_TYPE
from ttnn_jit.specs.target import SystemDesc
from ttnn_jit.specs.tensor_spec import DataType, TensorSpec

__all__ = ["FrontendResult", "ResultLayout", "TensorArgument", "lower", "lower_operation"]

_log = logging.getLogger("ttnn_jit")


def lower(
    function: Callable[..., Any],
    arguments: Mapping[str, Any],
    target: SystemDesc,
    graph_capture: bool | None = None,
    layout: ResultLayout | None = None,
    family: Family | None = None,
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

    Raises:
        CompileError: The function is outside the language; the text points into the user's file.
        ArgumentError: It finds a tensor that the call cannot take.
        GridError: A config of `layout` does not hold its result.
    """
    if not isinstance(function, types.FunctionType):
        raise ArgumentError(f"only Python functions can be compiled, got {type(function).__name__}")
    if graph_capture:
        return trace(function, arguments, target, layout, family)
    try:
        return interpret(function, arguments, target, layout, family)
    except SourceError as error:
        if graph_capture is False:
            raise
        _log.debug("`%s` is traced: %s", function.__name__, error.message)
    return trace(function, arguments, target, layout, family)


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
        values[place] = _activated(builder, values[place], applied, None)
    if not operation.gives_one_tensor:
        _refuse_for_several(operation, dtype, activations)
        results = builder.results(operation, values, attributes, None)
        return FrontendResult(builder.finish([value for value, _ in results], layout), (), None)
    if isinstance(operation, Movement | Shorthand):  # what computes nothing rounds nothing either
        result = builder.operation(operation, values, attributes, None)
        result = (
            result if dtype in {None, result[1].dtype} else builder.operation(COPY, [result], (), None, dtype=dtype)
        )
        result = _activated(builder, result, activations, None)
    elif activations and isinstance(operation, (Composite, Contraction, Reduction)):
        result = _unrounded(builder, operation, values, attributes)
        result = _activated(builder, result, activations, dtype or values[0][1].dtype)
    else:
        result = builder.operation(operation, values, attributes, None, dtype=dtype)
        result = _activated(builder, result, activations, None)
    if in_place:
        assert isinstance(target, tuple), "it is a tensor"
        value, _ = builder.stored(result, target[1].with_(), None)
        return FrontendResult(builder.finish([value], updates={target[0]: 0}), (), None)
    return FrontendResult(builder.finish([result[0]], layout), (), None)


def _unrounded(builder: ModuleBuilder, operation: Operation, values: Sequence[Any], attributes: Sequence[Any]) -> Any:
    """The result of an operation of floats as it is computed, in float32: what follows rounds it."""
    dtype = None if values[0][1].dtype.is_integer else COMPUTE_TYPE
    return builder.operation(operation, values, attributes, None, dtype=dtype)


def _activated(builder: ModuleBuilder, value: Any, activations: Sequence[AppliedUnary], dtype: DataType | None) -> Any:
    """`value` through unary operations, the last of which results in `dtype` if it is given."""
    for place, activation in enumerate(activations):
        bound = activation.bound(value, value[1].dtype)
        wanted = dtype if place == len(activations) - 1 else None
        value = builder.operation(bound.operation, bound.operands, bound.attributes, None, dtype=wanted)
    return value


def _refuse_for_several(operation: Operation, dtype: DataType | None, activations: Sequence[AppliedUnary]) -> None:
    for name, asked in (("dtype", dtype), ("activations", activations)):
        if asked:
            raise CompileError(f"`{name}` says nothing of `{operation.name}`, which has several results")
