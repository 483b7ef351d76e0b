"""Checkouts of this repository, by folder or git revision, and a folder from which a process imports one."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]


class UnknownCheckoutError(ValueError):
    """A name is neither a checkout's folder nor a revision."""


@contextmanager
def checkout(name: str) -> Iterator[Path]:
    """The folder `name`, or a worktree of the revision `name`, which is removed afterwards.

    Raises:
        UnknownCheckoutError: There is no such folder and no such revision, or no package in it.
    """
    if Path(name).is_dir():
        yield _with_package(Path(name).resolve())
        return
    revision = _git("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}").strip()
    if not revision:
        raise UnknownCheckoutError(f"{name} is neither a folder nor a git revision of {ROOT}")
    with tempfile.TemporaryDirectory() as folder:
        worktree = Path(folder).resolve() / "checkout"
        _git("worktree", "add", "--detach", str(worktree), revision)
        try:
            yield _with_package(worktree)
        finally:
            _git("worktree", "remove", "--force", str(worktree))


def _with_package(folder: Path) -> Path:
    if not (folder / "ttnn_jit" / "__init__.py").exists():
        raise UnknownCheckoutError(f"{folder} is no checkout of this repository: it has no ttnn_jit/__init__.py")
    return folder


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False).stdout


@contextmanager
def importable(checkout: Path) -> Iterator[Path]:
    """A folder in which Python imports the package of `checkout`, and the benchmarks of this checkout.

    The benchmarks of an older checkout may lack the required functions. Installed packages come after the folder.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        (folder / "ttnn_jit").symlink_to(checkout / "ttnn_jit", target_is_directory=True)
        (folder / "benchmarks").symlink_to(Path(__file__).parents[1], target_is_directory=True)
        yield folder
