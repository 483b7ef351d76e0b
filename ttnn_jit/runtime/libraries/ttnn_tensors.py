"""ttnn's tensors, which lie on a device: its account is kept, and results lie there too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.runtime.libraries.tensor_library import TensorLibrary
from ttnn_jit.runtime.memory.buffer import address_of
from ttnn_jit.runtime.memory.l1 import in_l1
from ttnn_jit.runtime.native.panels import Factor, factors_of
from ttnn_jit.runtime.tensors.tensor import Tensor, write_elements
from ttnn_jit.specs.target import SystemDesc
from ttnn_jit.specs.tensor_spec import TensorSpec

if TYPE_CHECKING:
    from ttnn_jit.runtime.libraries.runnable import Runnable
    from ttnn_jit.runtime.plans.plan import ProgramPlan


class TtnnTensors(TensorLibrary):
    """Tensors of ttnn."""

    title = "ttnn tensors"

    def holds(self, value: object) -> bool:
        """Tensors, those of a mesh too."""
        return issubclass(type(value), Tensor)

    def spec_of(self, tensor: Tensor) -> TensorSpec:
        """Interned, so that it compares by identity."""
        if type(tensor) is not Tensor:
            raise ArgumentError(f"{type(tensor).__name__} is no tensor")
        return tensor.spec

    def run(self, program: Runnable, *tensors: Tensor) -> Any:
        """As the program does itself."""
        return program(*tensors)

    def records(self, tensors: Sequence[Any]) -> bool:
        """While their device captures a trace."""
        return tensors[0]._device.recorder is not None

    def address(self, tensor: Tensor) -> int:
        """That of its buffer."""
        return address_of(tensor.memory("its address"))

    def require_writable(self, tensor: Tensor, _spec: TensorSpec, what: str) -> None:
        """Every one can be that was not deallocated."""
        tensor.memory(what)

    def share_memory(self, tensor: Tensor, other: Tensor, _spec: TensorSpec, _other_spec: TensorSpec) -> bool:
        """Copies made by `copy.copy` do."""
        return self.address(tensor) == self.address(other)

    def write(self, target: Tensor, source: Tensor) -> None:
        """The stored elements, in the target's layout."""
        write_elements(source, target)

    def are_plain(self, tensors: Sequence[Any]) -> bool:
        """Every one that a call takes is."""
        return type(tensors[0]) is Tensor

    def table_key(self, tensors: Sequence[Any]) -> tuple[object, ...]:
        """The target of the first one's device, and every spec."""
        return tensors[0]._device.open_target, *[tensor.spec for tensor in tensors]

    def conditions(self, _plan: ProgramPlan, arguments: range, target: SystemDesc | None) -> Iterator[str]:
        """Specs by identity; one device, which is open, and of `target` unless that is None."""
        yield from (f"a{i}.spec is S{i}" for i in arguments)
        yield f"(device := a0._device).open_target {'== OPEN_TARGET' if target else '!= 0'}"
        yield from (f"a{i}._device is device" for i in arguments[1:])

    def conditions_of_hidden(self, plan: ProgramPlan, hidden: Mapping[int, Any]) -> Iterator[str]:
        """Specs by identity; the arguments' device, or none. Buffers are held: other threads may deallocate them."""
        factors = factors_of(plan)
        for i, example in hidden.items():
            device = "None" if example.device() is None else "device"
            yield from (f"a{i}.spec is S{i}", f"a{i}._device is {device}")
            if i not in factors:  # those are held where their address is found
                yield f"(h{i} := a{i}._buffer) is not None"

    def address_of(self, index: int) -> str:
        """Of the buffer, which is None once the tensor was deallocated."""
        return f"p{index} = a{index}._buffer.address"

    def factors(self, program: Runnable) -> Mapping[int, Factor]:
        """Those that products alone read."""
        return program.factors

    def admit(self, index: int) -> Iterable[str]:
        """Unless ``device`` has no DRAM for it."""
        return (f"device.require_dram(S{index})",)

    def account(self, plan: ProgramPlan, circular_buffer_bytes: int) -> Iterator[str]:
        """Count the program on ``device``, and enter what lies in L1."""
        yield from (" if HASH not in device.programs:", "  device.programs.add(HASH)")
        owned = [i for i in range(len(plan.inputs), len(plan.buffers)) if i not in plan.made_in_place]
        yield from (f" l{i} = device.l1.lease(S{i})" for i in owned if in_l1(plan.buffers[i]))
        yield from (f" e{i} = device.l1.lease(E{i})" for i in range(len(plan.elided)))
        if any(map(in_l1, (*plan.buffers, *plan.elided))):
            yield f" device.l1.require({circular_buffer_bytes}, CIRCULAR_BUFFERS)"

    def is_leased(self, spec: TensorSpec) -> bool:
        """What lies in L1."""
        return in_l1(spec)

    def is_pooled(self, _spec: TensorSpec) -> bool:
        """Always."""
        return True

    def wrap(self, index: int) -> Iterable[str]:
        """A tensor on ``device``, made without a call of its ``__init__``."""
        i = index
        return f" r{i} = new(Tensor)", f" r{i}.spec = S{i}", f" r{i}._device = device", f" r{i}._buffer = b{i}"

    def names(self, plan: ProgramPlan) -> dict[str, Any]:
        """What makes results, and what the device's account calls them."""
        return {
            "Tensor": Tensor,
            "new": object.__new__,
            "HASH": plan.hash,
            "CIRCULAR_BUFFERS": f"the circular buffers of {plan.name}",
            **{f"E{index}": spec for index, spec in enumerate(plan.elided)},
        }
