"""What a call must know of its tensors, for each kind of them: ttnn's, torch's or numpy's."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.runtime.memory.buffer import HOST_POOL, POOLED_RESULT_BYTES, Buffer
from ttnn_jit.runtime.memory.overlap import has_common_elements, overlap
from ttnn_jit.specs.target import SystemDesc
from ttnn_jit.specs.tensor_spec import TensorSpec

if TYPE_CHECKING:
    from ttnn_jit.runtime.libraries.runnable import Runnable
    from ttnn_jit.runtime.native.panels import Factor
    from ttnn_jit.runtime.plans.plan import ProgramPlan

WarmCall = Callable[..., Any]
"""Runs a program on the tensors of one call, or returns `MISS`."""


class TensorLibrary(ABC):
    """One kind of tensors: how it is recognised, its metadata compared, its memory found, a result made of it.

    Tensors of a call are of one library, and so are its results. What a warm call does is stated as lines of the
    function that `ttnn_jit.runtime.programs.warm_caller` writes. In these, for the number ``i`` of a buffer of the
    plan: ``ai`` is the argument, ``Si`` the spec, ``bi`` the `Buffer`, ``pi`` the address and ``ri`` the result.

    Attributes:
        title: What errors call such tensors.
    """

    title: ClassVar[str]

    @abstractmethod
    def holds(self, value: object) -> bool:
        """Whether `value` is such a tensor, of any subclass."""

    @abstractmethod
    def spec_of(self, tensor: Any) -> TensorSpec:
        """The spec of a tensor.

        Raises:
            DTypeError, LayoutError, ArgumentError: It is one that no compiled function takes.
        """

    @abstractmethod
    def run(self, program: Runnable, *tensors: Any) -> Any:
        """The result of a program, or the tuple of several, as the first call gets it."""

    def records(self, _tensors: Sequence[Any]) -> bool:
        """Whether calls with these tensors are recorded, and do not run now."""
        return False

    def unheeded(self, _function: str) -> str | None:
        """What to say of a mode that the tensors' library is in now, of which compiled functions take no notice."""
        return None

    # --- Writes -------------------------------------------------------------------------------------------------------

    @abstractmethod
    def address(self, tensor: Any) -> int:
        """The address of the first element."""

    @abstractmethod
    def require_writable(self, tensor: Any, spec: TensorSpec, what: str) -> None:
        """Refuse a tensor that cannot be written, called `what` in the text.

        Raises:
            ArgumentError: It is read-only, or has several elements at one address.
        """

    @abstractmethod
    def share_memory(self, tensor: Any, other: Any, spec: TensorSpec, other_spec: TensorSpec) -> bool:
        """Whether two tensors have an element at one address."""

    @abstractmethod
    def write(self, target: Any, source: Any) -> None:
        """Have `target` hold the elements of `source`, of its shape and element type."""

    def check_updates(self, plan: ProgramPlan, tensors: Sequence[Any]) -> None:
        """Refuse inputs that the program cannot write into, or where that would change another input.

        Before it runs: a call that is refused, or fails, has written nothing.

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
        """Write what the program, all of which has run, made of its inputs.

        Returns:
            What the program returns, with these inputs in its place.
        """
        results = [values[index] for index in plan.results]
        for index, result in plan.updates:
            if results[result] is not tensors[index]:
                self.write(tensors[index], results[result])
        for index, result in plan.updates:
            results[result] = tensors[index]
        return results

    def same_memory(self, tensors: Sequence[Any]) -> tuple[int, ...]:
        """Per tensor, the first one that has the same elements at the same addresses; () if each is the first."""
        first_at: dict[object, int] = {}
        first = [
            first_at.setdefault((self.address(tensor), self.spec_of(tensor)), at) for at, tensor in enumerate(tensors)
        ]
        return () if len(first_at) == len(tensors) else tuple(first)

    # --- How a later call with the same metadata is found -------------------------------------------------------------

    @abstractmethod
    def are_plain(self, tensors: Sequence[Any]) -> bool:
        """Whether these are of no subclass, so that their metadata say all of them."""

    def table_key(self, _tensors: Sequence[Any]) -> tuple[object, ...] | None:
        """The metadata of all tensors, by which a table has their call; None where `warm_caller` alone compares."""
        return None

    def look_up(self, _count: int, _table: dict[Any, WarmCall]) -> WarmCall | None:
        """The call of so many tensors that finds another in a table by their `table_key`; None if there is none."""
        return None

    def comparing(self, warm: WarmCall, _tensors: Sequence[Any]) -> WarmCall | None:
        """`warm`, the call of these tensors, for any: it compares metadata. None where that cannot be had."""
        return warm

    # --- What a warm call does, as text -------------------------------------------------------------------------------

    def conditions(self, _plan: ProgramPlan, _arguments: range, _target: SystemDesc | None) -> Iterable[str]:
        """Expressions that are true for arguments of the plan's specs, on a device of that target; None: on any.

        None of a library whose calls are chosen by metadata alone.
        """
        return ()

    @abstractmethod
    def conditions_of_hidden(self, plan: ProgramPlan, hidden: Mapping[int, Any]) -> Iterable[str]:
        """Expressions that are true for hidden inputs of the plan's specs, as those given are, where the arguments are.

        They are asked once those of `conditions` are known to be true.
        """

    def names_of_hidden(self, _plan: ProgramPlan, _hidden: Mapping[int, Any]) -> dict[str, Any]:
        """What the names mean that only these expressions use."""
        return {}

    @abstractmethod
    def address_of(self, index: int) -> str:
        """The statement that gives ``pi`` of the argument `index`."""

    def factors(self, _program: Runnable) -> Mapping[int, Factor]:
        """The inputs of a program that may be in panels (runtime/native/panels.py)."""
        return {}

    def admit(self, _index: int) -> Iterable[str]:
        """Lines that refuse buffer `index` of the plan, for which memory is about to be mapped."""
        return ()

    def account(self, _plan: ProgramPlan, _circular_buffer_bytes: int) -> Iterable[str]:
        """Statements that enter a run into the books of the tensors' device, before anything is allocated."""
        return ()

    def writable(self, _index: int) -> Iterable[str]:
        """Expressions that are true for an argument that may be written in place."""
        return ()

    def note_write(self, _index: int) -> Iterable[str]:
        """Statements that tell the argument's library of a write."""
        return ()

    def is_leased(self, _spec: TensorSpec) -> bool:
        """Whether a buffer of the plan keeps a lease ``li`` that `account` took."""
        return False

    @abstractmethod
    def is_pooled(self, spec: TensorSpec) -> bool:
        """Whether the memory of a result is a `Buffer` of the pool, and not the library's own."""

    @abstractmethod
    def wrap(self, index: int) -> Iterable[str]:
        """Statements that make ``ri`` of the pooled ``bi``."""

    def make(self, index: int, spec: TensorSpec) -> Iterable[str]:
        """Statements that make ``ri``, and ``pi``, in memory of the library's own."""
        raise NotImplementedError

    def given(self, index: int, _spec: TensorSpec) -> str:
        """The expression of what the caller gets of ``ri``."""
        return f"r{index}"

    @abstractmethod
    def names(self, plan: ProgramPlan) -> dict[str, Any]:
        """What the names mean that only these lines use."""


