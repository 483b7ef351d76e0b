"""undo-const-eval: functions that run once are inlined again."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from ttnn_jit.dialects.upstream.rewriting.const_eval import undo
from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter
from ttnn_jit.transforms.texts.text_pass import TextPass


@dataclass(frozen=True)
class UndoConstEval(TextPass):
    """The inverse of const-eval-hoist-transform."""

    name = "undo-const-eval"

    def change(self, module: ModuleOp, rewriter: Rewriter) -> None:
        """Inlines the const-eval functions of a module."""
        undo(module, rewriter)
