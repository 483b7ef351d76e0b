"""What running a program takes to know of it: the part of Program.py that lies below it."""

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
        notes: What the compiler wrote down beside it; JSON values.
    """

    plan: ProgramPlan
    notes: Mapping[str, Any]

    @property
    def name(self) -> str:
        """Name of the compiled function."""

    def __call__(self, *tensors: Any) -> Any:
        """Run on tensors on a device; the result, or the tuple of several."""

    def run(self, *addresses: int) -> None:
        """Run on memory at these addresses, of inputs and outputs in order."""

    @property
    def native(self) -> NativeCall | None:
        """Its kernels, loaded when first asked for; None if it launches nothing."""

    @property
    def native_in_place(self) -> NativeCall | None:
        """The kernels that run where new values of inputs are made in their memory."""

    @property
    def factors(self) -> Mapping[int, Factor]:
        """The inputs that may be in panels."""

    def native_for(self, mask: int, *, in_place: bool) -> NativeCall | None:
        """The kernels that run where the inputs of a mask are in panels."""

    @property
    def circular_buffer_bytes(self) -> int:
        """L1 of a core that circular buffers take while it runs, those that are shards apart."""
