"""What a compile is asked for, for a function of the user's or for one eager operation, and what it answers."""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from ttnn_jit.foreign import pytrees
from ttnn_jit.guards.fingerprints import fingerprint_code
from ttnn_jit.guards.reads import Opaque, Path, Read, resolve
from ttnn_jit.ops import Operation
from ttnn_jit.ops.language.operation import OperandSpec
from ttnn_jit.ops.result_options import NO_OPTIONS, ResultOptions
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.libraries import TensorLibrary
from ttnn_jit.runtime.programs.program import Program
from ttnn_jit.specs.cores.sharding import maximal_block_sharding_config
from ttnn_jit.specs.options import CompileOptions, OutputLayout
from ttnn_jit.specs.target import SystemDesc
from ttnn_jit.specs.tensor_spec import TensorSpec

if TYPE_CHECKING:
    from ttnn_jit.frontend import FrontendResult, ResultLayout


class Request(Protocol):
    """What is to be compiled."""

    @property
    def name(self) -> str:
        """What the function or the operation is called."""

    @property
    def location(self) -> str:
        """Where the function is written: no part of keys, for one that moves finds its programs; "" of operations."""

    @property
    def parts(self) -> Mapping[str, Any]:
        """What the compile is told besides options and target, by name: the parts of a key."""

    @property
    def inputs(self) -> tuple[TensorSpec, ...]:
        """The specs of its tensors, in order."""

    @property
    def library(self) -> TensorLibrary | None:
        """Of its tensors, if that matters."""

    @property
    def options(self) -> CompileOptions:
        """The decorator's."""

    @property
    def target(self) -> SystemDesc:
        """Whose rules are obeyed."""

    def value_at(self, path: Path) -> Any:
        """What stands now where a compile read.

        Raises:
            Exception: Nothing does, or an object of the user's raises it.
        """

    def lower(self) -> FrontendResult:
        """The module in the TTNN dialect, and what the frontend read to make it.

        Raises:
            CompileError: It is outside the language, or the operands do not fit.
        """


@dataclass(frozen=True)
class FunctionRequest:
    """A function of the user's: `arguments` holds TensorSpec objects where the call has tensors, of `library`.

    Attributes:
        same: Per tensor among the arguments, the first of them that lies in the same memory; given as (), each lies in
            its own, or it does not matter, because the function writes into none.
        tensors: Those of the call, in order, for programs that ask which of them are one object; given as (), each is
            one of its own.
    """

    function: types.FunctionType
    arguments: Mapping[str, Any]
    target: SystemDesc
    options: CompileOptions
    library: TensorLibrary | None = None
    same: tuple[int, ...] = ()
    tensors: Sequence[Any] = field(default=(), repr=False, compare=False)

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
        """Its code and its arguments."""
        arguments = {f"argument {name}": value for name, value in self.arguments.items()}
        same = {"same": self.same} if self.same else {}
        library = {"library": self.library.title} if self.library else {}  # methods and classes of tensors are its own
        return {"code": fingerprint_code(self.function.__code__), **library, **same, **arguments}

    @property
    def inputs(self) -> tuple[TensorSpec, ...]:
        """The specs in the arguments."""
        return tuple(leaf for leaf in pytrees.leaves([*self.arguments.values()]) if type(leaf) is TensorSpec)

    def value_at(self, path: Path) -> Any:
        """What the function finds there."""
        return resolve(self.function, path, self.arguments, self.tensors)

    def lower(self) -> FrontendResult:
        """By the frontend that the options choose."""
        from ttnn_jit.frontend import FrontendRequest, TensorArgument, lower

        unknown = (None,) * len(self.inputs)
        told = zip(self.same or unknown, self.tensors or unknown, strict=True)

        def lowered(leaf: Any) -> Any:
            return TensorArgument(leaf, *next(told)) if type(leaf) is TensorSpec else leaf

        arguments = {name: pytrees.map_leaves(value, lowered) for name, value in self.arguments.items()}
        request = FrontendRequest(
            self.function,
            arguments,
            self.target,
            self.options.graph_capture,
            _result_layout(self.options, self.target),
            self.library,
            self.options.max_grid,
        )
        return lower(request)


@dataclass(frozen=True)
class OperationRequest:
    """One operation, as eager `ttnn` runs it.

    Attributes:
        operation: What to run.
        operands: A spec for every tensor, a float for every number, None where no tensor is given.
        attributes: Values of the operation's attributes.
        target: The device's.
        result: The result options.
    """

    operation: Operation
    operands: tuple[OperandSpec, ...]
    attributes: tuple[Any, ...]
    target: SystemDesc
    result: ResultOptions = NO_OPTIONS

    location: ClassVar[str] = ""
    """It is no text of the user's."""
    library: ClassVar[None] = None
    """An operation finds no tensors but its operands."""

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

    @property
    def inputs(self) -> tuple[TensorSpec, ...]:
        """The specs in the operands."""
        return tuple(operand for operand in self.operands if isinstance(operand, TensorSpec))

    @property
    def options(self) -> CompileOptions:
        """One call of the user's rounds once: what comes before an activation stays float32."""
        return CompileOptions(memory_config=self.result.memory_config, fp32_dest_acc=self.result.has_activations)

    def value_at(self, path: Path) -> Any:
        """Nothing: an operation reads its operands alone."""
        raise LookupError(f"{self.name} reads nothing at {path}")

    def lower(self) -> FrontendResult:
        """The module of the one operation."""
        from ttnn_jit.frontend import lower_operation

        return lower_operation(self.operation, self.operands, self.attributes, self.target, self.result)


def _result_layout(options: CompileOptions, target: SystemDesc) -> ResultLayout | None:
    """Where the options want results; None leaves it to the operations."""
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
    """A program and what its caller must know of how it came to be.

    Attributes:
        program: The compiled program.
        reads: What the compile read of the user's world; a change of any of it makes the program stale.
        structure: None for one result, else a nest of tuples, lists and dicts with result indices as leaves.
        opaque: The first thing that was read whose change cannot be seen: the program serves one call only.
        warnings: Texts for the user.
    """

    program: Program
    reads: tuple[Read, ...]
    structure: Any
    opaque: Opaque | None = None
    warnings: tuple[str, ...] = ()
