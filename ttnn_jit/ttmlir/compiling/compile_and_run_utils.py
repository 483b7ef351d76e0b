"""``ttmlir.compile_and_run_utils``: the dialect of a text, and its module."""

from __future__ import annotations

import enum
import re
from typing import Any

from ttnn_jit.ttmlir.mlir_contexts import Context
from ttnn_jit.ttmlir.mlir_operations import Module


class ModuleDialect(enum.Enum):
    """The dialect of a module: the first of these that an operation is of, in this order."""

    STABLE_HLO = "stablehlo"
    TTIR = "ttir"
    TTNN = "ttnn"
    TT = "tt"

    @staticmethod
    def detect(module_or_op: Any) -> ModuleDialect:
        """The dialect of a module, of an operation, or of a text; `TT` if none of the others occurs."""
        text = str(module_or_op)
        dialects = (ModuleDialect.STABLE_HLO, ModuleDialect.TTIR, ModuleDialect.TTNN)
        found = (each for each in dialects if re.search(rf'= "?{each.value}\.', text))
        return next(found, ModuleDialect.TT)


def create_mlir_module_from_string(module_str: str) -> Module:
    """The module of a text.

    Raises:
        MLIRError: The text is invalid.
    """
    with Context():
        return Module.parse(module_str)
