"""The module `ttnn.cluster`: the kind of machine that the devices form."""

from __future__ import annotations

import enum

from ttnn_jit.ttnn.calling.host_function import host_function
from ttnn_jit.ttnn.namespace.names_on_demand import submodule_getattr


class ClusterType(enum.Enum):
    """Kinds of machines; this host is CPU."""

    CPU = 0
    N150 = 1
    N300 = 2
    T3K = 3
    P100 = 4
    P150 = 5
    INVALID = 6
    GALAXY = 7
    TG = 8
    P150_X2 = 9
    P150_X4 = 10
    P150_X8 = 11
    SIMULATOR_WORMHOLE_B0 = 12
    SIMULATOR_BLACKHOLE = 13
    N300_2x2 = 14
    P300 = 15
    BLACKHOLE_GALAXY = 16
    P300_X2 = 17


@host_function(name="cluster.get_cluster_type", observed=False)
def get_cluster_type() -> ClusterType:
    """The kind of this machine."""
    return ClusterType.CPU


__all__ = ["ClusterType", "get_cluster_type"]
__getattr__ = submodule_getattr("cluster", __all__)
