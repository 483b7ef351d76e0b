"""The folder of artifacts: binaries, tensors and reports of a run.

::

    ttrt-artifacts/
        .ttrt                         made by ttrt: `--clean-artifacts` may remove the folder, and its copies do
                                      not run with the binaries of a folder that holds it
        system_desc.ttsys             of `query`
        model.ttnn/                   of a binary
            model.ttnn, system_desc.ttsys
            run/program_0/            input_0.pt, device_output_0.pt, golden_output_0.pt, golden_results.json,
                                      memory_results.json
            perf/                     ops_perf_results.csv
"""

from __future__ import annotations

import io
import json
import os
import re
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.process.complete_file import write_complete
from ttnn_jit.tools.ttrt.option_declarations import ARTIFACTS, ARTIFACTS_MARK
from ttnn_jit.tools.ttrt.ttrt_logger import Logger

_UNFIT_FOR_NAMES = re.compile(r'[:"/\\|?*\x00-\x1f]')


def default_folder() -> str:
    """``ttrt-artifacts`` in the folder of ``TT_MLIR_HOME``, or in the current one."""
    return str(Path(os.environ.get("TT_MLIR_HOME") or Path.cwd()) / ARTIFACTS)


def sanitized_name(text: str) -> str:
    """A text as the name of a file."""
    return _UNFIT_FOR_NAMES.sub("_", text).strip() or "untitled"


class Artifacts:
    """A folder of artifacts, which is made when the first one is saved.

    Args:
        logger: The log; by default a new one.
        file_manager: Not used.
        artifacts_folder_path: The folder; by default `default_folder`.
        logging: The older name of `logger`.
    """

    def __init__(
        self,
        logger: Logger | None = None,
        file_manager: Any = None,
        artifacts_folder_path: str = "",
        logging: Logger | None = None,
    ) -> None:
        self.logger = logger or logging or Logger()
        self.file_manager = file_manager
        self.artifacts_folder_path = artifacts_folder_path or default_folder()
        self._folders: dict[str, str] = {}

    def get_artifacts_folder_path(self) -> str:
        """The folder."""
        return self.artifacts_folder_path

    def name_files(self, paths: Iterable[str]) -> None:
        """Gives every file a folder of its own: files of one name have those of their whole paths."""
        given = [*paths]
        names = [Path(each).name for each in given]
        self._folders = {
            path: name if names.count(name) == 1 else sanitized_name(str(Path(path)))
            for path, name in zip(given, names, strict=True)
        }

    def folder_of_file(self, path: str) -> str:
        """The folder of a file."""
        return str(Path(self.artifacts_folder_path) / self._folders.get(path, Path(path).name))

    def get_binary_folder_path(self, binary: Any) -> str:
        """The folder of a binary or a Python file."""
        return self.folder_of_file(binary.file_path)

    def get_binary_run_folder_path(self, binary: Any) -> str:
        """The folder of what a binary computed."""
        return f"{self.get_binary_folder_path(binary)}/run"

    def get_binary_perf_folder_path(self, binary: Any) -> str:
        """The folder of what was measured of a binary."""
        return f"{self.get_binary_folder_path(binary)}/perf"

    def get_emitpy_dylib_folder_path(self, dylib: Any) -> str:
        """The folder of what a Python file computed."""
        return f"{self.get_binary_folder_path(dylib)}/emitpy"

    def program_folder(self, binary: Any, index: int) -> str:
        """The folder of what one program computed."""
        return f"{self.get_binary_run_folder_path(binary)}/program_{index}"

    def create_artifacts(self) -> None:
        """Makes the folder.

        Raises:
            OSError: It cannot be made.
        """
        _make(Path(self.artifacts_folder_path))

    def clean_artifacts(self) -> None:
        """Removes the folder with all that it holds.

        Raises:
            ArgumentError: ttrt did not make it.
        """
        folder = Path(self.artifacts_folder_path)
        if not folder.exists():
            return
        is_own = folder.is_dir() and not folder.is_symlink()
        if not is_own or (any(folder.iterdir()) and not (folder / ARTIFACTS_MARK).is_file()):
            raise ArgumentError(
                f"{folder} is not removed: ttrt did not make it", help="choose another --artifact-dir, or remove it"
            )
        shutil.rmtree(folder)

    def save_binary(self, binary: Any, query: Any = None) -> None:
        """Saves a binary with the tensors of its programs, and the description of the system of a query."""
        folder = self.get_binary_folder_path(binary)
        self.save_bytes(folder, Path(binary.file_path).name, Path(binary.file_path).read_bytes())
        for program in getattr(binary, "programs", ()):
            for kind, tensors in (("input", program.input_tensors), ("device_output", program.output_tensors)):
                for index, shards in enumerate(tensors):
                    self.save_torch_tensor(
                        self.program_folder(binary, program.index), _whole(shards), f"{kind}_{index}.pt"
                    )
        if query is not None:
            self.save_system_desc(query.described, folder)

    def save_torch_tensor(self, folder_path: str, torch_tensor: Any, torch_tensor_name: str) -> None:
        """Saves a tensor, or a list of those of all devices, as `torch.load` reads it."""
        import torch

        written = io.BytesIO()
        torch.save(torch_tensor, written)
        self.save_bytes(folder_path, sanitized_name(torch_tensor_name), written.getvalue())

    def save_system_desc(
        self, system_desc: Any, system_desc_folder: str = "", system_desc_name: str = "system_desc.ttsys"
    ) -> None:
        """Saves a description of a system."""
        folder = self._made(system_desc_folder or self.artifacts_folder_path)
        system_desc.store(str(folder / system_desc_name))

    def save_json(self, folder: str, name: str, value: Any) -> None:
        """Saves a report."""
        self.save_bytes(folder, name, json.dumps(value, indent=4).encode())

    def save_bytes(self, folder: str, name: str, data: bytes) -> None:
        """Saves a file, whole or not at all."""
        write_complete(self._made(folder) / name, [data])
        self.logger.get_logger().debug("saved %s in %s", name, folder)

    def _made(self, folder: str) -> Path:
        """A folder among the artifacts, which is made.

        That of a binary is marked as well, for the artifacts may be in a folder that others made.
        """
        self.create_artifacts()
        top, own = Path(self.artifacts_folder_path), Path(folder)
        if own != top and own.is_relative_to(top):
            _make(top / own.relative_to(top).parts[0])
        own.mkdir(parents=True, exist_ok=True)
        return own


def _make(folder: Path) -> None:
    """Makes a folder, and marks one that is new or empty."""
    is_new = not folder.exists() or (folder.is_dir() and not any(folder.iterdir()))
    folder.mkdir(parents=True, exist_ok=True)
    if is_new:
        (folder / ARTIFACTS_MARK).touch()


def _whole(shards: Any) -> Any:
    """The tensor of one device alone, or the tensors of several."""
    return shards[0] if isinstance(shards, list) and len(shards) == 1 else shards
