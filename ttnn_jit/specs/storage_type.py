"""Where a tensor's elements are kept, as ttnn tells it."""

from __future__ import annotations

import enum


class StorageType(enum.Enum):
    """Whether a tensor is on the host or on a device; the numbers are ttnn's."""

    HOST = 0
    DEVICE = 1
