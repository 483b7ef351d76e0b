"""``ttrt check``: compares the systems for which binaries were compiled with this one, or with others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.dialects.upstream.rewriting.system_descriptions import mock_l1_bytes
from ttnn_jit.specs.target import SystemDesc
from ttnn_jit.tools.ttrt.command_stages import Command
from ttnn_jit.tools.ttrt.found_files import BINARIES, SYSTEM, TEXT_SYSTEM, files_below
from ttnn_jit.tools.ttrt.loaded_binaries import Binary
from ttnn_jit.tools.ttrt.option_declarations import COMMANDS
from ttnn_jit.tools.ttrt.query_command import Query
from ttnn_jit.tools.ttrt.system_comparison import (
    described_system,
    differences,
    is_system_chosen,
    target_of_json,
)

HERE = "this system"


class Check(Command):
    """Compares each binary with each system: a record for each pair."""

    declaration = COMMANDS["check"]

    def check_constraints(self) -> None:
        """Finds the binaries and the systems."""
        self._paths = self.files_of(lambda path: files_below(path, BINARIES), self["binary"])
        self.artifacts.name_files(self._paths)
        self._systems = [HERE]
        if self["--system-desc"]:
            self._systems = self.files_of(lambda path: files_below(path, (SYSTEM, TEXT_SYSTEM)), self["--system-desc"])

    def execute(self) -> None:
        """Compares."""
        known: dict[str, Binary] = {}
        for path in self._paths:
            for system in self._systems:
                with self.recorded(path, system_desc=system):
                    if path not in known:
                        known[path] = self._load(path)
                    found = self._differences(known[path], system)
                    if found:
                        raise ArgumentError(
                            f"system desc for: {system} did not match flatbuffer: {path}: {'; '.join(found)}"
                        )

    def _differences(self, binary: Binary, system: str) -> list[str]:
        """How the system of a binary differs from another one.

        A binary that was compiled without a description has the L1 of tt-mlir's mock description: that is no
        difference from this system, unless the user says which one it is.
        """
        theirs, ours = binary.target, self._target(system)
        if system == HERE and not is_system_chosen() and theirs.l1_bytes == mock_l1_bytes(theirs.arch):
            self.log.info("%s was compiled without a description: its bytes of L1 are not compared", binary.file_path)
            theirs = replace(theirs, l1_bytes=ours.l1_bytes)
        return differences(theirs, ours)

    def _load(self, path: str) -> Binary:
        loaded = Binary(self.logger, self.file_manager, path)
        loaded.check_version()
        if self["--save-artifacts"]:
            self.artifacts.save_binary(loaded)
        return loaded

    def _target(self, system: str) -> SystemDesc:
        if system == HERE:
            return Query({"--quiet": True}, self.logger, self.artifacts).target
        return target_of_json(described_system(str(Path(system))).as_json(), system)
