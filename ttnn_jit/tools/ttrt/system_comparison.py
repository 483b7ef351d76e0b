"""The system that runs, and how the one for which a binary was compiled differs from it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.specs.target import SystemDesc, resolve_target

if TYPE_CHECKING:
    from ttnn_jit.ttmlir.ttmlir_runtime.described_systems import SystemDescription

_COMPARED = ("arch", "grid", "mesh", "l1_bytes", "dram_bytes", "dst_tiles", "max_circular_buffers")
"""What a description says that a compiler reads; names and numerics follow from the architecture."""


def rules_on_cpu(target: SystemDesc) -> str:
    """The device that computes, as logs and results name it: never a chip."""
    return "cpu" if target.arch == "cpu" else f"{target.arch} rules on cpu"


def is_system_chosen() -> bool:
    """Whether the user says which system this is."""
    return bool(os.environ.get("SYSTEM_DESC_PATH"))


def described_system(chosen: str = "") -> SystemDescription:
    """The description of a preset or of a file; by default of this system: ``SYSTEM_DESC_PATH``, else wormhole_b0.

    Raises:
        ArgumentError: There is no such preset, or the file is no description.
    """
    from ttnn_jit.ttmlir.ttmlir_runtime.described_systems import SystemDescription, load_system_desc_from_path

    if chosen and (os.sep in chosen or Path(chosen).suffix):
        return load_system_desc_from_path(chosen)
    return SystemDescription(resolve_target(chosen or None))


def target_of_json(text: str, source: str) -> SystemDesc:
    """The target of a description as JSON.

    Raises:
        ArgumentError: It is no description.
    """
    try:
        return resolve_target(SystemDesc.from_json(text, source))
    except RecursionError:
        raise ArgumentError(f"{source} is not a system description: it is nested too deeply") from None


def differences(theirs: SystemDesc, ours: SystemDesc) -> list[str]:
    """What differs between two systems, a line each: the name of the field, and both values."""
    pairs = ((name, getattr(theirs, name), getattr(ours, name)) for name in _COMPARED)
    return [f"{name} is {_shown(a)} in the binary and {_shown(b)} here" for name, a, b in pairs if a != b]


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return "x".join(map(str, value))
    return f"{value:,}" if isinstance(value, int) else str(value)
