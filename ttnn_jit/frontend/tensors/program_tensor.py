"""The tensors of a program while it is written, their views, and the interface of the program to its tensors.

The operators on tensors (proxy.py) and the binding of calls (emitter.py) are built on these.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from functools import partial
from typing import Any, NoReturn, ParamSpec, TypeVar

from xdsl.ir import SSAValue

from ttnn_jit.diagnostics.errors import ArgumentError, CompileError
from ttnn_jit.diagnostics.source import Location
from ttnn_jit.foreign.numpy_scalar import python_number
from ttnn_jit.frontend.tensors.hidden_inputs import HiddenInputs
from ttnn_jit.frontend.writing.module_builder import ModuleBuilder, TensorOperand
from ttnn_jit.guards.reads import Path
from ttnn_jit.ops import Collective, Operation
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
    """A tensor among the arguments, by its metadata. All other arguments are passed as themselves.

    Attributes:
        spec: Its metadata.
        memory: A number that tensors in the same memory share; None: the tensor aliases no other.
        tensor: The tensor itself, for functions that test identity; None: nobody else has a reference to it.
        blocks: Of a tensor of a mesh, per device the first one whose part has the same memory; () if each has its own.
    """

    spec: TensorSpec
    memory: int | None = None
    tensor: Any = field(default=None, repr=False, compare=False)
    blocks: tuple[int, ...] = ()


class ProgramTensor(TensorQueries):
    """A tensor without data: its current value, and the memory that it lies in."""

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
        """Shape, dtype and layout, which no write changes, in the memory config that calls requested, if any did."""
        return self.requested or self._spec

    @property
    def operand(self) -> TensorOperand:
        """Its current value, with all writes through aliases applied."""
        return self.cached_operand if self.view_of is None else self.view_of.read(self)

    @property
    def cached_operand(self) -> TensorOperand:
        """Its value when it was last read or written; a later write to the base of a view is missing."""
        return self._value, self._spec

    def rebind(self, operand: TensorOperand) -> None:
        """Set its value to `operand`."""
        self._value, self._spec = operand

    @property
    def deallocated_at(self) -> Location | None:
        """The location of the `ttnn.deallocate` of this tensor; None if there was none."""
        return self._deallocated_at

    def refuse(self, message: str, help_text: str | None = None) -> NoReturn:
        """Raise a CompileError at the current location."""
        raise CompileError(message, location=self.emitter.location(), help=help_text)


@dataclass
class View:
    """The relation of a view to its base, in whose memory it lies.

    Attributes:
        base: The base.
        chain: The movements from the base to the view, in order.
        location: Where the view was made.
        seen_writes: The number of writes into the base's memory that the view's value includes.
        is_certain: False for a reshape of a tensor of unknown strides: the library may have copied it.
    """

    base: ProgramTensor
    chain: tuple[CanonicalCall, ...]
    location: Location
    seen_writes: int
    is_certain: bool = True

    def read(self, tensor: ProgramTensor) -> TensorOperand:
        """The current value of `tensor`, whose view this is.

        Raises:
            CompileError: The base was written, and the tensor may be a copy of it.
        """
        writes = root_of(self.base).writes
        if self.seen_writes != writes:
            self.require_certain(tensor, "reads")
            tensor.rebind(self.apply(self.base.operand, self.chain))
            self.seen_writes = writes
        return tensor.cached_operand

    def apply(self, part: TensorOperand, chain: Iterable[CanonicalCall]) -> TensorOperand:
        """The result of the movements `chain` on `part`."""
        for operation, statics in chain:
            part = self.base.emitter.builder.operation(operation, [part], statics, self.location)
        return part

    def require_certain(self, tensor: ProgramTensor, what: str) -> None:
        """Require that `tensor` is certainly a view; `what` is the verb of its use, for the error.

        Raises:
            CompileError: It may be a copy.
        """
        if self.is_certain:
            return
        tensor.refuse(
            f"this {what} the reshape of {self.location}, and one of the two tensors was written: whether they share "
            "memory is not known, because the reshaped tensor is computed from tensors that are not contiguous",
            "reshape a contiguous copy, `x.contiguous()` or `x.copy()`, or write before the reshape",
        )


def root_of(tensor: ProgramTensor) -> ProgramTensor:
    """The tensor that owns the memory of `tensor`: itself unless it is a view."""
    while tensor.view_of is not None:
        tensor = tensor.view_of.base
    return tensor


class AbstractEmitter(ABC):
    """The interface of a program that is being written to its tensors: its inputs, its location, and its calls.

    Attributes:
        observes: Only reads are recorded; a trace makes the module.
        keeps_extents: The user's code is interpreted, and may get extents of a trace; else it gets plain ints.
        inputs: The proxies of the call's tensors, then those of hidden inputs.
        library: The library of these tensors; None: any.
        metadata_library: The library whose metadata (dtypes, shapes, layouts) tensors return; None, ttnn, inside a
            function of the host API.
        is_over: The function has returned.
    """

    observes = False
    keeps_extents = False
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
        """The location of the expression being executed."""

    @abstractmethod
    def tensor(self, made: TensorOperand, *, is_argument: bool = False) -> ProgramTensor:
        """The proxy of a tensor of the program."""

    @abstractmethod
    def call(self, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """The result of a call to an object of the `ttnn` namespace.

        Raises:
            UnsupportedFunction: Programs cannot call it.
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
        """The result of the first of `overloads` that takes these arguments, with the result `options`."""

    @abstractmethod
    def exchanged(
        self,
        name: str,
        collective: Collective,
        tensors: Sequence[ProgramTensor],
        statics: tuple[Any, ...],
        cluster_axis: int | None,
    ) -> list[ProgramTensor]:
        """The results of a collective of the function `name` between the devices of the program."""

    def callee_location(self) -> Location:
        """The location of the callee's name, or of the whole call if that is not known."""
        return self.location()

    def argument(self, argument: TensorArgument, name: str) -> ProgramTensor:
        """The proxy of the next tensor of the argument `name`; tensors in one memory share a proxy."""
        value = self.builder.named_argument(argument.spec, name, argument.blocks)
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
        """The input for a tensor of the user's world; any other value unchanged.

        Raises:
            ArgumentError: The call cannot take this tensor.
        """
        return self._hidden.input(value, self._hidden_input, self.location) if is_library_tensor(value) else value

    def _hidden_input(
        self, spec: TensorSpec, name: str, blocks: tuple[int, ...] = (), *, is_whole: bool = False
    ) -> ProgramTensor:
        return self._input(self.builder.hidden_input(spec, name, blocks, is_whole=is_whole), spec)

    def random_state(self, part: str) -> ProgramTensor:
        """The input for a part of the generator's state (runtime/programs/random_state.py)."""
        library = self.library or TTNN
        tensor, name = state(part, library), name_of(part, library)
        found: ProgramTensor = self._hidden.state_input(
            tensor, name, partial(self._hidden_input, is_whole=True), self.location
        )
        return found

    def opened(self, value: Any, path: Path | None) -> Any:
        """A value that was read at `path`: a number of a trace in place of an int or float that is open."""
        return self._hidden.number(value, path)

    def is_input(self, value: Any) -> bool:
        """Whether `value` is a tensor of the user's world that is already a hidden input."""
        return is_library_tensor(value) and self._hidden.holds(value)

    def is_hidden(self, tensor: ProgramTensor) -> bool:
        """Whether `tensor` is the proxy of a hidden input."""
        return self._hidden.is_input(tensor)

    def live_operand(self, tensor: ProgramTensor, what: str) -> TensorOperand:
        """The value of a tensor that `what` uses.

        Raises:
            CompileError: The tensor was deallocated, or belongs to another or a finished compile.
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
        """`value` as an operand: inputs for tensors, also in lists and tuples, and numbers as Python's."""
        if type(value) in {list, tuple}:
            return type(value)(map(self.resolve, value))
        return python_number(self.resolve(value))

    def locate_errors(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The result of `function`; an ArgumentError becomes a CompileError at the current location.

        Raises:
            CompileError: The function refuses the arguments.
        """
        try:
            return function(*args, **kwargs)
        except ArgumentError as error:
            if isinstance(error, CompileError) and error.location is not None:
                raise
            raise CompileError(error.message, location=self.location(), help=error.help) from None
