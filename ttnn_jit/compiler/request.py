"""What a compile is asked for, for a function of the user's or for one eager operation, and what it answers."""

from __future__ import annotations

import types
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, Protocol

from ttnn_jit.foreign import pytrees
from ttnn_jit.guards.fingerprints import fingerprint_code
from ttnn_jit.guards.reads import Opaque, Path, Read, resolve
from ttnn_jit.ops import Operation
from ttnn_jit.ops.applied_unary import AppliedUnary
from ttnn_jit.ops.operation import OperandSpec
from ttnn_jit.ops.result_places import result_config
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.families import Family
from ttnn_jit.runtime.program import Program
from ttnn_jit.specs.options import CompileOptions, OutputLayout
from ttnn_jit.specs.sharding import maximal_block_sharding_config
from ttnn_jit.specs.target import SystemDesc
from ttnn_jit.specs.tensor_spec import DataType, MemoryConfig, TensorSpec

if TYPE_CHECKING:
    from ttnn_jit.frontend import FrontendResult, ResultLayout


class Request(Protocol):
    """What is to be compiled."""

    @property
    def name(self) -> str:
        """What the function or the operation is called."""

    @property
    def place(self) -> str:
        """Where the function is written: no part of keys, for one that moves finds its programs; "" of operations."""

    @property
    def parts(self) -> Mapping[str, Any]:
        """What the compile is told besides options and target, by name: the parts of a key."""

    @property
    def inputs(self) -> tuple[TensorSpec, ...]:
        """The specs of its tensors, in order."""

    @property
    def family(self) -> Family | None:
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
    """A function of the user's: `arguments` holds TensorSpec objects where the call has tensors, of `family`.

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
    family: Family | None = None
    same: tuple[int, ...] = ()
    tensors: Sequence[Any] = field(default=(), repr=False, compare=False)

    @property
    def name(self) -> str:
        """Its qualified name."""
        return self.function.__qualname__

    @property
    def place(self) -> str:
        """Its file."""
        return self.function.__code__.co_filename

    @property
    def parts(self) -> Mapping[str, Any]:
        """Its code and its arguments."""
        arguments = {f"argument {name}": value for name, value in self.arguments.items()}
        same = {"same": self.same} if self.same else {}
        family = {"family": self.family.title} if self.family else {}  # methods and classes of tensors are its own
        return {"code": fingerprint_code(self.function.__code__), **family, **same, **arguments}

    @property
    def inputs(self) -> tuple[TensorSpec, ...]:
        """The specs in the arguments."""
        return tuple(leaf for leaf in pytrees.leaves([*self.arguments.values()]) if type(leaf) is TensorSpec)

    def value_at(self, path: Path) -> Any:
        """What the function finds there."""
        return resolve(self.function, path, self.arguments, self.tensors)

    def lower(self) -> FrontendResult:
        """By the frontend that the options choose."""
        from ttnn_jit.frontend import FrontendRequest, lower

        unknown = (None,) * len(self.inputs)
        told = zip(self.same or unknown, self.tensors or unknown, strict=True)
        arguments = {name: _lowered_argument(value, told) for name, value in self.arguments.items()}
        request = FrontendRequest(
            self.function,
            arguments,
            self.target,
            self.options.graph_capture,
            _result_layout(self.options, self.target),
            self.family,
            self.options.max_grid,
        )
        return lower(request)


def _lowered_argument(value: Any, told: Iterator[tuple[int | None, Any]]) -> Any:
    from ttnn_jit.frontend import TensorArgument

    return pytrees.map_leaves(
        value, lambda leaf: TensorArgument(leaf, *next(told)) if type(leaf) is TensorSpec else leaf
    )


@dataclass(frozen=True)
class ResultPlacement:
    """What the caller of one eager operation asks of its result; None leaves it to the operation.

    Attributes:
        memory_config: Where it lies.
        dtype: Its element type.
        activations: Unary operations that are applied before the one rounding.
        operand_activations: Those that are applied to the operands before, for each of the first ones.
        in_place: It is written into the operand that the declaration says.
    """

    memory_config: MemoryConfig | None = None
    dtype: DataType | None = None
    activations: tuple[AppliedUnary, ...] = ()
    operand_activations: tuple[tuple[AppliedUnary, ...], ...] = ()
    in_place: bool = False

    @property
    def parts(self) -> dict[str, Hashable]:
        """What decides the program beside `memory_config`, by name: parts of keys, in memory and on disk."""
        of_operands = tuple(tuple(each.key for each in of_one) for of_one in self.operand_activations)
        return {
            "dtype": self.dtype,
            "activations": tuple(each.key for each in self.activations),
            "operand activations": of_operands,
            "in place": self.in_place,
        }

    @property
    def has_activations(self) -> bool:
        """Whether several operations run in the one call."""
        return bool(self.activations) or any(self.operand_activations)


@dataclass(frozen=True)
class OperationRequest:
    """One operation, as eager `ttnn` runs it.

    Attributes:
        operation: What to run.
        operands: A spec for every tensor, a float for every number, None where no tensor is given.
        attributes: Values of the operation's attributes.
        target: The device's.
        result: What is asked of the result.
    """

    operation: Operation
    operands: tuple[OperandSpec, ...]
    attributes: tuple[Any, ...]
    target: SystemDesc
    result: ResultPlacement = ResultPlacement()

    @property
    def name(self) -> str:
        """Its name in Python."""
        return f"ttnn.{self.operation.name}"

    @property
    def place(self) -> str:
        """None: it is no text of the user's."""
        return ""

    @property
    def parts(self) -> Mapping[str, Any]:
        """The operation, its operands, and what is asked of its result."""
        return {
            "operation": self.operation.fingerprint,
            "operands": self.operands,
            "attributes": self.attributes,
            **self.result.parts,
        }

    @property
    def family(self) -> None:
        """An operation finds no tensors but its operands."""

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

        result, config = self.result, self.result.memory_config
        layout = _result_layout(self.options, self.target)
        if config is not None and config.names_no_cores:
            layout = result_config(self.operation, self.inputs[0], self.target.grid, config)
        return lower_operation(
            self.operation,
            self.operands,
            self.attributes,
            self.target,
            result.dtype,
            layout,
            result.activations,
            result.operand_activations,
            in_place=result.in_place,
        )


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
