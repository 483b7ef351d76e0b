"""The module `ttnn.fabric`: settings of the links between chips, without effect, since a CPU has no such links."""

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
    """The kind of links between chips, with tt-metal's numbers.

    `ttrt.runtime.FabricConfig` has those of tt-mlir's runtime, which differ.
    """

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
    """The reaction to a lost link."""

    STRICT_INIT = 0
    RELAXED_INIT = 1
    DYNAMIC_RECONFIG = 2


class FabricTensixConfig(enum.Enum):
    """Whether worker cores help the links."""

    DISABLED = 0
    MUX = 1


class FabricUDMMode(enum.Enum):
    """Whether kernels address the memory of other chips like that of their own chip."""

    DISABLED = 0
    ENABLED = 1


class FabricManagerMode(enum.Enum):
    """Whether a separate process manages the links; two bits in tt-metal, where ENABLED has none of them."""

    DEFAULT = 3
    ENABLED = 0
    INIT_FABRIC = 1
    TERMINATE_FABRIC = 2


@dataclass(eq=False)
class FabricRouterConfig:
    """Settings of the routers of links.

    Attributes:
        max_packet_payload_size_bytes: Largest payload of a packet, in bytes; None for the router's default.
    """

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
    """Check the settings of links, and ignore them (ttnn.set_fabric_config).

    Raises:
        ArgumentError: A setting has the wrong type.
    """
