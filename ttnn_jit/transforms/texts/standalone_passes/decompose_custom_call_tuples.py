"""decompose-custom-call-tuples: tuples of StableHLO are taken apart."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter
from ttnn_jit.dialects.upstream.rewriting.tuples import take_apart
from ttnn_jit.transforms.texts.text_pass import TextPass


@dataclass(frozen=True)
class DecomposeCustomCallTuples(TextPass):
    """Tuples of StableHLO become the values that they hold: those of custom calls, and of functions as well."""

    name = "decompose-custom-call-tuples"

    def change(self, module: ModuleOp, rewriter: Rewriter) -> None:
        """Takes the tuples of a module apart."""
        rewriter.changes += take_apart(module)
