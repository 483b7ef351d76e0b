"""cse: common subexpression elimination in texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation

from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter, is_pure
from ttnn_jit.transforms.texts.text_pass import TextPass, functions_of


@dataclass(frozen=True)
class CSEText(TextPass):
    """Replaces a pure operation by an equal earlier one of its block."""

    name = "cse"

    def change(self, module: ModuleOp, rewriter: Rewriter) -> None:
        """Eliminates common subexpressions in each function."""
        for function in functions_of(module):
            for block in function.body.blocks:
                _eliminate(block, rewriter)


def _eliminate(block: Block, rewriter: Rewriter) -> None:
    first_of: dict[tuple[Any, ...], Operation] = {}
    for op in [*block.ops]:
        if op.regions or not op.results or not is_pure(op):
            continue
        key = (op.name, tuple(map(id, op.operands)), *_attributes(op), tuple(op.result_types))
        first = first_of.setdefault(key, op)
        if first is not op:
            rewriter.replace(op, first.results)


def _attributes(op: Operation) -> tuple[Any, ...]:
    return tuple(sorted(op.properties.items())), tuple(sorted(op.attributes.items()))
