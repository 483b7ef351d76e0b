"""d2m-materialize-view-returns: kernels copy views that no kernel reads."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Operation

from ttnn_jit.dialects.upstream.rewriting.d2m_rules.block_kernels import kernel
from ttnn_jit.dialects.upstream.rewriting.d2m_rules.layout_moves import rewriter_for
from ttnn_jit.dialects.upstream.rewriting.d2m_rules.metal_types import layout_of, without_index_map
from ttnn_jit.dialects.upstream.rewriting.rewriter import AUGUST, Rewriter, owner_named
from ttnn_jit.transforms.texts.text_pass import TextPass, functions_of


@dataclass(frozen=True)
class D2MMaterializeViewReturns(TextPass):
    """A view that is returned, or goes to the host, is copied by a kernel first: a view moves nothing itself."""

    name = "d2m-materialize-view-returns"
    default_version = AUGUST

    def change(self, module: ModuleOp, rewriter: Rewriter) -> None:
        """Copies the views of a module's functions."""
        for function in functions_of(module):
            for op in [*function.walk()]:
                for index in _read_outside_kernels(op):
                    rewriter.changes += _materialize(op, index)


def _read_outside_kernels(op: Operation) -> list[int]:
    """The operands of an operation that leave the device, or the function."""
    if isinstance(op, ReturnOp):
        return [*range(len(op.operands))]
    if op.name == "d2m.to_host":
        return [0]
    is_to_host = op.name == "d2m.to_layout" and layout_of(op.results[0].type) is None
    return [0] if is_to_host else []


def _materialize(op: Operation, index: int) -> int:
    """Copies a view that an operation reads; how many it was."""
    value = op.operands[index]
    view = owner_named(value, "d2m.view_layout", "d2m.composite_view")
    if view is None or layout_of(value.type) is None:
        return 0
    rewriter = rewriter_for(view)
    output = rewriter.value("d2m.empty", {}, {}, without_index_map(value.type), op)
    op.operands[index] = kernel(op, rewriter, value, output)
    return 1
