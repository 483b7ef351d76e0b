"""The interface through which calls use tensors of a library: ttnn, torch or numpy."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.runtime.memory.buffer import HOST_POOL, POOLED_RESULT_BYTES, Buffer
from ttnn_jit.runtime.memory.overlap import has_common_elements, overlap
from ttnn_jit.specs.meshes.mesh_devices import MeshPlacement
from ttnn_jit.specs.target import SystemDesc
from ttnn_jit.specs.tensor_spec import TensorSpec

if TYPE_CHECKING:
    from ttnn_jit.runtime.libraries.runnable import Runnable
    from ttnn_jit.runtime.native.panels import Factor
    from ttnn_jit.runtime.plans.plan import ProgramPlan

WarmCall = Callable[..., Any]
"""Runs a program on the tensors of one call, or returns `MISS`."""


class TensorLibrary(ABC):
    """One kind of tensor: how to recognise it, compare its metadata, find its memory and make a result.

    All tensors and results of a call are of one library. The methods for warm calls return lines of the function that
    `ttnn_jit.runtime.programs.warm_caller` generates. For buffer number ``i`` of the plan these lines use the names
    ``ai`` for the argument, ``Si`` for the spec, ``bi`` for the `Buffer`, ``pi`` for the address and ``ri`` for the
    result.

    Attributes:
        title: The name of such tensors in errors.
    """

    title: ClassVar[str]

    @abstractmethod
    def holds(self, value: object) -> bool:
        """Whether `value` is such a tensor or one of a subclass."""

    @abstractmethod
    def spec_of(self, tensor: Any) -> TensorSpec:
        """The spec of a tensor.

        Raises:
            DTypeError, LayoutError, ArgumentError: No compiled function accepts the tensor.
        """

    def placement_of(self, _tensor: Any) -> MeshPlacement | None:
        """The placement of a tensor of a mesh; None for other tensors."""
        return None

    @abstractmethod
    def run(self, program: Runnable, *tensors: Any) -> Any:
        """Run a program in a first call; returns the result, or a tuple of several."""

    def records(self, _tensors: Sequence[Any]) -> bool:
        """Whether calls with these tensors are recorded and do not run."""
        return False

    def separate(self, _tensors: Iterable[Any]) -> bool:
        """Give tensors of a mesh whose parts share memory parts of their own; returns whether there were any."""
        return False

    def ignored_mode(self, _function: str) -> str | None:
        """A warning about an active mode of the library that compiled functions ignore; None if there is none."""
        return None

    # --- Writes -------------------------------------------------------------------------------------------------------

    @abstractmethod
    def address(self, tensor: Any) -> int:
        """The address of the first element."""

    @abstractmethod
    def require_writable(self, tensor: Any, spec: TensorSpec, what: str) -> None:
        """Refuse a tensor that cannot be written; the text calls it `what`.

        Raises:
            ArgumentError: It is read-only, or has several elements at one address.
        """

    @abstractmethod
    def share_memory(self, tensor: Any, other: Any, spec: TensorSpec, other_spec: TensorSpec) -> bool:
        """Whether two tensors have an element at one address."""

    @abstractmethod
    def write(self, target: Any, source: Any) -> None:
        """Copy the elements of `source` to `target`, of the same shape and element type."""

    def check_updates(self, plan: ProgramPlan, tensors: Sequence[Any]) -> None:
        """Refuse inputs that the program cannot write, or whose update would change another input.

        The check runs before the program: a call that is refused or fails has written nothing.

        Raises:
            ArgumentError: One is read-only, has several elements at one address, or shares memory with another that the
                program reads or writes.
        """
        for index, _ in plan.updates:
            self.require_writable(tensors[index], plan.inputs[index], f"{plan.name}: argument {index}")
            for other in plan.used_inputs:
                specs = plan.inputs[index], plan.inputs[other]
                if other != index and self.share_memory(tensors[index], tensors[other], *specs):
                    raise ArgumentError(
                        f"{plan.name}: argument {index}, which the function writes into, shares memory with argument "
                        f"{other}",
                        help="pass a copy of one of them",
                    )

    def after_updates(self, plan: ProgramPlan, tensors: Sequence[Any], values: Sequence[Any]) -> list[Any]:
        """Write the new values of updated inputs, after the whole program has run.

        Returns:
            The results of the program, with the updated inputs in place of their new values.
        """
        results = [values[index] for index in plan.results]
        for index, result in plan.updates:
            if results[result] is not tensors[index]:
                self.write(tensors[index], results[result])
        for index, result in plan.updates:
            results[result] = tensors[index]
        return results

    def same_memory(self, tensors: Sequence[Any]) -> tuple[int, ...]:
        """Per tensor, the index of the first with the same spec and address; () if all are distinct."""
        first_at: dict[object, int] = {}
        first = [
            first_at.setdefault((self.address(tensor), self.spec_of(tensor)), at) for at, tensor in enumerate(tensors)
        ]
        return () if len(first_at) == len(tensors) else tuple(first)

    # --- Look-up of a warm call by metadata ---------------------------------------------------------------------------

    @abstractmethod
    def are_plain(self, tensors: Sequence[Any]) -> bool:
        """Whether none is of a subclass, so that their metadata describe them completely."""

    def table_key(self, _tensors: Sequence[Any]) -> tuple[object, ...] | None:
        """The key of the tensors' call in a table of warm calls; None if `warm_caller` compares all metadata itself."""
        return None

    def look_up(self, _count: int, _table: dict[Any, WarmCall]) -> WarmCall | None:
        """A call of `count` tensors that looks up `table` by their `table_key`; None if the library has no keys."""
        return None

    def with_metadata_guard(self, warm: WarmCall, _tensors: Sequence[Any]) -> WarmCall | None:
        """`warm`, preceded by a check of the metadata of these tensors; None if the library has no such check."""
        return warm

    def of_call(self, _program: Runnable, _placements: Sequence[object]) -> TensorLibrary:
        """The library for warm calls of a program with arguments of these placements."""
        return self

    # --- Text of a warm call ------------------------------------------------------------------------------------------

    def tensor_name(self, index: int) -> str:
        """The name of tensor `index` of the call."""
        return f"a{index}"

    def conditions(self, _plan: ProgramPlan, _arguments: range, _target: SystemDesc | None) -> Iterable[str]:
        """Expressions that are true for arguments of the plan's specs on a device of that target; None: on any device.

        Empty for a library whose calls are looked up by `table_key`.
        """
        return ()

    @abstractmethod
    def conditions_of_hidden(self, plan: ProgramPlan, hidden: Mapping[int, Any]) -> Iterable[str]:
        """Expressions that are true for hidden inputs of the plan's specs on the device of the arguments.

        They are evaluated after those of `conditions`. `hidden` maps buffer indices to examples.
        """

    def names_of_hidden(self, _plan: ProgramPlan, _hidden: Mapping[int, Any]) -> dict[str, Any]:
        """Values of the names that only these expressions use."""
        return {}

    @abstractmethod
    def address_of(self, index: int) -> str:
        """The statement that assigns ``pi`` for the argument `index`."""

    def factors(self, _program: Runnable) -> Mapping[int, Factor]:
        """The inputs of a program that may be in panels (runtime/native/panels.py)."""
        return {}

    def admit(self, _index: int) -> Iterable[str]:
        """Lines that refuse buffer `index` of the plan before memory is mapped for it."""
        return ()

    def account(self, _program: Runnable) -> Iterable[str]:
        """Statements that charge a run to the tensors' device, before anything is allocated."""
        return ()

    def writable(self, _index: int) -> Iterable[str]:
        """Expressions that are true if the argument may be written in place."""
        return ()

    def note_write(self, _index: int) -> Iterable[str]:
        """Statements that notify the argument's library of a write."""
        return ()

    def is_leased(self, _spec: TensorSpec) -> bool:
        """Whether a buffer of the plan holds a lease ``li`` that `account` took."""
        return False

    @abstractmethod
    def is_pooled(self, spec: TensorSpec) -> bool:
        """Whether the memory of a result is a `Buffer` of the pool, not the library's own memory."""

    @abstractmethod
    def wrap(self, index: int) -> Iterable[str]:
        """Statements that make ``ri`` over the pooled ``bi``."""

    def make(self, index: int, spec: TensorSpec) -> Iterable[str]:
        """Statements that make ``ri`` and ``pi`` in the library's own memory."""
        raise NotImplementedError

    def result_text(self, index: int, _spec: TensorSpec) -> str:
        """The expression of the value that the caller gets for ``ri``."""
        return f"r{index}"

    def returned(self, _plan: ProgramPlan, names: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
        """Statements, and the expressions of the function's results, of the expressions of the plan's results."""
        return (), names

    @abstractmethod
    def names(self, plan: ProgramPlan) -> dict[str, Any]:
        """Values of the names that these lines use."""


class ForeignLibrary(TensorLibrary):
    """Tensors of another library, which programs use in place.

    Large results are allocated from the pool: fresh memory of the library costs a page fault per page.

    Attributes:
        copy: The library's expression that copies a tensor.
    """

    copy: ClassVar[str]

    @abstractmethod
    def wrapped(self, spec: TensorSpec, buffer: Buffer) -> Any:
        """A tensor of `spec` over the memory of `buffer`."""

    @abstractmethod
    def empty(self, spec: TensorSpec) -> Any:
        """An uninitialized tensor of `spec` in the library's own memory."""

    def convert_result(self, result: Any, _spec: TensorSpec) -> Any:
        """The value that the caller gets for a result; `result_text` is its text."""
        return result

    def is_pooled(self, spec: TensorSpec) -> bool:
        """Large results are."""
        return spec.nbytes >= POOLED_RESULT_BYTES

    def run(self, program: Runnable, *tensors: Any) -> Any:
        """Run on the tensors' memory; a function that returns an argument returns the same object."""
        plan = program.plan
        outputs = [
            self.wrapped(spec, HOST_POOL.allocate(spec.nbytes)) if self.is_pooled(spec) else self.empty(spec)
            for spec in plan.outputs
        ]
        visible = (*tensors, *outputs)
        self.check_updates(plan, tensors)
        program.run(*map(self.address, visible))
        converted = map(self.convert_result, outputs, plan.outputs)
        results = self.after_updates(plan, tensors, (*tensors, *converted))
        return results[0] if len(results) == 1 else tuple(results)

    def require_writable(self, tensor: Any, spec: TensorSpec, what: str) -> None:  # noqa: ARG002 - its spec has it
        """Refuse a tensor whose elements share addresses."""
        if has_common_elements(spec):
            raise ArgumentError(
                f"{what}, which the function writes into, has several elements at one address",
                help=f"pass `{self.copy}`",
            )

    def share_memory(self, tensor: Any, other: Any, spec: TensorSpec, other_spec: TensorSpec) -> bool:
        """Compare the addresses that the strides give."""
        return overlap(self.address(tensor), spec, self.address(other), other_spec)
