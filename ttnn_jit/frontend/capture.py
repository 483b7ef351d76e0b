"""Graph capture: runs the function itself on tensors without data and records the operations on them.

The location of an operation comes from the frames of the user's code, with columns where the code object has positions.
"""

from __future__ import annotations

import inspect
import operator
import sys
import traceback
import types
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from ttnn_jit.diagnostics.errors import CompileError, TtnnJitError, UnsupportedFunction
from ttnn_jit.diagnostics.origin import THIS_PACKAGE, library_of_frame
from ttnn_jit.diagnostics.source import Location, start_of
from ttnn_jit.foreign.pytrees import leaves, map_leaves, parts_of
from ttnn_jit.foreign.torch_autocast import CAST_HELP, autocast_is_on
from ttnn_jit.frontend.ast_frontend import observe
from ttnn_jit.frontend.calls.code_scan import is_keyed, may_test_identity, scan
from ttnn_jit.frontend.plain_numbers import plain
from ttnn_jit.frontend.python.extents_in_calls import locating_uses
from ttnn_jit.frontend.python.interpreter import failure_text
from ttnn_jit.frontend.python.language import PYTHON_FAILURES, is_namespace, is_plain_function, not_plain_function_text
from ttnn_jit.frontend.python.tensor_identities import (
    SHARED_MEMORY,
    SHARED_MEMORY_HELP,
    guard_identity,
    merge_same_objects,
    tensors_of,
)
from ttnn_jit.frontend.reads.read_recorder import ReadRecorder
from ttnn_jit.frontend.reads.spans import location_of_span
from ttnn_jit.frontend.tensors.creations import create
from ttnn_jit.frontend.tensors.emitter import Emitter
from ttnn_jit.frontend.tensors.hidden_inputs import HiddenInputs
from ttnn_jit.frontend.tensors.program_tensor import TensorArgument
from ttnn_jit.frontend.tensors.proxy import ProxyTensor
from ttnn_jit.frontend.tensors.structure import frontend_result
from ttnn_jit.frontend.traced_tensors import tracing_hidden_inputs
from ttnn_jit.frontend.unsupported import NO_AUTOCAST, UNSEEN_IDENTITY, host_function_error, unsupported_function
from ttnn_jit.frontend.writing.frontend_request import FrontendRequest
from ttnn_jit.frontend.writing.module_builder import ModuleBuilder
from ttnn_jit.frontend.writing.result import FrontendResult
from ttnn_jit.guards.bound_objects import call_arguments
from ttnn_jit.guards.reads import Read, compile_guard
from ttnn_jit.ops import Operation
from ttnn_jit.ops.result_options import NO_OPTIONS, ResultOptions

__all__ = ["ProxyTensor", "trace"]

WITH_SOURCE = "leave `graph_capture=True` out, or define the function in a file"

_COMPREHENSIONS = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"})


