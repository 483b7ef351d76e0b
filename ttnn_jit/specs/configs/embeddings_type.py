"""The weight rows that `ttnn.embedding` caches on a chip; it does not affect results."""

from __future__ import annotations

import enum


class EmbeddingsType(enum.Enum):
    """No rows; the row of the padding index; both rows of a weight of two (ttnn.EmbeddingsType)."""

    GENERIC = 0
    PADDED = 1
    BINARY = 2
