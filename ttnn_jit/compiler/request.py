"""The input of a compile (a function of the user's or one eager operation), and its result."""

from __future__ import annotations

import itertools
import types
import weakref
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

from ttnn_jit.diagnostics.source import start_of
from ttnn_jit.foreign import pytrees
from ttnn_jit.foreign.values import ABSENT
from ttnn_jit.guards.fingerprints import fingerprint_code
from ttnn_jit.guards.plain_lookups import plain_value
from ttnn_jit.guards.reads import Opaque, Path, Read, resolve
from ttnn_jit.ops import Operation
from ttnn_jit.ops.language.activation_names import ActivationText
from ttnn_jit.ops.language.operation import OperandSpec
from ttnn_jit.ops.result_options import NO_OPTIONS, ResultOptions
from ttnn_jit.process.cached_property import cached_property
from ttnn_jit.process.dataclass import dataclass, replace
from ttnn_jit.runtime.libraries import MESH, TTNN, TensorLibrary
from ttnn_jit.runtime.programs.program import Program
from ttnn_jit.runtime.tensors.dynamic_marks import marked_axes
from ttnn_jit.specs.cores.sharding import maximal_block_sharding_config
from ttnn_jit.specs.meshes.mesh_devices import MeshDevices, MeshPlacement
from ttnn_jit.specs.options import CompileOptions, OutputLayout
from ttnn_jit.specs.target import SystemDesc
from ttnn_jit.specs.tensor_spec import DRAM_MEMORY_CONFIG, Layout, TensorSpec

if TYPE_CHECKING:
    from ttnn_jit.compiler.symbols import SizeNames
    from ttnn_jit.frontend import FrontendResult, ResultLayout
    from ttnn_jit.frontend.writing.frontend_request import OpenReads


class Request(Protocol):
    """The input of a compile."""

    @property
    def name(self) -> str:
        """The name of the function or operation."""

    @property
    def location(self) -> str:
        """The file of the function, "" for operations. It is no part of keys: a moved function finds its programs."""

    @property
    def parts(self) -> Mapping[str, Any]:
        """Name -> input of the compile, besides options and target: the parts of the key."""

    @property
    def inputs(self) -> tuple[TensorSpec, ...]:
        """The specs of its tensors in order."""

    @property
    def integers(self) -> tuple[int, ...]:
        """The ints of its arguments in order, which a template may leave open."""

    @property
    def floats(self) -> tuple[float, ...]:
        """The floats of its arguments in order, likewise."""

    @property
    def marked_axes(self) -> Sequence[Collection[int]]:
        """Per tensor the axes of extents that the user marked as dynamic."""

    @property
    def names_of_sizes(self) -> SizeNames:
        """The names of the extents of `inputs`, those of `integers`, and those of `floats`."""

    @property
    def library(self) -> TensorLibrary | None:
        """The library of its tensors; None if it does not matter."""

    @property
    def devices(self) -> MeshDevices | None:
        """The devices of a mesh that run the program; None for one device."""

    @property
    def placements(self) -> Sequence[MeshPlacement | None]:
        """The placements of its tensors on a mesh, in order."""

    @property
    def options(self) -> CompileOptions:
        """The options of the compile."""

    @property
    def target(self) -> SystemDesc:
        """The target of the compile."""

    def with_inputs(self, specs: Iterable[TensorSpec], integers: Iterable[float], floats: Iterable[float]) -> Self:
        """The request for tensors of other specs, and for other ints and floats, in order."""

    def without_tensors(self) -> Self:
        """The request without references to the tensors of its call."""

    def held_weakly(self) -> Callable[[], Self]:
        """A function that makes the request again, and holds no reference to the tensors of its call."""

    def opening(self, hidden: OpenReads) -> Self:
        """The request whose hidden inputs and hidden numbers are those of a trace."""

    def value_at(self, path: Path) -> Any:
        """The current value at a path that a compile read.

        Raises:
            Exception: There is none, or an object of the user's raises it.
        """

    def plain_value_at(self, path: Path) -> Any:
        """As `value_at`, without code of the user's; ABSENT if there is no value, or if only such code tells it."""

    def lower(self) -> FrontendResult:
        """The module in the TTNN dialect, and the values that the frontend read.

        Raises:
            CompileError: It is outside the language, or the operands do not fit.
        """


