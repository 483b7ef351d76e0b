"""`tile_op`: an elementwise operation of the user's own, written as a Python function of floats.

    @ttnn_jit.tile_op
    def softcap(x):
        return 30.0 * math.tanh(x / 30.0)

The function is traced where that is possible (ops/tile_trace.py), and is then compiled as a built-in operation is;
otherwise numba compiles it to scalar code (kernels/numba/scalar_call.py). Either way it is one op with one rounding.
"""

from __future__ import annotations

import dis
import inspect
import re
import types
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any, overload

from ttnn_jit.calls.changing_functions import changing_function
from ttnn_jit.diagnostics.errors import ArgumentError, CompileError, TtnnJitError
from ttnn_jit.diagnostics.source import codes_in, definition_of, whole_line
from ttnn_jit.diagnostics.tracebacks import keep_users_frames, raises_for_the_user
from ttnn_jit.foreign.values import NoStableIdentityError
from ttnn_jit.guards.fingerprints import fingerprint_code, read_fingerprint
from ttnn_jit.guards.reads import ATTRIBUTE_STEP, Read, compile_guard, path_text
from ttnn_jit.ops import Number, Operation
from ttnn_jit.process.compile_lock import compiling
from ttnn_jit.ttnn.calling.eager_operation import TtnnOperation

if TYPE_CHECKING:
    from ttnn_jit.ops.language.tile_body import TileBody


class TileOperation(TtnnOperation):
    """A user's operation: called like those of `ttnn`, eagerly or in a jitted function; on floats it is the function.

    What it computes is looked up at every compile and every eager call: a change of the function's body, of a global
    or of a helper that it reads is another operation.

    Attributes:
        func: The Python function.
        golden: An independent statement of it on torch tensors, if there is one.
    """

    def __init__(self, function: types.FunctionType, golden: Callable[..., Any] | None) -> None:
        _refuse_outside(function)
        _refuse_changing(function.__name__, function)
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
        """The declaration of what the function computes now.

        Raises:
            CompileError: It changes the world, or raises where it cannot be traced.
        """
        with compiling():
            if self._operation is None or self._guard is None or not self._guard():
                self._declare()
            assert self._operation is not None
            return self._operation

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run eagerly on tensors, record the call if an argument is a tracer, or call the function on numbers."""
        if all(isinstance(value, Number) for value in (*args, *kwargs.values())):
            return self.func(*args, **kwargs)
        try:
            return super().__call__(*args, **kwargs)
        except TtnnJitError as error:
            keep_users_frames(error)
            raise

    def _declare(self) -> None:
        # The scan is the frontend's, which loads the compiler; that and the tracer: not before they are needed.
        from ttnn_jit.frontend.calls.code_scan import scan
        from ttnn_jit.frontend.reads.read_recorder import ReadRecorder
        from ttnn_jit.ops.families.user_operation import declare

        recorder = ReadRecorder()
        scan(self.func, recorder)
        defaults = [Read(((ATTRIBUTE_STEP, name),), getattr(self.func, name)) for name in _DEFAULTS]
        reads = [*defaults, *recorder.reads.values()]
        for code in _helpers(reads):
            _refuse_instructions(self.name, code, shadowed=_ONCE)
        for function in (self.func, *(read.value for read in reads if type(read.value) is types.FunctionType)):
            _refuse_changing(self.name, function)
        guard = compile_guard(self.func, reads)
        body = self._body(reads, complete=recorder.opaque is None)
        if not guard():
            raise CompileError(
                f"tile operation `{self.name}` {_CHANGES}", location=definition_of(self.func.__code__), help=_RETURN_IT
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
        known_as = digest or uuid4().hex  # one that no other process will find on disk
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
        """Its own golden: functions of one name and body are one operation, and each may have another."""
        return self._torch_golden() or operation.golden

    def _torch_golden(self) -> Callable[..., Any] | None:
        golden = self.golden
        return None if golden is None else lambda _, *operands: golden(*operands)

    def __repr__(self) -> str:
        return f"<tile operation {self.name}>"


_DEFAULTS = ("__defaults__", "__kwdefaults__")

_CHANGES = "changes something outside itself"
_RETURN_IT = "return the value"
_OUTSIDE = {
    "IMPORT_NAME": ("`import` cannot be compiled", "import at the top of the file"),
    **dict.fromkeys(("STORE_GLOBAL", "DELETE_GLOBAL", "STORE_ATTR", "DELETE_ATTR"), (f"it {_CHANGES}", _RETURN_IT)),
}
_ONCE = ("print", "breakpoint", "input")


def _refuse_outside(function: types.FunctionType) -> None:
    """Refuse what is outside the language whatever names stand for.

    Raises:
        CompileError: It is a generator or a coroutine, imports, prints, or writes to what is not its own.
    """
    name = function.__name__
    flags = function.__code__.co_flags
    if flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        from ttnn_jit.frontend.python.language import not_plain_function_text

        message, instead = not_plain_function_text(name, is_async=not flags & inspect.CO_GENERATOR)
        raise CompileError(f"tile operation {message}", location=definition_of(function.__code__), help=instead)
    shadowed = {name for name in _ONCE if name in function.__globals__}
    for code in codes_in(function.__code__):
        _refuse_instructions(name, code, closure=function.__code__.co_freevars, shadowed=shadowed)


def _refuse_instructions(
    name: str, code: types.CodeType, closure: Sequence[str] = (), shadowed: Collection[str] = ()
) -> None:
    for instruction in dis.get_instructions(code):
        opname, argument = instruction.opname, instruction.argval
        found = _OUTSIDE.get(opname)
        if opname in {"STORE_DEREF", "DELETE_DEREF"} and argument in closure:
            found = f"it {_CHANGES}", _RETURN_IT
        if opname in {"LOAD_GLOBAL", "LOAD_NAME"} and argument in _ONCE and argument not in shadowed:
            found = f"`{argument}` would act once, when it is compiled", _ON_FLOATS
        if found is not None:
            from ttnn_jit.frontend.calls.code_scan import location_of

            message, instead = found
            raise CompileError(
                f"tile operation `{name}`: {message}", location=location_of(code, instruction), help=instead
            )


def _refuse_changing(name: str, function: types.FunctionType) -> None:
    """Refuse the random numbers and clocks that are known by name now.

    Raises:
        CompileError: There is one.
    """
    found = changing_function(function)
    if found is not None:
        from ttnn_jit.frontend.calls.code_scan import location_of

        called, code, instruction = found
        raise CompileError(
            f"tile operation `{name}`: `{called}` gives another value each time, and would be called once, when it is "
            "compiled",
            location=location_of(code, instruction),
            help="make the values before the call, and pass them as an operand",
        )


_ON_FLOATS = "call the operation on floats: there it is the function itself"


def _helpers(reads: Sequence[Read]) -> Iterator[types.CodeType]:
    """The code of the helpers that were read, and of the functions that they define."""
    for read in reads:
        if isinstance(read.value, types.CodeType):
            yield from codes_in(read.value)


class _Overloads:
    """What `__ttnn_overloads__` is for an operation whose declaration is looked up whenever it is needed."""

    def __init__(self, owner: TileOperation) -> None:
        self._owner = owner

    def __iter__(self) -> Iterator[Operation]:
        yield self._owner.operation


def _parameters(function: types.FunctionType) -> tuple[str, ...]:
    """Names of the operands: the parameters without default. The others keep theirs."""
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
    """Hash of the function's code and of all that it reads, equal in every process; None if there can be none."""
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


