"""`tile_op`: a user-defined elementwise operation, a Python function of floats.

    @ttnn_jit.tile_op
    def softcap(x):
        return 30.0 * math.tanh(x / 30.0)

If the function can be traced (ops/tile_trace.py), it is compiled like a built-in operation. Otherwise numba compiles it
to scalar code (kernels/numba/scalar_call.py). Either way it is one operation with one rounding.
"""

from __future__ import annotations

import dis
import inspect
import re
import types
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any, overload

from ttnn_jit.calls.nondeterministic_functions import nondeterministic_function
from ttnn_jit.diagnostics.errors import ArgumentError, CompileError, TtnnJitError
from ttnn_jit.diagnostics.source import codes_in, definition_of, whole_line
from ttnn_jit.diagnostics.tracebacks import keep_user_frames, user_frames_only
from ttnn_jit.foreign.values import NoStableIdentityError
from ttnn_jit.guards.fingerprints import fingerprint_code, read_fingerprint
from ttnn_jit.guards.reads import ATTRIBUTE_STEP, Read, compile_guard, path_text
from ttnn_jit.ops import Number, Operation
from ttnn_jit.process.compile_lock import compiling
from ttnn_jit.ttnn.calling.eager_operation import TtnnOperation

if TYPE_CHECKING:
    from ttnn_jit.ops.language.tile_body import TileBody


class TileOperation(TtnnOperation):
    """A user-defined operation: called like those of `ttnn`, eagerly or in a jitted function, or on floats.

    Its guard is checked at every compile and every eager call. After a change of the function's body, of a global or of
    a helper that it reads, it is another operation.

    Attributes:
        func: The Python function.
        golden: An independent implementation on torch tensors, or None.
    """

    def __init__(self, function: types.FunctionType, golden: Callable[..., Any] | None) -> None:
        _refuse_unsupported(function)
        _refuse_nondeterministic(function.__name__, function)
        self._parameters = _parameters(function)
        self.name = re.sub(r"\W", "", function.__name__)
        super().__init__(self.name, ())
        self.__name__ = self.python_fully_qualified_name = f"tile_op.{self.name}"
        self.__doc__ = function.__doc__
        self.__ttnn_tile_function__ = self.func = function
        self.__ttnn_overloads__ = _Overloads(self)
        self.golden = golden
        self._guard: Callable[[], bool] | None = None
        self._operation: Operation | None = None

    @property
    def operation(self) -> Operation:
        """The declaration of the operation, of the current function.

        Raises:
            CompileError: The function has side effects, or raises an exception and cannot be traced.
        """
        with compiling():
            if self._operation is None or self._guard is None or not self._guard():
                self._declare()
            assert self._operation is not None
            return self._operation

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the operation eagerly on tensors, record it for a tracer's proxies, or call the function on numbers."""
        if all(isinstance(value, Number) for value in (*args, *kwargs.values())):
            return self.func(*args, **kwargs)
        try:
            return super().__call__(*args, **kwargs)
        except TtnnJitError as error:
            keep_user_frames(error)
            raise

    def _declare(self) -> None:
        # Imported late: the scan loads the compiler.
        from ttnn_jit.frontend.calls.code_scan import scan
        from ttnn_jit.frontend.reads.read_recorder import ReadRecorder
        from ttnn_jit.ops.families.user_operation import declare

        recorder = ReadRecorder()
        scan(self.func, recorder)
        defaults = [Read(((ATTRIBUTE_STEP, name),), getattr(self.func, name)) for name in _DEFAULTS]
        reads = [*defaults, *recorder.reads.values()]
        for code in _helpers(reads):
            _refuse_instructions(self.name, code, shadowed=_SIDE_EFFECT_BUILTINS)
        for function in (self.func, *(read.value for read in reads if type(read.value) is types.FunctionType)):
            _refuse_nondeterministic(self.name, function)
        guard = compile_guard(self.func, reads)
        body = self._body(reads, complete=recorder.opaque is None)
        if not guard():
            raise CompileError(
                f"tile operation `{self.name}` {_HAS_SIDE_EFFECT}",
                location=definition_of(self.func.__code__),
                help=_RETURN_HELP,
            )
        self._operation = declare(self.name, body, self._torch_golden())
        self._guard = None if recorder.opaque else guard

    def _body(self, reads: Sequence[Read], *, complete: bool) -> TileBody:
        from uuid import uuid4

        from ttnn_jit.ops.language.tile_body import ScalarFunction
        from ttnn_jit.ops.tile_trace import UntraceableError, trace

        try:
            return trace(self.func, self._parameters)
        except UntraceableError as error:
            reason = str(error)
        self._refuse_raise(reads)
        digest = _digest(self.func, reads) if complete else None
        known_as = digest or uuid4().hex  # an id that no other process finds on disk
        return ScalarFunction(self.name, self._parameters, known_as, self.func, reason, is_local=digest is None)

    def _refuse_raise(self, reads: Sequence[Read]) -> None:
        for code in (self.func.__code__, *_helpers(reads)):
            for instruction in dis.get_instructions(code):
                if instruction.opname == "RAISE_VARARGS":
                    line = instruction.positions and instruction.positions.lineno
                    raise CompileError(
                        f"tile operation `{self.name}` raises an exception, which an element of a tensor cannot",
                        location=whole_line(code.co_filename, line or code.co_firstlineno),
                        help="return `math.nan` instead",
                    )

    def _golden_of(self, operation: Operation) -> Callable[..., Any]:
        """The golden of this object: functions of the same name and body share an operation, not a golden."""
        return self._torch_golden() or operation.golden

    def _torch_golden(self) -> Callable[..., Any] | None:
        golden = self.golden
        return None if golden is None else lambda _, *operands: golden(*operands)

    def __repr__(self) -> str:
        return f"<tile operation {self.name}>"


