"""The tensor that a function handles while it is compiled, and what happens when the function uses it.

Both frontends hand out these objects; they differ in how they walk the program and how they know where it stands.
"""

from __future__ import annotations

import operator
import types
from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import replace
from typing import Any, NoReturn

from xdsl.ir import SSAValue

from ttnn_jit.diagnostics.errors import ArgumentError, CompileError, UnsupportedFunction
from ttnn_jit.diagnostics.origin import type_name
from ttnn_jit.diagnostics.source import Location
from ttnn_jit.foreign.numpy_scalar import is_numpy_scalar, python_number
from ttnn_jit.foreign.pytrees import leaves
from ttnn_jit.frontend.asked_results import NOTHING, Asked, asked_by, results_as_asked
from ttnn_jit.frontend.creations import create
from ttnn_jit.frontend.hidden_inputs import HiddenInputs
from ttnn_jit.frontend.module_builder import ModuleBuilder, TensorOperand
from ttnn_jit.frontend.movement_methods import movement_attribute, movement_function
from ttnn_jit.frontend.tensor_argument import TensorArgument
from ttnn_jit.frontend.unsupported import (
    foreign_function_help,
    function_of_the_host,
    fused_activation,
    outside_tensor_help,
    unsupported_function,
)
from ttnn_jit.frontend.views import View, current_value, note_views, share_memory, strides_of_result
from ttnn_jit.frontend.writes import in_place, into, item, set_item, update, updating
from ttnn_jit.ops import (
    ABSENT,
    ABSENT_OPERATORS,
    ALIASES,
    HARDWARE_KEYWORDS,
    IN_PLACE,
    OPERAND_PARAMETERS,
    OPERATIONS,
    OPERATOR_METHODS,
    OUTPUT_KEYWORDS,
    OVERLOADS,
    REFLECTED_METHODS,
    RESULT_KEYWORDS,
    BoundCall,
    Number,
    Operation,
    bind,
    overloads_of,
    with_output_tensor,
)
from ttnn_jit.ops.created_tensors import creation_of
from ttnn_jit.ops.operation import PLACE_KEYWORDS
from ttnn_jit.ops.view_rules import Strides
from ttnn_jit.runtime.families import TORCH, has_family
from ttnn_jit.runtime.tensor import Tensor
from ttnn_jit.runtime.tensor_queries import TensorQueries
from ttnn_jit.specs.tensor_spec import DataType, TensorSpec

TENSOR_ATTRIBUTES = ("shape", "dtype", "layout", "memory_config")
"""What decides everything that a function may ask a tensor for while it is compiled (`TensorQueries`)."""

_KNOWN_ATTRIBUTES = ", ".join(f"`{name}`" for name in TENSOR_ATTRIBUTES)
_BRANCH_HELP = (
    "choose element by element with `ttnn.where(condition, a, b)`; repeat with `for _ in range(n)` where n is a "
    "Python int; branch on a compile-time value such as `x.shape`"
)


