"""``ttrt read``: prints sections of binaries and of descriptions of systems."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.process.complete_file import write_complete
from ttnn_jit.tools.ttrt.command_stages import Command
from ttnn_jit.tools.ttrt.found_files import BINARIES, SYSTEM, files_below
from ttnn_jit.tools.ttrt.loaded_binaries import Binary, Flatbuffer, SystemFile
from ttnn_jit.tools.ttrt.option_declarations import COMMANDS, SECTIONS
from ttnn_jit.tools.ttrt.result_files import in_json
from ttnn_jit.tools.ttrt.runs.op_statistics import counted_ops


class Read(Command):
    """Reads sections. Methods of the names of sections give them for loaded files.

    Attributes:
        read_sections: What was read of each file, after a call.
    """

    declaration = COMMANDS["read"]
    read_actions = SECTIONS

    def check_constraints(self) -> None:
        """Finds the files and loads those that can be loaded."""
        self.read_sections: list[Any] = []
        self._by_file: dict[str, Any] = {}
        self._paths = self.files_of(lambda path: files_below(path, (*BINARIES, SYSTEM)), self["binary"])
        self.artifacts.name_files(self._paths)

    def execute(self) -> None:
        """Reads the section of every file."""
        for path in self._paths:
            with self.recorded(path):
                loaded = self._load(path)
                section = self.section(self["--section"], loaded)
                self.read_sections.append([section])
                self._by_file[path] = section
                if self["--save-artifacts"]:
                    self.artifacts.save_binary(loaded)

    def postprocess(self) -> None:
        """Writes the sections and the results."""
        if self["--read-file"] and self.read_sections:
            data = json.dumps(in_json(self.read_sections), indent=2).encode()
            write_complete(Path(self["--read-file"]), [data])
            self.log.info("sections are in %s", self["--read-file"])
        super().postprocess()

    def written_files(self) -> list[Path]:
        """The files of the results and of the sections."""
        return [*super().written_files(), *map(Path, filter(None, [self["--read-file"]]))]

    def shown(self) -> str:
        """The section of one file, or those of several by their paths; of an ``mlir`` the text itself."""
        if len(self._by_file) == 1 and len(self._paths) == 1:
            (section,) = self._by_file.values()
            if self["--section"] == "mlir":
                return str(section["source"]).rstrip("\n")
            return json.dumps(in_json(section), indent=2)
        return json.dumps(in_json(self._by_file), indent=2) if self._by_file else ""

    def _load(self, path: str) -> Flatbuffer:
        if Path(path).suffix == SYSTEM:
            return SystemFile(self.logger, self.file_manager, path)
        loaded = Binary(self.logger, self.file_manager, path, ignore_version=self["--ignore-version"])
        loaded.check_version(ignore=self["--ignore-version"])
        return loaded

    def load_binaries_from_path(self, binary_path: str) -> list[Flatbuffer]:
        """The loaded files at or below a path.

        Raises:
            ArgumentError: There are none.
            TtnnJitError: One of them cannot be read.
        """
        return [self._load(each) for each in files_below(binary_path, (*BINARIES, SYSTEM))]

    def section(self, name: str, loaded: Flatbuffer) -> Any:
        """A section of a loaded file.

        Raises:
            ArgumentError: The file has no such section.
        """
        if isinstance(loaded, SystemFile) and name not in {"all", "version", "system_desc"}:
            raise ArgumentError(
                f"{loaded.file_path} describes a system, and has no section {name!r}",
                help="it has all, version and system_desc",
            )
        return _SECTIONS[name](loaded)

    def _of_each(self, name: str, loaded: tuple[Flatbuffer, ...]) -> list[Any]:
        return [self.section(name, each) for each in loaded]

    def all(self, *loaded: Flatbuffer) -> list[Any]:
        """All that loaded files hold."""
        return self._of_each("all", loaded)

    def version(self, *loaded: Flatbuffer) -> list[Any]:
        """Their versions."""
        return self._of_each("version", loaded)

    def system_desc(self, *loaded: Flatbuffer) -> list[Any]:
        """The systems for which they were compiled."""
        return self._of_each("system_desc", loaded)

    def mlir(self, *loaded: Flatbuffer) -> list[Any]:
        """Their modules."""
        return self._of_each("mlir", loaded)

    def inputs(self, *loaded: Flatbuffer) -> list[Any]:
        """The inputs of their programs."""
        return self._of_each("inputs", loaded)

    def outputs(self, *loaded: Flatbuffer) -> list[Any]:
        """The outputs of their programs."""
        return self._of_each("outputs", loaded)

    def op_stats(self, *loaded: Flatbuffer) -> list[Any]:
        """The numbers of their operations."""
        return self._of_each("op_stats", loaded)

    def mesh_shape(self, *loaded: Flatbuffer) -> list[Any]:
        """The meshes of their programs."""
        return self._of_each("mesh_shape", loaded)


def _version(loaded: Flatbuffer) -> dict[str, str]:
    return {
        "version": loaded.version,
        "schema_hash": loaded.fbb.schema_hash,
        "tt-mlir git hash": loaded.fbb.ttmlir_git_hash,
    }


def _by_program(member: Callable[[Any], Any]) -> Callable[[Any], list[dict[str, Any]]]:
    return lambda loaded: [{each.name: member(each)} for each in loaded.programs]


def _cpp(loaded: Flatbuffer) -> str:
    raise ArgumentError(f"{loaded.file_path} holds no C++", help="binaries of tt-mlir no longer do")


_SECTIONS: dict[str, Callable[[Any], Any]] = {
    "all": lambda loaded: json.loads(loaded.fbb.as_json()),
    "cpp": _cpp,
    "inputs": _by_program(lambda program: program.inputs),
    "mesh_shape": _by_program(lambda program: program.mesh_shape),
    "mlir": lambda loaded: json.loads(loaded.fbb.get_mlir_as_json()),
    "op_stats": _by_program(lambda program: counted_ops(program.fbb, program.index)),
    "outputs": _by_program(lambda program: program.outputs),
    "system_desc": lambda loaded: loaded.system_desc_dict,
    "version": _version,
}
