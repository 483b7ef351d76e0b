"""What a scheduled module's function does on the host, launch by launch: what every step of host_steps.py takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from xdsl.ir import Operation, SSAValue

from ttnn_jit.codegen.host.forms import Form
from ttnn_jit.codegen.kernel import Kernel
from ttnn_jit.dialects.declared_ops import DeclaredOp
from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.ops import COPY
from ttnn_jit.process.dataclass import dataclass


@dataclass(frozen=True)
class HostLaunch:
    """One launch.

    Attributes:
        ops: The module's ops that it runs, in order.
        kernel: What it reads, computes and writes, over which loops.
        form: How its body runs.
    """

    ops: tuple[Operation, ...]
    kernel: Kernel
    form: Form

    @property
    def operations(self) -> tuple[str, ...]:
        """Python names of what it runs; a copy, where it only moves elements."""
        names = (name for op in self.ops for name in _names_in(op))
        return tuple(names) or (COPY.name,)


def _names_in(op: Operation) -> Iterator[str]:
    for inner in op.walk():
        if isinstance(inner, DeclaredOp):
            yield inner.operation.name


@dataclass(frozen=True)
class HostPlan:
    """The launches of a program, in order.

    Attributes:
        launches: What runs.
        written: Every tensor that a kernel of the module writes; where launches were joined, some are in no memory.
        isa: The vectors that it is made for; None where another compiler chooses.
    """

    launches: tuple[HostLaunch, ...]
    written: tuple[SSAValue, ...]
    isa: HostIsa | None = None

    def with_forms(self, changed: Callable[[Form, HostIsa], Form]) -> HostPlan:
        """Every launch in the form that `changed` gives it; itself without vectors to choose it for."""
        isa = self.isa
        if isa is None:
            return self
        return replace(
            self, launches=tuple(replace(launch, form=changed(launch.form, isa)) for launch in self.launches)
        )
