"""Which rows of its weight `ttnn.embedding` on a chip keeps beside its kernels; what it gives is the same."""

from __future__ import annotations

import enum


class EmbeddingsType(enum.Enum):
    """Any rows; any, the one of the padding index often; two (ttnn.EmbeddingsType)."""

    GENERIC = 0
    PADDED = 1
    BINARY = 2
