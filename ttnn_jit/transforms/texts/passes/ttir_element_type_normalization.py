"""ttir-element-type-normalization: element types become those of a chip."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter
from ttnn_jit.dialects.upstream.rewriting.ttir_rules.element_types import normalize
from ttnn_jit.transforms.texts.text_pass import TextPass


@dataclass(frozen=True)
class TTIRElementTypeNormalization(TextPass):
    """f64 becomes f32, i64 and i32 si32, ui64 ui32, i16 and i8 si32's kin, i1 bf16; constants too.

    64-bit integers that do not fit are saturated, as tt-mlir does.
    """

    name = "ttir-element-type-normalization"
    refused = {"enable-bfp8-conversion": "block floats of a chip would change every result"}  # noqa: RUF012

    def change(self, module: ModuleOp, rewriter: Rewriter) -> None:
        """Normalises the element types of a module."""
        normalize(module, rewriter)
