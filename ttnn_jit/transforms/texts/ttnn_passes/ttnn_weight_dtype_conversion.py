"""ttnn-weight-dtype-conversion: weights of products are cast to narrower types."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter
from ttnn_jit.dialects.upstream.rewriting.weight_types import BLOCK_TYPES, is_product, narrow_weight
from ttnn_jit.transforms.texts.passes.tt_populate_argument_types import argument_kind
from ttnn_jit.transforms.texts.text_pass import TextPass, functions_of

NO_TYPE = "none"


@dataclass(frozen=True)
class TTNNWeightDtypeConversion(TextPass):
    """Weights that depend on parameters and constants alone are cast, as their products or `target-dtype` say.

    Attributes:
        target_dtype: `bfp_bf8` or `bfp_bf4`, of weights whose product has no `ttcore.weight_dtype`; `none` leaves them.
    """

    name = "ttnn-weight-dtype-conversion"

    target_dtype: str = NO_TYPE

    def __post_init__(self) -> None:
        """Refuses another type."""
        super().__post_init__()
        if self.target_dtype not in {NO_TYPE, "", *BLOCK_TYPES}:
            raise ArgumentError(
                f"`target-dtype={self.target_dtype}`", help=f"it is one of {', '.join([NO_TYPE, *BLOCK_TYPES])}"
            )

    def change(self, module: ModuleOp, rewriter: Rewriter) -> None:
        """Casts the weights of a module."""
        general = "" if self.target_dtype == NO_TYPE else self.target_dtype
        for function in functions_of(module):
            arguments = function.body.block.args
            known = {each for each in arguments if argument_kind(function, each.index) in {"parameter", "constant"}}
            for op in [*function.walk()]:
                if op.name.startswith("ttnn.") and is_product(op):
                    narrow_weight(op, general, known, rewriter)
