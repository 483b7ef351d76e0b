"""How the devices of a mesh are linked, as programs name it; here they exchange nothing."""

from __future__ import annotations

import enum


class Topology(enum.Enum):
    """The order in which devices pass data on; the numbers are ttnn's."""

    Ring = 0
    Linear = 1
    Mesh = 2
    Torus = 3
