"""The module `chisel` where no real one is: tt-mlir's comparison of runtime programs, over sessions of this package.

Every program that `_ttmlir_runtime` submits between `bind` and `unbind` is compared op by op
(`ttnn_jit.sessions.text_runs`). Records, report and lines of JSON have upstream's fields.
"""

from ttnn_jit.ttmlir.chisel import chisel_callbacks as callbacks  # noqa: F401 - a submodule of upstream's
from ttnn_jit.ttmlir.chisel.chisel_context import ChiselContext, ChiselOpConfig
from ttnn_jit.ttmlir.chisel.chisel_records import (
    ChiselChecksConfig,
    ChiselRecord,
    ChiselReport,
    NumericsMode,
    PCCConfig,
    RecordStatus,
)
from ttnn_jit.ttmlir.chisel.chisel_sessions import bind, configure, get_report, register_op_config, session, unbind

__all__ = [
    "ChiselChecksConfig",
    "ChiselContext",
    "ChiselOpConfig",
    "ChiselRecord",
    "ChiselReport",
    "NumericsMode",
    "PCCConfig",
    "RecordStatus",
    "bind",
    "configure",
    "get_report",
    "register_op_config",
    "session",
    "unbind",
]
