"""ttnn tensors, whose results lie on the device of the arguments and are charged to its account."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.runtime.libraries.tensor_library import TensorLibrary
from ttnn_jit.runtime.memory.buffer import address_of
from ttnn_jit.runtime.memory.l1 import in_l1
from ttnn_jit.runtime.memory.replicas import own_memory
from ttnn_jit.runtime.native.panels import Factor, factors_of
from ttnn_jit.runtime.tensors.tensor import Tensor, write_elements
from ttnn_jit.specs.target import SystemDesc
from ttnn_jit.specs.tensor_spec import TensorSpec

if TYPE_CHECKING:
    from ttnn_jit.runtime.libraries.runnable import Runnable
    from ttnn_jit.runtime.plans.plan import ProgramPlan


class TtnnTensors(TensorLibrary):
    """ttnn tensors."""

    title = "ttnn tensors"

    def holds(self, value: object) -> bool:
        """Whether it is one; those of a mesh have a library of their own."""
        return issubclass(type(value), Tensor)

    def spec_of(self, tensor: Tensor) -> TensorSpec:
        """The spec is interned, so it compares by identity."""
        if type(tensor) is not Tensor:
            raise ArgumentError(f"{type(tensor).__name__} is no tensor")
        return tensor.spec

    def run(self, program: Runnable, *tensors: Tensor) -> Any:
        """Call the program."""
        return program(*tensors)

    def records(self, tensors: Sequence[Any]) -> bool:
        """While their device captures a trace."""
        return tensors[0]._device.recorder is not None

    def address(self, tensor: Tensor) -> int:
        """The address of its buffer."""
        return address_of(tensor.memory("its address"))

    def require_writable(self, tensor: Tensor, _spec: TensorSpec, what: str) -> None:
        """Refuse a deallocated tensor only; copy memory that another tensor shares."""
        own_memory(tensor.memory(what))

    def share_memory(self, tensor: Tensor, other: Tensor, _spec: TensorSpec, _other_spec: TensorSpec) -> bool:
        """Compare addresses: copies made by `copy.copy` share memory."""
        return self.address(tensor) == self.address(other)

    def write(self, target: Tensor, source: Tensor) -> None:
        """Copy the elements in the target's layout."""
        write_elements(source, target)

    def are_plain(self, tensors: Sequence[Any]) -> bool:
        """Every tensor that a call accepts is."""
        return type(tensors[0]) is Tensor

    def table_key(self, tensors: Sequence[Any]) -> tuple[object, ...]:
        """The target of the first one's device, and every spec."""
        return tensors[0]._device.open_target, *[tensor.spec for tensor in tensors]

    def conditions(self, _plan: ProgramPlan, arguments: range, target: SystemDesc | None) -> Iterator[str]:
        """Compare specs by identity; all tensors on one open device, of `target` unless that is None."""
        yield from (f"a{i}.spec is S{i}" for i in arguments)
        yield f"(device := a0._device).open_target {'== OPEN_TARGET' if target else '!= 0'}"
        yield from (f"a{i}._device is device" for i in arguments[1:])

    def conditions_of_hidden(self, plan: ProgramPlan, hidden: Mapping[int, Any]) -> Iterator[str]:
        """Compare specs by identity; on the arguments' device, or on none.

        The call holds the buffers, because other threads may deallocate the tensors.
        """
        factors = factors_of(plan)
        for i, example in hidden.items():
            device = "None" if example.device() is None else "device"
            yield from (f"a{i}.spec is S{i}", f"a{i}._device is {device}")
            if i not in factors:  # `memory_of` holds the memory of factors
                yield f"(h{i} := a{i}._buffer) is not None"

    def address_of(self, index: int) -> str:
        """Read the buffer, which is None after deallocation."""
        return f"p{index} = a{index}._buffer.address"

    def writable(self, index: int) -> Iterable[str]:
        """Memory that another tensor shares is a miss: `require_writable` copies it."""
        return (f"getattr(a{index}._buffer, 'replica', None) is None",)

    def factors(self, program: Runnable) -> Mapping[int, Factor]:
        """The inputs that only products read."""
        return program.factors

    def admit(self, index: int) -> Iterable[str]:
        """Refuse it if ``device`` has no DRAM for it."""
        return (f"device.require_dram(S{index})",)

    def account(self, program: Runnable) -> Iterator[str]:
        """Count the program on ``device``, and charge the tensors in L1."""
        plan = program.plan
        yield from (" if HASH not in device.programs:", "  device.programs.add(HASH)")
        owned = [i for i in range(len(plan.inputs), len(plan.memory)) if i not in plan.made_in_place]
        yield from (f" l{i} = device.l1.lease(S{i})" for i in owned if in_l1(plan.memory[i]))
        yield from (f" e{i} = device.l1.lease(E{i})" for i in range(len(plan.elided)))
        if plan.uses_l1:
            yield f" device.l1.require({program.circular_buffer_bytes}, CIRCULAR_BUFFERS)"

    def is_leased(self, spec: TensorSpec) -> bool:
        """Tensors in L1 are."""
        return in_l1(spec)

    def is_pooled(self, _spec: TensorSpec) -> bool:
        """Always."""
        return True

    def wrap(self, index: int) -> Iterable[str]:
        """Make a tensor on ``device`` without a call of ``__init__``."""
        i = index
        return f" r{i} = new(Tensor)", f" r{i}.spec = S{i}", f" r{i}._device = device", f" r{i}._buffer = b{i}"

    def names(self, plan: ProgramPlan) -> dict[str, Any]:
        """The objects that make results, and the text for the device's account."""
        return {
            "Tensor": Tensor,
            "new": object.__new__,
            "HASH": plan.hash,
            "CIRCULAR_BUFFERS": f"the circular buffers of {plan.name}",
            **{f"E{index}": spec for index, spec in enumerate(plan.elided)},
        }
