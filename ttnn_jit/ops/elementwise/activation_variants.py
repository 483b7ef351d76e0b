"""ttnn's enumerations of formulas of activations."""

from __future__ import annotations

import enum


class GeluVariant(enum.StrEnum):
    """The formula of `gelu`; values are those of torch's ``approximate`` (ttnn.GeluVariant).

    A chip computes FastLut from a table; here it is an alias of Accurate.
    """

    Accurate = "none"
    FastLut = "none"
    Tanh = "tanh"


class SigmoidMode(enum.Enum):
    """The accuracy of `sigmoid` on a chip; ignored here (ttnn.SigmoidMode)."""

    Accurate = 0
    AccurateWithFastExp = 1
    FastApproximate = 2
