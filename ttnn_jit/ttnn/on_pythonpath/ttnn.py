"""The `ttnn` that Python processes find which inherit PYTHONPATH from a process that called `register_as_ttnn`.

It replaces itself by a real ttnn, if one is installed, and by `ttnn_jit.ttnn` otherwise.
"""

import importlib.util
import os
import sys

_path = sys.path[:]
_here = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - as the interpreter spells its path
sys.path[:] = [entry for entry in _path if os.path.abspath(entry) != _here]  # noqa: PTH100
del sys.modules["ttnn"]
try:
    _real = importlib.util.find_spec("ttnn")
    if _real is None or _real.origin is None:  # a namespace package, a plain folder, has no origin
        if importlib.util.find_spec("ttnn_jit") is None or sys.version_info < (3, 11):
            raise ModuleNotFoundError(
                f"No module named 'ttnn': {sys.executable} has neither ttnn nor a ttnn_jit for its version, which "
                "stands in for it in the process that started this one; install one there (Python 3.11 or newer has "
                f"ttnn_jit), or take {_here} off PYTHONPATH",
                name="ttnn",
            )
        from ttnn_jit.ttnn.namespace.stand_in import register_as_ttnn

        register_as_ttnn()
    importlib.import_module("ttnn")
except BaseException:
    sys.path[:] = _path
    raise
