"""remove-dead-values: erases what nobody reads."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from ttnn_jit.dialects.upstream.rewriting.greedy import erase_dead
from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter
from ttnn_jit.transforms.texts.text_pass import TextPass


@dataclass(frozen=True)
class RemoveDeadValues(TextPass):
    """Erases pure operations whose results nobody reads."""

    name = "remove-dead-values"

    def change(self, module: ModuleOp, rewriter: Rewriter) -> None:
        """Erases dead operations of a module."""
        rewriter.changes += erase_dead(module)
