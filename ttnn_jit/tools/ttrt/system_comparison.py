"""The system that runs, and how the one for which a binary was compiled differs from it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.specs.target import SystemDesc, read_target, resolve_target
from ttnn_jit.tools.ttrt.found_files import SYSTEM
from ttnn_jit.tools.ttrt.option_declarations import is_system_file

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


class CpuDescription:
    """The description of a cpu, which is no system of chips: JSON of its own.

    Args:
        target: The cpu.
    """

    def __init__(self, target: SystemDesc) -> None:
        self._target = target

    def as_json(self) -> str:
        """The description."""
        return self._target.to_json()

    def store(self, path: str) -> None:
        """Refused: a flatbuffer describes chips.

        Raises:
            ArgumentError: Always.
        """
        raise ArgumentError(
            f"{path} would describe chips, and the target is a cpu", help="`ttnn-jit query --target cpu` prints JSON"
        )


def described_system(chosen: str = "") -> SystemDescription | CpuDescription:
    """The description of a preset or of a file; by default of this system: ``SYSTEM_DESC_PATH``, else wormhole_b0.

    Raises:
        ArgumentError: There is no such preset, or the file is no description.
        ProgramFormatError: It is a flatbuffer of another version, or damaged.
    """
    from ttnn_jit.ttmlir.ttmlir_runtime.described_systems import SystemDescription, load_system_desc_from_path

    is_file = is_system_file(chosen)
    if is_file and chosen.endswith(SYSTEM):
        return load_system_desc_from_path(chosen)
    target = read_target(chosen) if is_file else resolve_target(chosen or None)
    return CpuDescription(target) if target.arch == "cpu" else SystemDescription.of_target(target)


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
