"""System descriptions as the runtime reads them."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

from ttnn_jit.binaries.system_trees import system_file
from ttnn_jit.schemas.binary_file import identifier_of
from ttnn_jit.schemas.json_text import json_text
from ttnn_jit.specs.target import SystemDesc, read_target
from ttnn_jit.ttmlir.ttmlir_runtime.described_files import FileOfBytes

IDENTIFIER = "TTSY"


class SystemDescription(FileOfBytes):
    """The chips of a system: a ``.ttsys`` file."""

    file_identifier = IDENTIFIER

    @classmethod
    def of_target(cls, target: SystemDesc) -> SystemDescription:
        """The description of a target; what is not known of its chips is that of tt-mlir's mock descriptions.

        Raises:
            ArgumentError: The target is no system of chips.
        """
        return cls(system_file(target))

    @cached_property
    def tree(self) -> dict[str, Any]:
        """All that it says, in the form of `flatc`."""
        return self._tree

    def get_system_desc_as_json(self) -> str:
        """The system alone, as a binary gives that for which it was compiled."""
        return json_text(self._tree.get("system_desc", {}))


def load_system_desc_from_path(path: str, *, ignore_version: bool = False) -> SystemDescription:
    """The description in a file: a flatbuffer of tt-mlir (``.ttsys``), or JSON.

    Raises:
        ArgumentError: The file cannot be read, or is no system description.
        ProgramFormatError: It is of another version or schema, or damaged.
    """
    data = Path(path).read_bytes() if Path(path).is_file() else b""
    if identifier_of(data) is not None:
        return SystemDescription(data, path, ignore_version=ignore_version)
    return SystemDescription.of_target(read_target(path))
