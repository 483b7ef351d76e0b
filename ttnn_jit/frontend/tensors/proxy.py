"""The proxy tensor that a function handles while it is compiled, with its operators, methods and attributes.

Both frontends use this class; they differ in how they execute the function and how they find the current location.
"""

from __future__ import annotations

import operator
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NoReturn

from ttnn_jit.diagnostics.errors import CompileError, NoSuchAttribute, UnsupportedFunction
from ttnn_jit.diagnostics.origin import type_name
from ttnn_jit.foreign.pytrees import leaves
from ttnn_jit.foreign.values import ABSENT as NO_ATTRIBUTE
from ttnn_jit.frontend.tensors.movement_methods import copy_of, movement_attribute, movement_function
from ttnn_jit.frontend.tensors.program_device import ProgramDevice
from ttnn_jit.frontend.tensors.program_tensor import ProgramTensor
from ttnn_jit.frontend.tensors.tensor_classes import reported_class, runtime_class
from ttnn_jit.frontend.tensors.tensor_metadata import (
    device_of,
    element_type,
    extents,
    handed_out,
    layout_of,
    length,
    library_of,
    metadata_attribute,
)
from ttnn_jit.frontend.tensors.writes import get_item, in_place_method, in_place_operator, masked_fill_, set_item, write
from ttnn_jit.frontend.unsupported import (
    foreign_function_help,
    outside_tensor_help,
)
from ttnn_jit.ops import (
    ABSENT,
    ABSENT_OPERATORS,
    ALIASES,
    IN_PLACE,
    OPERATIONS,
    OPERATOR_METHODS,
    OVERLOADS,
    REFLECTED_METHODS,
    Collective,
    Number,
    Operation,
)
from ttnn_jit.ops.collectives.device_exchanges import RECEIVE
from ttnn_jit.runtime.libraries import NUMPY, TORCH
from ttnn_jit.specs.storage_type import StorageType
from ttnn_jit.specs.tensor_spec import MemoryConfig, Shape, checked

TENSOR_ATTRIBUTES = ("shape", "dtype", "layout", "memory_config")
"""The attributes that determine every query of a tensor while a function is compiled (`TensorQueries`)."""

_KNOWN_ATTRIBUTES = ", ".join(f"`{name}`" for name in TENSOR_ATTRIBUTES)
_METHODS_THAT_READ_ELEMENTS = frozenset(["cpu", "from_device", "item", "numpy", "to_list", "to_torch", "tolist"])
_BRANCH_HELP = (
    "choose element by element with `ttnn.where(condition, a, b)`; repeat with `for _ in range(n)` where n is a "
    "Python int; branch on a compile-time value such as `x.shape`"
)


