"""ttnn-trace-hoist-transform: what functions compute is captured as traces."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from ttnn_jit.dialects.upstream.rewriting.const_eval import is_const_eval
from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter
from ttnn_jit.dialects.upstream.rewriting.trace_hoisting import hoist_trace, is_of_trace
from ttnn_jit.transforms.texts.passes.tt_populate_argument_types import argument_kind
from ttnn_jit.transforms.texts.text_pass import TextPass, functions_of


@dataclass(frozen=True)
class TTNNTraceHoistTransform(TextPass):
    """The operations of a function become a trace, which `ttnn.capture_or_execute_trace` captures at its first call.

    Constants, parameters and caches stay on the device; the host writes other inputs at each call.
    """

    name = "ttnn-trace-hoist-transform"

    def change(self, module: ModuleOp, rewriter: Rewriter) -> None:
        """Hoists a trace out of each function of a module."""
        number = 0
        for function in functions_of(module):
            if not is_const_eval(function) and not is_of_trace(function):
                kept = {index for index in range(len(function.body.block.args)) if _is_kept(function, index)}
                number += hoist_trace(function, number, kept, rewriter)


def _is_kept(function: FuncOp, index: int) -> bool:
    """Whether an argument stays on the device from one call to the next."""
    given = function.arg_attrs
    is_cache = given is not None and "ttcore.kv_cache" in given.data[index].data
    return is_cache or argument_kind(function, index) in {"parameter", "constant"}
