"""The interface of `Program` that callers use; a protocol, because callers lie below `Program` in the import order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from ttnn_jit.runtime.native.native_call import NativeCall
from ttnn_jit.runtime.native.panels import Factor
from ttnn_jit.runtime.plans.plan import ProgramPlan


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

    def run(self, *addresses: int) -> None:
        """Run on memory at these addresses: inputs, then outputs."""

    @property
    def native(self) -> NativeCall | None:
        """Its kernels, loaded on first access; None if it launches nothing."""

    @property
    def native_in_place(self) -> NativeCall | None:
        """The kernels for runs that make new values of inputs in place."""

    @property
    def factors(self) -> Mapping[int, Factor]:
        """The inputs that may be in panels."""

    def native_for(self, mask: int, *, in_place: bool) -> NativeCall | None:
        """The kernels for runs in which the inputs of `mask` are in panels."""

    @property
    def circular_buffer_bytes(self) -> int:
        """L1 bytes of a core that circular buffers take during a run, excluding those that alias shards."""