@raises_for_the_user
def tile_op(
    function: Callable[..., Any] | None = None, /, *, golden: Callable[..., Any] | None = None
) -> TileOperation | Callable[[Callable[..., Any]], TileOperation]:
    """Make an elementwise operation of a Python function of floats.

    Operators, comparisons, branches, functions of `math` and numpy, `ttnn` operations and helper functions are traced
    and become vector code; each step is float32. What cannot be traced (an ``int()``, a loop until convergence) is
    compiled by numba to scalar code, in which a Python float makes the arithmetic float64; `JitFunction.explain` says
    which it was.

    Args:
        function: The function, when written bare as ``@tile_op``. Its parameters without default are the operands.
        golden: An independent statement of it on torch tensors, for `ttnn_jit.testing.assert_matches_golden`.

    Returns:
        A `TileOperation`, or a decorator that makes one.

    Raises:
        ArgumentError: It is no Python function, or takes no operand.
        CompileError: Its body imports, prints, writes to what is not its own, or calls what gives another value each
            time, such as ``random.random``; names that are defined later are looked at when it is first called.
    """

    @raises_for_the_user
    def decorate(plain: Callable[..., Any]) -> TileOperation:
        if not isinstance(plain, types.FunctionType):
            raise ArgumentError(f"tile_op takes a Python function, got {type(plain).__name__}")
        return TileOperation(plain, golden)

    return decorate if function is None else decorate(function)
