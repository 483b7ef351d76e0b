"""The tensor that a function handles while it is compiled, and what happens when the function uses it.

Both frontends hand out these objects; they differ in how they walk the program and how they know where it stands.
"""

from __future__ import annotations

import operator
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any, NoReturn

from xdsl.ir import SSAValue

from ttnn_jit.diagnostics.errors import ArgumentError, CompileError, ShapeError, UnsupportedFunction
from ttnn_jit.diagnostics.origin import type_name
from ttnn_jit.diagnostics.source import Location
from ttnn_jit.foreign.numpy_scalar import is_numpy_scalar, python_number
from ttnn_jit.foreign.pytrees import leaves
from ttnn_jit.foreign.values import has_member, is_a
from ttnn_jit.frontend.hidden_inputs import HiddenInputs
from ttnn_jit.frontend.module_builder import ModuleBuilder
from ttnn_jit.ops import (
    ABSENT,
    ABSENT_OPERATORS,
    ALIASES,
    COPY,
    FOREIGN_NAMES,
    HARDWARE_KEYWORDS,
    OPERATIONS,
    OPERATOR_METHODS,
    OVERLOADS,
    REFLECTED_METHODS,
    RESULT_KEYWORDS,
    BoundCall,
    Number,
    Operation,
    bind,
    indexed,
    nearest_names,
    overloads_of,
)
from ttnn_jit.runtime.families import has_family
from ttnn_jit.runtime.tensor import Tensor
from ttnn_jit.specs.tensor_spec import DataType, Layout, MemoryConfig, Shape, TensorSpec

TENSOR_ATTRIBUTES = ("shape", "dtype", "layout", "memory_config")
"""What a function may ask a tensor for while it is compiled."""

_KNOWN_ATTRIBUTES = ", ".join(f"`{name}`" for name in TENSOR_ATTRIBUTES)
_BRANCH_HELP = (
    "choose element by element with `ttnn.where(condition, a, b)`; repeat with `for _ in range(n)` where n is a "
    "Python int; branch on a compile-time value such as `x.shape`"
)


