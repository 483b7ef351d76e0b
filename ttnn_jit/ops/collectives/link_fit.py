"""The time of a collective on links: a latency and a rate, fitted to the targets that tt-metal sets its own.

The targets are what tt-metal's nightly tests of Llama's prefill allow on a Galaxy whose lines are rings, in
microseconds of the device's kernels (`test_llama_prefill_ccl_ops_perf_nightly_TG.py` in its
`tests/ttnn/unit_tests/operations/ccl`, January 2026). The rates of the links alone say four to seven times less for the
large ones, and far less for the small ones.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from ttnn_jit.ops.collectives.device_exchanges import ALL_GATHER, REDUCE_SCATTER
from ttnn_jit.ops.collectives.link_traffic import link_traffic
from ttnn_jit.ops.families.collective import Collective
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.meshes.machine import MACHINES
from ttnn_jit.specs.meshes.mesh_devices import MeshDevices
from ttnn_jit.specs.meshes.mesh_shape import MeshShape

FITTED_ON = "galaxy"


class Target(NamedTuple):
    """A target of tt-metal's on a Galaxy.

    Attributes:
        collective: The collective, along the last dimension.
        axis: The axis of the mesh of 8 x 4 chips.
        rows: The extent of the dimension before.
        columns: The extent of the last dimension of an operand.
        element_bytes: Bytes of an element.
        microseconds: The time that the test allows.
    """

    collective: Collective
    axis: int
    rows: int
    columns: int
    element_bytes: float
    microseconds: float

    def nbytes(self) -> float:
        """The least bytes of a link in one direction."""
        machine = MACHINES[FITTED_ON]
        mesh = MeshShape(machine.mesh)
        devices = MeshDevices(mesh, tuple(range(mesh.mesh_size())))
        statics = (1, *(("sum",) if self.collective is REDUCE_SCATTER else ()), self.axis)
        shape = (self.rows, self.columns)
        results = self.collective.exchanged(devices, [shape], statics)
        return link_traffic(results, [shape], self.element_bytes, mesh, machine).nbytes


_OF_BFLOAT16, _OF_BFLOAT8_B = 2.0, 1088 / 1024  # a tile of the second has 1,088 bytes
_TARGETS = {
    (ALL_GATHER, 0, 256, _OF_BFLOAT8_B): {128: 26, 4096: 490, 8192: 960},
    (ALL_GATHER, 1, 320, _OF_BFLOAT8_B): {128: 20, 4096: 285, 8192: 550},
    (ALL_GATHER, 1, 896, _OF_BFLOAT8_B): {128: 30, 4096: 770, 8192: 1485},
    (ALL_GATHER, 1, 32, _OF_BFLOAT16): {128: 16, 4096: 35, 8192: 65},
    (REDUCE_SCATTER, 0, 2048, _OF_BFLOAT8_B): {128: 48, 4096: 490, 8192: 950},
    (REDUCE_SCATTER, 1, 1280, _OF_BFLOAT8_B): {128: 25, 4096: 280, 8192: 540},
    (REDUCE_SCATTER, 1, 3584, _OF_BFLOAT8_B): {128: 50, 4096: 750, 8192: 1485},
}
TARGETS = tuple(
    Target(collective, axis, rows, columns, element_bytes, float(microseconds))
    for (collective, axis, columns, element_bytes), by_rows in _TARGETS.items()
    for rows, microseconds in by_rows.items()
)


@dataclass(frozen=True)
class LinkFit:
    """A latency and a rate, and how far they are off.

    Attributes:
        latency: Seconds of a collective besides its bytes.
        bytes_per_second: The rate of a link in one direction.
        median_error: The median over the targets of the relative error of a fit to the others.
        worst_error: The largest of these errors.
        source: What it was fitted to.
    """

    latency: float
    bytes_per_second: float
    median_error: float
    worst_error: float
    source: str

    def seconds(self, nbytes: float) -> float:
        """The estimate for a collective whose busiest link moves so many bytes in one direction."""
        return self.latency + nbytes / self.bytes_per_second

    def __str__(self) -> str:
        return (
            f"{self.latency * 1e6:.0f} us + bytes at {self.bytes_per_second / 1e9:.1f} GB/s, fitted to {self.source}; "
            f"left out of the fit, a target is missed by {self.median_error:.0%} at the median and "
            f"{self.worst_error:.0%} at worst"
        )


@lru_cache(maxsize=1)
def link_fit() -> LinkFit:
    """The fit to `TARGETS`, with the least sum of squares of relative errors."""
    points = [(target.nbytes(), target.microseconds / 1e6) for target in TARGETS]
    errors = []
    for index, (nbytes, seconds) in enumerate(points):
        latency, inverse_rate = _line(points[:index] + points[index + 1 :])
        errors.append(abs((latency + inverse_rate * nbytes) / seconds - 1))
    latency, inverse_rate = _line(points)
    source = f"{len(points)} targets of tt-metal for all_gather and reduce_scatter on a {FITTED_ON}"
    return LinkFit(latency, 1 / inverse_rate, statistics.median(errors), max(errors), source)


def _line(points: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """The constant and the slope with the least sum of squares of relative errors."""
    # The normal equations of (constant + slope * x) / y = 1.
    ones = sum(1 / y**2 for _, y in points)
    mixed = sum(x / y**2 for x, y in points)
    squares = sum(x**2 / y**2 for x, y in points)
    right, right_x = sum(1 / y for _, y in points), sum(x / y for x, y in points)
    determinant = ones * squares - mixed**2
    return (right * squares - right_x * mixed) / determinant, (ones * right_x - mixed * right) / determinant
