"""A factor as a number of at most 1 and a power of two, so that products with it do not overflow."""

from __future__ import annotations

from ttnn_jit.specs.extents.extent import applied
from ttnn_jit.specs.extents.float_functions import power_above

_LARGEST = 2.0**120
"""Larger factors have no room for the inverse of their power."""


def scaled_factor(value: float) -> tuple[float, float, float]:
    """A factor divided by a power of two, the power, and its inverse; the factor and zeros if it is at most 1 or huge.

    The factor may be a number of a trace.
    """
    if not 1.0 < abs(value) < _LARGEST:
        return value, 0.0, 0.0
    power = applied(power_above, value)
    return value / power, power, 1.0 / power
