"""reoutline-composite: composites that were written out are put together again."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from ttnn_jit.dialects.upstream.rewriting.composite_groups import outline_groups
from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter
from ttnn_jit.transforms.texts.text_pass import TextPass, functions_of


@dataclass(frozen=True)
class ReoutlineComposite(TextPass):
    """Operations of one `reoutline.group`, which `flatten-or-convert-composites` wrote out, become its composite again.

    A group stays as it is if other operations stand between its own, or if it was written out twice.
    """

    name = "reoutline-composite"

    def change(self, module: ModuleOp, rewriter: Rewriter) -> None:
        """Puts the groups of a module together."""
        for function in functions_of(module):
            outline_groups(function, rewriter)
