"""The AST frontend: walks a function's syntax tree, computes compile-time values, writes operations on tensors.

Loops and branches over compile-time values are unrolled; calls of helpers and of other jitted functions are inlined.
expressions.py and statements.py hold the kinds of expressions and statements, call_expressions.py holds calls.
"""

from __future__ import annotations

import ast
import functools
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from ttnn_jit.diagnostics.errors import CompileError, TtnnJitError, UnsupportedFunction
from ttnn_jit.diagnostics.origin import is_of_the_standard_library
from ttnn_jit.diagnostics.source import Location
from ttnn_jit.foreign.numpy_array import is_numpy_array
from ttnn_jit.foreign.values import ABSENT, is_python_class, member_of
from ttnn_jit.frontend.plain_numbers import is_traced
from ttnn_jit.frontend.python.frame import Frame, generator_part, local_names_of, makes_generator
from ttnn_jit.frontend.python.language import PYTHON_FAILURES, is_plain_function, not_plain_function_text
from ttnn_jit.frontend.reads.function_source import FunctionNode, FunctionSource
from ttnn_jit.frontend.reads.read_recorder import ReadRecorder
from ttnn_jit.frontend.reads.spans import Span, location_of_span, span_of_node
from ttnn_jit.frontend.tensors.emitter import Emitter
from ttnn_jit.frontend.tensors.hidden_inputs import HiddenInputs
from ttnn_jit.frontend.tensors.proxy import TENSOR_OPERATORS, WRITING_OPERATORS, ProxyTensor
from ttnn_jit.frontend.unsupported import UNSEEN_IDENTITY, ChangeOutsideError, UnseenInTraceError
from ttnn_jit.frontend.writing.module_builder import ModuleBuilder
from ttnn_jit.guards.reads import TENSOR_STEP, Path
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.libraries import is_library_tensor
from ttnn_jit.specs.extents.trace import ServesOneCallError

MAX_ITERATIONS = 65_536  # total of all loops of one compile
MAX_RECURSION = 24  # nested calls of one function, which use Python's own stack


@dataclass(frozen=True)
class FunctionReturn:
    """Control leaves the function with the result `value`."""

    value: Any


@dataclass(frozen=True)
class Checkpoint:
    """The state of the interpreter, to return to when it catches an exception.

    Attributes:
        frame: The activation that is running.
        at: The expression or statement being executed.
        depth: The number of running activations.
        handling: The number of exceptions being handled.
    """

    frame: Frame
    at: ast.AST
    depth: int
    handling: int


@dataclass(frozen=True)
class Rules:
    """The implementations of expressions, blocks and calls, from the interpreter's other files."""

    evaluate: Mapping[type[ast.AST], Callable[[Interpreter, Any], Any]]
    refuse: Callable[[Interpreter, ast.AST], NoReturn]
    execute: Callable[[Interpreter, Sequence[ast.stmt]], object]
    call: Callable[[Interpreter, Any, Sequence[Any], Mapping[str, Any]], Any]
    compute: Callable[[Interpreter, Callable[..., Any], Sequence[Any], Mapping[str, Any]], Any]
    compute_in_c: Callable[[Interpreter, Callable[..., Any], Sequence[Any], Mapping[str, Any]], Any]
    attribute: Callable[[Interpreter, Any, str], Any]
    callback: Callable[[Interpreter, Any], Any]
    generate: Callable[[Interpreter, Frame, Any, object], Any]


