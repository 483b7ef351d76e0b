"""Binaries of ttmetal: what they say of themselves. Their kernels are not executed here."""

from __future__ import annotations

from typing import Any

from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.ttmlir.ttmlir_runtime.described_files import DescribedPrograms, FileOfBytes

IDENTIFIER = "TTM0"


class MetalBinary(FileOfBytes, DescribedPrograms):
    """A ``.ttm`` file."""

    file_identifier = IDENTIFIER

    @property
    def text_module(self) -> Any:
        """Refused: there is nothing to execute.

        Raises:
            CompileError: Always.
        """
        raise CompileError(
            "a binary of ttmetal holds kernels, which are not executed here",
            help="a .ttnn binary of the same program is executed",
        )
