"""ttnn's storage types of tensors."""

from __future__ import annotations

import enum


class StorageType(enum.Enum):
    """Host or device; the numbers are ttnn's."""

    HOST = 0
    DEVICE = 1
