"""ttir-move-reshape-to-constant: reshapes leave what is computed, and go to constants."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from ttnn_jit.dialects.upstream.rewriting.greedy import rewrite
from ttnn_jit.dialects.upstream.rewriting.rewriter import AUGUST, Rewriter
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.constant_operands import MOVED_TO_CONSTANTS
from ttnn_jit.transforms.texts.text_pass import TextPass


@dataclass(frozen=True)
class TTIRMoveReshapeToConstant(TextPass):
    """``f(reshape(x), constant)`` becomes ``reshape(f(x, reshape(constant)))``, for elementwise `f` of two operands."""

    name = "ttir-move-reshape-to-constant"
    default_version = AUGUST

    def change(self, module: ModuleOp, rewriter: Rewriter) -> None:
        """Moves the reshapes of a module."""
        rewrite(module, MOVED_TO_CONSTANTS, rewriter)
