"""Errors of kernels, with the op, the core and the function."""

from __future__ import annotations

from typing import NoReturn, Protocol

from xdsl.ir import Operation

from ttnn_jit.diagnostics.errors import KernelError
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.process.dataclass import dataclass


class Place(Protocol):
    """Where a kernel runs."""

    @property
    def text(self) -> str:
        """The place for messages: ``@compute_kernel1 on core (0, 1)``."""


def fail(op: Operation, place: Place, message: str, hint: str | None = None) -> NoReturn:
    """Raises the error of an op that breaks the protocol.

    Raises:
        KernelError: Always.
    """
    raise KernelError(f"`{op.name}` in {place.text}: {message}", location=location_of(op), help=hint)


@dataclass(frozen=True)
class Wait:
    """What a thread waits for.

    Attributes:
        op: The op that waits.
        reason: What it waits for, as a clause: ``waits for 2 pages of cb 0, which has 0``.
    """

    op: Operation
    reason: str
