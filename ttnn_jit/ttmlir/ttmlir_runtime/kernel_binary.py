"""Binaries of kernels of d2m, as `ttir_to_ttmetal_backend_pipeline` leaves them."""

from __future__ import annotations

import json
from functools import cached_property
from typing import TYPE_CHECKING

from ttnn_jit.compiler.texts.metal_programs import MetalModule, source_of
from ttnn_jit.dialects import print_module
from ttnn_jit.ttmlir.ttmlir_runtime.program_binary import Binary

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from ttnn_jit.compiler.texts.text_programs import TextModule


class KernelBinary(Binary):
    """A program whose kernels of d2m are executed. Its inputs and outputs are described as in the module of TTIR.

    Args:
        kernels: Its module.

    Raises:
        ArgumentError: `ttir_to_ttmetal_backend_pipeline` did not lower the module.
    """

    file_identifier = "TTM0"
    is_of_kernels = True

    def __init__(self, kernels: ModuleOp) -> None:
        super().__init__(source_of(kernels))
        self._kernels = kernels

    @property
    def module(self) -> ModuleOp:
        """Its module."""
        return self._kernels

    @cached_property
    def text_module(self) -> TextModule:
        """Its functions."""
        return MetalModule(self._kernels)

    def get_mlir_as_json(self) -> str:
        """The text of its module, with locations."""
        return json.dumps({"name": "module", "source": print_module(self._kernels, locations=True)})
