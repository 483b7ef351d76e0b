"""The module `ttnn.cluster`: what kind of machine the devices make up."""

from __future__ import annotations

import enum


class ClusterType(enum.Enum):
    """Kinds of machines; this host is CPU."""

    CPU = 0
    N150 = 1
    N300 = 2
    T3K = 3
    P100 = 4
    P150 = 5


def get_cluster_type() -> ClusterType:
    """The kind of this machine."""
    return ClusterType.CPU