class ProxyTensor(TensorQueries):
    """A tensor without data: metadata, and operators that write operations.

    Every operator and every `ttnn` operation that meets it calls `__ttnn_call__`; anything that would need the data
    is a `CompileError` at the user's line.
    """

    __slots__ = (
        "_deallocated_at",
        "_spec",
        "_value",
        "argument",
        "emitter",
        "is_argument",
        "strides",
        "view_of",
        "writes",
    )
    __hash__ = object.__hash__
    __array_ufunc__ = None  # numpy scalars on the left leave the operator to us

    def __init__(self, emitter: Emitter, value: SSAValue, spec: TensorSpec, *, is_argument: bool = False) -> None:
        self.emitter = emitter
        self._deallocated_at: Location | None = None
        self._value = value
        self._spec = spec
        self.is_argument = is_argument
        self.argument = value
        self.view_of: View | None = None
        self.strides: Strides = None
        self.writes = 0

    def __ttnn_call__(self, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Write the operation `function`, called with these arguments, into the program being compiled."""
        return self.emitter.call(function, args, kwargs)

    @property
    def spec(self) -> TensorSpec:  # type: ignore[override]  # never assigned
        """What it is; no write changes shape, dtype or layout."""
        return self._spec

    @property
    def operand(self) -> TensorOperand:
        """What it holds where the program stands."""
        return self.held if self.view_of is None else current_value(self.emitter, self, self.view_of)

    @property
    def held(self) -> TensorOperand:
        """What it held when it was last looked at."""
        return self._value, self._spec

    def put(self, operand: TensorOperand) -> None:
        """Have it hold `operand`."""
        self._value, self._spec = operand

    @classmethod
    def __torch_function__(
        cls, function: Any, _types: object, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """What a function of torch's gives that moves elements; others would need the data, and are refused."""
        proxy = next(leaf for leaf in leaves([*args, *(kwargs or {}).values()]) if type(leaf) is cls)
        return _foreign_call(proxy, function, args, kwargs or {})

    def __array_function__(self, function: Any, _types: object, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """The same of numpy's."""
        return _foreign_call(self, function, args, kwargs)

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """So that ``isinstance(x, ttnn.Tensor)`` says of a tensor being compiled what it says of one at run time."""
        return Tensor

    def __getitem__(self, index: object) -> ProxyTensor:
        """The elements that `index` names, as torch would."""
        return item(self.emitter, self, index)

    def __setitem__(self, index: object, value: Any) -> None:
        """Write into the elements that `index` names."""
        set_item(self.emitter, self, index, value)

    def deallocate(self, force: bool = True) -> None:  # noqa: ARG002 - as ttnn has it
        """Note that the tensor is gone: nothing happens at run time, but a later use is an error."""
        if self.is_argument:
            self.refuse(
                "an argument cannot be deallocated inside a jitted function: it belongs to the caller",
                "call `ttnn.deallocate` after the call",
            )
        self._deallocated_at = self.emitter.location()

    @property
    def deallocated_at(self) -> Location | None:
        """Where `ttnn.deallocate` was called on it, if it was."""
        return self._deallocated_at

    def refuse(self, message: str, help_text: str | None = None) -> NoReturn:
        """Raise a CompileError at the place where the program stands."""
        raise CompileError(message, location=self.emitter.location(), help=help_text)

    def __repr__(self) -> str:
        return f"<tensor of {self.spec} in a function being compiled>"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            # Whoever asks for a protocol, or for the inside of another kind of tensor, must see that it is absent.
            raise AttributeError(name)
        if name in _METHODS_IN_PLACE and self.emitter.family is TORCH:
            return types.MethodType(_METHODS_IN_PLACE[name], self)
        if (moved := movement_attribute(self, name)) is not None:
            return moved
        return self.refuse(
            f"a tensor has no attribute `{name}` while a function is compiled",
            _attribute_help(name),
        )

    def __bool__(self) -> NoReturn:  # noqa: PLE0304 - that it never returns is the point
        self.refuse("a branch cannot depend on a tensor: its value is not known before the call", _BRANCH_HELP)


def _foreign_call(proxy: ProxyTensor, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    moved = movement_function(function, args)
    if moved is not None:
        return moved(*args, **kwargs)
    name = str(getattr(function, "__name__", function))
    raise UnsupportedFunction(
        f"Function {name} not supported",
        location=proxy.emitter.location(),
        help=foreign_function_help(function, name),
    )


def _unary(operation: Operation) -> Callable[[ProxyTensor], Any]:
    def method(self: ProxyTensor) -> Any:
        return self.emitter.emit(OVERLOADS[operation.name], (self,), {})

    return method


def _binary(operation: Operation, *, reflected: bool = False) -> Callable[[ProxyTensor, Any], Any]:
    def method(self: ProxyTensor, other: Any) -> Any:
        if operation.operator in {"==", "!="} and (other is None or isinstance(other, str)):
            return NotImplemented  # a comparison with what no tensor equals is Python's business
        other = self.emitter.operand(other)
        if not isinstance(other, ProxyTensor | Number):
            self.refuse(
                f"`{operation.operator}` needs tensors or numbers, got {type_name(other)}",
                outside_tensor_help(other),
            )
        operands = (other, self) if reflected else (self, other)
        return self.emitter.emit(OVERLOADS[operation.name], operands, {})

    return method


_METHODS_IN_PLACE = {name: in_place(name) for name in IN_PLACE if name.isidentifier() and name.endswith("_")}
"""Methods of torch's tensors."""

TENSOR_OPERATORS = frozenset(getattr(operator, OPERATOR_METHODS[each.operator]) for each in OPERATIONS if each.operator)
"""The functions of Python's operators that an operation declares."""

_UPDATING_METHODS = {method.replace("__", "__i", 1) for method in OPERATOR_METHODS.values()}
WRITING_OPERATORS = {operator.setitem, *(getattr(operator, name) for name in _UPDATING_METHODS & set(dir(operator)))}
"""Those of Python's operators that write into an array of numpy's."""

_NEEDS_DATA = {
    "__float__": "`float()` of a tensor",
    "__int__": "`int()` of a tensor",
    "__index__": "a tensor as an index",
    "__complex__": "`complex()` of a tensor",
    "__len__": "`len()` of a tensor",
    "__iter__": "iterating over a tensor",
    "__contains__": "`in` on a tensor",
    "__format__": "formatting a tensor",
    "__str__": "`str()` of a tensor",
    "__call__": "calling a tensor",
}


def _install_operators() -> None:
    for operation in (each for each in OPERATIONS if each.operator):
        method: Callable[..., Any] = _unary(operation) if operation.arity == 1 else _binary(operation)
        setattr(ProxyTensor, OPERATOR_METHODS[operation.operator], method)
        if operation.operator in REFLECTED_METHODS:
            setattr(ProxyTensor, REFLECTED_METHODS[operation.operator], _binary(operation, reflected=True))
            setattr(ProxyTensor, OPERATOR_METHODS[operation.operator].replace("__", "__i", 1), updating(operation))
    for absent in ABSENT_OPERATORS:
        for name in absent.methods:
            refuse = _refused(f"the operator `{absent.symbol}` is not supported on tensors", absent.instead)
            setattr(ProxyTensor, name, refuse)
    for name, what in _NEEDS_DATA.items():
        setattr(ProxyTensor, name, _needs_data(what))


def _refused(message: str, help_text: str) -> Callable[..., NoReturn]:
    def method(self: ProxyTensor, *_operands: Any) -> NoReturn:
        self.refuse(message, help_text)

    return method


def _attribute_help(name: str) -> str:
    """What to write instead of a method or attribute that tensors lack; ``add_`` means ``add``."""
    meant = name.rstrip("_")
    if meant in ABSENT:
        return ABSENT[meant]
    operation = ALIASES.get(meant, meant)
    written = f"; the operation is written `ttnn.{operation}(...)`" if operation in OVERLOADS else ""
    return f"it has {_KNOWN_ATTRIBUTES}{written}"


def _needs_data(what: str) -> Callable[..., NoReturn]:
    def method(self: ProxyTensor, *_operands: Any) -> NoReturn:
        self.refuse(
            f"{what} is not supported: its value is not known before the call",
            "what is known is its `.shape`, `.dtype` and `.layout`; for `math.exp(x)` write `ttnn.exp(x)`"
            if "float" in what
            else "what is known is its `.shape`, `.dtype` and `.layout`",
        )

    return method


_install_operators()


def plain_name(function: Any) -> str:
    """The name of an operation without its namespace: ``ttnn.exp`` is ``exp``."""
    return str(getattr(function, "__name__", type(function).__name__)).removeprefix("ttnn.")


class Emitter(ABC):
    """Turns calls into operations of the module; each frontend knows in its own way where the program stands.

    Attributes:
        observes: Another way through the program makes the module; this one is for what it reads.
        inputs: What stands for the tensors of the call, then for those that the function found.
        family: Of these tensors; None: any.
    """

    observes = False

    def __init__(self, builder: ModuleBuilder, hidden: HiddenInputs) -> None:
        self.builder = builder
        self.warnings: dict[str, None] = {}
        self._hidden = hidden
        self.inputs: list[ProxyTensor] = []
        self._arguments: dict[int, ProxyTensor] = {}
        self.family = hidden.family

    @abstractmethod
    def location(self) -> Location:
        """Where the program stands: the expression being carried out."""

    def callee_location(self) -> Location:
        """Where the function that is being called is named; the whole call, if that is all that is known."""
        return self.location()

    def argument(self, argument: TensorArgument, name: str) -> ProxyTensor:
        """The function's next argument, or the next tensor of the argument `name`; one of before in the same memory."""
        value = self.builder.argument(argument.spec, name)
        known = None if argument.tensor is None else self._arguments.get(argument.tensor)
        if known is None:
            known = self._input(value, argument.spec)
            if argument.tensor is not None:
                self._arguments[argument.tensor] = known
        return known

    def tensor(self, made: TensorOperand) -> ProxyTensor:
        """What the function handles for a tensor of the program."""
        return ProxyTensor(self, *made)

    def _input(self, value: SSAValue, spec: TensorSpec) -> ProxyTensor:
        tensor = ProxyTensor(self, value, spec, is_argument=True)
        tensor.strides = spec.element_strides
        self.inputs.append(tensor)
        return tensor

    def known(self, value: Any) -> Any:
        """`value`, or the input that stands for it if it is a tensor of the user's world.

        Raises:
            ArgumentError: It is a tensor that the call cannot take.
        """
        return self._hidden.input(value, self._hidden_input, self.location) if has_family(value) else value

    def _hidden_input(self, spec: TensorSpec, name: str) -> ProxyTensor:
        return self._input(self.builder.hidden_input(spec, name), spec)

    def is_input(self, value: Any) -> bool:
        """Whether `value` is a tensor of the user's world that is an input of the program already."""
        return has_family(value) and self._hidden.holds(value)

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
        name = plain_name(function)
        overloads = overloads_of(function) or ()
        if not overloads and name == "deallocate":
            return self._deallocate(args, kwargs)
        if not overloads:
            raise function_of_the_host(name, self.callee_location())
        if name in ALIASES:
            raise unsupported_function(name, self.callee_location())
        own = {name for each in overloads for name in each.parameter_names}
        kwargs = with_output_tensor(overloads, kwargs)
        output = next((kwargs[key] for key in OUTPUT_KEYWORDS if kwargs.get(key) is not None and key not in own), None)
        asked = self._asked(name, {key: value for key, value in kwargs.items() if key not in own})
        kwargs = self._own_keywords(kwargs, own)
        if name in IN_PLACE:
            return update(self, name, overloads, args, kwargs, asked)
        if output is not None:
            return into(self, output, overloads, args, kwargs, asked)
        return self.emit(overloads, args, kwargs, asked)

    def _asked(self, name: str, kwargs: Mapping[str, Any]) -> Asked:
        """What a call asks of its result; where it lies follows from the operands, as the ttnn.jit document has it."""
        for place in (each for each in PLACE_KEYWORDS if kwargs.get(each) is not None):
            self.warnings[f"`{place}` on an operation is ignored inside a jitted function"] = None
        asked, activation = asked_by(name, kwargs, self.location), fused_activation(kwargs, self.location)
        return asked if activation is None else replace(asked, activations=(*asked.activations, activation))

    def _own_keywords(self, kwargs: Mapping[str, Any], own: Container[str]) -> Mapping[str, Any]:
        """The operation's `own` keywords, and what no operation has."""
        others = (*RESULT_KEYWORDS, *HARDWARE_KEYWORDS, *(each.name for each in OPERAND_PARAMETERS))
        return {name: value for name, value in kwargs.items() if name in own or name not in others}

    def emit(
        self,
        overloads: Sequence[Operation],
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        asked: Asked = NOTHING,
    ) -> Any:
        """What the first of `overloads` that takes these arguments gives, as is `asked`.

        Several results are a tuple, or a list.
        """
        args = [self.operand(value) for value in args]
        bound = self._bind(overloads, args, {name: self.operand(value) for name, value in kwargs.items()})
        location, what = self.location(), f"`{bound.operation.name}`"
        operands = [
            self.live_operand(value, what) if isinstance(value, ProxyTensor) else value for value in bound.operands
        ]
        results = results_as_asked(self.builder, bound.operation, operands, bound.attributes, location, asked)
        proxies = tuple(ProxyTensor(self, value, spec) for value, spec in results)
        self._note_memory(bound, proxies, asked)
        return bound.operation.packed(proxies)

    def _note_memory(self, bound: BoundCall, results: Sequence[ProxyTensor], asked: Asked) -> None:
        """Note where the results of a call lie: in the memory of an operand, or in their own."""
        if share_memory(self):
            given = [value for value in bound.operands if isinstance(value, ProxyTensor)]
            for result in results:
                result.strides = strides_of_result(result.shape, given)
        if bound.operation.is_view and asked is NOTHING:
            note_views(self, bound.operation, bound.operands[0], bound.attributes, results)

    def live_operand(self, tensor: ProxyTensor, what: str) -> TensorOperand:
        """What a tensor holds, for the use of `what`.

        Raises:
            CompileError: It was deallocated.
        """
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
            if (
                not isinstance(value, ProxyTensor)
                and not is_numpy_scalar(value)
                and (outside := outside_tensor_help(value))
            ):
                raise CompileError(
                    f"`{overloads[0].name}` got a {type(value).__name__} that no name, attribute or item leads to",
                    location=self.location(),
                    help=outside,
                )
        try:
            return bind(overloads, args, kwargs, _dtype_of)
        except ArgumentError as error:
            raise CompileError(error.message, location=self.location(), help=error.help) from None

    def _deallocate(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        tensors = [value for value in (*args, *kwargs.values()) if isinstance(value, ProxyTensor)]
        if len(tensors) != 1:
            raise CompileError("`deallocate` takes one tensor", location=self.location())
        tensors[0].deallocate()


def _dtype_of(value: Any) -> DataType | None:
    return value.dtype if isinstance(value, ProxyTensor) else None
