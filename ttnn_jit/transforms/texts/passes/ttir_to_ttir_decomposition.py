"""ttir-to-ttir-decomposition: operations that TTNN lacks are written in terms of others."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.dialects.upstream.rewriting.greedy import merged, rewrite
from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter
from ttnn_jit.dialects.upstream.rewriting.ttir_rules import decompositions, gathers, window_decompositions
from ttnn_jit.dialects.upstream.rewriting.ttnn_rules.ttnn_conversions import refuse
from ttnn_jit.transforms.texts.text_pass import TextPass

_RULES = merged(decompositions.DECOMPOSED.by_name, window_decompositions.DECOMPOSED.by_name, gathers.DECOMPOSED.by_name)
_TO_THE_END = ("ttir.pooling", "ttir.convolution", "ttir.gather", "ttir.dot_general")


@dataclass(frozen=True)
class TTIRToTTIRDecomposition(TextPass):
    """Convolutions and pools with named dimensions, `dot_general`, `gather`, `index`, `arange`, quantization ....

    Attributes:
        config: ``ttnn`` or ``ttmetal``: what has no decomposition is an error; ``cpu-fallback``: it stays.
    """

    name = "ttir-to-ttir-decomposition"

    config: str = "ttnn"

    def __post_init__(self) -> None:
        """Checks the option."""
        super().__post_init__()
        if self.config not in {"ttnn", "ttmetal", "cpu-fallback"}:
            raise ArgumentError(f"`config={self.config}`: it is ttnn, ttmetal or cpu-fallback")

    def change(self, module: ModuleOp, rewriter: Rewriter) -> None:
        """Decomposes the operations of a module."""
        kept = {"ttir.dot_general", "ttir.reduce_and", "ttir.reduce_or"} if self.config == "cpu-fallback" else _RULES
        rules = {name: rule for name, rule in _RULES.items() if name in kept}
        rewrite(module, rules, rewriter, erases_dead=False)
        if self.config == "cpu-fallback":
            return
        for op in module.walk():
            if op.name in _TO_THE_END and not _is_gather_of_august(op.name, op.properties):
                raise refuse(op)


def _is_gather_of_august(name: str, properties: object) -> bool:
    return name == "ttir.gather" and "slice_sizes" not in properties  # type: ignore[operator]  # a dict
