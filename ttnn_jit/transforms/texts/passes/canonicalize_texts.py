"""canonicalize: folds, merges and erases operations of a text."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from ttnn_jit.dialects.upstream.rewriting.greedy import rewrite
from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.canonical_forms import CANONICAL
from ttnn_jit.transforms.texts.text_pass import TextPass


@dataclass(frozen=True)
class CanonicalizeText(TextPass):
    """Folds what is known, merges what follows one another, and erases pure operations that nobody reads."""

    name = "canonicalize"

    def change(self, module: ModuleOp, rewriter: Rewriter) -> None:
        """Canonicalizes a module."""
        rewrite(module, CANONICAL, rewriter)
