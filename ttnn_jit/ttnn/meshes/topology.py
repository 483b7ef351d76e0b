"""Topologies and reductions of collectives, as programs name them; devices exchange no data here."""

from __future__ import annotations

import enum


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
