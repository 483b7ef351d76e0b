"""The log of a command: to stderr, and to a file."""

from __future__ import annotations

import itertools
import logging
import os
import sys
import weakref
from contextlib import nullcontext, suppress

from ttnn_jit.specs.options import log_level

_FORMAT = logging.Formatter("%(asctime)s - %(levelname)s - %(message)s")
_numbers = itertools.count()


def chosen_level() -> int:
    """The level of logs: ``TTRT_LOGGER_LEVEL``, else ``LOGGER_LEVEL``, else INFO; in upper or lower case."""
    chosen = os.environ.get("TTRT_LOGGER_LEVEL")
    if chosen:
        return log_level("TTRT_LOGGER_LEVEL", chosen)
    older = os.environ.get("LOGGER_LEVEL")
    return log_level("LOGGER_LEVEL", older) if older else logging.INFO


def _close(log: logging.Logger) -> None:
    for handler in [*log.handlers]:
        log.removeHandler(handler)
        handler.close()


class _LogFile(logging.FileHandler):
    """The file of a log, which goes on without it once it cannot be written: a full disk costs no results."""

    def __init__(self, file_name: str, log: logging.Logger) -> None:
        super().__init__(file_name, mode="w", encoding="utf-8", errors="backslashreplace")
        self._file_name, self._log = file_name, log
        self.failure: OSError | None = None

    def emit(self, record: logging.LogRecord) -> None:
        """Writes a line, unless an earlier one failed."""
        if self.failure is None:
            super().emit(record)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging's name
        """Says once, in the log itself, why the file is not written."""
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            super().handleError(record)
            return
        self.failure = error
        self._log.error("%s: %s; it has no further lines", self._file_name, error.strerror)

    def close(self) -> None:
        """Closes the file; lines that it could not take are gone."""
        with suppress(OSError) if self.failure else nullcontext():
            super().close()


class Logger:
    """A log of its own: two of them may write into two files.

    Args:
        file_name: A file that gets all lines and loses what it held; stderr then only gets warnings and errors. Empty:
            stderr gets all lines.

    Raises:
        OSError: The file cannot be written.
    """

    def __init__(self, file_name: str = "") -> None:
        self.file_name = file_name
        self._log = logging.Logger(f"ttrt.{next(_numbers)}", chosen_level())
        self._file: _LogFile | None = None
        shown = logging.StreamHandler(sys.stderr)
        if file_name:
            shown.setLevel(logging.WARNING)
            # Opened now, so that a path that cannot be written is refused before anything runs.
            self._file = _LogFile(file_name, self._log)
            self._add(self._file)
        self._add(shown)
        self._finalizer = weakref.finalize(self, _close, self._log)

    @property
    def is_complete(self) -> bool:
        """Whether the file took all lines."""
        return self._file is None or self._file.failure is None

    def close(self) -> None:
        """Closes the file; nothing is logged afterwards."""
        self._finalizer()

    def _add(self, handler: logging.Handler) -> None:
        handler.setFormatter(_FORMAT)
        self._log.addHandler(handler)

    def get_logger(self) -> logging.Logger:
        """The log."""
        return self._log
