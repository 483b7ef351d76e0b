"""d2m-lower-to-layout: a `d2m.to_layout` becomes the transfers, views and kernels that it is made of."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ttnn_jit.dialects.text_calls.op_calls import errors_at
from ttnn_jit.dialects.upstream.rewriting.d2m_rules.layout_moves import fold_identity, lower_to_layout, rewriter_for
from ttnn_jit.dialects.upstream.rewriting.rewriter import AUGUST, Rewriter, worker_grid_of
from ttnn_jit.dialects.writing.editing import erase
from ttnn_jit.transforms.texts.text_pass import TextPass, functions_of


@dataclass(frozen=True)
class D2MLowerToLayout(TextPass):
    """A `d2m.to_layout` becomes transfers of the host, views, and kernels that copy, tilize or untilize."""

    name = "d2m-lower-to-layout"
    default_version = AUGUST

    def change(self, module: ModuleOp, rewriter: Rewriter) -> None:
        """Lowers the moves of a module's functions, producers first.

        Raises:
            CompileError: No device is registered, or a tensor does not fit its layout or the device.
        """
        for function in functions_of(module):
            for op in [each for each in function.walk() if each.name == "d2m.view_layout"]:
                fold_identity(op, rewriter)
            for op in [each for each in function.walk() if each.name == "d2m.to_layout"]:
                with errors_at(op):
                    lower_to_layout(op, rewriter_for(op), worker_grid_of(op))
            for op in reversed([*function.walk()]):
                _erase_unread(op)


def _erase_unread(op: Operation) -> None:
    """Erases an output that another one has replaced, and a view of it."""
    if op.name in {"d2m.empty", "d2m.view_layout"} and op.results[0].first_use is None:
        erase(op)
