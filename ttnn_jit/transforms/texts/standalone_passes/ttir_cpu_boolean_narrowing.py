"""ttir-cpu-boolean-narrowing: truths have the type i1."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.truth_types import narrow_truths
from ttnn_jit.transforms.texts.text_pass import TextPass


@dataclass(frozen=True)
class TTIRCPUBooleanNarrowing(TextPass):
    """Comparisons, logic, and what moves their results, give i1; other readers read a `ttir.typecast`."""

    name = "ttir-cpu-boolean-narrowing"

    def change(self, module: ModuleOp, rewriter: Rewriter) -> None:
        """Narrows the truths of a module."""
        narrow_truths(module, rewriter)
