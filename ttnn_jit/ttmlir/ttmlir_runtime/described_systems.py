"""System descriptions as the runtime reads and writes them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from ttnn_jit.binaries.binary_file import file_head, identifier_of, version_text
from ttnn_jit.binaries.json_text import json_text
from ttnn_jit.binaries.schema import schema
from ttnn_jit.binaries.system_files import IDENTIFIER, system_bytes, system_in, target_of_tree
from ttnn_jit.binaries.system_trees import target_tree
from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.process.complete_file import write_complete
from ttnn_jit.specs.target import SystemDesc, read_target, resolve_target


class SystemDescription:
    """The chips of a system.

    Args:
        target: Their rules.
        tree: The root table of the file that it was read from, if there is one.
    """

    file_identifier = IDENTIFIER

    def __init__(self, target: SystemDesc, tree: dict[str, Any] | None = None) -> None:
        self._target = target
        self._tree = tree or file_head() | {"system_desc": self._described()}

    def as_json(self) -> str:
        """The description in the form of tt-mlir's tools; a cpu has no chips, and only its grid and memory."""
        return json_text(self._tree)

    @property
    def version(self) -> str:
        """The version of the file."""
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

    def store(self, path: str) -> None:
        """Writes a flatbuffer (.ttsys), or the JSON of the target if the name ends in .json.

        Raises:
            ArgumentError: A flatbuffer describes chips, and this is a cpu.
            OSError: The file cannot be written.
        """
        if path.endswith(".json"):
            write_complete(Path(path), [self._target.to_json().encode()])
            return
        if self._target.arch == "cpu":
            raise ArgumentError(
                "a .ttsys describes chips, and the target is a cpu", help="`ttnn-jit query` prints JSON"
            )
        write_complete(Path(path), [system_bytes(self._tree)])

    def _described(self) -> dict[str, Any]:
        if self._target.arch != "cpu":
            return target_tree(schema(), self._target)
        rows, columns = self._target.grid
        chip = {"arch": "Cpu", "grid_size": {"y": rows, "x": columns}, "l1_size": self._target.l1_bytes}
        return {"chip_descs": [chip], "chip_desc_indices": [0] * math.prod(self._target.mesh)}


def load_system_desc_from_path(path: str, *, ignore_version: bool = False) -> SystemDescription:
    """The description in a flatbuffer (.ttsys) or in JSON.

    Raises:
        ArgumentError: The file cannot be read, or is no system description.
        ProgramFormatError: It is a flatbuffer of another kind, version or schema, or damaged.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise ArgumentError(f"the system description {path} cannot be read: {error.strerror}") from error
    if identifier_of(data) is None:
        return SystemDescription(read_target(path))
    tree = system_in(data, path, ignore_version=ignore_version)
    return SystemDescription(resolve_target(target_of_tree(tree, path)), tree)
