"""`import ttnn` imports `ttnn_jit.ttnn` where the real ttnn is not installed.

A finder on ``sys.meta_path`` finds `ttnn` only if no other finder does. Child processes of multiprocessing install the
finder when they unpickle the parent's preparation data. Other Python processes that inherit the environment import
`on_pythonpath/ttnn.py`, which installs the finder.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

from ttnn_jit.ttnn.namespace.mirrored_modules import MIRRORED, mirrored

NAME = "ttnn"
HOME = "ttnn_jit.ttnn"
TEST_HELPERS = "ttnn_jit._src"
"""An internal package of ttnn.jit that tests written for it import from; only the finder provides it."""
HELPER_MODULES = {f"{TEST_HELPERS}.utils": "ttnn_jit.specs.cores.sharding"}
ON_PYTHONPATH = str(Path(__file__).parents[1] / "on_pythonpath")


class TtnnFinder(MetaPathFinder):
    """Finds `ttnn` and its submodules in `ttnn_jit.ttnn`, unless a real ttnn can be found; and `HELPER_MODULES`."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of the module for a name in `ttnn` or `HELPER_MODULES`; None for others, or beside a real ttnn."""
        if fullname == TEST_HELPERS:
            return ModuleSpec(fullname, None, is_package=True)  # only its submodules have contents
        if fullname in HELPER_MODULES:
            return ModuleSpec(fullname, _AliasLoader(HELPER_MODULES[fullname]))
        if fullname.startswith(f"{HOME}."):
            _raise_for_absent(fullname, path)
            return _mirrored_spec(fullname, fullname.removeprefix(f"{HOME}."))
        package, _, submodule = fullname.partition(".")
        if package != NAME:
            return None
        if submodule in MIRRORED and sys.modules.get(NAME) is sys.modules.get(HOME, self):
            return _mirrored_spec(fullname, submodule)
        if submodule:
            # The package's own path would load a second copy of its modules under the other name.
            ours = sys.modules.get(NAME) is sys.modules.get(HOME, self)
            found = ours and PathFinder.find_spec(f"{HOME}.{submodule}", path) is not None
        else:
            found = not self._is_installed(path, target)
        return ModuleSpec(fullname, _AliasLoader(HOME + fullname.removeprefix(NAME))) if found else None

    def _is_installed(self, path: Sequence[str] | None, target: ModuleType | None) -> bool:
        for finder in sys.meta_path:
            find_spec = None if isinstance(finder, TtnnFinder) else getattr(finder, "find_spec", None)
            spec = find_spec(NAME, path, target) if find_spec else None
            origin = None if spec is None else spec.origin  # a namespace package, a plain folder, has no origin
            if origin is not None and Path(origin).parent != Path(ON_PYTHONPATH):
                return True
        return False


def _mirrored_spec(fullname: str, module: str) -> ModuleSpec | None:
    """The spec of a mirrored module, which has no file."""
    return ModuleSpec(fullname, _AliasLoader(module, mirrored), is_package=True) if module in MIRRORED else None


def _raise_for_absent(fullname: str, path: Sequence[str] | None) -> None:
    """Raise for ``from ttnn import view``, which looks for a submodule if there is no attribute, with the reason."""
    from ttnn_jit.ops.public_names import why_absent

    name = fullname.removeprefix(f"{HOME}.")
    reason = None if name in MIRRORED or PathFinder.find_spec(fullname, path) else why_absent(name)
    if reason:
        raise ImportError(f"cannot import name {name!r} from {NAME!r}: {reason}", name=NAME)


class _AliasLoader(Loader):
    """Registers the module that `load` returns for `home` in ``sys.modules`` under the imported name."""

    def __init__(self, home: str, load: Callable[[str], ModuleType] = importlib.import_module) -> None:
        self._home = home
        self._load = load

    def exec_module(self, module: ModuleType) -> None:
        sys.modules[module.__name__] = self._load(self._home)


class _InstallWhenUnpickled:
    """An object that installs the finder in the process that unpickles it."""

    def __reduce__(self) -> tuple[Callable[[], None], tuple[()]]:
        return register_as_ttnn, ()


def register_as_ttnn() -> None:
    """See `ttnn_jit.register_as_ttnn`; ``python -m ttnn_jit script.py`` calls it before the script."""
    _put_on_path()
    if any(isinstance(finder, TtnnFinder) for finder in sys.meta_path):
        return
    sys.meta_path.insert(0, TtnnFinder())
    _install_in_spawned_processes()


def _put_on_path() -> None:
    own = os.environ.get("PYTHONPATH")
    entries = own.split(os.pathsep) if own else []  # an empty variable has no entries; an empty entry is the cwd
    if ON_PYTHONPATH not in entries:
        os.environ["PYTHONPATH"] = os.pathsep.join([*entries, ON_PYTHONPATH])
    # Last, behind a real ttnn: pytest-xdist gives its workers the path of this process.
    sys.path[:] = [*(entry for entry in sys.path if entry != ON_PYTHONPATH), ON_PYTHONPATH]


def _install_in_spawned_processes() -> None:
    from multiprocessing import spawn

    prepare: Callable[..., dict[str, Any]] = spawn.get_preparation_data

    def get_preparation_data(*args: Any, **kwargs: Any) -> dict[str, Any]:
        # A child reads this dictionary before it imports the parent's main module.
        return {**prepare(*args, **kwargs), "ttnn_jit": _InstallWhenUnpickled()}

    spawn.get_preparation_data = get_preparation_data
