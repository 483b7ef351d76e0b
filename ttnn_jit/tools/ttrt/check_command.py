"""``ttrt check``: compares the systems for which binaries were compiled with this one, or with others."""

from __future__ import annotations

from pathlib import Path

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.specs.target import SystemDesc
from ttnn_jit.tools.ttrt.command_stages import Command
from ttnn_jit.tools.ttrt.found_files import BINARIES, SYSTEM, TEXT_SYSTEM, files_below
from ttnn_jit.tools.ttrt.loaded_binaries import Binary
from ttnn_jit.tools.ttrt.option_declarations import COMMANDS
from ttnn_jit.tools.ttrt.query_command import Query
from ttnn_jit.tools.ttrt.system_comparison import described_system, differences, target_of_json

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
                    found = differences(known[path].target, self._target(system))
                    if found:
                        raise ArgumentError(
                            f"system desc for: {system} did not match flatbuffer: {path}: {'; '.join(found)}"
                        )

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
