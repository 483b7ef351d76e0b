"""The module `ttnn._ttnn`, ttnn's native extension, with the modules that `mirrored_modules.py` lists."""

from __future__ import annotations

from typing import Any

from ttnn_jit.ttnn.namespace.mirrored_modules import MIRRORED, mirrored

__path__: list[str] = []


def __getattr__(name: str) -> Any:
    if f"_ttnn.{name}" not in MIRRORED:
        raise AttributeError(f"module 'ttnn._ttnn' has no attribute {name!r}", name=name)
    return mirrored(f"_ttnn.{name}")
