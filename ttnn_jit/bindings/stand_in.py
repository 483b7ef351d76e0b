"""`import ttmlir` and `import _ttmlir_runtime` import this package where no real ones are installed."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

from ttnn_jit.bindings.dialects import NAMES, dialect_module

_HOMES = {
    "ttmlir.ir": "ttnn_jit.bindings.ir",
    "ttmlir.passes": "ttnn_jit.bindings.passes",
    "ttmlir.passmanager": "ttnn_jit.bindings.passmanager",
    "ttmlir.util": "ttnn_jit.bindings.util",
    "_ttmlir_runtime": "ttnn_jit.bindings.runtime",
    "_ttmlir_runtime.runtime": "ttnn_jit.bindings.runtime.runtime",
    "_ttmlir_runtime.binary": "ttnn_jit.bindings.runtime.binary",
}
_PACKAGES = {"ttmlir", "ttmlir.dialects"}


class BindingsFinder(MetaPathFinder):
    """Finds the names of `_HOMES` and the dialects, unless a real package can be found."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of a module of bindings; None for others, or beside real ones."""
        top = fullname.partition(".")[0]
        if top not in {"ttmlir", "_ttmlir_runtime"} or PathFinder.find_spec(top) is not None:
            return None
        if fullname in _PACKAGES:
            return ModuleSpec(fullname, None, is_package=True)
        if fullname in _HOMES:
            return ModuleSpec(fullname, _Loader(lambda: importlib.import_module(_HOMES[fullname])))
        dialect = fullname.removeprefix("ttmlir.dialects.")
        if dialect in NAMES:
            return ModuleSpec(fullname, _Loader(lambda: dialect_module(dialect, fullname)), is_package=True)
        return None


class _Loader(Loader):
    """Registers a module that is there under the imported name."""

    def __init__(self, load: Callable[[], ModuleType]) -> None:
        self._load = load

    def exec_module(self, module: ModuleType) -> None:
        """Replaces the module that is being imported."""
        sys.modules[module.__name__] = self._load()


def register_bindings() -> None:
    """Makes the names importable."""
    if not any(isinstance(finder, BindingsFinder) for finder in sys.meta_path):
        sys.meta_path.append(BindingsFinder())
