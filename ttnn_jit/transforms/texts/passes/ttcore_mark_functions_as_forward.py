"""ttcore-mark-functions-as-forward: says which functions run on the device."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp, StringAttr

from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter
from ttnn_jit.transforms.texts.text_pass import TextPass, functions_of

_KIND = "tt.function_type"


@dataclass(frozen=True)
class TTCoreMarkFunctionsAsForward(TextPass):
    """Public functions of no kind get `tt.function_type = "forward_device"`."""

    name = "ttcore-mark-functions-as-forward"

    def change(self, module: ModuleOp, rewriter: Rewriter) -> None:
        """Marks the functions of a module."""
        for function in functions_of(module):
            is_public = function.sym_visibility is None or function.sym_visibility.data == "public"
            if is_public and _KIND not in function.attributes:
                function.attributes[_KIND] = StringAttr("forward_device")
                rewriter.changes += 1