@dataclass(frozen=True)
class FunctionRequest:
    """A function of the user's; `arguments` has a TensorSpec in place of each tensor of `library`.

    Attributes:
        same: Per tensor argument, the first one with the same memory; () if there are no aliases, or if the function
            updates no argument.
        tensors: The tensors of the call in order, for programs that test their identity; () if all are distinct.
        hidden: Opens the hidden inputs and hidden numbers.
        devices: The devices of a mesh that run the program; None for one device.
        placements: The placements of the tensor arguments on the mesh, in order.
    """

    function: types.FunctionType
    arguments: Mapping[str, Any]
    target: SystemDesc
    options: CompileOptions
    library: TensorLibrary | None = None
    same: tuple[int, ...] = ()
    tensors: Sequence[Any] = field(default=(), repr=False, compare=False)
    hidden: OpenReads | None = field(default=None, repr=False, compare=False)
    devices: MeshDevices | None = None
    placements: tuple[MeshPlacement, ...] = ()

    @property
    def name(self) -> str:
        """Its qualified name."""
        return self.function.__qualname__

    @property
    def location(self) -> str:
        """Its file."""
        return self.function.__code__.co_filename

    @property
    def parts(self) -> Mapping[str, Any]:
        """The function's code and arguments."""
        arguments = {f"argument {name}": value for name, value in self.arguments.items()}
        same = {"same": self.same} if self.same else {}
        library = {"library": self.library.title} if self.library else {}  # each has its own tensor class
        mesh: dict[str, Any] = {"mesh": (self.devices, self.placements)} if self.devices else {}
        if self.devices and self.devices.remote:  # exchanges with other ranks say where they are
            mesh["place"] = str(start_of(self.function.__code__))
        return {"code": fingerprint_code(self.function.__code__), **library, **same, **mesh, **arguments}

    @cached_property
    def _leaves(self) -> Sequence[Any]:
        return pytrees.leaves([*self.arguments.values()])

    @cached_property
    def inputs(self) -> tuple[TensorSpec, ...]:
        """The specs in the arguments."""
        return tuple([leaf for leaf in self._leaves if isinstance(leaf, TensorSpec)])

    def without_tensors(self) -> FunctionRequest:
        """The request without the tensors of the call; their marks go with them."""
        return replace(self, tensors=())

    def held_weakly(self) -> Callable[[], FunctionRequest]:
        """A function that makes the request again; a weak reference stands for a tensor that is gone."""
        request, references = self.without_tensors(), [*map(weakref.ref, self.tensors)]

        def again() -> FunctionRequest:
            found = [(reference, reference()) for reference in references]
            return replace(request, tensors=[reference if each is None else each for reference, each in found])

        return again

    def opening(self, hidden: OpenReads) -> FunctionRequest:
        """The request with numbers of a trace in hidden inputs, and in place of hidden numbers."""
        return replace(self, hidden=hidden)

    def in_tiles(self) -> FunctionRequest:
        """The request for tensors in tiles, which a chip's kernels read: tensors of torch and numpy lie in rows.

        Tensors of ttnn have the layouts that their user chose.
        """
        if self.library in {TTNN, MESH}:
            return self
        specs = [TensorSpec(each.shape, each.dtype, Layout.TILE, DRAM_MEMORY_CONFIG) for each in self.inputs]
        return self.with_inputs(specs, (), ())

    def with_inputs(
        self, specs: Iterable[TensorSpec], integers: Iterable[float], floats: Iterable[float]
    ) -> FunctionRequest:
        """The request for tensors of other specs, and for other ints and floats, in order."""
        other = _replacing(specs, integers, floats)
        return replace(self, arguments={name: pytrees.map_leaves(own, other) for name, own in self.arguments.items()})

    @cached_property
    def integers(self) -> tuple[int, ...]:
        """The ints in the arguments."""
        return _of_class(int, self._leaves)

    @cached_property
    def floats(self) -> tuple[float, ...]:
        """The floats in the arguments; none if the options leave none open."""
        return _of_class(float, self._leaves) if self.options.opens_floats else ()

    @property
    def marked_axes(self) -> Sequence[Collection[int]]:
        """Those of the call's tensors."""
        return [*map(marked_axes, self.tensors)]

    @property
    def names_of_sizes(self) -> SizeNames:
        """The names in the function, such as ``x.shape[0]``."""
        from ttnn_jit.compiler.symbols import names_of_sizes

        *others, floats = names_of_sizes(self.arguments)
        return [*others, floats if self.floats else []]

    def value_at(self, path: Path) -> Any:
        """The value at a path from the function."""
        return resolve(self.function, path, self.arguments, self.tensors)

    def plain_value_at(self, path: Path) -> Any:
        """The value at a path of plain look-ups from the function."""
        return plain_value(self.function, path)

    def lower(self) -> FrontendResult:
        """Lowers the function by the frontend that the options select."""
        from ttnn_jit.frontend import FrontendRequest, TensorArgument, lower

        unknown = (None,) * len(self.inputs)
        blocks = [each.blocks_on(self.devices) for each in self.placements] if self.devices else [()] * len(unknown)
        told = zip(self.same or unknown, self.tensors or unknown, blocks, strict=True)

        def lowered(leaf: Any) -> Any:
            return TensorArgument(leaf, *next(told)) if isinstance(leaf, TensorSpec) else leaf

        arguments = {name: pytrees.map_leaves(value, lowered) for name, value in self.arguments.items()}
        request = FrontendRequest(
            self.function,
            arguments,
            self.target,
            self.options.graph_capture,
            _result_layout(self.options, self.target),
            TTNN if self.library is MESH else self.library,
            self.options.max_grid,
            self.hidden,
            self.devices,
        )
        return lower(request)


