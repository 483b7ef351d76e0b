"""ttir-allocate: every tensor on a device gets an address, by its lifetime."""

from __future__ import annotations

import re
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from ttnn_jit.dialects.ttcore import SYSTEM_DESC
from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter
from ttnn_jit.dialects.upstream.rewriting.ttnn_rules.buffer_allocation import allocate
from ttnn_jit.transforms.texts.text_pass import TextPass, functions_of


@dataclass(frozen=True)
class TTIRAllocate(TextPass):
    """Arguments get `ttcore.arg_alloc`, operations `ttcore.result_allocs`, functions their peak in `ttcore.peak_bytes`.

    Tensors of TTIR or TTNN with layouts are placed in DRAM and L1 from the first address that the system description
    leaves free. Those that live at one time never overlap. `ttir.empty` becomes `ttir.alloc`.
    """

    name = "ttir-allocate"

    def change(self, module: ModuleOp, rewriter: Rewriter) -> None:
        """Places the tensors of a module's functions."""
        described = str(module.attributes.get(SYSTEM_DESC, ""))
        bases = {space: _base(described, space) for space in ("dram", "l1")}
        for function in functions_of(module):
            allocate(function, bases, rewriter)


def _base(described: str, space: str) -> int:
    match = re.search(rf"{space}_unreserved_base = (\d+)", described)
    return int(match[1]) if match else 0