class ProxyTensor:
    """A tensor without data: metadata, and operators that write operations.

    Every operator and every `ttnn` operation that meets it calls `__ttnn_call__`; anything that would need the data
    is a `CompileError` at the user's line.
    """

    __slots__ = ("_deallocated_at", "_emitter", "is_argument", "spec", "value")
    __hash__ = object.__hash__
    __array_ufunc__ = None  # numpy scalars on the left leave the operator to us

    def __init__(self, emitter: Emitter, value: SSAValue, spec: TensorSpec, *, is_argument: bool = False) -> None:
        self._emitter = emitter
        self._deallocated_at: Location | None = None
        self.value = value
        self.spec = spec
        self.is_argument = is_argument

    def __ttnn_call__(self, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Write the operation `function`, called with these arguments, into the program being compiled."""
        return self._emitter.call(function, args, kwargs)

    @property
    def shape(self) -> Shape:
        """Logical extents."""
        return self.spec.shape

    @property
    def dtype(self) -> DataType:
        """Element type."""
        return self.spec.dtype

    @property
    def layout(self) -> Layout:
        """ROW_MAJOR or TILE."""
        return self.spec.layout

    def memory_config(self) -> MemoryConfig:
        """Where the tensor lies."""
        return self.spec.memory_config

    @classmethod
    def __torch_function__(
        cls, function: Any, _types: object, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> NoReturn:
        """Refuse a function of torch's, which would need the data."""
        proxy = next(leaf for leaf in leaves([*args, *(kwargs or {}).values()]) if type(leaf) is cls)
        name = str(getattr(function, "__name__", function))
        raise UnsupportedFunction(
            f"Function {name} not supported",
            location=proxy._emitter.location(),
            help=foreign_function_help(function, name),
        )

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """So that ``isinstance(x, ttnn.Tensor)`` says of a tensor being compiled what it says of one at run time."""
        return Tensor

    def __getitem__(self, index: object) -> ProxyTensor:
        """The elements that `index` names, as torch would."""
        return self._emitter.index(self, index)

    def deallocate(self, force: bool = True) -> None:  # noqa: ARG002 - as ttnn has it
        """Note that the tensor is gone: nothing happens at run time, but a later use is an error."""
        if self.is_argument:
            self.refuse(
                "an argument cannot be deallocated inside a jitted function: it belongs to the caller",
                "call `ttnn.deallocate` after the call",
            )
        self._deallocated_at = self._emitter.location()

    @property
    def deallocated_at(self) -> Location | None:
        """Where `ttnn.deallocate` was called on it, if it was."""
        return self._deallocated_at

    def refuse(self, message: str, help_text: str | None = None) -> NoReturn:
        """Raise a CompileError at the place where the program stands."""
        raise CompileError(message, location=self._emitter.location(), help=help_text)

    def __repr__(self) -> str:
        return f"<tensor of {self.spec} in a function being compiled>"

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_"):
            # Whoever asks for a protocol, or for the inside of another kind of tensor, must see that it is absent.
            raise AttributeError(name)
        self.refuse(
            f"a tensor has no attribute `{name}` while a function is compiled",
            _attribute_help(name),
        )

    def __bool__(self) -> NoReturn:  # noqa: PLE0304 - that it never returns is the point
        self.refuse("a branch cannot depend on a tensor: its value is not known before the call", _BRANCH_HELP)


def _unary(operation: Operation) -> Callable[[ProxyTensor], Any]:
    def method(self: ProxyTensor) -> Any:
        return self._emitter.emit((operation,), (self,), {})

    return method


def _binary(operation: Operation, *, reflected: bool = False) -> Callable[[ProxyTensor, Any], Any]:
    def method(self: ProxyTensor, other: Any) -> Any:
        if operation.operator in {"==", "!="} and (other is None or isinstance(other, str)):
            return NotImplemented  # a comparison with what no tensor equals is Python's business
        other = self._emitter.operand(other)
        if not isinstance(other, ProxyTensor | Number):
            self.refuse(
                f"`{operation.operator}` needs tensors or numbers, got {type_name(other)}",
                outside_tensor_help(other),
            )
        operands = (other, self) if reflected else (self, other)
        return self._emitter.emit((operation,), operands, {})

    return method


TENSOR_OPERATORS = frozenset(getattr(operator, OPERATOR_METHODS[each.operator]) for each in OPERATIONS if each.operator)
"""The functions of Python's operators that an operation declares."""

_WRITE_HELP = "operations make new tensors; choose element by element with `ttnn.where(condition, a, b)`"
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
    for absent in ABSENT_OPERATORS:
        for name in absent.methods:
            refuse = _refused(f"the operator `{absent.symbol}` is not supported on tensors", absent.instead)
            setattr(ProxyTensor, name, refuse)
    for name, what in _NEEDS_DATA.items():
        setattr(ProxyTensor, name, _needs_data(what))
    setattr(ProxyTensor, "__setitem__", _refused("writing into a tensor is not supported", _WRITE_HELP))  # noqa: B010


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


def outside_tensor_help(value: Any) -> str | None:
    """How to bring in a tensor that was made where nothing leads to it; None if `value` is no tensor."""
    if not is_a(value, type) and has_member(type(value), "shape") and has_member(type(value), "dtype"):
        return "a tensor is no constant of the program: make it before the call, and keep it where the call can find it"
    return None


def foreign_function_help(function: Any, name: str) -> str:
    """What to write instead of a function of another library, or of the user's that cannot be compiled."""
    meant = FOREIGN_NAMES.get(name, name)
    if (operation := ALIASES.get(meant, meant)) in OVERLOADS:
        return f"the operation is `ttnn.{operation}`"
    if meant in ABSENT:
        return ABSENT[meant]
    module = getattr(function, "__module__", None) or type(getattr(function, "__self__", function)).__module__
    library = module.partition(".")[0]
    called = f"{library}.{name}" if library in sys.modules else name
    if not hasattr(sys.modules.get(library), name) and hasattr(function, "__self__"):
        called = f"{type_name(function.__self__)}.{name}"
    return (
        f"`{called}` would be called once, when the function is compiled: call it before, and pass its value or tensor "
        "as an argument"
    )


def unsupported_function(name: str, location: Location) -> UnsupportedFunction:
    """The error for a call to something that is no operation: why ttnn's is not here, else names that were meant."""
    from ttnn_jit.ops.public_names import why_absent

    near = nearest_names(name)
    reason = None if name in ALIASES else why_absent(name)
    if reason is None and near:
        reason = f"did you mean {' or '.join(f'`{candidate}`' for candidate in near)}?"
    return UnsupportedFunction(f"Function {name} not supported", location=location, help=reason)


def function_of_the_host(name: str, location: Location) -> UnsupportedFunction:
    """The error for a call to a function of the host API, which is no part of a program."""
    return UnsupportedFunction(
        f"Function {name} not supported",
        location=location,
        help=f"`ttnn.{name}` runs on the host: call it before or after the jitted function",
    )


def plain_name(function: Any) -> str:
    """The name of an operation without its namespace: ``ttnn.exp`` is ``exp``."""
    return str(getattr(function, "__name__", type(function).__name__)).rpartition(".")[2]


class Emitter(ABC):
    """Turns calls into operations of the module; each frontend knows in its own way where the program stands."""

    def __init__(self, builder: ModuleBuilder, hidden: HiddenInputs) -> None:
        self.builder = builder
        self.warnings: dict[str, None] = {}
        self._hidden = hidden

    @abstractmethod
    def location(self) -> Location:
        """Where the program stands: the expression being carried out."""

    def callee_location(self) -> Location:
        """Where the function that is being called is named; the whole call, if that is all that is known."""
        return self.location()

    def argument(self, spec: TensorSpec, name: str) -> ProxyTensor:
        """The function's next argument, or the next tensor of the argument `name`."""
        return ProxyTensor(self, self.builder.argument(spec, name), spec, is_argument=True)

    def known(self, value: Any) -> Any:
        """`value`, or the input that stands for it if it is a tensor of the user's world.

        Raises:
            ArgumentError: It is a tensor that the call cannot take.
        """
        return self._hidden.input(value, self._hidden_input, self.location) if has_family(value) else value

    def _hidden_input(self, spec: TensorSpec, name: str) -> ProxyTensor:
        return ProxyTensor(self, self.builder.hidden_input(spec, name), spec, is_argument=True)

    def is_input(self, value: Any) -> bool:
        """Whether `value` is a tensor of the user's world that is an input of the program already."""
        return has_family(value) and self._hidden.holds(value)

    def call(self, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """A call to an object of the `ttnn` namespace.

        Raises:
            UnsupportedFunction: It is no operation, or an alias that only eager ttnn has.
            CompileError: The arguments do not fit the operation or each other.
        """
        name = plain_name(function)
        overloads = overloads_of(function) or ()
        if not overloads and name == "deallocate":
            return self._deallocate(args, kwargs)
        if not overloads:
            raise function_of_the_host(name, self.callee_location())
        if name in ALIASES:
            raise unsupported_function(name, self.callee_location())
        kwargs = self._without_result_keywords(kwargs, {name for each in overloads for name in each.parameter_names})
        return self.emit(overloads, args, kwargs)

    def _without_result_keywords(self, kwargs: Mapping[str, Any], own: Container[str]) -> Mapping[str, Any]:
        """The operation's `own` keywords; the first of the others that says something is warned of."""
        ignored = [name for name in RESULT_KEYWORDS if kwargs.get(name) is not None and name not in own]
        for name in ignored:
            self.warnings[f"`{name}` on an operation is ignored inside a jitted function"] = None
        others = RESULT_KEYWORDS + HARDWARE_KEYWORDS
        return {name: value for name, value in kwargs.items() if name in own or name not in others}

    def emit(self, overloads: Sequence[Operation], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """The result of the first of `overloads` that takes these arguments; several are a tuple, or a list."""
        args = [self.operand(value) for value in args]
        bound = self._bind(overloads, args, {name: self.operand(value) for name, value in kwargs.items()})
        location = self.location()
        for operand in bound.operands:
            if isinstance(operand, ProxyTensor) and operand.deallocated_at is not None:
                raise CompileError(
                    f"`{bound.operation.name}` uses a tensor that was deallocated at {operand.deallocated_at}",
                    location=location,
                )
        operands = [_operand(value) for value in bound.operands]
        results = self.builder.results(bound.operation, operands, bound.attributes, location)
        proxies = tuple(ProxyTensor(self, value, spec) for value, spec in results)
        return bound.operation.packed(proxies)

    def operand(self, value: Any) -> Any:
        """What an operation takes for `value`: inputs for tensors, in lists and tuples too, Python's numbers."""
        if type(value) in {list, tuple}:
            return type(value)(map(self.known, value))
        return python_number(self.known(value))

    def index(self, tensor: ProxyTensor, index: object) -> ProxyTensor:
        """``tensor[index]``; an index that takes everything is a copy."""
        if any(type(leaf) is ProxyTensor for leaf in leaves([index])):
            tensor.refuse("a tensor is no index of a tensor", "index by whole numbers, slices, None and ...")
        try:
            spelled = tuple(indexed(tuple(tensor.shape), index)) or ((COPY, ()),)
        except ShapeError as error:
            raise CompileError(error.message, location=self.location(), help=error.help) from None
        for operation, statics in spelled:
            tensor = self.emit((operation,), (tensor, *statics), {})
        return tensor

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


def _operand(value: ProxyTensor | Number | None) -> tuple[SSAValue, TensorSpec] | float | None:
    return (value.value, value.spec) if isinstance(value, ProxyTensor) else value
