"""Sub-devices: parts of a chip that run their own programs. They are checked; on a CPU all programs run in order."""

from __future__ import annotations

from collections.abc import Sequence

from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.checks import check_kind, check_whole_number
from ttnn_jit.specs.cores.cores import CoreRangeSet


@dataclass(frozen=True)
class SubDeviceId:
    """The number of a sub-device (ttnn.SubDeviceId)."""

    number: int

    def __post_init__(self) -> None:
        check_whole_number(self.number, "the number of SubDeviceId")


@dataclass(frozen=True)
class SubDeviceManagerId:
    """The number of a division of a chip into sub-devices (ttnn.SubDeviceManagerId)."""

    number: int


@dataclass(frozen=True)
class SubDevice:
    """Cores that run their own programs (ttnn.SubDevice)."""

    cores: tuple[CoreRangeSet, ...]

    def __init__(self, cores: Sequence[CoreRangeSet]) -> None:
        for each in cores:
            check_kind(each, CoreRangeSet, "the cores of SubDevice")
        object.__setattr__(self, "cores", tuple(cores))
