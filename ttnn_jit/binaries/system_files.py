"""Files that describe a system (.ttsys)."""

from __future__ import annotations

import json
from typing import Any

from ttnn_jit.binaries.binary_file import read_file, write_file
from ttnn_jit.binaries.json_text import json_text
from ttnn_jit.diagnostics.errors import ProgramFormatError
from ttnn_jit.specs.target import SystemDesc

IDENTIFIER = "TTSY"


def system_in(data: bytes, name: str, *, ignore_version: bool = False) -> dict[str, Any]:
    """The root table of a file.

    Args:
        data: Its bytes.
        name: Its name, for errors.
        ignore_version: Whether a file of another version or schema is read as far as it fits.

    Raises:
        ProgramFormatError: It is of another kind, version or schema, damaged, or describes nothing.
    """
    tree = read_file(data, name, IDENTIFIER, ignore_version=ignore_version).tree
    if "system_desc" not in tree:
        raise ProgramFormatError(f"{name} describes no system")
    return tree


def target_in(data: bytes, name: str) -> SystemDesc:
    """The target that a file describes.

    Raises:
        ProgramFormatError: See `system_in`.
        ArgumentError: The system is none that is known here.
    """
    return target_of_tree(system_in(data, name), name)


def target_of_tree(tree: dict[str, Any], name: str) -> SystemDesc:
    """The target that a root table describes.

    Raises:
        ArgumentError: The system is none that is known here.
    """
    return SystemDesc.from_json(json.dumps({"system_desc": json.loads(json_text(tree["system_desc"]))}), name)


def system_bytes(tree: dict[str, Any]) -> bytes:
    """The bytes of the file of a root table."""
    return write_file(tree, IDENTIFIER)
