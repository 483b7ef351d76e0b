"""Which of an activation's formulas a call asks for, as ttnn names them."""

from __future__ import annotations

import enum


class GeluVariant(enum.StrEnum):
    """The formula of `gelu`, by its name in torch's ``approximate`` (ttnn.GeluVariant).

    A chip computes FastLut from a table; here it is another name of Accurate.
    """

    Accurate = "none"
    FastLut = "none"
    Tanh = "tanh"


class SigmoidMode(enum.Enum):
    """How exactly a chip computes `sigmoid`; here always as exactly (ttnn.SigmoidMode)."""

    Accurate = 0
    AccurateWithFastExp = 1
    FastApproximate = 2
