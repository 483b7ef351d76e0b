"""Architectures of chips, as `ttnn.device.Arch` names them."""

from __future__ import annotations

import enum


class Arch(str, enum.Enum):  # noqa: UP042 - `str` of a StrEnum is its value, and ttnn prints the member
    """The architecture of a target; a member equals its name in system descriptions."""

    Invalid = ""
    GRAYSKULL = "grayskull"
    WORMHOLE_B0 = "wormhole_b0"
    BLACKHOLE = "blackhole"
    QUASAR = "quasar"
    CPU = "cpu"
