"""The interface of `Program` that callers use; a protocol, because callers lie below `Program` in the import order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from ttnn_jit.runtime.device import Device
from ttnn_jit.runtime.native.native_call import NativeCalls
from ttnn_jit.runtime.native.panels import Factor
from ttnn_jit.runtime.plans.plan import ProgramPlan
from ttnn_jit.runtime.tensors.tensor import Tensor
from ttnn_jit.specs.meshes.tensor_topology import TensorTopology

if TYPE_CHECKING:
    from ttnn_jit.runtime.ranks.mesh_ranks import MeshRanks


class Runnable(Protocol):
    """A program.

    Attributes:
        plan: Buffers and launches.
        notes: Notes of the compiler; JSON values.
    """

    plan: ProgramPlan
    notes: Mapping[str, Any]

    @property
    def name(self) -> str:
        """Name of the compiled function."""

    def __call__(self, *tensors: Any) -> Any:
        """Run on tensors of a device; returns the result, or a tuple of several."""

    def run_on(
        self, devices: Sequence[Device], tensors: Sequence[Tensor], ranks: MeshRanks | None = None
    ) -> Sequence[Any]:
        """Run a mesh's program on the inputs of its devices, which `ranks` share; returns the plan's results."""

    @property
    def topologies(self) -> Sequence[TensorTopology | None]:
        """Of a mesh's program, the placement of each tensor that the function returns."""

    def run(self, *addresses: int) -> None:
        """Run on memory at these addresses: inputs, then outputs."""

    @property
    def native(self) -> NativeCalls:
        """Its kernels, loaded on first access."""

    @property
    def native_in_place(self) -> NativeCalls:
        """The kernels for runs that make new values of inputs in place."""

    @property
    def factors(self) -> Mapping[int, Factor]:
        """The inputs that may be in panels."""

    def native_for(self, mask: int, *, in_place: bool) -> NativeCalls:
        """The kernels for runs in which the inputs of `mask` are in panels."""

    @property
    def circular_buffer_bytes(self) -> int:
        """L1 bytes of a core that circular buffers take during a run, excluding those that alias shards."""
