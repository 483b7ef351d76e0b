"""The package `ttnn.operations`: its modules can be imported, as in `import ttnn.operations.moreh`."""

from __future__ import annotations

from typing import Any

from ttnn_jit.ttnn.functions import moreh
from ttnn_jit.ttnn.namespace.mirrored_modules import MIRRORED, mirrored
from ttnn_jit.ttnn.namespace.names_on_demand import unknown_name

__all__ = ["moreh"]
__path__: list[str] = []


def __getattr__(name: str) -> Any:
    if f"operations.{name}" not in MIRRORED:
        raise unknown_name(name, __all__, "operations")
    return mirrored(f"operations.{name}")
