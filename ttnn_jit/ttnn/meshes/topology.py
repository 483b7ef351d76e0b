"""Topologies and reductions of collectives, as programs name them."""

from __future__ import annotations

import enum

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.ops.families.collective import REDUCE_SUM


class Topology(enum.Enum):
    """The topology of the links between devices; the numbers are ttnn's."""

    Ring = 0
    Linear = 1
    Mesh = 2
    Torus = 3


class ReduceType(enum.Enum):
    """The reduction of a collective over the elements of several devices."""

    Sum = 0
    Mean = 1
    Max = 2
    Min = 3
    Std = 4
    Var = 5
    Prod = 6

    @property
    def reduction(self) -> str:
        """The name of the reduction in the declarations of collectives."""
        return self.name.lower()


def reduction_of(name: str, math_op: ReduceType | None, reduce_type: ReduceType | str | None = None) -> str:
    """The name of the reduction that a call of the function `name` requests, the sum if it requests none.

    Raises:
        ArgumentError: It requests two.
    """
    if None not in (math_op, reduce_type):
        raise ArgumentError(f"{name} got both `math_op` and `reduce_type`")
    given = math_op if reduce_type is None else reduce_type
    return REDUCE_SUM if given is None else given.reduction if isinstance(given, ReduceType) else given.lower()
