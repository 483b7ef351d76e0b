"""The module `ttnn.database`: the file names of a report's folder (`report_database.py` writes the files)."""

from __future__ import annotations

from ttnn_jit.ttnn.namespace.names_on_demand import submodule_getattr
from ttnn_jit.ttnn.observing.report_database import DATABASE as SQLITE_DB_PATH
from ttnn_jit.ttnn.observing.report_database import SETTINGS as CONFIG_PATH

__all__ = ["CONFIG_PATH", "DEVICE_IDS_IN_DATABASE", "SQLITE_CONNECTION", "SQLITE_DB_PATH"]

SQLITE_CONNECTION = None
"""A connection that test suites close; None, since each report opens and closes its own."""
DEVICE_IDS_IN_DATABASE: set[int] = set()
"""A set that test suites clear; empty, since each report tracks its own devices."""

__getattr__ = submodule_getattr("database", __all__)