class ForeignLibrary(TensorLibrary):
    """Tensors of another library, which lie in its memory and are used there.

    Large results lie in the pool: fresh memory of the library's own costs a page fault per page.

    Attributes:
        copy: The expression of the library that copies one.
    """

    copy: ClassVar[str]

    @abstractmethod
    def wrapped(self, spec: TensorSpec, buffer: Buffer) -> Any:
        """A tensor of `spec` whose memory is `buffer`."""

    @abstractmethod
    def made(self, spec: TensorSpec) -> Any:
        """A tensor of `spec` in memory of the library's own."""

    def handed_out(self, result: Any, _spec: TensorSpec) -> Any:
        """What the caller gets of a result, as `given` says it of a later one."""
        return result

    def is_pooled(self, spec: TensorSpec) -> bool:
        """Large ones."""
        return spec.nbytes >= POOLED_RESULT_BYTES

    def run(self, program: Runnable, *tensors: Any) -> Any:
        """Runs on memory where it lies; a function that returns an argument itself returns that very object."""
        plan = program.plan
        outputs = [
            self.wrapped(spec, HOST_POOL.allocate(spec.nbytes)) if self.is_pooled(spec) else self.made(spec)
            for spec in plan.outputs
        ]
        visible = (*tensors, *outputs)
        self.check_updates(plan, tensors)
        program.run(*map(self.address, visible))
        handed_out = map(self.handed_out, outputs, plan.outputs)
        results = self.after_updates(plan, tensors, (*tensors, *handed_out))
        return results[0] if len(results) == 1 else tuple(results)

    def require_writable(self, tensor: Any, spec: TensorSpec, what: str) -> None:  # noqa: ARG002 - its spec has it
        """One whose elements share addresses cannot be."""
        if has_common_elements(spec):
            raise ArgumentError(
                f"{what}, which the function writes into, has several elements at one address",
                help=f"pass `{self.copy}`",
            )

    def share_memory(self, tensor: Any, other: Any, spec: TensorSpec, other_spec: TensorSpec) -> bool:
        """By the addresses that the strides give."""
        return overlap(self.address(tensor), spec, self.address(other), other_spec)