@dataclass(frozen=True)
class OperationRequest:
    """One operation of eager `ttnn`.

    Attributes:
        operation: The operation.
        operands: A spec for each tensor, a float for each number, None for an omitted tensor.
        attributes: Values of the operation's attributes.
        target: The device's target.
        result: The result options.
    """

    operation: Operation
    operands: tuple[OperandSpec, ...]
    attributes: tuple[Any, ...]
    target: SystemDesc
    result: ResultOptions = NO_OPTIONS

    location: ClassVar[str] = ""
    """An operation has no file."""
    marked_axes: ClassVar[Sequence[Collection[int]]] = ()
    """It has no tensors, only specs."""
    library: ClassVar[None] = None
    """An operation reads only its operands."""
    devices: ClassVar[None] = None
    """It runs on one device."""
    placements: ClassVar[Sequence[MeshPlacement | None]] = ()

    @property
    def name(self) -> str:
        """Its name in Python."""
        return f"ttnn.{self.operation.name}"

    @property
    def parts(self) -> Mapping[str, Any]:
        """The operation, its operands, and its result options."""
        return {
            "operation": self.operation.fingerprint,
            "operands": self.operands,
            "attributes": tuple(map(_keyed, self.attributes)),
            **self.result.parts,
        }

    @cached_property
    def inputs(self) -> tuple[TensorSpec, ...]:
        """The specs in the operands."""
        return tuple(operand for operand in self.operands if isinstance(operand, TensorSpec))

    @property
    def options(self) -> CompileOptions:
        """Options under which a call rounds once: the value before an activation stays float32."""
        return CompileOptions(memory_config=self.result.memory_config, fp32_dest_acc=self.result.has_activations)

    def without_tensors(self) -> OperationRequest:
        """The request itself: an operation has specs."""
        return self

    def held_weakly(self) -> Callable[[], OperationRequest]:
        """The request itself, likewise."""
        return lambda: self

    def opening(self, hidden: OpenReads) -> OperationRequest:  # noqa: ARG002
        """The request itself: an operation has no hidden inputs."""
        return self

    @property
    def _own_integers(self) -> tuple[int, ...]:
        return _of_class(int, (*self.operands, *self._open_attributes))

    @property
    def _open_attributes(self) -> tuple[Any, ...]:
        """The attributes whose ints may be open."""
        each = zip(self.operation.attributes, self.attributes, strict=True)
        return tuple(value for parameter, value in each if parameter.may_be_open)

    @property
    def integers(self) -> tuple[int, ...]:
        """The operands that are ints, and attributes in their place, then the sizes of the requested memory config.

        Other attributes that are ints, such as dimensions, are fixed.
        """
        return (*self._own_integers, *self.result.sizes)

    @property
    def floats(self) -> tuple[float, ...]:
        """The floats among the operands, then in the attributes, then in the activations of the result options."""
        in_attributes = itertools.chain.from_iterable(map(_numbers_in, self.attributes))
        return _of_class(float, (*self.operands, *in_attributes, *self.result.floats))

    def with_inputs(
        self, specs: Iterable[TensorSpec], integers: Iterable[float], floats: Iterable[float]
    ) -> OperationRequest:
        """The request for tensors of other specs, and for other numbers in their places, in order."""
        given: tuple[Any, ...] = tuple(integers)
        count = len(self._own_integers)
        other = _replacing(specs, given[:count], floats)
        operands = tuple(map(other, self.operands))
        own = zip(self.operation.attributes, self.attributes, strict=True)
        attributes = tuple(
            other(value) if type(value) is not int or parameter.may_be_open else value for parameter, value in own
        )
        result = self.result.with_sizes(given[count:]).with_floats(map(other, self.result.floats))
        return replace(self, operands=operands, attributes=attributes, result=result)

    @property
    def names_of_sizes(self) -> SizeNames:
        """The names of the operands and attributes by position, and of the numbers of activations."""
        from ttnn_jit.compiler.symbols import names_of_sizes

        named: dict[str, Any] = {f"operand {index}": each for index, each in enumerate(self.operands)}
        own = zip(self.operation.attributes, self.attributes, strict=True)
        for parameter, value in own:
            own_number = type(value) is float or (type(value) is int and parameter.may_be_open)
            floats = [each for each in _numbers_in(value) if type(each) is float]
            named[f"`{parameter.name}`"] = value if own_number else floats
        named["activations"] = [*self.result.floats]
        *of_tensors, integers, of_floats = names_of_sizes(named)
        shard = [f"memory_config.shard_shape[{axis}]" for axis in range(len(self.result.sizes))]
        return [*of_tensors, [*integers, *shard], of_floats]

    def value_at(self, path: Path) -> Any:
        """Raises: an operation reads only its operands."""
        raise LookupError(f"{self.name} reads nothing at {path}")

    def plain_value_at(self, path: Path) -> Any:  # noqa: ARG002 - of every request
        """None: an operation reads only its operands."""
        return ABSENT

    def lower(self) -> FrontendResult:
        """The module of the one operation."""
        from ttnn_jit.frontend import lower_operation

        return lower_operation(self.operation, self.operands, self.attributes, self.target, self.result)


