"""ttnn-const-eval-inputs-to-system-memory: what only functions that run once read comes from the host."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from ttnn_jit.dialects.upstream.rewriting.const_eval import is_const_eval
from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter
from ttnn_jit.dialects.upstream.rewriting.ttnn_rules.host_arguments import move_to_host
from ttnn_jit.transforms.texts.text_pass import TextPass, functions_of


@dataclass(frozen=True)
class TTNNConstEvalInputsToSystemMemory(TextPass):
    """An argument that only `ttcore.load_cached` reads lies on the host, in rows; the function it calls moves it."""

    name = "ttnn-const-eval-inputs-to-system-memory"

    def change(self, module: ModuleOp, rewriter: Rewriter) -> None:
        """Moves the arguments of a module's functions."""
        for function in functions_of(module):
            if not is_const_eval(function):
                move_to_host(function, rewriter)
