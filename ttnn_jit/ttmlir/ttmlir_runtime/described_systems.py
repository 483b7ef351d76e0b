"""System descriptions as the runtime reads them."""

from __future__ import annotations

import json
import math
from typing import Any

from ttnn_jit.specs.target import SystemDesc, read_target

_DRAM_CHANNELS = {"wormhole_b0": 12, "blackhole": 8}


class SystemDescription:
    """The chips of a system.

    Args:
        target: Their rules.
    """

    file_identifier = "TTSY"

    def __init__(self, target: SystemDesc) -> None:
        self._target = target

    def as_json(self) -> str:
        """The description in the form of tt-mlir's tools.

        Of a chip it says its architecture, its grids and its bytes of memory, which are what is known of it here.
        """
        count = math.prod(self._target.mesh)
        return json.dumps({"system_desc": {"chip_descs": [self._chip()], "chip_desc_indices": [0] * count}})

    def _chip(self) -> dict[str, Any]:
        rows, columns = self._target.grid
        channels = _DRAM_CHANNELS.get(self._target.arch, 1)
        return {
            "arch": self._target.arch.capitalize(),
            "grid_size": {"y": rows, "x": columns},
            "dram_grid_size": {"y": 1, "x": channels},
            "num_dram_channels": channels,
            "l1_size": self._target.l1_bytes,
        }


def load_system_desc_from_path(path: str) -> SystemDescription:
    """The description in a JSON file.

    Raises:
        ArgumentError: The file cannot be read, or is no system description.
    """
    return SystemDescription(read_target(path))
