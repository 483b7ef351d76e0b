"""The builder of D2M."""

from __future__ import annotations

from ttnn_jit.module_builders.base.debug_methods import DebugMethods


class D2MBuilder(DebugMethods):
    """Makes modules of D2M; a method per operation of the dialect."""

    DIALECT = "d2m"
