"""The module `ttnn.database`: the names of what a report's folder has (`report_database.py` writes it)."""

from __future__ import annotations

from ttnn_jit.ttnn.namespace.names_on_demand import names_of
from ttnn_jit.ttnn.observing.report_database import DATABASE as SQLITE_DB_PATH
from ttnn_jit.ttnn.observing.report_database import SETTINGS as CONFIG_PATH

__all__ = ["CONFIG_PATH", "DEVICE_IDS_IN_DATABASE", "SQLITE_CONNECTION", "SQLITE_DB_PATH"]

SQLITE_CONNECTION = None
"""The connection that test suites close: each report has its own, and closes it."""
DEVICE_IDS_IN_DATABASE: set[int] = set()
"""The devices that test suites forget: each report knows its own."""

__getattr__ = names_of("database", __all__)
