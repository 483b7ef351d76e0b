"""The builder of TTNN."""

from __future__ import annotations

from ttnn_jit.module_builders.base.debug_methods import DebugMethods


class TTNNBuilder(DebugMethods):
    """Makes modules of TTNN; a method per operation of the dialect."""

    DIALECT = "ttnn"
