"""Trees of binaries as JSON, in the form that `flatc --json --defaults-json` prints."""

from __future__ import annotations

import json
from typing import Any


def json_text(tree: Any) -> str:
    """The JSON of a tree; bytes are lists of numbers."""
    return json.dumps(tree, default=_listed)


def _listed(value: Any) -> list[int]:
    if isinstance(value, bytes):
        return [*value]
    raise TypeError(f"{value!r} is no part of a tree")