def _of_class(cls: type, values: Iterable[Any]) -> tuple[Any, ...]:
    """The values of exactly this class: subclasses have rules of their own."""
    return tuple([value for value in values if type(value) is cls])


def _holds_floats(attribute: Any) -> bool:
    """Whether an attribute is a tuple of floats."""
    return type(attribute) is tuple and any(type(each) is float for each in attribute)


def _numbers_in(attribute: Any) -> tuple[Any, ...]:
    """The numbers of an attribute that may be open."""
    if type(attribute) is ActivationText:
        return attribute.numbers
    return attribute if _holds_floats(attribute) else (attribute,)


def _keyed(attribute: Any) -> Any:
    """An attribute as a part of keys."""
    return (attribute.function, attribute.numbers) if type(attribute) is ActivationText else attribute


_NONE: Iterator[Any] = iter(())


def _replacing(specs: Iterable[TensorSpec], integers: Iterable[float], floats: Iterable[float]) -> Callable[[Any], Any]:
    """A function that returns the next of these in place of each spec, int and float, as long as there are any."""
    of_kinds = {TensorSpec: iter(specs), int: iter(integers), float: iter(floats)}

    def other(leaf: Any) -> Any:
        if type(leaf) is ActivationText:
            return ActivationText.of(leaf.function, tuple(map(other, leaf.numbers)))
        return tuple(map(other, leaf)) if _holds_floats(leaf) else next(of_kinds.get(type(leaf), _NONE), leaf)

    return other


def _result_layout(options: CompileOptions, target: SystemDesc) -> ResultLayout | None:
    """The result layout of the options; None leaves it to the operations."""
    rows, columns = target.grid
    last_core = options.max_grid or (columns - 1, rows - 1)
    if options.memory_config is not None:
        chosen = options.memory_config
        return lambda _: chosen
    if options.output_layout is OutputLayout.MAX_BLOCK_SHARDED:
        return lambda spec: maximal_block_sharding_config(spec.shape, last_core) or spec.memory_config
    return None


@dataclass(frozen=True)
class Compilation:
    """The result of a compile: a program with its guards.

    Attributes:
        program: The compiled program.
        reads: The values of the user's program that the compile read; the program is stale if one changes.
        structure: None for one result, else a pytree of tuples, lists and dicts with result indices as leaves.
        opaque: The first value read whose changes cannot be detected: the program serves only one call.
        warnings: Texts for the user.
        by_template: Whether the program is one of a template's, which serves other sizes too.
    """

    program: Program
    reads: tuple[Read, ...]
    structure: Any
    opaque: Opaque | None = None
    warnings: tuple[str, ...] = ()
    by_template: bool = False
