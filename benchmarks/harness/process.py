"""Calls of functions in other Python processes, which isolate the memory and threads of contenders.

``python -m benchmarks.harness.process`` is the server: it reads calls as lines of JSON and answers each with one line.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
SECONDS_FOR_A_CALL = 300


class ProcessFailedError(RuntimeError):
    """The other process ended without an answer; the message ends with its output."""


class Process:
    """A Python process that serves calls and keeps the state of its modules between them; a context manager.

    Args:
        variables: Environment variables in addition to those of this process.
        folder: Its working folder, from which it imports first.
    """

    def __init__(self, variables: Mapping[str, str], folder: Path = ROOT) -> None:
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 - lives as long as the process
        self._popen = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.harness.process"],
            cwd=folder,
            env=os.environ | variables,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
        )

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """The result of a module's function on JSON values, as a JSON value.

        Raises:
            ProcessFailedError: It raised, or took longer than `SECONDS_FOR_A_CALL`.
        """
        request = {"module": _module_of(function), "function": function.__name__, "arguments": arguments}
        watchdog = threading.Timer(SECONDS_FOR_A_CALL, self._popen.kill)
        watchdog.start()
        try:
            assert self._popen.stdin is not None
            assert self._popen.stdout is not None
            self._popen.stdin.write(json.dumps(request) + "\n")
            self._popen.stdin.flush()
            line = self._popen.stdout.readline()
        except BrokenPipeError:
            line = ""
        finally:
            watchdog.cancel()
        if not line:
            raise ProcessFailedError(f"{function.__name__}{arguments}: {self._last_words()}")
        return json.loads(line)

    def _last_words(self) -> str:
        self._popen.wait()
        self._errors.seek(0)
        return f"exit status {self._popen.returncode}\n" + "".join(self._errors.readlines()[-20:])

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_: object) -> None:
        self._popen.kill()
        self._popen.wait()
        for stream in (self._popen.stdin, self._popen.stdout, self._errors):
            if stream is not None:
                stream.close()


def run_python(text: str, variables: Mapping[str, str], folder: Path) -> str:
    """The output of a Python program that runs in a folder, from which it imports first.

    Raises:
        ProcessFailedError: It failed.
    """
    command = [sys.executable, "-c", text]
    done = subprocess.run(command, cwd=folder, env=os.environ | variables, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ProcessFailedError(f"{text}: exit status {done.returncode}\n{done.stderr[-2000:]}")
    return done.stdout


def _module_of(function: Callable[..., Any]) -> str:
    module = sys.modules[function.__module__]
    spec = module.__spec__  # also the name of a module that runs as __main__
    return spec.name if spec is not None else function.__module__


def serve() -> None:
    """Serves calls until the input ends."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # keeps the output of compilers out of the answers
    for line in sys.stdin:
        request = json.loads(line)
        function = getattr(importlib.import_module(request["module"]), request["function"])
        print(json.dumps(function(*request["arguments"])), file=answers, flush=True)


if __name__ == "__main__":
    if sys.argv[1:]:
        raise SystemExit(f"{__doc__}\nIt is started by other benchmarks and takes no arguments.")
    serve()
