"""``MLIRModuleLogger``: the texts of modules after passes."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

from ttnn_jit.ttmlir.mlir_contexts import Context

_ATTACHED: weakref.WeakSet[MLIRModuleLogger] = weakref.WeakSet()


class MLIRModuleLogger:
    """Keeps the text of a module after each pass, from `attach_context` on.

    Attributes:
        module_log: Names of passes and the texts after them.
    """

    def __init__(self) -> None:
        self.module_log: list[tuple[str, str]] = []
        self._names: frozenset[str] = frozenset()

    def attach_context(self, ctx: Context, passnames_to_cache: Sequence[str] = ()) -> None:  # noqa: ARG002 - there is one
        """Keep texts from now on: after passes of these names, or after all if none is named."""
        self._names = frozenset(passnames_to_cache)
        _ATTACHED.add(self)

    def keep(self, name: str, module: Any) -> None:
        """Keep the text of a module after a pass."""
        if not self._names or name in self._names:
            self.module_log.append((name, str(module)))


def log_module(name: str, module: Any) -> None:
    """Give the module after a pass to those who keep its text."""
    for logger in tuple(_ATTACHED):
        logger.keep(name, module)
