"""Binaries of ttmetal: what they say of themselves. Their kernels are not executed here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.process.complete_file import write_complete
from ttnn_jit.schemas.binary_file import read_file
from ttnn_jit.schemas.json_text import json_text
from ttnn_jit.ttmlir.ttmlir_runtime.described_files import DescribedFile

IDENTIFIER = "TTM0"


class MetalBinary(DescribedFile):
    """A ``.ttm`` file.

    Args:
        data: Its bytes.
        name: Its name, for errors.
        ignore_version: Whether a file of another version or schema is read as far as its tables fit.

    Raises:
        ProgramFormatError: It is no binary of ttmetal, of another version or schema, or damaged.
    """

    file_identifier = IDENTIFIER

    def __init__(self, data: bytes, name: str = "the binary", *, ignore_version: bool = False) -> None:
        self._data = data
        self._root = read_file(data, name, IDENTIFIER, ignore_version=ignore_version).tree

    @property
    def _tree(self) -> dict[str, Any]:
        return self._root

    @property
    def _programs(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self._tree.get("programs", [])
        return found

    def get_num_programs(self) -> int:
        """The number of programs."""
        return len(self._programs)

    def get_program_name(self, program_index: int) -> str:
        """The name of a program."""
        return str(self._programs[program_index].get("name", ""))

    def is_program_private(self, program_index: int) -> bool:
        """Whether a program is only called by others."""
        return bool(self._programs[program_index].get("private", False))

    def get_program_inputs_as_json(self, program_index: int) -> str:
        """The references of a program's inputs."""
        return json_text(self._programs[program_index].get("inputs", []))

    def get_program_outputs_as_json(self, program_index: int) -> str:
        """The references of a program's outputs."""
        return json_text(self._programs[program_index].get("outputs", []))

    def get_program_mesh_shape(self, program_index: int) -> list[int]:
        """The extents of a program's mesh."""
        mesh = self._programs[program_index].get("mesh_shape", {"y": 1, "x": 1})
        return [mesh["y"], mesh["x"]]

    def get_mlir_as_json(self) -> str:
        """The text of its module."""
        return json_text(self._tree.get("mlir", {}))

    def get_system_desc_as_json(self) -> str:
        """The system that it was compiled for."""
        return json_text(self._tree.get("system_desc", {}))

    def as_json(self) -> str:
        """All that is in it."""
        return json_text(self._tree)

    def store(self, path: str | Path) -> None:
        """Writes the file, unchanged.

        Raises:
            OSError: It cannot be written; nothing of it is.
        """
        write_complete(Path(path), [self._data])

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