class CaptureEmitter(Emitter):
    """Finds the location of an operation in the frames of the running function."""

    def __init__(self, builder: ModuleBuilder, hidden: HiddenInputs, definition: Location) -> None:
        super().__init__(builder, hidden)
        self._definition = definition
        # Keyed by id, because code objects at different locations may be equal. The value keeps the code object alive.
        self._positions: dict[int, tuple[types.CodeType, list[tuple[int | None, ...]]]] = {}
        self._locations: dict[tuple[int, int, int], Location] = {}
        self._autocast = autocast_is_on()

    def emit(
        self,
        overloads: Sequence[Operation],
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        options: ResultOptions = NO_OPTIONS,
    ) -> Any:
        """As `Emitter.emit`; refuses operations under a `torch.autocast` that the function entered."""
        if autocast_is_on() and not self._autocast:
            raise UnsupportedFunction(NO_AUTOCAST, location=self.location(), help=CAST_HELP)
        return super().emit(overloads, args, kwargs, options)

    def location(self) -> Location:
        """The location of the running instruction in the user's innermost function, and of the calls that led to it."""
        chain = [(frame.f_code, frame.f_lasti) for frame in _activations(sys._getframe())]
        location: Location | None = None
        for code, offset in reversed(chain):
            location = self.instruction_location(code, offset, location)
        return location or self._definition

    def instruction_location(self, code: types.CodeType, offset: int, called_from: Location | None = None) -> Location:
        """The location that the instruction at byte `offset` of `code` was compiled from, called from there."""
        key = id(code), offset, id(called_from)
        known = self._locations.get(key)
        if known is None:
            known = self._locations[key] = self._location_of(code, offset, called_from)
        return known

    def _location_of(self, code: types.CodeType, offset: int, called_from: Location | None) -> Location:
        known = self._positions.get(id(code))
        if known is None:
            known = self._positions[id(code)] = code, list(code.co_positions())
        line, end_line, column, end_column = known[1][offset // 2]
        if line is None or end_line is None or column is None or end_column is None:
            return Location(code.co_filename, line or code.co_firstlineno, called_from=called_from)
        return location_of_span(code.co_filename, (line, end_line, column, end_column), called_from)


def _activations(frame: types.FrameType | None) -> Iterator[types.FrameType]:
    """The frames of the user's code, innermost first, down to the function being traced.

    A comprehension and the function around it count as one frame.
    """
    inside: types.CodeType | None = None
    while frame is not None and frame.f_code is not trace.__code__:
        code = frame.f_code
        if inside is not None:
            if inside in code.co_consts:
                inside = code if code.co_name in _COMPREHENSIONS else None
        elif library_of_frame(frame) != THIS_PACKAGE:
            yield frame
            inside = code if code.co_name in _COMPREHENSIONS else None
        frame = frame.f_back


def trace(request: FrontendRequest) -> FrontendResult:
    """The module of the function that `request` names, by running it.

    Raises:
        CompileError: The function fails, is outside the language, or changes what it reads.
        ArgumentError: A hidden input is a tensor that the call cannot take.
    """
    function = request.function
    _require_plain_function(function, request.definition)
    for attempt in range(MAX_ATTEMPTS):
        recorder = _reads_of(request)
        try:
            return _traced(request, recorder)
        except TtnnJitError:
            if attempt + 1 == MAX_ATTEMPTS or _finds_the_same_tensors(function, recorder):
                raise
    raise AssertionError


MAX_ATTEMPTS = 100
"""Attempts at a trace while other threads replace the tensors that it found."""


def _finds_the_same_tensors(function: types.FunctionType, recorder: ReadRecorder) -> bool:
    keyed = [read for read in recorder.reads.values() if read.is_in_key]
    return compile_guard(function, [*keyed, *(Read(*found) for found in recorder.tensors.items())])()


def _traced(request: FrontendRequest, recorder: ReadRecorder) -> FrontendResult:
    function, arguments = request.function, request.arguments
    definition = request.definition
    guard = compile_guard(function, recorder.reads.values(), tensors_of(arguments))
    arguments = merge_same_objects(arguments) if recorder.tracks_identity else arguments
    emitter = CaptureEmitter(ModuleBuilder.of(request), HiddenInputs(recorder, request, opens=False), definition)

    def proxy(name: str, value: Any) -> Any:
        return emitter.argument(value, name) if isinstance(value, TensorArgument) else plain(value)

    proxies = {name: map_leaves(value, partial(proxy, name)) for name, value in arguments.items()}
    for tensor in [*recorder.tensors.values()]:
        emitter.resolve(tensor)
    args, kwargs = call_arguments(function, proxies)
    before = {name: parts_of(value) for name, value in proxies.items()}
    returned = _returned(function, args, kwargs, emitter, arguments)
    for name, value in proxies.items():
        if not _are_same(before[name], parts_of(value)):
            raise CompileError(
                f"`{function.__name__}` changes its argument `{name}`, which a compiled function cannot",
                location=definition,
                help="make a copy of it first, or return the new value",
            )
    if not guard():
        raise CompileError(
            f"`{function.__name__}` changes something outside itself, which a compiled function cannot",
            location=definition,
            help="return the new value",
        )
    return frontend_result(request, emitter, recorder, returned, definition)


def _reads_of(request: FrontendRequest) -> ReadRecorder:
    """The reads of the function: the interpreter observes a function with source; otherwise its code is scanned."""
    observed = observe(request)
    if observed is not None:
        return observed
    function, arguments = request.function, request.arguments
    recorder = ReadRecorder(tracks_identity=True)
    scan(function, recorder, request.library)
    _guard_identity_without_source(function, arguments, recorder)
    unknown = [name for name, value in arguments.items() if not is_keyed(map_leaves(value, _without_tensors))]
    if unknown:
        recorder.mark_opaque(f"no guard can see what a trace reads of the argument `{unknown[0]}`", request.definition)
    return recorder


def _guard_identity_without_source(
    function: types.FunctionType, arguments: Mapping[str, Any], recorder: ReadRecorder
) -> None:
    """Record which tensors of the call are one object, because a trace cannot observe tests of identity.

    Raises:
        UnsupportedFunction: The function may test identity where a trace gives another answer.
    """
    tensors = tensors_of(arguments)
    guard_identity(recorder, tensors)
    codes = [function.__code__, *(read.value for read in recorder.reads.values())]
    if not any(map(may_test_identity, (code for code in codes if type(code) is types.CodeType))):
        return
    if {*map(id, tensors)} & {*map(id, recorder.tensors.values())}:
        raise UnsupportedFunction(UNSEEN_IDENTITY, location=start_of(function.__code__), help=WITH_SOURCE)
    by_memory: dict[int | None, object] = {}
    given = [leaf for leaf in leaves([*arguments.values()]) if type(leaf) is TensorArgument]
    for argument, tensor in zip(given, tensors, strict=True):
        if argument.memory is not None and by_memory.setdefault(argument.memory, tensor) is not tensor:
            raise UnsupportedFunction(SHARED_MEMORY, location=start_of(function.__code__), help=SHARED_MEMORY_HELP)


def _without_tensors(leaf: Any) -> Any:
    return None if isinstance(leaf, TensorArgument) else leaf


def _are_same(before: list[Any], after: list[Any]) -> bool:
    return len(before) == len(after) and all(map(operator.is_, before, after))


def _returned(
    function: types.FunctionType,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    emitter: CaptureEmitter,
    arguments: Mapping[str, Any],
) -> Any:
    """The value that the function returns; an exception becomes an error at the user's line."""
    try:
        with tracing_hidden_inputs(emitter), locating_uses(arguments, emitter):
            return map_leaves(function(*args, **kwargs), emitter.resolve)
    except TtnnJitError as error:
        if error.location is None:
            raise _failure(emitter, error) from error
        if (host := _host_function(error)) is not None:
            raise host_function_error(host, error.location) from error
        raise
    except PYTHON_FAILURES as error:
        raise _failure(emitter, error) from error
    finally:
        emitter.is_over = True


def _require_plain_function(function: types.FunctionType, definition: Location) -> None:
    if not is_plain_function(function):
        is_async = not inspect.isgeneratorfunction(function)
        message, instead = not_plain_function_text(function.__name__, is_async=is_async)
        raise CompileError(message, location=definition, help=instead)


def _failure(emitter: CaptureEmitter, error: Exception) -> CompileError:
    """The error, at the user's line, for an exception that the compiler did not raise."""
    location: Location | None = None
    beyond: types.FrameType | None = None
    traceback = error.__traceback__
    while traceback is not None:
        frame = traceback.tb_frame
        if library_of_frame(frame) != THIS_PACKAGE:
            location, beyond = emitter.instruction_location(frame.f_code, traceback.tb_lasti, location), None
        elif beyond is None:
            beyond = frame
        traceback = traceback.tb_next
    location = location or emitter.location()
    if isinstance(error, AttributeError) and error.name and (is_namespace(error.obj) or _is_host_api(beyond)):
        return unsupported_function(error.name, location)
    if isinstance(error, RecursionError):
        return CompileError("the function calls itself without end: recursion is not supported", location=location)
    if isinstance(error, TtnnJitError):
        if (host := _host_function(error)) is not None:
            return host_function_error(host, location)
        return CompileError(error.message, location=location, help=error.help)
    if isinstance(error, TypeError) and "does not support ufuncs" in str(error):
        return CompileError(
            "a function of numpy needs the values of a tensor, which are not known before the call",
            location=location,
            help="operations are written `ttnn.exp(x)`",
        )
    return CompileError(failure_text(error), location=location)


def _host_function(error: Exception) -> str | None:
    """The name of the host API function that got a tensor of the program and raised `error`; None if there is none."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    of_user = [index for index, frame in enumerate(frames) if library_of_frame(frame) != THIS_PACKAGE]
    for frame in frames[max(of_user, default=len(frames)) :]:
        if frame.f_code is create.__code__:
            return None  # programs may call these
        is_public = not frame.f_code.co_name.startswith("_") and not {"<", "."} & {*frame.f_code.co_qualname}
        if _is_host_api(frame) and is_public:
            return frame.f_code.co_name
    return None


def _is_host_api(frame: types.FrameType | None) -> bool:
    return frame is not None and str(frame.f_globals.get("__name__", "")).startswith("ttnn_jit.ttnn")
