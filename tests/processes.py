"""Processes that are forked from one that has imported torch, which takes a second of CPU time.

`run_python` stands for `subprocess.run([sys.executable, ...])` where a test needs another process of this package, and
not the start or the end of an interpreter. Nothing but torch, and what it imports, is imported in the process that
forks. Flags of the interpreter other than `-W`, and variables that it reads at its start, have no effect.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import runpy
import signal
import subprocess
import sys
import threading
import traceback
import types
import warnings
from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory

TIMEOUT_SECONDS = 300


def run_python(
    *arguments: object, cwd: Path | None = None, env: Mapping[str, str] | None = None, check: bool = False
) -> subprocess.CompletedProcess[str]:
    """The completed process of `python` with these arguments: a script, `-c` or `-m`, all perhaps after `-W`."""
    with TemporaryDirectory() as folder:
        stdout, stderr = Path(folder, "stdout"), Path(folder, "stderr")
        request = {
            "arguments": [*map(str, arguments)],
            "cwd": str(cwd or Path.cwd()),
            "environment": {**(os.environ if env is None else env)},
            "outputs": [str(stdout), str(stderr)],
        }
        parent = _forking_process()
        assert parent.stdin is not None
        assert parent.stdout is not None
        parent.stdin.write(json.dumps(request) + "\n")
        parent.stdin.flush()
        status = json.loads(parent.stdout.readline())
        done = subprocess.CompletedProcess(request["arguments"], status, stdout.read_text(), stderr.read_text())
    if check:
        assert status == 0, done.stderr
    return done


@cache
def _forking_process() -> subprocess.Popen[str]:
    process = subprocess.Popen([sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    atexit.register(process.communicate)  # it ends with its input
    return process


def main() -> None:
    """Forks a process for each line of the input."""
    import torch  # noqa: F401

    gc.freeze()  # collections would copy the pages that the processes share
    del sys.path[0]  # the folder of this file
    own_path = [each for each in sys.path if each not in os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            _end(_status_of(partial(_run, own_path, **json.loads(line))))
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


def _status_of(program: Callable[[], None]) -> int:
    """The exit status of a program, whose error is printed."""
    try:
        program()
    except SystemExit as error:
        if isinstance(error.code, str):
            sys.stderr.write(error.code + "\n")
        return error.code if isinstance(error.code, int) else int(error.code is not None)
    except BaseException:  # noqa: BLE001 - as the interpreter does
        traceback.print_exc()
        return 1
    return 0


def _end(status: int) -> None:
    """Ends the process as Python does, but destroys no object: those of torch take half a second."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def _run(
    own_path: list[str], arguments: list[str], cwd: str, environment: Mapping[str, str], outputs: list[str]
) -> None:
    signal.alarm(TIMEOUT_SECONDS)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for descriptor, path in enumerate(outputs, start=1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), descriptor)
    sys.path[:] = [*filter(None, environment.get("PYTHONPATH", "").split(os.pathsep)), *own_path]
    if arguments[0] == "-W":
        warnings.simplefilter(arguments[1])  # type: ignore[arg-type]
        del arguments[:2]
    match arguments:
        case "-m", name, *given:
            sys.argv[:] = name, *given
            sys.path.insert(0, cwd)
            runpy.run_module(name, run_name="__main__", alter_sys=True)
        case "-c", text, *given:
            sys.argv[:] = "-c", *given
            sys.path.insert(0, "")
            _run_main(text, "<string>")
        case script, *given:
            path = Path(cwd, script)
            sys.argv[:] = script, *given
            sys.path.insert(0, str(path.resolve().parent))
            _run_main(path.read_text(encoding="utf-8"), str(path), __file__=str(path))


def _run_main(text: str, file: str, **variables: str) -> None:
    module = sys.modules["__main__"] = types.ModuleType("__main__")
    vars(module).update(variables)
    exec(compile(text, file, "exec", dont_inherit=True), vars(module))


if __name__ == "__main__":
    main()
