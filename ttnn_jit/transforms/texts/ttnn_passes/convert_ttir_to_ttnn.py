"""convert-ttir-to-ttnn: operations of TTIR with layouts become operations of TTNN."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

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
                if op.name != "ttir.empty" and is_converted(op) and op.parent is not None:
                    _convert(op, rewriter)
            for op in [each for each in function.walk() if each.name == "ttir.empty"]:
                if op.results[0].first_use is None:
                    erase(op)  # it was a destination, which operations of TTNN have not
                elif not _only_written(op):
                    _convert(op, rewriter)
            erase_dead(function)


def _convert(op: Operation, rewriter: Rewriter) -> None:
    rewriter.replace(op, _CONVERSIONS.get(op.name, namesake)(op, rewriter))


def _only_written(op: Operation) -> bool:
    """Whether an `ttir.empty` is only a destination of operations that stay in TTIR."""
    uses = [*op.results[0].uses]
    return all(use.operation.name.startswith("ttir.") and use.index == len(use.operation.operands) - 1 for use in uses)
