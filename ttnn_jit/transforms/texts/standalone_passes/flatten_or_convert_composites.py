"""flatten-or-convert-composites: composites of texts with shardings become what is cut among devices."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from ttnn_jit.dialects.text_calls.text_attributes import value_of
from ttnn_jit.dialects.upstream.rewriting.composite_calls import erase_unnamed
from ttnn_jit.dialects.upstream.rewriting.composite_groups import (
    STABLEHLO_COMPOSITE,
    call_composite,
    composite_name,
    flatten_composite,
)
from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter, name_in_text
from ttnn_jit.transforms.shardings.composite_rules import has_sharding_rule
from ttnn_jit.transforms.texts.text_pass import TextPass, functions_of

_SHARDING = "sdy.sharding"


@dataclass(frozen=True)
class FlattenOrConvertComposites(TextPass):
    """In a text that cuts arguments or results, composites become custom calls, or the operations of their functions.

    Custom calls are those whose declaration has a sharding rule.
    """

    name = "flatten-or-convert-composites"

    def change(self, module: ModuleOp, rewriter: Rewriter) -> None:
        """Replaces the composites of a module."""
        functions = functions_of(module)
        if not any(map(_is_cut, functions)):
            return
        for function in functions:
            for op in [each for each in function.body.block.ops if name_in_text(each) == STABLEHLO_COMPOSITE]:
                if has_sharding_rule(composite_name(op)):
                    call_composite(op, rewriter)
                else:
                    flatten_composite(op, rewriter)
        erase_unnamed(module, {each.sym_name.data for each in functions})


def _is_cut(function: FuncOp) -> bool:
    """Whether an argument or a result is cut along an axis."""
    noted = [*(function.arg_attrs or ()), *(function.res_attrs or ())]
    stated = [value_of(each.data[_SHARDING]) for each in noted if _SHARDING in each.data]
    return any(dimension.get("axes") for each in stated for dimension in each.get("dim_shardings", ()))
