"""`ttrt.binary`: binaries and what they hold as dictionaries."""

from __future__ import annotations

import json
from typing import Any

from ttnn_jit.tools.ttrt.runs import op_statistics as stats
from ttnn_jit.ttmlir.ttmlir_runtime.program_binary import (
    Binary,
    load_binary_from_capsule,
    load_binary_from_path,
    load_system_desc_from_path,
)

__path__: list[str] = []  # `ttrt.binary.stats` is imported too


def json_string_as_dict(json_string: str) -> Any:
    """What a text of JSON holds; an empty one nothing."""
    return json.loads(json_string) if json_string else {}


def fbb_as_dict(bin: Any) -> Any:  # noqa: A002 - upstream's name
    """All that a binary or a description of a system holds."""
    return json_string_as_dict(bin.as_json())


def system_desc_as_dict(bin: Any) -> Any:  # noqa: A002 - upstream's name
    """The system for which a binary was compiled."""
    return json_string_as_dict(bin.get_system_desc_as_json())


def program_ops_as_dict(bin: Any, index: int) -> Any:  # noqa: A002 - upstream's name
    """The operations of a program."""
    return json_string_as_dict(bin.get_program_ops_as_json(index))


def program_inputs_as_dict(bin: Any, index: int) -> Any:  # noqa: A002 - upstream's name
    """The inputs of a program."""
    return json_string_as_dict(bin.get_program_inputs_as_json(index))


def program_outputs_as_dict(bin: Any, index: int) -> Any:  # noqa: A002 - upstream's name
    """The outputs of a program."""
    return json_string_as_dict(bin.get_program_outputs_as_json(index))


def mlir_as_dict(bin: Any) -> Any:  # noqa: A002 - upstream's name
    """The module of a binary."""
    return json_string_as_dict(bin.get_mlir_as_json())


__all__ = [
    "Binary", "fbb_as_dict", "json_string_as_dict", "load_binary_from_capsule", "load_binary_from_path",
    "load_system_desc_from_path", "mlir_as_dict", "program_inputs_as_dict", "program_ops_as_dict",
    "program_outputs_as_dict", "stats", "system_desc_as_dict",
]  # fmt: skip
