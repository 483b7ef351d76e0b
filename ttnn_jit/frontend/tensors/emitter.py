"""What a frontend does with a call: writes the operations of the module, and knows where the program stands."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ParamSpec, TypeVar

from xdsl.ir import SSAValue

from ttnn_jit.diagnostics.errors import ArgumentError, CompileError
from ttnn_jit.diagnostics.source import Location
from ttnn_jit.foreign.numpy_scalar import is_numpy_scalar, python_number
from ttnn_jit.frontend.tensors.creations import create
from ttnn_jit.frontend.tensors.hidden_inputs import HiddenInputs
from ttnn_jit.frontend.tensors.proxy import ProxyTensor
from ttnn_jit.frontend.tensors.requested_results import brought_there, note_layouts, results_of, with_activated_operands
from ttnn_jit.frontend.tensors.tensor_argument import TensorArgument
from ttnn_jit.frontend.tensors.tensor_metadata import known_term
from ttnn_jit.frontend.tensors.views import note_views, strides_of_result
from ttnn_jit.frontend.tensors.writes import into, into_several, is_proxy, update
from ttnn_jit.frontend.unsupported import function_of_the_host, outside_tensor_help, unsupported_function
from ttnn_jit.frontend.writing.module_builder import ModuleBuilder, TensorOperand
from ttnn_jit.ops import ALIASES, IN_PLACE, BoundCall, Operation, bind, overloads_of
from ttnn_jit.ops.host_ops import creation_of
from ttnn_jit.ops.language.binding import with_precision
from ttnn_jit.ops.result_options import NO_OPTIONS, ResultOptions, bind_options
from ttnn_jit.runtime.libraries import NUMPY, TORCH, TTNN, is_library_tensor
from ttnn_jit.runtime.programs.random_state import name_of, state
from ttnn_jit.specs.target import Numerics
from ttnn_jit.specs.tensor_spec import DataType, MemoryConfig, TensorSpec

P = ParamSpec("P")
T = TypeVar("T")


def plain_name(function: Any) -> str:
    """The name of an operation without its namespace: ``ttnn.exp`` is ``exp``."""
    return str(getattr(function, "__name__", type(function).__name__)).removeprefix("ttnn.")


class Emitter(ABC):
    """Turns calls into operations of the module; each frontend knows in its own way where the program stands.

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
        self.inputs: list[ProxyTensor] = []
        self._arguments: dict[int, ProxyTensor] = {}
        self.library = self.words = hidden.library

    @abstractmethod
    def location(self) -> Location:
        """Where the program stands: the expression being carried out."""

    def callee_location(self) -> Location:
        """Where the function that is being called is named; the whole call, if that is all that is known."""
        return self.location()

    def argument(self, argument: TensorArgument, name: str) -> ProxyTensor:
        """The function's next argument, or the next tensor of the argument `name`; one of before in the same memory."""
        value = self.builder.named_argument(argument.spec, name)
        known = None if argument.memory is None else self._arguments.get(argument.memory)
        if known is None:
            known = self._input(value, argument.spec)
            if argument.memory is not None:
                self._arguments[argument.memory] = known
        return known

    def tensor(self, made: TensorOperand) -> ProxyTensor:
        """What the function handles for a tensor of the program."""
        return ProxyTensor(self, *made)

    def _input(self, value: SSAValue, spec: TensorSpec) -> ProxyTensor:
        tensor = ProxyTensor(self, value, spec, is_argument=True)
        tensor.strides_in_elements = spec.element_strides
        self.inputs.append(tensor)
        return tensor

    def known(self, value: Any) -> Any:
        """`value`, or the input that stands for it if it is a tensor of the user's world.

        Raises:
            ArgumentError: It is a tensor that the call cannot take.
        """
        return self._hidden.input(value, self._hidden_input, self.location) if is_library_tensor(value) else value

    def _hidden_input(self, spec: TensorSpec, name: str) -> ProxyTensor:
        return self._input(self.builder.hidden_input(spec, name), spec)

    def random_state(self, part: str) -> ProxyTensor:
        """The input that stands for a part of the generator's state (runtime/programs/random_state.py)."""
        library = self.library or TTNN
        tensor, name = state(part, library), name_of(part, library)
        found: ProxyTensor = self._hidden.kept(tensor, name, self._hidden_input, self.location)
        return found

    def is_input(self, value: Any) -> bool:
        """Whether `value` is a tensor of the user's world that is an input of the program already."""
        return is_library_tensor(value) and self._hidden.holds(value)

    def is_hidden(self, tensor: ProxyTensor) -> bool:
        """Whether `tensor` stands for one of the user's world."""
        return self._hidden.is_input(tensor)

    def call(self, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """A call to an object of the `ttnn` namespace.

        Raises:
            UnsupportedFunction: It is no operation, or an alias that only eager ttnn has.
            CompileError: The arguments do not fit the operation or each other.
        """
        creation = creation_of(function)
        if creation is not None:
            return create(self, creation, args, kwargs)
        if self.library in _OF_ANOTHER_LIBRARY:
            args = [known_term(value) for value in args]
            kwargs = {name: known_term(value) for name, value in kwargs.items()}
        name = plain_name(function)
        overloads = overloads_of(function) or ()
        if not overloads:
            raise function_of_the_host(name, self.callee_location())
        if name in ALIASES:
            raise unsupported_function(name, self.callee_location())
        own, options = self._options(name, overloads, kwargs) if kwargs else (kwargs, NO_OPTIONS)
        if name in IN_PLACE:
            return update(self, name, overloads, args, own, options)
        if options.output_tensor is not None:
            return into(self, overloads, args, own, options)
        if options.outputs is not None:
            return into_several(self, options.outputs, overloads, args, own, options)
        return self.emit(overloads, args, own, options)

    def _options(
        self, name: str, overloads: Sequence[Operation], kwargs: Mapping[str, Any]
    ) -> tuple[Mapping[str, Any], ResultOptions]:
        """A call's own keywords, and its result options; the result lies where its operands do all the same."""
        own, options = self.checked(bind_options, f"ttnn.{name}", overloads, kwargs)
        for place in (key for key, value in kwargs.items() if isinstance(value, MemoryConfig) and key not in own):
            self.warnings[f"`{place}` on an operation is ignored inside a jitted function"] = None
        if options.output_tensor is not None:
            options = replace(options, output_tensor=self.operand(options.output_tensor))
        if options.outputs is not None:
            outputs = replace(options.outputs, targets=tuple(map(self.operand, options.outputs.targets)))
            self.checked(outputs.check, f"ttnn.{name}", is_proxy)
            options = replace(options, outputs=outputs)
        return own, options

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

    def emit(
        self,
        overloads: Sequence[Operation],
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        options: ResultOptions = NO_OPTIONS,
    ) -> Any:
        """What the first of `overloads` that takes these arguments gives, as `options` ask.

        Several results are a tuple, or a list.
        """
        args = [self.operand(value) for value in args]
        bound = self._bind(overloads, args, {name: self.operand(value) for name, value in kwargs.items()})
        options = self.checked(options.settled, f"ttnn.{bound.operation.name}", bound, is_proxy)
        if self.builder.target.numerics is Numerics.IEEE:
            bound = with_precision(bound, lambda _: None)
        location, what = self.location(), f"`{bound.operation.name}`"
        operands: Sequence[Any] = [
            self.live_operand(value, what) if isinstance(value, ProxyTensor) else value for value in bound.operands
        ]
        if bound.operation.reads_layout:
            tensors = zip(bound.operands, operands, strict=True)
            operands = [brought_there(self, *each) if isinstance(each[0], ProxyTensor) else each[1] for each in tensors]
        operands, applied = self.checked(with_activated_operands, self.builder, operands, location, options)
        results = self.checked(results_of, self.builder, bound.operation, operands, bound.attributes, location, applied)
        proxies = tuple(ProxyTensor(self, value, spec) for value, spec in results)
        self._note_memory(bound, proxies, options)
        note_layouts(self, bound, proxies, applied)
        return bound.operation.packed(proxies)

    def _note_memory(self, bound: BoundCall, results: Sequence[ProxyTensor], options: ResultOptions) -> None:
        """Note where the results of a call lie: in the memory of an operand, or in their own."""
        if self.library in _OF_ANOTHER_LIBRARY:
            given = [value for value in bound.operands if isinstance(value, ProxyTensor)]
            for result in results:
                result.strides_in_elements = strides_of_result(result.shape, given)
        if bound.operation.is_view and options.change_nothing:
            note_views(self, bound.operation, bound.operands[0], bound.attributes, results)

    def live_operand(self, tensor: ProxyTensor, what: str) -> TensorOperand:
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
            return type(value)(map(self.known, value))
        return python_number(self.known(value))

    def _bind(self, overloads: Sequence[Operation], args: Sequence[Any], kwargs: Mapping[str, Any]) -> BoundCall:
        for value in (*args, *kwargs.values()):
            if type(value) not in _PLAIN and not is_numpy_scalar(value) and (outside := outside_tensor_help(value)):
                raise CompileError(
                    f"`{overloads[0].name}` got a {type(value).__name__} that no name, attribute or item leads to",
                    location=self.location(),
                    help=outside,
                )
        return self.checked(bind, overloads, args, kwargs, _dtype_of)


_PLAIN = frozenset({ProxyTensor, int, float, bool, str, type(None)})
"""Classes of most arguments, which are no tensors of another's."""


_OF_ANOTHER_LIBRARY = frozenset({TORCH, NUMPY})
"""Libraries with element types of their own, and movements that may give views, which strides tell from copies."""


def _dtype_of(value: Any) -> DataType | None:
    return value.spec.dtype if isinstance(value, ProxyTensor) else None
