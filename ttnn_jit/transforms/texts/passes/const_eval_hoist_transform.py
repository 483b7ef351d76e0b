"""const-eval-hoist-transform: what depends on constants and parameters alone becomes functions that run once."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from ttnn_jit.dialects.upstream.rewriting.const_eval import hoist, is_const_eval, undo
from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter
from ttnn_jit.transforms.texts.passes.tt_populate_argument_types import argument_kind
from ttnn_jit.transforms.texts.text_pass import TextPass, functions_of


@dataclass(frozen=True)
class ConstEvalHoistTransform(TextPass):
    """Connected operations that read parameters, constants and each other only become one private function.

    `ttcore.load_cached` calls it. Functions of an earlier run are taken back first.
    """

    name = "const-eval-hoist-transform"

    def change(self, module: ModuleOp, rewriter: Rewriter) -> None:
        """Hoists out of each function of a module."""
        functions = functions_of(module)
        if any(map(is_const_eval, functions)):
            undo(module, rewriter)
            functions = functions_of(module)
        for function in functions:
            if is_const_eval(function):
                continue
            count = len(function.body.block.args)
            known = {index for index in range(count) if argument_kind(function, index) in {"parameter", "constant"}}
            hoist(function, known, rewriter)
