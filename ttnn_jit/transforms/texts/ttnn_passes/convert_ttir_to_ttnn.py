"""convert-ttir-to-ttnn: operations of TTIR with layouts become operations of TTNN."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from ttnn_jit.dialects.upstream.rewriting.greedy import erase_dead
from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter
from ttnn_jit.dialects.upstream.rewriting.ttnn_rules.attention_conversions import CONVERSIONS as ATTENTIONS
from ttnn_jit.dialects.upstream.rewriting.ttnn_rules.ttnn_conversions import is_converted, namesake
from ttnn_jit.dialects.upstream.rewriting.ttnn_rules.window_conversions import CONVERSIONS as WINDOWS_AND_OTHERS
from ttnn_jit.dialects.writing.editing import erase
from ttnn_jit.transforms.texts.text_pass import TextPass, functions_of

_CONVERSIONS = WINDOWS_AND_OTHERS | ATTENTIONS


@dataclass(frozen=True)
class ConvertTTIRToTTNN(TextPass):
    """Every operation of TTIR becomes its counterpart; one without is an error at its place."""

    name = "convert-ttir-to-ttnn"

    def change(self, module: ModuleOp, rewriter: Rewriter) -> None:
        """Converts the functions of a module."""
        for function in functions_of(module):
            for op in [*function.walk()]:
                if is_converted(op) and op.parent is not None and not (op.name == "ttir.empty" and _only_written(op)):
                    rewriter.replace(op, _CONVERSIONS.get(op.name, namesake)(op, rewriter))
            for op in [*function.walk()]:
                if op.name == "ttir.empty" and op.results[0].first_use is None:
                    erase(op)
            erase_dead(function)


def _only_written(op: object) -> bool:
    """Whether an `ttir.empty` is only a destination, which operations of TTNN have not."""
    uses = [*op.results[0].uses]  # type: ignore[attr-defined]  # an operation
    return all(use.operation.name.startswith("ttir.") and use.index == len(use.operation.operands) - 1 for use in uses)
