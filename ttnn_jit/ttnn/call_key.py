"""How a Python scalar stands in a cache key: by type and bits, so 1, True, 1.0, 0.0 and -0.0 differ and NaN hits."""

from __future__ import annotations

import struct

_DOUBLE = struct.Struct("<d")


def scalar_key(value: object) -> tuple[type, object]:
    """A hashable that is equal for equal types and bits only."""
    if type(value) is float:
        return float, _DOUBLE.pack(value)
    return type(value), value