class ProxyTensor(ProgramTensor):
    """A tensor without data: metadata, and operators that write operations.

    Every operator and every `ttnn` operation on a proxy calls `__ttnn_call__`. A use that needs the data is a
    `CompileError` at the user's line.
    """

    __slots__ = ()
    __array_ufunc__ = None  # a numpy scalar on the left leaves the operator to the reflected method

    def __hash__(self) -> int:
        if self.emitter.library is NUMPY:
            raise TypeError("unhashable type: 'numpy.ndarray'")
        return object.__hash__(self)

    def __ttnn_call__(self, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Write the operation `function`, called with these arguments, into the program being compiled."""
        return self.emitter.call(function, args, kwargs)

    def __ttnn_exchange__(
        self,
        name: str,
        collective: Collective,
        others: Sequence[ProgramTensor],
        statics: tuple[Any, ...],
        cluster_axis: int | None,
        destination: tuple[MemoryConfig | None, ProgramTensor | None, Sequence[int] | None],
    ) -> list[ProgramTensor]:
        """Write a collective between the devices of the program; errors name the function `name`.

        `destination` is the memory config of the results, the tensor that receives them, and the devices on which it
        does, each None by default.
        """
        config, output, receivers = destination
        if receivers is not None and output is not None:
            collective, others = RECEIVE, (output,)
        made = self.emitter.exchanged(name, collective, (self, *others), statics, cluster_axis)
        if output is not None:
            return [write(self.emitter, output, made[0].operand, name)]
        for each in made if config is not None else ():
            each.requested = checked(each.spec.with_(memory_config=config))
        return made

    @property
    def tile(self) -> Any:
        """The shape of its tiles; refused for a tensor of torch's, whose `tile` is another method."""
        if library_of(self) == "torch":
            self.refuse("a tensor has no attribute `tile` while a function is compiled", "write `ttnn.repeat(x, ...)`")
        return super().tile

    @classmethod
    def __torch_function__(
        cls, function: Any, _types: object, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """The result of a movement or metadata function of torch's; other functions need the data and are refused."""
        proxy = next(leaf for leaf in leaves([*args, *(kwargs or {}).values()]) if type(leaf) is cls)
        return _foreign_call(proxy, function, args, kwargs or {})

    def __array_function__(self, function: Any, _types: object, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """As `__torch_function__`, for functions of numpy's."""
        return _foreign_call(self, function, args, kwargs)

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """The reported class, so that ``isinstance(x, ttnn.Tensor)`` gives the answer of run time."""
        return reported_class(self.emitter.library)

    def __getitem__(self, index: object) -> ProgramTensor:
        """The elements that `index` selects, by torch's rules."""
        return get_item(self.emitter, self, index)

    def __setitem__(self, index: object, value: Any) -> None:
        """Write into the elements that `index` selects."""
        set_item(self.emitter, self, index, value)

    def __copy__(self) -> ProxyTensor:
        """The tensor itself: a shallow copy shares its memory."""
        return self

    def __deepcopy__(self, _: object) -> ProgramTensor:
        """A copy in memory of its own."""
        return copy_of(self)

    @property
    def dtype(self) -> Any:
        """The element type; a tensor of torch's or numpy's has that of its library."""
        return element_type(self)

    @property
    def shape(self) -> Any:
        """The logical extents; a tensor of torch's or numpy's has the class of its library."""
        return extents(self)

    @property
    def padded_shape(self) -> Shape:
        """The stored extents."""
        shape: Shape = handed_out(self, super().padded_shape)
        return shape

    def volume(self) -> int:
        """Number of logical elements."""
        volume: int = handed_out(self, super().volume())
        return volume

    logical_volume = volume

    def physical_volume(self) -> int:
        """Number of stored elements, padding included."""
        volume: int = handed_out(self, super().physical_volume())
        return volume

    @property
    def layout(self) -> Any:
        """ROW_MAJOR or TILE; a tensor of torch's has the layout of torch."""
        return layout_of(self)

    @property
    def device(self) -> Any:
        """The program's device: a method of ttnn's tensors, a property of torch's and numpy's."""
        return types.MethodType(_device_of_program, self) if library_of(self) is None else device_of(self)

    def storage_type(self) -> StorageType:
        """DEVICE: a program's tensors lie on a device."""
        if library_of(self) == "torch":
            self.refuse(
                "a tensor has no attribute `storage_type` while a function is compiled", "its `.dtype` is known"
            )
        return StorageType.DEVICE

    def is_allocated(self) -> bool:
        """Whether it was not deallocated."""
        return self._deallocated_at is None

    def deallocate(self, force: bool = True) -> None:  # noqa: ARG002 - the signature is ttnn's
        """Mark the tensor as deallocated: a later use is an error; nothing happens at run time."""
        if self.is_argument:
            self.emitter.warnings[
                "an argument is not deallocated inside a jitted function: its memory belongs to the caller, who calls "
                "`ttnn.deallocate` after the call"
            ] = None
        self._deallocated_at = self.emitter.location()

    def __repr__(self) -> str:
        return f"<tensor of {self.spec} in a function being compiled>"

    def __format__(self, how: str) -> str:
        if how:
            _needs_data("formatting the numbers of a tensor")(self)
        return repr(self)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            # A look-up of a protocol, or of the internals of another tensor class, must fail.
            raise AttributeError(name)
        if name in _METHODS_IN_PLACE and self.emitter.library is TORCH:
            return types.MethodType(_METHODS_IN_PLACE[name], self)
        if (moved := movement_attribute(self, name)) is not None:
            return moved
        if (said := metadata_attribute(self, name)) is not NO_ATTRIBUTE:
            return said
        kind = CompileError if hasattr(runtime_class(self.emitter.library), name) else NoSuchAttribute
        raise kind(
            f"a tensor has no attribute `{name}` while a function is compiled",
            location=self.emitter.location(),
            help=_attribute_help(name),
        )

    def __bool__(self) -> NoReturn:  # noqa: PLE0304 - that it never returns is the point
        self.refuse("a branch cannot depend on a tensor: its value is not known before the call", _BRANCH_HELP)


def _device_of_program(proxy: ProxyTensor) -> ProgramDevice:
    return ProgramDevice(proxy.emitter)


def _length(proxy: ProxyTensor) -> int:
    """The length of a tensor of torch's or numpy's; tensors of ttnn have none."""
    if library_of(proxy) is None:
        _needs_data("`len()` of a tensor")(proxy)
    return length(proxy)


def _items(proxy: ProxyTensor) -> Iterator[ProgramTensor]:
    if library_of(proxy) is None:
        _needs_data("iterating over a tensor")(proxy)
    return iter([proxy[index] for index in range(length(proxy))])


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
            return NotImplemented  # Python compares: no tensor equals None or a string
        other = self.emitter.operand(other)
        if not isinstance(other, ProxyTensor | Number):
            self.refuse(
                f"`{operation.operator}` needs tensors or numbers, got {type_name(other)}",
                outside_tensor_help(other),
            )
        operands = (other, self) if reflected else (self, other)
        return self.emitter.emit(OVERLOADS[operation.name], operands, {})

    return method


_METHODS_IN_PLACE = {
    **{name: in_place_method(name) for name in IN_PLACE if name.isidentifier() and name.endswith("_")},
    masked_fill_.__name__: masked_fill_,
}
"""In-place methods of torch's tensors."""

TENSOR_OPERATORS = frozenset(getattr(operator, OPERATOR_METHODS[each.operator]) for each in OPERATIONS if each.operator)
"""The functions of module `operator` for the operators that operations declare."""

_UPDATING_METHODS = {method.replace("__", "__i", 1) for method in OPERATOR_METHODS.values()}
WRITING_OPERATORS = {operator.setitem, *(getattr(operator, name) for name in _UPDATING_METHODS & set(dir(operator)))}
"""The functions of module `operator` that write into an array of numpy's."""

_NEEDS_DATA = {
    "__float__": "`float()` of a tensor",
    "__int__": "`int()` of a tensor",
    "__index__": "a tensor as an index",
    "__complex__": "`complex()` of a tensor",
    "__reversed__": "`reversed()` of a tensor",
    "__contains__": "`in` on a tensor",
}


def _install_operators() -> None:
    for operation in (each for each in OPERATIONS if each.operator):
        method: Callable[..., Any] = _unary(operation) if operation.arity == 1 else _binary(operation)
        setattr(ProxyTensor, OPERATOR_METHODS[operation.operator], method)
        if operation.operator in REFLECTED_METHODS:
            setattr(ProxyTensor, REFLECTED_METHODS[operation.operator], _binary(operation, reflected=True))
            setattr(
                ProxyTensor, OPERATOR_METHODS[operation.operator].replace("__", "__i", 1), in_place_operator(operation)
            )
    for absent in ABSENT_OPERATORS:
        for name in absent.methods:
            refuse = _refused(f"the operator `{absent.symbol}` is not supported on tensors", absent.instead)
            setattr(ProxyTensor, name, refuse)
    for name, what in _NEEDS_DATA.items():
        setattr(ProxyTensor, name, _needs_data(what))
    ProxyTensor.__len__, ProxyTensor.__iter__ = _length, _items  # type: ignore[attr-defined]


def _refused(message: str, help_text: str) -> Callable[..., NoReturn]:
    def method(self: ProxyTensor, *_operands: Any) -> NoReturn:
        self.refuse(message, help_text)

    return method


_CONVERSIONS = {
    "float": "ttnn.float32", "bfloat16": "ttnn.bfloat16", "int": "ttnn.int32", "astype": "dtype", "type": "dtype",
}  # fmt: skip
"""Per method of torch's and numpy's tensors that converts elements, the element type."""


def _attribute_help(name: str) -> str:
    """The help text for a method or attribute that tensors lack; ``add_`` is looked up as ``add``."""
    meant = name.rstrip("_")
    if meant in ABSENT:
        return ABSENT[meant]
    if meant in _METHODS_THAT_READ_ELEMENTS:
        return "elements are not known before the call: read them before it or after it, and pass them as arguments"
    if meant in _CONVERSIONS:
        return f"write `ttnn.typecast(x, {_CONVERSIONS[meant]})`"
    operation = ALIASES.get(meant, meant)
    written = f"; the operation is written `ttnn.{operation}(...)`" if operation in OVERLOADS else ""
    return f"it has {_KNOWN_ATTRIBUTES}{written}"


def _needs_data(what: str) -> Callable[..., NoReturn]:
    def method(self: ProxyTensor, *_operands: Any) -> NoReturn:
        self.refuse(
            f"{what} is not supported: its value is not known before the call",
            "its `.shape`, `.dtype` and `.layout` are known; for `math.exp(x)` write `ttnn.exp(x)`"
            if "float" in what
            else "its `.shape`, `.dtype` and `.layout` are known",
        )

    return method


_install_operators()
ProxyTensor.__name__ = "Tensor"  # the name in Python's own errors
