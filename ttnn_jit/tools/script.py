"""``python -m ttnn_jit``: runs a script or module as Python does; `ttnn_jit.ttnn` replaces a missing ttnn."""

from __future__ import annotations

import builtins
import importlib.util
import io
import runpy
import sys
import types
import zipfile
from collections.abc import Sequence
from importlib.machinery import SourceFileLoader
from pathlib import Path

from ttnn_jit import __version__
from ttnn_jit.runtime.ranks.rank_environment import is_launched
from ttnn_jit.ttnn.namespace.stand_in import register_as_ttnn

USAGE = """usage: python -m ttnn_jit SCRIPT [ARGUMENTS...]
       python -m ttnn_jit -m MODULE [ARGUMENTS...]
       python -m ttnn_jit --version

Runs SCRIPT or MODULE as Python does. `import ttnn` finds ttnn_jit's namespace where no real ttnn is installed."""


TTNN_DEPENDENCIES = frozenset({"click", "graphviz", "loguru", "networkx", "pandas", "seaborn", "yaml"})
"""Dependencies of ttnn's wheel, which programs may therefore import; `ttnn_jit[ttnn]` installs them."""


def main(arguments: Sequence[str]) -> int:
    """Runs the script or module of the arguments; returns 2 without one. Its exceptions and exits propagate."""
    match list(arguments):
        case ["-h" | "--help", *_]:
            print(USAGE)
        case ["-V" | "--version", *_]:
            print(f"ttnn_jit {__version__}")
        case ["-m", module, *rest]:
            return _run_module(module, rest)
        case [script, *rest] if not script.startswith("-"):
            return _run_script(script, rest)
        case _:
            print(USAGE, file=sys.stderr)
            return 2
    return 0


def _run_script(script: str, arguments: Sequence[str]) -> int:
    sys.argv = [script, *arguments]
    _prepare()
    file = str(Path(script).absolute())
    if not Path(file).exists():
        print(f"{sys.executable}: can't open file {file!r}: [Errno 2] No such file or directory", file=sys.stderr)
        return 2
    if Path(file).is_dir() or zipfile.is_zipfile(file):
        runpy.run_path(file, run_name="__main__")
        return 0
    if not sys.flags.safe_path:
        sys.path[0] = str(Path(file).resolve().parent)
    with io.open_code(file) as opened:
        source = opened.read()
    code = compile(source, file, "exec", dont_inherit=True)
    module = types.ModuleType("__main__")
    vars(module).update(
        __file__=file, __loader__=SourceFileLoader("__main__", file), __builtins__=builtins, __cached__=None
    )
    sys.modules["__main__"] = module
    exec(code, vars(module))
    return 0


def _run_module(name: str, arguments: Sequence[str]) -> int:
    sys.argv = ["-m", *arguments]
    _prepare()
    try:
        found = importlib.util.find_spec(name)
    except ModuleNotFoundError:
        found = None
    if found is None:
        print(f"{sys.executable}: No module named {name}", file=sys.stderr)
        return 1
    runpy.run_module(name, run_name="__main__", alter_sys=True)
    return 0


def _prepare() -> None:
    register_as_ttnn()
    if is_launched():
        from ttnn_jit.runtime.ranks.world import end_when_launcher_does

        end_when_launcher_does()
    shown = sys.excepthook

    def without_our_frames(
        kind: type[BaseException], error: BaseException, traceback: types.TracebackType | None
    ) -> None:
        while traceback is not None and _is_machinery(traceback.tb_frame):
            traceback = traceback.tb_next
        shown(kind, error.with_traceback(traceback), traceback)
        if isinstance(error, ModuleNotFoundError) and error.name in TTNN_DEPENDENCIES:
            print(f"help: ttnn's own wheel brings {error.name!r}: `pip install 'ttnn_jit[ttnn]'`", file=sys.stderr)

    sys.excepthook = without_our_frames


def _is_machinery(frame: types.FrameType) -> bool:
    spec = frame.f_globals.get("__spec__")
    return frame.f_globals.get("__name__") in {"runpy", __name__} or getattr(spec, "name", "") == "ttnn_jit.__main__"