_DEFAULTS = ("__defaults__", "__kwdefaults__")

_HAS_SIDE_EFFECT = "changes something outside itself"
_RETURN_HELP = "return the value"
_REFUSED_OPCODES = {
    "IMPORT_NAME": ("`import` cannot be compiled", "import at the top of the file"),
    **dict.fromkeys(
        ("STORE_GLOBAL", "DELETE_GLOBAL", "STORE_ATTR", "DELETE_ATTR"), (f"it {_HAS_SIDE_EFFECT}", _RETURN_HELP)
    ),
}
_SIDE_EFFECT_BUILTINS = ("print", "breakpoint", "input")


def _refuse_unsupported(function: types.FunctionType) -> None:
    """Refuse code that is never supported, whatever its names refer to.

    Raises:
        CompileError: The function is a generator or a coroutine, imports, prints, or writes to nonlocal state.
    """
    name = function.__name__
    flags = function.__code__.co_flags
    if flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        from ttnn_jit.frontend.python.language import not_plain_function_text

        message, instead = not_plain_function_text(name, is_async=not flags & inspect.CO_GENERATOR)
        raise CompileError(f"tile operation {message}", location=definition_of(function.__code__), help=instead)
    shadowed = {name for name in _SIDE_EFFECT_BUILTINS if name in function.__globals__}
    for code in codes_in(function.__code__):
        _refuse_instructions(name, code, closure=function.__code__.co_freevars, shadowed=shadowed)


def _refuse_instructions(
    name: str, code: types.CodeType, closure: Sequence[str] = (), shadowed: Collection[str] = ()
) -> None:
    for instruction in dis.get_instructions(code):
        opname, argument = instruction.opname, instruction.argval
        found = _REFUSED_OPCODES.get(opname)
        if opname in {"STORE_DEREF", "DELETE_DEREF"} and argument in closure:
            found = f"it {_HAS_SIDE_EFFECT}", _RETURN_HELP
        if opname in {"LOAD_GLOBAL", "LOAD_NAME"} and argument in _SIDE_EFFECT_BUILTINS and argument not in shadowed:
            found = f"`{argument}` would act once, when it is compiled", _ON_FLOATS_HELP
        if found is not None:
            from ttnn_jit.frontend.calls.code_scan import location_of

            message, instead = found
            raise CompileError(
                f"tile operation `{name}`: {message}", location=location_of(code, instruction), help=instead
            )


