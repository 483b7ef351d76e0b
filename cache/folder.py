"""The folder of the disk cache: its owner, who else may write to it, and whether it is still at its path.

Programs hold machine code, so only the user and root may be able to write to the folder or to replace it. The checks
apply to the open descriptor. SQLite opens files by path, so every use first compares the folder at the path with the
open one. After that only the user and root could replace it.
"""

from __future__ import annotations

import os
import stat
import weakref
from pathlib import Path

_WRITABLE = 0o222
_WRITABLE_BY_OTHERS = 0o022


NOT_USED = "the disk cache is not used: "
"""The prefix of the texts of `UntrustedFolderError`."""


class UntrustedFolderError(OSError):
    """Another user could put machine code into the folder; the text says how."""


class ReadOnlyError(OSError):
    """A write to a folder that is read-only."""


class Folder:
    """An open folder.

    Attributes:
        path: The path without symbolic links.
        read_only: Whether the folder is only read: nobody may write to it, or only root, and the user is not root.
        close: Closes the descriptor. The finalizer of the object does so otherwise.

    Raises:
        UntrustedFolderError: It is not the user's, or others may write to it or replace it.
        OSError: It cannot be opened.
    """

    def __init__(self, directory: Path) -> None:
        self.path = Path(os.path.realpath(directory))
        # The descriptor stays open, so that no other folder can get its inode.
        self._descriptor = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        self.close = weakref.finalize(self, os.close, self._descriptor)
        self._identity = os.fstat(self._descriptor)
        self._path_string = str(self.path)
        self.read_only = _is_read_only(self._identity)
        _require_trust(self.path, self._identity, read_only=self.read_only)

    def is_in_place(self) -> bool:
        """Whether the open folder is still the one at the path."""
        try:
            return os.path.samestat(os.stat(self._path_string), self._identity)  # noqa: PTH116 - quicker than a Path
        except OSError:
            return False

    def require_trusted(self, database: str) -> None:
        """Refuse a database in the folder if others may write to one of its files, or one is not a regular file.

        Raises:
            UntrustedFolderError: Others may write to the database.
        """
        for name in files_of(database):
            try:
                status = os.stat(name, dir_fd=self._descriptor, follow_symlinks=False)
            except FileNotFoundError:
                continue
            if (
                not stat.S_ISREG(status.st_mode)
                or not _is_trusted_owner(status.st_uid)
                or status.st_mode & _WRITABLE_BY_OTHERS
            ):
                raise UntrustedFolderError(f"{NOT_USED}others may write to {self.path / name}")

    def remove(self, name: str) -> None:
        """Remove a file of the folder.

        Raises:
            OSError: It cannot be removed.
        """
        os.unlink(name, dir_fd=self._descriptor)


def files_of(database: str) -> tuple[str, ...]:
    """The names of a SQLite database's files: the database, its write-ahead log, and the index of that log."""
    return database, f"{database}-wal", f"{database}-shm"


def _is_trusted_owner(user: int) -> bool:
    return user in {0, os.geteuid()}


def _is_read_only(status: os.stat_result) -> bool:
    of_root_alone = status.st_uid == 0 != os.geteuid() and not status.st_mode & _WRITABLE_BY_OTHERS
    return of_root_alone or not status.st_mode & _WRITABLE


def _require_trust(path: Path, status: os.stat_result, *, read_only: bool) -> None:
    if not (status.st_uid == os.geteuid() or (read_only and status.st_uid == 0)):
        raise UntrustedFolderError(f"{NOT_USED}{path} belongs to user {status.st_uid}, not to {os.geteuid()}")
    if status.st_mode & _WRITABLE_BY_OTHERS:
        mode = f"mode {stat.S_IMODE(status.st_mode):04o}"
        raise UntrustedFolderError(f"{NOT_USED}others may write to {path} ({mode}); `chmod go-w` it")
    for parent in path.parents:
        if not _protects_entries(parent.stat()):
            raise UntrustedFolderError(f"{NOT_USED}others may put another folder in {parent}")


def _protects_entries(parent: os.stat_result) -> bool:
    """Whether only the user and root can replace the user's entries of a folder, as in /tmp, which is sticky."""
    if not _is_trusted_owner(parent.st_uid):
        return False
    if parent.st_mode & (stat.S_IWOTH | stat.S_ISVTX) == stat.S_IWOTH:
        return False
    return not parent.st_mode & stat.S_IWGRP or bool(parent.st_mode & stat.S_ISVTX) or _is_own_group(parent.st_gid)


def _is_own_group(group: int) -> bool:
    """Whether a group has the user's name and no other members, the convention for private groups."""
    import grp
    import pwd

    try:
        name, entry = pwd.getpwuid(os.geteuid()).pw_name, grp.getgrgid(group)
    except KeyError:
        return False
    return entry.gr_name == name and set(entry.gr_mem) <= {name}
