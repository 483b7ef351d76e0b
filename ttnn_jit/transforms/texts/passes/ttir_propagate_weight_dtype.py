"""ttir-propagate-weight-dtype: products say the data type that arguments state of their weights."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp, StringAttr

from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter
from ttnn_jit.dialects.upstream.rewriting.weight_types import WEIGHT_DTYPE, is_product, stated_type, weight_of
from ttnn_jit.transforms.texts.text_pass import TextPass, functions_of


@dataclass(frozen=True)
class TTIRPropagateWeightDtype(TextPass):
    """`ttcore.weight_dtype` of an argument goes to the products that it is a weight of; of several the widest does."""

    name = "ttir-propagate-weight-dtype"

    def change(self, module: ModuleOp, rewriter: Rewriter) -> None:  # noqa: ARG002 - it writes no operation
        """Sets the attributes of a module's products."""
        for function in functions_of(module):
            for op in function.walk():
                if op.name.startswith("ttir.") and is_product(op) and (stated := stated_type(weight_of(op))):
                    op.attributes[WEIGHT_DTYPE] = StringAttr(stated)
