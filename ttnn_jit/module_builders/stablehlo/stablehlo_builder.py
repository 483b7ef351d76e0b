"""The builder of StableHLO."""

from __future__ import annotations

from ttnn_jit.module_builders.base.debug_methods import DebugMethods


class StableHLOBuilder(DebugMethods):
    """Makes modules of StableHLO; a method per operation of the dialect."""

    DIALECT = "stablehlo"
