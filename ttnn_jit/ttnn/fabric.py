"""The module `ttnn.fabric`: settings of links between chips, of which there are none: they set nothing."""

from __future__ import annotations

import enum

from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.ttnn.calling.host_function import host_function
from ttnn_jit.ttnn.namespace.lazy_names import NO_LINKS

__all__ = [
    "FabricConfig",
    "FabricManagerMode",
    "FabricReliabilityMode",
    "FabricRouterConfig",
    "FabricTensixConfig",
    "FabricUDMMode",
    "set_fabric_config",
]


class FabricConfig(enum.Enum):
    """The links between chips, of which there are none."""

    DISABLED = 0
    FABRIC_1D_NEIGHBOR_EXCHANGE = 1
    FABRIC_1D = 2
    FABRIC_1D_RING = 3
    FABRIC_2D = 4
    FABRIC_2D_TORUS_X = 5
    FABRIC_2D_TORUS_Y = 6
    FABRIC_2D_TORUS_XY = 7
    CUSTOM = 8


class FabricReliabilityMode(enum.Enum):
    """What a lost link does."""

    STRICT_INIT = 0
    RELAXED_INIT = 1
    DYNAMIC_RECONFIG = 2


class FabricTensixConfig(enum.Enum):
    """Whether worker cores help the links."""

    DISABLED = 0
    MUX = 1


class FabricUDMMode(enum.Enum):
    """Whether kernels address other chips as their own."""

    DISABLED = 0
    ENABLED = 1


class FabricManagerMode(enum.Enum):
    """Whether a process of its own keeps the links up."""

    DEFAULT = 0
    ENABLED = 1
    INIT_FABRIC = 2
    TERMINATE_FABRIC = 3


@dataclass(eq=False)
class FabricRouterConfig:
    """Settings of the routers of links; the size of a packet is in bytes, and None leaves it to them."""

    max_packet_payload_size_bytes: int | None = None


@host_function(observed=False, no_effect=NO_LINKS)
def set_fabric_config(
    config: FabricConfig,
    reliability_mode: FabricReliabilityMode | None = None,
    num_planes: int | None = None,
    fabric_tensix_config: FabricTensixConfig | None = None,
    fabric_udm_mode: FabricUDMMode | None = None,
    fabric_manager_mode: FabricManagerMode | None = None,
    router_config: FabricRouterConfig | None = None,
) -> None:
    """Takes any setting of links, and sets nothing: devices of a mesh exchange nothing (ttnn.set_fabric_config).

    Raises:
        ArgumentError: A setting is of another kind.
    """
