"""convert-tosa-to-ttir: replaces ops of TOSA by ops of TTIR."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ttnn_jit.transforms.passes.convert_stablehlo_to_ttir import convert


@dataclass(frozen=True)
class ConvertTosaToTTIR(ModulePass):
    """Replaces every op of TOSA by the ops of TTIR that its declaration says.

    Raises CompileError at an op that TTIR has no counterpart of.
    """

    name = "convert-tosa-to-ttir"
    over_texts = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:  # noqa: ARG002 - xDSL's signature
        """Converts the functions of the module `op`."""
        convert(op, {"tosa"})
