"""convert-ttnn-to-ttir: operations of TTNN in texts become operations of TTIR."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from ttnn_jit.dialects.ttnn import HOIST
from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter
from ttnn_jit.dialects.upstream.rewriting.ttnn_rules.ttir_conversions import DROPPED, is_convertible, to_ttir
from ttnn_jit.dialects.writing.editing import erase
from ttnn_jit.transforms.texts.text_pass import TextPass, functions_of


@dataclass(frozen=True)
class ConvertTTNNToTTIRText(TextPass):
    """An operation with `ttnn.hoist_generic_via_d2m` becomes its counterpart in TTIR; types and layouts stay.

    Attributes:
        tagged_only: False converts every operation that has a counterpart, and drops devices and deallocations.
    """

    name = "convert-ttnn-to-ttir"

    tagged_only: bool = True

    def change(self, module: ModuleOp, rewriter: Rewriter) -> None:
        """Converts the functions of a module."""
        for function in functions_of(module):
            for op in [*function.walk()]:
                tagged = HOIST in op.attributes
                chosen = op.name not in DROPPED and (tagged or not self.tagged_only)
                if chosen and op.parent is not None and is_convertible(op, rewriter):
                    rewriter.replace(op, to_ttir(op, rewriter))
            if not self.tagged_only:
                for op in reversed([*function.walk()]):
                    if op.name in DROPPED and all(result.first_use is None for result in op.results):
                        erase(op)