def _refuse_nondeterministic(name: str, function: types.FunctionType) -> None:
    """Refuse functions of random numbers and clocks that the function refers to.

    Raises:
        CompileError: It refers to one.
    """
    found = nondeterministic_function(function)
    if found is not None:
        from ttnn_jit.frontend.calls.code_scan import location_of

        called, code, instruction = found
        raise CompileError(
            f"tile operation `{name}`: `{called}` returns another value at each call, and would be called once, when "
            "the operation is compiled",
            location=location_of(code, instruction),
            help="make the values before the call, and pass them as an operand",
        )


_ON_FLOATS_HELP = "call the operation on floats: there it is the function itself"


def _helpers(reads: Sequence[Read]) -> Iterator[types.CodeType]:
    """The code of the helpers among the reads, and of the functions that they define."""
    for read in reads:
        if isinstance(read.value, types.CodeType):
            yield from codes_in(read.value)


class _Overloads:
    """The `__ttnn_overloads__` of a tile operation, whose declaration may change."""

    def __init__(self, owner: TileOperation) -> None:
        self._owner = owner

    def __iter__(self) -> Iterator[Operation]:
        yield self._owner.operation


def _parameters(function: types.FunctionType) -> tuple[str, ...]:
    """The names of the operands: the parameters without default. The others are constants."""
    parameters = inspect.signature(function).parameters.values()
    plain = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    needed = [parameter for parameter in parameters if parameter.default is inspect.Parameter.empty]
    if not needed or any(parameter.kind not in plain for parameter in needed):
        raise ArgumentError(
            f"tile operation `{function.__name__}` must take one float or more, by position",
            help="write it as `def f(x, y): ...`; parameters with a default are constants",
        )
    return tuple(parameter.name for parameter in needed)


def _digest(function: types.FunctionType, reads: Sequence[Read]) -> str | None:
    """A hash of the function's code and of its reads, equal in every process; None if a read has no fingerprint."""
    import hashlib

    try:
        found = [(path_text(read.path), read_fingerprint(read.value)) for read in reads]
    except NoStableIdentityError:
        return None
    return hashlib.sha256(repr((fingerprint_code(function.__code__), found)).encode()).hexdigest()[:32]


@overload
def tile_op(function: Callable[..., Any], /) -> TileOperation: ...


@overload
def tile_op(
    function: None = None, /, *, golden: Callable[..., Any] | None = ...
) -> Callable[[Callable[..., Any]], TileOperation]: ...


@user_frames_only
def tile_op(
    function: Callable[..., Any] | None = None, /, *, golden: Callable[..., Any] | None = None
) -> TileOperation | Callable[[Callable[..., Any]], TileOperation]:
    """Make an elementwise operation from a Python function of floats.

    Operators, comparisons, branches, functions of `math` and numpy, `ttnn` operations and helper functions are traced
    and become vector code; each step is float32. A function that cannot be traced (an ``int()``, a loop until
    convergence) is compiled by numba to scalar code, in which a Python float makes the arithmetic float64.
    `JitFunction.explain` reports which of the two happened.

    Args:
        function: The function, when written bare as ``@tile_op``. Its parameters without default are the operands.
        golden: An independent implementation on torch tensors, for `ttnn_jit.testing.assert_matches_golden`.

    Returns:
        A `TileOperation`, or a decorator that makes one.

    Raises:
        ArgumentError: `function` is not a Python function, or has no operand.
        CompileError: The body imports, prints, writes to nonlocal state, or calls a nondeterministic function such as
            ``random.random``. Names that are not defined yet are checked at the first call.
    """

    @user_frames_only
    def decorate(plain: Callable[..., Any]) -> TileOperation:
        if not isinstance(plain, types.FunctionType):
            raise ArgumentError(f"tile_op takes a Python function, got {type(plain).__name__}")
        return TileOperation(plain, golden)

    return decorate if function is None else decorate(function)
