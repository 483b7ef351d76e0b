"""The shards of manual computations."""

from __future__ import annotations

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.dialects.text_calls.op_calls import OpCall
from ttnn_jit.ops.conversions.shardings import Tiling, tilings_of_values


def shard_tilings(read: OpCall) -> tuple[list[Tiling], list[Tiling]]:
    """The tilings of the operands and of the results of a manual computation.

    Raises:
        ShapeError: They name a mesh or an axis that the module has not.
    """
    given = read.arguments
    first, second = (
        tilings_of_values(given[name], given["manual_axes"], given["meshes"])
        for name in ("in_shardings", "out_shardings")
    )
    return first, second


def check_devices(tiling: Tiling, devices: int) -> None:
    """Refuses a tiling of another number of devices."""
    if len(tiling.places) != devices:
        raise ShapeError(
            f"its shardings are of {len(tiling.places)} devices, and the mesh has {devices}",
            help="`--mesh 2x4` names a mesh",
        )
