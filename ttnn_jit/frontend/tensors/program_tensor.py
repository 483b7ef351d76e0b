"""The tensors of a program while it is written, the views among them, and the program as they know it.

What a function does with them (proxy.py) and how its calls become operations (emitter.py) stand on both.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any, NoReturn, ParamSpec, TypeVar

from xdsl.ir import SSAValue

from ttnn_jit.diagnostics.errors import ArgumentError, CompileError
from ttnn_jit.diagnostics.source import Location
from ttnn_jit.foreign.numpy_scalar import python_number
from ttnn_jit.frontend.tensors.hidden_inputs import HiddenInputs
from ttnn_jit.frontend.writing.module_builder import ModuleBuilder, TensorOperand
from ttnn_jit.ops import Operation
from ttnn_jit.ops.families.movement import CanonicalCall
from ttnn_jit.ops.movement.view_rules import Strides
from ttnn_jit.ops.result_options import NO_OPTIONS, ResultOptions
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.libraries import TTNN, is_library_tensor
from ttnn_jit.runtime.programs.random_state import name_of, state
from ttnn_jit.runtime.tensors.tensor_queries import TensorQueries
from ttnn_jit.specs.tensor_spec import TensorSpec

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True)
class TensorArgument:
    """A tensor among the arguments: its metadata stands for it. Everything else is passed as itself.

    Attributes:
        spec: Its metadata.
        memory: What tells tensors apart that lie in the same memory from others; None: it is one of its own.
        tensor: The object itself, for functions that ask which tensors are one; None: nobody else has it.
    """

    spec: TensorSpec
    memory: int | None = None
    tensor: Any = field(default=None, repr=False, compare=False)


class ProgramTensor(TensorQueries):
    """A tensor without data: what it holds, and which memory it lies in, where the program stands."""

    __slots__ = (
        "_deallocated_at",
        "_spec",
        "_value",
        "argument",
        "emitter",
        "is_argument",
        "is_copy",
        "requested",
        "strides_in_elements",
        "view_of",
        "writes",
    )

    def __init__(
        self, emitter: AbstractEmitter, value: SSAValue, spec: TensorSpec, *, is_argument: bool = False
    ) -> None:
        self.emitter = emitter
        self._deallocated_at: Location | None = None
        self._value = value
        self._spec = spec
        self.is_argument = is_argument
        self.argument = value
        self.is_copy = False
        self.view_of: View | None = None
        self.strides_in_elements: Strides = None
        self.requested: TensorSpec | None = None
        self.writes = 0

    @property
    def spec(self) -> TensorSpec:  # type: ignore[override]  # never assigned
        """What it is; no write changes shape, dtype or layout. It lies where calls asked for it, if they did."""
        return self.requested or self._spec

    @property
    def operand(self) -> TensorOperand:
        """What it holds where the program stands."""
        return self.cached_operand if self.view_of is None else self.view_of.read(self)

    @property
    def cached_operand(self) -> TensorOperand:
        """What it held when it was last looked at."""
        return self._value, self._spec

    def rebind(self, operand: TensorOperand) -> None:
        """Have it hold `operand`."""
        self._value, self._spec = operand

    @property
    def deallocated_at(self) -> Location | None:
        """Where `ttnn.deallocate` was called on it, if it was."""
        return self._deallocated_at

    def refuse(self, message: str, help_text: str | None = None) -> NoReturn:
        """Raise a CompileError at the location where the program stands."""
        raise CompileError(message, location=self.emitter.location(), help=help_text)


@dataclass
class View:
    """That a tensor lies in the memory of another.

    Attributes:
        base: The other one.
        chain: The operations that give it, one after the other.
        location: Where it was made.
        seen_writes: How many writes into the base's memory its value has seen.
        is_certain: False of a reshape of a tensor whose strides are not known: the library may have copied it.
    """

    base: ProgramTensor
    chain: tuple[CanonicalCall, ...]
    location: Location
    seen_writes: int
    is_certain: bool = True

    def read(self, tensor: ProgramTensor) -> TensorOperand:
        """What `tensor`, whose view this is, holds now.

        Raises:
            CompileError: The base was written, and nobody knows whether it is a view.
        """
        writes = root_of(self.base).writes
        if self.seen_writes != writes:
            self.require_certain(tensor, "reads")
            tensor.rebind(self.apply(self.base.operand, self.chain))
            self.seen_writes = writes
        return tensor.cached_operand

    def apply(self, part: TensorOperand, chain: Iterable[CanonicalCall]) -> TensorOperand:
        """`part` through some of its operations."""
        for operation, statics in chain:
            part = self.base.emitter.builder.operation(operation, [part], statics, self.location)
        return part

    def require_certain(self, tensor: ProgramTensor, what: str) -> None:
        """Refuse that the program does `what` with `tensor`, whose view this is, if it may be none.

        Raises:
            CompileError: It may be none.
        """
        if self.is_certain:
            return
        tensor.refuse(
            f"this {what} the reshape of {self.location}, and one of the two tensors was written: whether they share "
            "memory is not known, for what was reshaped is computed of tensors that are not contiguous",
            "reshape a contiguous copy, `x.contiguous()` or `x.copy()`, or write before the reshape",
        )


def root_of(tensor: ProgramTensor) -> ProgramTensor:
    """The tensor in whose memory `tensor` lies: itself unless it is a view."""
    while tensor.view_of is not None:
        tensor = tensor.view_of.base
    return tensor


class AbstractEmitter(ABC):
    """A program being written, as its tensors know it: what it reads, where it stands, and that it writes calls.

    Attributes:
        observes: Another way through the program makes the module; this one is for what it reads.
        inputs: What stands for the tensors of the call, then for those that the function found.
        library: Of these tensors; None: any.
        words: In whose words tensors answer: those of ttnn inside a function of the host API.
        is_over: The function has run to its end.
    """

    observes = False
    is_over = False

    def __init__(self, builder: ModuleBuilder, hidden: HiddenInputs) -> None:
        self.builder = builder
        self.warnings: dict[str, None] = {}
        self._hidden = hidden
        self.inputs: list[ProgramTensor] = []
        self._arguments: dict[int, ProgramTensor] = {}
        self.library = self.metadata_library = hidden.library

    @abstractmethod
    def location(self) -> Location:
        """Where the program stands: the expression being carried out."""

    @abstractmethod
    def tensor(self, made: TensorOperand, *, is_argument: bool = False) -> ProgramTensor:
        """What the function handles for a tensor of the program."""

    @abstractmethod
    def call(self, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """What a call to an object of the `ttnn` namespace gives.

        Raises:
            UnsupportedFunction: No program has it.
            CompileError: The arguments do not fit the operation or each other.
        """

    @abstractmethod
    def emit(
        self,
        overloads: Sequence[Operation],
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        options: ResultOptions = NO_OPTIONS,
    ) -> Any:
        """What the first of `overloads` that takes these arguments gives, as `options` ask."""

    def callee_location(self) -> Location:
        """Where the function that is being called is named; the whole call, if that is all that is known."""
        return self.location()

    def argument(self, argument: TensorArgument, name: str) -> ProgramTensor:
        """The function's next argument, or the next tensor of the argument `name`; one of before in the same memory."""
        value = self.builder.named_argument(argument.spec, name)
        known = None if argument.memory is None else self._arguments.get(argument.memory)
        if known is None:
            known = self._input(value, argument.spec)
            if argument.memory is not None:
                self._arguments[argument.memory] = known
        return known

    def _input(self, value: SSAValue, spec: TensorSpec) -> ProgramTensor:
        tensor = self.tensor((value, spec), is_argument=True)
        tensor.strides_in_elements = spec.element_strides
        self.inputs.append(tensor)
        return tensor

    def resolve(self, value: Any) -> Any:
        """`value`, or the input that stands for it if it is a tensor of the user's world.

        Raises:
            ArgumentError: It is a tensor that the call cannot take.
        """
        return self._hidden.input(value, self._hidden_input, self.location) if is_library_tensor(value) else value

    def _hidden_input(self, spec: TensorSpec, name: str) -> ProgramTensor:
        return self._input(self.builder.hidden_input(spec, name), spec)

    def random_state(self, part: str) -> ProgramTensor:
        """The input that stands for a part of the generator's state (runtime/programs/random_state.py)."""
        library = self.library or TTNN
        tensor, name = state(part, library), name_of(part, library)
        found: ProgramTensor = self._hidden.state_input(tensor, name, self._hidden_input, self.location)
        return found

    def is_input(self, value: Any) -> bool:
        """Whether `value` is a tensor of the user's world that is an input of the program already."""
        return is_library_tensor(value) and self._hidden.holds(value)

    def is_hidden(self, tensor: ProgramTensor) -> bool:
        """Whether `tensor` stands for one of the user's world."""
        return self._hidden.is_input(tensor)

    def live_operand(self, tensor: ProgramTensor, what: str) -> TensorOperand:
        """What a tensor holds, for the use of `what`.

        Raises:
            CompileError: It was deallocated, or was left where a compile does not reach.
        """
        if tensor.emitter is not self or self.is_over:
            raise CompileError(
                f"{what} uses a tensor of a function that has been compiled, which never held any data",
                location=self.location(),
                help="have the function return it",
            )
        if tensor.deallocated_at is not None:
            tensor.refuse(f"{what} uses a tensor that was deallocated at {tensor.deallocated_at}")
        return tensor.operand

    def operand(self, value: Any) -> Any:
        """What an operation takes for `value`: inputs for tensors, in lists and tuples too, Python's numbers."""
        if type(value) in {list, tuple}:
            return type(value)(map(self.resolve, value))
        return python_number(self.resolve(value))

    def checked(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What `function` makes of arguments of the program's.

        Raises:
            CompileError: It refuses them.
        """
        try:
            return function(*args, **kwargs)
        except ArgumentError as error:
            if isinstance(error, CompileError) and error.location is not None:
                raise
            raise CompileError(error.message, location=self.location(), help=error.help) from None