class Interpreter(Emitter):
    """One interpretation of one function.

    Attributes:
        frame: The activation that is running.
        at: The expression or statement being executed.
        active: The functions of the running activations, outermost first.
        made_objects: Objects of the user's classes that the program made, by id.
        handled: The errors that running ``except`` blocks caught, outermost first.
        observes: Only reads are recorded; a trace makes the module.
        compared_inputs: Inputs whose identity C compared, by id.
        cached_calls: Calls of cached functions, with their results.
    """

    keeps_extents = True

    def __init__(
        self,
        builder: ModuleBuilder,
        recorder: ReadRecorder,
        hidden: HiddenInputs,
        rules: Rules,
        *,
        observes: bool = False,
    ) -> None:
        super().__init__(builder, hidden)
        self.compared_inputs: dict[int, Any] = {}
        self.cached_calls: list[tuple[functools.partial[Any], Any]] = []
        self.observes = observes
        self._rules = rules
        self.recorder = recorder
        self.frame: Frame
        self.at: ast.AST = ast.Module([], [])
        self.active: list[object] = []
        self.made_objects: dict[int, Any] = {}
        self.handled: list[CompileError] = []
        self._iterations = 0

    # --- locations and errors -----------------------------------------------------------------------------------

    def location(self) -> Location:
        """The location of the expression being executed, and of the calls that led to it."""
        return self.location_of(self.at)

    def callee_location(self) -> Location:
        """The location of the callee."""
        return self.location_of(self.at.func) if isinstance(self.at, ast.Call) else self.location()

    def location_of(self, node: ast.AST) -> Location:
        """The location of `node` in the file of the running activation."""
        return self.location_at(span_of_node(node, self.frame.source.imported))

    def location_at(self, span: Span) -> Location:
        """The location of `span` in the file of the running activation."""
        return location_of_span(self.frame.source.file, span, self.frame.called_from)

    def refuse(self, message: str, help_text: str | None = None, node: ast.AST | None = None) -> NoReturn:
        """Raise a CompileError at `node`, by default the current one."""
        raise CompileError(message, location=self.location_of(node or self.at), help=help_text)

    def refuse_change(self, message: str, help_text: str, node: ast.AST | None = None) -> NoReturn:
        """Raise a ChangeOutsideError at `node`, by default the current one."""
        raise ChangeOutsideError(message, location=self.location_of(node or self.at), help=help_text)

    def refuse_in_trace(self, message: str) -> NoReturn:
        """Raise an UnseenInTraceError: the proxy of a trace gives another answer than the tensor."""
        raise UnseenInTraceError(message, location=self.location(), help="leave `graph_capture=True` out")

    def fail(self, error: BaseException, node: ast.AST | None = None) -> NoReturn:
        """Raise an exception of the program, as a CompileError at `node`, by default the current one."""
        raise CompileError(failure_text(error), location=self.location_of(node or self.at)) from error

    def checkpoint(self) -> Checkpoint:
        """The current state."""
        return Checkpoint(self.frame, self.at, len(self.active), len(self.handled))

    def return_to(self, checkpoint: Checkpoint) -> None:
        """Continue from `checkpoint`: activations and handlers entered since are left."""
        self.frame, self.at = checkpoint.frame, checkpoint.at
        del self.active[checkpoint.depth :]
        del self.handled[checkpoint.handling :]

    # --- evaluation and calls -----------------------------------------------------------------------------------

    def evaluate(self, node: ast.expr) -> Any:
        """The value of an expression."""
        return self.program_value(self._rules.evaluate.get(type(node), self._rules.refuse)(self, node))

    def resolve(self, value: Any) -> Any:
        """As `Emitter.resolve`; a trace of a function that tests identity must not find a tensor of the call."""
        stand_in = super().resolve(value)
        if self.observes and self.recorder.tracks_identity and is_library_tensor(value):
            path = self.recorder.path_of(value)
            if path is not None and path[0][0] == TENSOR_STEP:
                self.refuse_in_trace(UNSEEN_IDENTITY)
        return stand_in

    def program_value(self, value: Any) -> Any:
        """The value that the program handles for `value`: the input for a tensor of the user's world.

        An array of numpy's becomes an input only as an operand; until then its items are plain numbers.
        """
        return self.resolve(value) if is_library_tensor(value) and not is_numpy_array(value) else value

    def python(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """The result of `function`, a part of Python; its reads of the arguments are recorded.

        Raises:
            CompileError: The function raised; the text is Python's.
        """
        writes = function in WRITING_OPERATORS and any(map(is_numpy_array, args[:1]))
        takes_tensors = writes or function in TENSOR_OPERATORS or any(type(value) is ProxyTensor for value in args)
        handled = [*map(self.resolve if takes_tensors else self.program_value, args)]
        return self.program_value(self._rules.compute(self, function, handled, kwargs))

    def compute_in_c(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """As `python`, without handlers: C computes, and calls no special method of the user's unrecorded."""
        return self._rules.compute_in_c(self, function, args, kwargs)

    def natively(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """The result of `function`; nothing is recorded, and its exceptions are those of the user's program.

        Raises:
            CompileError: The function raised; the text is Python's.
        """
        try:
            return function(*args, **kwargs)
        except TtnnJitError:
            raise
        except PYTHON_FAILURES as error:
            raise CompileError(failure_text(error), location=self.location()) from error

    def truth(self, node: ast.expr, value: Any) -> bool:
        """The truth of `value`, the value of `node`, for a branch."""
        self.at = node
        return bool(self.python(bool, value))

    def attribute(self, base: Any, name: str) -> Any:
        """The attribute `name` of any value, recorded as read."""
        return self._rules.attribute(self, base, name)

    def callback(self, function: Any) -> Any:
        """A callable by which C calls `function` in the interpreter."""
        return self._rules.callback(self, function)

    def class_member(self, value: Any, name: str) -> Any:
        """The member `name` of the class of `value`, or ABSENT, recorded as read."""
        kind = type(value)
        member = member_of(kind, name)
        path = self.recorder.class_path_of(value)
        if path is not None:
            self.recorder.record_member(path, kind, name, member)
        elif is_python_class(kind) and not is_of_the_standard_library(kind):
            self.mark_opaque(f"`{kind.__name__}`, the class of an object, was not found by a name or an attribute")
        return member

    def operand(self, value: Any) -> Any:
        """As `Emitter.operand`; the iteration over a list or tuple is recorded."""
        return super().operand(type(value)(self.python(list, value)) if type(value) in {list, tuple} else value)

    @property
    def unsupported(self) -> type[UnsupportedFunction]:
        """The error class for programs that neither frontend compiles."""
        return UnseenInTraceError if self.observes else UnsupportedFunction

    def mark_opaque(self, what: str) -> None:
        """Record a read whose change no guard can see: the program serves one call only.

        Raises:
            CompileError: The interpreter only observes a program that a trace will run.
            ServesOneCallError: The program is compiled for many sizes.
        """
        if is_traced() and not self.observes:
            raise ServesOneCallError  # what follows may run natively, and gets plain ints in a compile of one size
        if self.observes:
            raise CompileError(what, location=self.location())
        self.recorder.mark_opaque(what, self.location())

    def count_iteration(self, node: ast.AST) -> None:
        """Count an iteration of an unrolled loop.

        Raises:
            CompileError: The loops of this compile made too many iterations.
        """
        self._iterations += 1
        if self._iterations > MAX_ITERATIONS:
            self.refuse(
                f"the loops of this function make more than {MAX_ITERATIONS} iterations, and each is unrolled",
                "does the condition ever become false? Large repetitions belong into the shape of a tensor",
                node,
            )

    # --- names --------------------------------------------------------------------------------------------------

    def lookup(self, node: ast.Name) -> tuple[Any, Path | None]:
        """The value of a name, and its path if it is not local; nothing is recorded as read.

        Raises:
            CompileError: The name has no value.
        """
        owner = self.frame.owner_of(node.id)
        if owner is not None:
            value = owner.variables.get(node.id, ABSENT)
            if value is ABSENT:
                self.refuse(f"`{node.id}` has no value here: it is assigned on another path", node=node)
            return value, None
        value, path = self.recorder.closure_or_global(self.frame.function, self.frame.path, node.id)
        if value is ABSENT:
            self.refuse(f"the name `{node.id}` is not defined", node=node)
        return value, path

    def run_function(
        self,
        source: FunctionSource,
        function: types.FunctionType,
        path: Path | None,
        variables: dict[str, Any],
        called_from: Location | None,
    ) -> Any:
        """The result of a function that starts with these variables."""
        frame = Frame(
            function.__name__,
            source,
            function,
            path,
            local_names_of(source.node),
            {name: self.program_value(value) for name, value in variables.items()},
            called_from=called_from,
        )
        return self.run_frame(frame, source.node, function)

    def run_frame(self, frame: Frame, node: FunctionNode, identity: object) -> Any:
        """The result of the body of `node` in `frame`; `identity` detects recursion.

        Raises:
            CompileError: The function calls itself too deeply, or is a generator or an `async def`.
        """
        if sum(running is identity for running in self.active) > MAX_RECURSION:
            self.refuse(
                f"`{frame.name}` calls itself more than {MAX_RECURSION} calls deep",
                "does it ever return? Write long repetitions as loops over compile-time values",
            )
        caller, at = (self.frame, self.at) if self.active else (frame, node)
        self.frame, self.at = frame, node
        if not (isinstance(identity, types.FunctionType) and is_plain_function(identity)):
            self._require_plain_function(frame, node)
            if makes_generator(node):
                self.frame, self.at = caller, at
                return self._rules.generate(self, frame, node, identity)
        self.active.append(identity)
        if isinstance(node, ast.Lambda):
            value = self.evaluate(node.body)
        else:
            signal = self._rules.execute(self, node.body)
            value = signal.value if isinstance(signal, FunctionReturn) else None
        # After an error the state is kept, for the error's location.
        self.active.pop()
        self.frame, self.at = caller, at
        return value

    def _require_plain_function(self, frame: Frame, node: FunctionNode) -> None:
        if isinstance(node, ast.AsyncFunctionDef):
            self.refuse(*not_plain_function_text(frame.name, is_async=True), node)
        if makes_generator(node) and (isinstance(node, ast.Lambda) or not self.active):
            body = [node.body] if isinstance(node, ast.Lambda) else node.body
            self.refuse(*not_plain_function_text(frame.name, is_async=False), generator_part(body))

    def call_with(self, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """The result of calling any value of the program."""
        return self._rules.call(self, function, args, kwargs)


def failure_text(error: BaseException) -> str:
    """The text of an exception, as in the last line of a traceback."""
    text = str(error)
    if isinstance(error, AssertionError):
        return f"assertion failed: {text}" if text else "assertion failed"
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
