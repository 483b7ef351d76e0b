"""The folder of the disk cache, opened once: whose it is, who else could change it, and whether it is still there.

Programs hold machine code, so nobody but the user and root may be able to write to the folder, or to put another one in
its place. What is checked is what was opened. SQLite itself opens files by path: every use first compares the folder
there with the one that was opened, and after that only the user and root could exchange it.
"""

from __future__ import annotations

import os
import stat
import weakref
from pathlib import Path

_WRITABLE = 0o222
_WRITABLE_BY_OTHERS = 0o022


NOT_USED = "the disk cache is not used: "
"""How the texts of `UntrustedFolderError` begin."""


class UntrustedFolderError(OSError):
    """Somebody else could put machine code into the folder; the text says how."""


class ReadOnlyError(OSError):
    """A write to a folder that is read-only."""


class Folder:
    """An open folder.

    Attributes:
        path: Where it is, without symbolic links.
        read_only: Whether it is only read: nobody may write to it, or only root, who is somebody else.
        close: Called, it gives the descriptor back, which otherwise the end of the object does.

    Raises:
        UntrustedFolderError: It is not the user's, or others may write to it, or put another one in its place.
        OSError: It cannot be opened.
    """

    def __init__(self, directory: Path) -> None:
        self.path = Path(os.path.realpath(directory))
        # Held open, so that no other folder comes to have its inode.
        self._descriptor = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        self.close = weakref.finalize(self, os.close, self._descriptor)
        self._identity = os.fstat(self._descriptor)
        self._path_string = str(self.path)
        self.read_only = _is_read_only(self._identity)
        _require_trust(self.path, self._identity, read_only=self.read_only)

    def is_in_place(self) -> bool:
        """Whether the folder that was opened is the one at the path now."""
        try:
            return os.path.samestat(os.stat(self._path_string), self._identity)  # noqa: PTH116 - quicker than a Path
        except OSError:
            return False

    def require_trusted(self, database: str) -> None:
        """Refuse a database of the folder of which others may write a file, or that lies elsewhere, if it is there.

        Raises:
            UntrustedFolderError: It is such a database.
        """
        for name in files_of(database):
            try:
                found = os.stat(name, dir_fd=self._descriptor, follow_symlinks=False)
            except FileNotFoundError:
                continue
            if not stat.S_ISREG(found.st_mode) or not _is_ours(found.st_uid) or found.st_mode & _WRITABLE_BY_OTHERS:
                raise UntrustedFolderError(f"{NOT_USED}others may write to {self.path / name}")

    def remove(self, name: str) -> None:
        """Remove a file of the folder.

        Raises:
            OSError: It cannot be removed.
        """
        os.unlink(name, dir_fd=self._descriptor)


def files_of(database: str) -> tuple[str, ...]:
    """The names of the files of a database of SQLite's: its own, its log's, and that of the log's index."""
    return database, f"{database}-wal", f"{database}-shm"


def _is_ours(user: int) -> bool:
    return user in {0, os.geteuid()}


def _is_read_only(found: os.stat_result) -> bool:
    of_root_alone = found.st_uid == 0 != os.geteuid() and not found.st_mode & _WRITABLE_BY_OTHERS
    return of_root_alone or not found.st_mode & _WRITABLE


def _require_trust(path: Path, found: os.stat_result, *, read_only: bool) -> None:
    if not (found.st_uid == os.geteuid() or (read_only and found.st_uid == 0)):
        raise UntrustedFolderError(f"{NOT_USED}{path} belongs to user {found.st_uid}, not to {os.geteuid()}")
    if found.st_mode & _WRITABLE_BY_OTHERS:
        mode = f"mode {stat.S_IMODE(found.st_mode):04o}"
        raise UntrustedFolderError(f"{NOT_USED}others may write to {path} ({mode}); `chmod 700` it")
    for parent in path.parents:
        if not _keeps_what_it_holds(parent.stat()):
            raise UntrustedFolderError(f"{NOT_USED}others may put another folder in {parent}")


def _keeps_what_it_holds(parent: os.stat_result) -> bool:
    """Whether only the user and root can exchange the user's entries of a folder, as in /tmp, which is sticky."""
    if not _is_ours(parent.st_uid):
        return False
    if parent.st_mode & (stat.S_IWOTH | stat.S_ISVTX) == stat.S_IWOTH:
        return False
    return not parent.st_mode & stat.S_IWGRP or bool(parent.st_mode & stat.S_ISVTX) or _is_own_group(parent.st_gid)


def _is_own_group(group: int) -> bool:
    """Whether a group is the user's alone, by the convention of many systems: of the user's name, without others."""
    import grp
    import pwd

    try:
        name, found = pwd.getpwuid(os.geteuid()).pw_name, grp.getgrgid(group)
    except KeyError:
        return False
    return found.gr_name == name and set(found.gr_mem) <= {name}
