"""What every file of tt-mlir says of itself and of its programs, by the names of its runtime."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, ClassVar

from ttnn_jit.process.complete_file import write_complete
from ttnn_jit.schemas.binary_file import read_file, version_text
from ttnn_jit.schemas.json_text import json_text
from ttnn_jit.schemas.schema import schema


class DescribedFile(ABC):
    """A binary, or the description of a system.

    Attributes:
        file_identifier: That of upstream's format.
    """

    file_identifier: ClassVar[str]

    @property
    @abstractmethod
    def _tree(self) -> dict[str, Any]:
        """Its root table, as `schemas` reads it."""

    @property
    def version(self) -> str:
        """Its version."""
        return version_text(self._tree)

    @property
    def schema_hash(self) -> str:
        """The hash of its schema's facts here; it is not that of tt-mlir's builds."""
        return str(self._tree.get("schema_hash", ""))

    @property
    def ttmlir_git_hash(self) -> str:
        """What wrote it."""
        return str(self._tree.get("ttmlir_git_hash", ""))

    def check_schema_hash(self) -> bool:
        """Whether its schema is the one that is written here."""
        return self.schema_hash == schema().hash

    def as_json(self) -> str:
        """All that is in it, in the form of tt-mlir's tools."""
        return json_text(self._tree)


class FileOfBytes(DescribedFile):
    """A file that is kept as it was read.

    Args:
        data: Its bytes.
        name: Its name, for errors.
        ignore_version: Whether a file of another version or schema is read as far as its tables fit.

    Raises:
        ProgramFormatError: It is a file of another kind, version or schema, or damaged.
    """

    def __init__(self, data: bytes, name: str = "the file", *, ignore_version: bool = False) -> None:
        self._data = data
        self._root = read_file(data, name, self.file_identifier, ignore_version=ignore_version).tree

    @property
    def _tree(self) -> dict[str, Any]:
        return self._root

    def store(self, path: str | Path) -> None:
        """Writes the file, unchanged.

        Raises:
            OSError: It cannot be written; nothing of it is.
        """
        write_complete(Path(path), [self._data])


class DescribedPrograms(DescribedFile):
    """A binary of programs."""

    @property
    def programs(self) -> list[dict[str, Any]]:
        """The programs, as tables; those of a module that has operations without one have none."""
        found: list[dict[str, Any]] = self._tree.get("programs", [])
        return found

    def inputs(self, program_index: int) -> list[dict[str, Any]]:
        """The references of a program's inputs: shapes, data types, layouts, what is cut over devices."""
        found: list[dict[str, Any]] = self.programs[program_index].get("inputs", [])
        return found

    def outputs(self, program_index: int) -> list[dict[str, Any]]:
        """The references of a program's outputs."""
        found: list[dict[str, Any]] = self.programs[program_index].get("outputs", [])
        return found

    def get_num_programs(self) -> int:
        """The number of programs."""
        return len(self.programs)

    def get_program_name(self, program_index: int) -> str:
        """The name of a program."""
        return str(self.programs[program_index].get("name", ""))

    def is_program_private(self, program_index: int) -> bool:
        """Whether a program is only called by others."""
        return bool(self.programs[program_index].get("private", False))

    def get_program_mesh_shape(self, program_index: int) -> list[int]:
        """The extents of a program's mesh."""
        mesh = self.programs[program_index].get("mesh_shape", {"y": 1, "x": 1})
        return [mesh["y"], mesh["x"]]

    def get_program_inputs_as_json(self, program_index: int) -> str:
        """The references of a program's inputs."""
        return json_text(self.inputs(program_index))

    def get_program_outputs_as_json(self, program_index: int) -> str:
        """The references of a program's outputs."""
        return json_text(self.outputs(program_index))

    def get_mlir_as_json(self) -> str:
        """The text of its module, with locations."""
        return json_text(self._tree.get("mlir", {}))

    def get_system_desc_as_json(self) -> str:
        """The system that it was compiled for."""
        return json_text(self._tree.get("system_desc", {}))
