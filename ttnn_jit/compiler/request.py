"""The input of a compile (a function of the user's or one eager operation), and its result."""

from __future__ import annotations

import types
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

from ttnn_jit.compiler.symbols import SizeNames, names_of_sizes
from ttnn_jit.foreign import pytrees
from ttnn_jit.guards.fingerprints import fingerprint_code
from ttnn_jit.guards.reads import Opaque, Path, Read, resolve
from ttnn_jit.ops import Operation
from ttnn_jit.ops.language.operation import OperandSpec
from ttnn_jit.ops.result_options import NO_OPTIONS, ResultOptions
from ttnn_jit.process.cached_property import cached_property
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.libraries import TensorLibrary
from ttnn_jit.runtime.programs.program import Program
from ttnn_jit.runtime.tensors.dynamic_marks import marked_axes
from ttnn_jit.specs.cores.sharding import maximal_block_sharding_config
from ttnn_jit.specs.options import CompileOptions, OutputLayout
from ttnn_jit.specs.target import SystemDesc
from ttnn_jit.specs.tensor_spec import TensorSpec

if TYPE_CHECKING:
    from ttnn_jit.frontend import FrontendResult, ResultLayout


OpenHiddenInput = Callable[[Path, TensorSpec], TensorSpec]
"""From the path and the spec of a hidden input to its spec in a trace."""


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
    def marked_axes(self) -> Sequence[Collection[int]]:
        """Per tensor the axes of extents that the user marked as dynamic."""

    @property
    def names_of_sizes(self) -> SizeNames:
        """The names of the extents of `inputs`, and those of `integers`."""

    @property
    def library(self) -> TensorLibrary | None:
        """The library of its tensors; None if it does not matter."""

    @property
    def options(self) -> CompileOptions:
        """The options of the compile."""

    @property
    def target(self) -> SystemDesc:
        """The target of the compile."""

    def with_inputs(self, specs: Iterable[TensorSpec], integers: Iterable[int]) -> Self:
        """The request for tensors of other specs, and for other ints, in order."""

    def opening(self, hidden: OpenHiddenInput) -> Self:
        """The request whose hidden inputs have extents of a trace, by path and spec."""

    def value_at(self, path: Path) -> Any:
        """The current value at a path that a compile read.

        Raises:
            Exception: There is none, or an object of the user's raises it.
        """

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
        hidden: Puts extents of a trace into the specs of hidden inputs.
    """

    function: types.FunctionType
    arguments: Mapping[str, Any]
    target: SystemDesc
    options: CompileOptions
    library: TensorLibrary | None = None
    same: tuple[int, ...] = ()
    tensors: Sequence[Any] = field(default=(), repr=False, compare=False)
    hidden: OpenHiddenInput | None = field(default=None, repr=False, compare=False)

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
        return {"code": fingerprint_code(self.function.__code__), **library, **same, **arguments}

    @cached_property
    def inputs(self) -> tuple[TensorSpec, ...]:
        """The specs in the arguments."""
        return tuple(leaf for leaf in pytrees.leaves([*self.arguments.values()]) if isinstance(leaf, TensorSpec))

    def opening(self, hidden: OpenHiddenInput) -> FunctionRequest:
        """The request with extents of a trace in hidden inputs."""
        return replace(self, hidden=hidden)

    def with_inputs(self, specs: Iterable[TensorSpec], integers: Iterable[int]) -> FunctionRequest:
        """The request for tensors of other specs, and for other ints, in order."""
        tensors, numbers = iter(specs), iter(integers)

        def other(leaf: Any) -> Any:
            return next(tensors) if isinstance(leaf, TensorSpec) else next(numbers) if type(leaf) is int else leaf

        return replace(self, arguments={name: pytrees.map_leaves(own, other) for name, own in self.arguments.items()})

    @property
    def integers(self) -> tuple[int, ...]:
        """The ints in the arguments."""
        return tuple(leaf for leaf in pytrees.leaves([*self.arguments.values()]) if type(leaf) is int)

    @property
    def marked_axes(self) -> Sequence[Collection[int]]:
        """Those of the call's tensors."""
        return [*map(marked_axes, self.tensors)]

    @property
    def names_of_sizes(self) -> SizeNames:
        """The names in the function, such as ``x.shape[0]``."""
        return names_of_sizes(self.arguments)

    def value_at(self, path: Path) -> Any:
        """The value at a path from the function."""
        return resolve(self.function, path, self.arguments, self.tensors)

    def lower(self) -> FrontendResult:
        """Lowers the function by the frontend that the options select."""
        from ttnn_jit.frontend import FrontendRequest, TensorArgument, lower

        unknown = (None,) * len(self.inputs)
        told = zip(self.same or unknown, self.tensors or unknown, strict=True)

        def lowered(leaf: Any) -> Any:
            return TensorArgument(leaf, *next(told)) if isinstance(leaf, TensorSpec) else leaf

        arguments = {name: pytrees.map_leaves(value, lowered) for name, value in self.arguments.items()}
        request = FrontendRequest(
            self.function,
            arguments,
            self.target,
            self.options.graph_capture,
            _result_layout(self.options, self.target),
            self.library,
            self.options.max_grid,
            self.hidden,
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
            "attributes": self.attributes,
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

    def opening(self, hidden: OpenHiddenInput) -> OperationRequest:  # noqa: ARG002
        """The request itself: an operation has no hidden inputs."""
        return self

    @property
    def integers(self) -> tuple[int, ...]:
        """The sizes of the requested memory config; the attributes of an operation are fixed."""
        return self.result.sizes

    def with_inputs(self, specs: Iterable[TensorSpec], integers: Iterable[int]) -> OperationRequest:
        """The request for tensors of other specs, and other sizes of the memory config, in order."""
        given = iter(specs)
        operands = (next(given) if isinstance(operand, TensorSpec) else operand for operand in self.operands)
        return replace(self, operands=tuple(operands), result=self.result.with_sizes(tuple(integers)))

    @property
    def names_of_sizes(self) -> SizeNames:
        """The names of the operands by position."""
        *of_tensors, _ = names_of_sizes({f"operand {index}": spec for index, spec in enumerate(self.inputs)})
        return [*of_tensors, [f"memory_config.shard_shape[{axis}]" for axis in range(len(self.integers))]]

    def value_at(self, path: Path) -> Any:
        """Raises: an operation reads only its operands."""
        raise LookupError(f"{self.name} reads nothing at {path}")

    def lower(self) -> FrontendResult:
        """The module of the one operation."""
        from ttnn_jit.frontend import lower_operation

        return lower_operation(self.operation, self.operands, self.attributes, self.target, self.result)


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
