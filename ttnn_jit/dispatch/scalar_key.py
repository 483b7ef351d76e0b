"""How a scalar of Python's or numpy's stands in a cache key: by type and bits.

So 1, True, 1.0, 0.0 and -0.0 differ, and NaN hits.
"""

from __future__ import annotations

import struct

from ttnn_jit.foreign.numpy_scalar import is_numpy_scalar

_DOUBLE = struct.Struct("<d")


def scalar_key(value: object) -> tuple[type, object]:
    """A hashable that is equal for equal types and bits only."""
    if isinstance(value, float):
        return type(value), _DOUBLE.pack(value)
    if isinstance(value, (int, str)) or not is_numpy_scalar(value):
        return type(value), value
    return type(value), value.tobytes()  # type: ignore[attr-defined]
