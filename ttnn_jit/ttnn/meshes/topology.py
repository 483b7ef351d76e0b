"""How the devices of a mesh are linked, as programs name it; here they exchange nothing."""

from __future__ import annotations

import enum


class Topology(enum.Enum):
    """The order in which devices pass data on; the numbers are ttnn's."""

    Ring = 0
    Linear = 1
    Mesh = 2
    Torus = 3


class ReduceType(enum.Enum):
    """What a collective makes of the elements of several devices."""

    Sum = 0
    Mean = 1
    Max = 2
    Min = 3
    Std = 4
    Var = 5
