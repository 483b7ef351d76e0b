"""The result of a frontend."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import ModuleOp

from ttnn_jit.guards.reads import Opaque, Read
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.tensor_spec import TensorSpec


@dataclass(frozen=True)
class FrontendResult:
    """One function as a module of the TTNN dialect.

    Attributes:
        module: The module, verified.
        reads: The reads of the user's world, which `reads.compile_guard` compiles to a guard.
        output_structure: None if the function returns one tensor, NOTHING if it returns nothing, else nested tuples,
            lists and dicts with result indices as leaves.
        opaque: The first read whose change no guard can see: the module serves one call only.
        warnings: Texts for the user, each once.
        kernel_operands: The arguments that kernels read under a chip's rules: their names and their specs.
    """

    module: ModuleOp
    reads: tuple[Read, ...]
    output_structure: Any
    opaque: Opaque | None = None
    warnings: tuple[str, ...] = ()
    kernel_operands: tuple[tuple[str, TensorSpec], ...] = ()
