"""Imports of Python programs that a compiler wrote; `emitpy/emitted_functions.py` finds and calls their functions."""

from __future__ import annotations

import importlib.util
import itertools
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

_numbers = itertools.count()


@contextmanager
def imported(path: str) -> Iterator[ModuleType]:
    """A block in which a program is imported; modules beside it, and `utils`, are found and forgotten afterwards.

    No bytecode is written: it would stand for a program that is changed within the same second.
    """
    from ttnn_jit.tools.ttrt.runs import emitted_utils
    from ttnn_jit.ttnn.namespace.stand_in import register_as_ttnn

    register_as_ttnn()
    folder = str(Path(path).resolve().parent)
    name = f"ttrt_emitted_{next(_numbers)}"
    before, own = set(sys.modules), sys.modules.pop("utils", None)
    is_without_bytecode, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    sys.path.insert(0, folder)
    if not (Path(folder) / "utils.py").exists():
        sys.modules["utils"] = emitted_utils
    try:
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None, path
        assert spec.loader is not None, path
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        yield module
    finally:
        sys.dont_write_bytecode = is_without_bytecode
        emitted_utils.DeviceGetter.close()
        sys.path.remove(folder)
        for each in set(sys.modules) - before:
            file = getattr(sys.modules[each], "__file__", None)
            if each in {name, "utils"} or (file and str(Path(file).parent) == folder):
                del sys.modules[each]
        sys.modules.pop("utils", None)
        if own is not None:
            sys.modules["utils"] = own
