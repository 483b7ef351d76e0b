"""legalize-stablehlo-composite-to-ttir: composites that are operations of TTIR become these."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from ttnn_jit.dialects.upstream.rewriting.rewriter import AUGUST, Rewriter
from ttnn_jit.transforms.passes.convert_stablehlo_to_ttir import convert_composites
from ttnn_jit.transforms.texts.text_pass import TextPass


@dataclass(frozen=True)
class LegalizeStablehloCompositeToTTIR(TextPass):
    """A `stablehlo.composite` with the name of an operation of TTIR becomes it; others stay."""

    name = "legalize-stablehlo-composite-to-ttir"
    default_version = AUGUST

    def change(self, module: ModuleOp, rewriter: Rewriter) -> None:
        """Converts the composites of a module."""
        convert_composites(module)
        rewriter.changes += 1
