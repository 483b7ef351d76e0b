"""The AST frontend: interprets a function's verified source over tensors without data."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Mapping
from functools import partial
from itertools import count
from typing import Any

from ttnn_jit.diagnostics.errors import CompileError, UnsupportedFunction
from ttnn_jit.diagnostics.source import Location
from ttnn_jit.foreign.container_items import fields_of, is_record, items_of
from ttnn_jit.foreign.pytrees import map_leaves
from ttnn_jit.frontend.calls.cached_functions import guard_evictions
from ttnn_jit.frontend.calls.call_expressions import call_value, callback
from ttnn_jit.frontend.calls.python_functions import compute, compute_in_c
from ttnn_jit.frontend.python.attributes import attribute_value
from ttnn_jit.frontend.python.extents_in_calls import locating_uses
from ttnn_jit.frontend.python.interpreter import Interpreter, Rules
from ttnn_jit.frontend.python.parameters import bind_parameters
from ttnn_jit.frontend.python.tensor_identities import (
    IdentityQueryError,
    guard_comparisons,
    guard_identity,
    merge_same_objects,
    path_of_tensor,
    tensors_of,
)
from ttnn_jit.frontend.reads.function_source import FunctionSource, function_source
from ttnn_jit.frontend.reads.read_recorder import ReadRecorder, items_by_path
from ttnn_jit.frontend.reads.spans import location_of_span, span_of_node
from ttnn_jit.frontend.syntax.expressions import EXPRESSIONS, refuse_expression
from ttnn_jit.frontend.syntax.statements import execute, generate
from ttnn_jit.frontend.tensors.hidden_inputs import HiddenInputs
from ttnn_jit.frontend.tensors.program_tensor import TensorArgument
from ttnn_jit.frontend.tensors.proxy import ProxyTensor
from ttnn_jit.frontend.tensors.structure import frontend_result
from ttnn_jit.frontend.unsupported import ChangeOutsideError, UnseenInTraceError
from ttnn_jit.frontend.writing.frontend_request import FrontendRequest
from ttnn_jit.frontend.writing.module_builder import ModuleBuilder, SpecBuilder
from ttnn_jit.frontend.writing.result import FrontendResult
from ttnn_jit.guards.bound_objects import bound_objects, call_arguments, path_of
from ttnn_jit.guards.reads import ATTRIBUTE_STEP, Path

_RULES = Rules(
    EXPRESSIONS, refuse_expression, execute, call_value, compute, compute_in_c, attribute_value, callback, generate
)


def interpret(request: FrontendRequest) -> FrontendResult:
    """The module of the function that `request` names, by its AST.

    Raises:
        SourceError: The source of the function or of a helper is missing or was changed.
        CompileError: The function is outside the language.
    """
    source = function_source(request.function)
    interpreter, returned = _interpreted(request, source)
    help_text = _missing_return_help(source)
    return frontend_result(request, interpreter, interpreter.recorder, returned, _header(source), help_text)


def observe(request: FrontendRequest) -> ReadRecorder | None:
    """The reads of the function when it runs; None if it has no source, or is outside the language.

    A trace runs the function itself and cannot observe its look-ups; the interpreter observes them on the same program.

    Raises:
        UnsupportedFunction: The function depends on something that a trace cannot observe.
        ChangeOutsideError: The function would store tensors without data in an object from outside the program.
    """
    if hasattr(request.function, "__wrapped__"):
        return None  # its signature is that of the function that it wraps, not that of its own parameters
    try:
        source = function_source(request.function)
        return _interpreted(request, source, observes=True)[0].recorder
    except UnseenInTraceError as error:
        raise UnsupportedFunction(error.message, location=error.location, help=error.help) from None
    except ChangeOutsideError:
        raise
    except CompileError:
        return None


def _interpreted(
    request: FrontendRequest, source: FunctionSource, *, observes: bool = False
) -> tuple[Interpreter, Any]:
    """The interpreter after it ran the function, and the value that the function returned."""
    with contextlib.suppress(IdentityQueryError):
        return _run(request, source, request.arguments, observes=observes)
    return _run(request, source, merge_same_objects(request.arguments), observes=observes, tracks_identity=True)


def _run(
    request: FrontendRequest,
    source: FunctionSource,
    arguments: Mapping[str, Any],
    *,
    observes: bool,
    tracks_identity: bool = False,
) -> tuple[Interpreter, Any]:
    function = request.function
    recorder = ReadRecorder(tracks_identity=tracks_identity)
    builder = (SpecBuilder if observes else ModuleBuilder).of(request)
    hidden = HiddenInputs(recorder, request, opens=not observes)
    interpreter = Interpreter(builder, recorder, hidden, _RULES, observes=observes)

    tensors = tensors_of(arguments)
    numbers = count()

    def proxy(name: str, value: Any) -> Any:
        if not isinstance(value, TensorArgument):
            return value
        number = next(numbers)
        stand_in = interpreter.argument(value, name)
        recorder.bind_proxy(stand_in, path_of_tensor(number), tensors[number])
        return stand_in

    proxies = {name: map_leaves(value, partial(proxy, name)) for name, value in arguments.items()}
    if tracks_identity:
        guard_identity(recorder, tensors)
        hidden.register_arguments()
    for name, value in proxies.items():
        _note_argument(recorder, value, name, ())
    args, kwargs = call_arguments(function, proxies)
    for name, value in bound_objects(function).items():
        recorder.bind_path(value, path_of(name))
    variables = bind_parameters(function.__name__, source.node.args, args, kwargs, (), {})
    try:
        with locating_uses(arguments, interpreter):
            returned = interpreter.run_function(source, function, (), variables, None)
    except RecursionError:
        raise CompileError(
            f"`{function.__name__}` nests too deeply to be compiled", location=interpreter.location()
        ) from None
    returned = map_leaves(returned, interpreter.resolve)
    guard_comparisons(interpreter)
    guard_evictions(interpreter)
    interpreter.frame.variables.clear()
    interpreter.is_over = True
    return interpreter, returned


def _note_argument(recorder: ReadRecorder, value: Any, name: str, steps: Path) -> None:
    if type(value) is ProxyTensor:
        return
    recorder.record_argument(value, name, steps)
    if is_record(value):
        for field, item in fields_of(value).items():
            _note_argument(recorder, item, name, (*steps, (ATTRIBUTE_STEP, field)))
    elif items_of(value) is not None:
        for inner, item in items_by_path(value):
            _note_argument(recorder, item, name, (*steps, *inner))


def _header(source: FunctionSource) -> Location:
    """The location of ``def name``."""
    node = source.node
    if isinstance(node, ast.Lambda):
        return location_of_span(source.file, span_of_node(node, source.imported))
    width = len(f"def {node.name}".encode())
    return location_of_span(source.file, (node.lineno, node.lineno, node.col_offset, node.col_offset + width))


def _missing_return_help(source: FunctionSource) -> str:
    """The help text of a missing `return`; it names the variable that the last statement assigns."""
    last = None if isinstance(source.node, ast.Lambda) else source.node.body[-1]
    if isinstance(last, ast.Assign) and isinstance(last.targets[0], ast.Name):
        return f"end it with `return {last.targets[0].id}`"
    return "end it with `return` and the tensors that it computes"
