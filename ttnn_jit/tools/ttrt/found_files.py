"""Files by the names of their kinds, below a path."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.tools.ttrt.option_declarations import ARTIFACTS_MARK

if TYPE_CHECKING:
    from ttnn_jit.tools.ttrt.ttrt_logger import Logger

TTNN, TTMETAL, SYSTEM = ".ttnn", ".ttm", ".ttsys"
TEXT_SYSTEM = ".json"
BINARIES = (TTNN, TTMETAL)
PYTHON = ".py"


def files_below(path: str, suffixes: Iterable[str]) -> list[str]:
    """The file itself, or every file below a folder, whose name ends so; sorted.

    Copies in folders of artifacts below the folder are left out.

    Raises:
        ArgumentError: There is no such path, or no such file below it.
    """
    wanted = tuple(suffixes)
    kinds = " or ".join(wanted)
    if not path:
        raise ArgumentError(f"no file was given, such as one that ends in {kinds}")
    here = Path(path)
    if not here.exists():
        raise ArgumentError(f"{path} does not exist")
    if not here.is_dir():
        if here.suffix in wanted:
            return [path]
        raise ArgumentError(f"{path} does not end in {kinds}")
    every = [each for each in here.rglob("*") if each.suffix in wanted and each.is_file()]
    found = sorted(str(each) for each in every if not _is_artifact(each, here))
    if not found:
        copies = f", apart from {len(every)} in folders of artifacts" if every else ""
        raise ArgumentError(f"the folder {path} holds no file that ends in {kinds}{copies}")
    return found


def _is_artifact(file: Path, top: Path) -> bool:
    """Whether ttrt saved a file in a folder of artifacts below `top`."""
    below = (each for each in file.parents if each != top and each.is_relative_to(top))
    return any((each / ARTIFACTS_MARK).exists() for each in below)


class FileManager:
    """Finds files of the kinds that ttrt reads; those below a path are listed, and none is no error.

    Args:
        logger: Not used: nothing is logged.
    """

    def __init__(self, logger: Logger | None = None) -> None:
        self.logger = logger

    def find_file_paths(self, path: str, extension: str) -> list[str]:
        """The files of an extension at or below a path; empty if there are none."""
        try:
            return files_below(path, [extension])
        except ArgumentError:
            return []

    def find_ttnn_binary_paths(self, path: str) -> list[str]:
        """The .ttnn files at or below a path."""
        return self.find_file_paths(path, TTNN)

    def find_ttmetal_binary_paths(self, path: str) -> list[str]:
        """The .ttm files at or below a path."""
        return self.find_file_paths(path, TTMETAL)

    def find_ttsys_binary_paths(self, path: str) -> list[str]:
        """The .ttsys files at or below a path."""
        return self.find_file_paths(path, SYSTEM)

    def find_emitpy_dylib_paths(self, path: str) -> list[str]:
        """The Python files at or below a path."""
        return self.find_file_paths(path, PYTHON)

    def check_file_exists(self, file_path: str) -> bool:
        """Whether there is such a file or folder."""
        return Path(file_path).exists()

    def check_directory_exists(self, directory_path: str) -> bool:
        """Whether there is such a folder."""
        return Path(directory_path).is_dir()

    def get_file_name(self, file_path: str) -> str:
        """The last part of a path."""
        return Path(file_path).name

    def get_file_extension(self, file_path: str) -> str:
        """The end of a name, with its point."""
        return Path(file_path).suffix
