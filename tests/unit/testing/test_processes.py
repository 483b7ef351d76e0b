"""A forked process is like one that Python starts: tests/processes.py."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.processes import run_python

pytestmark = pytest.mark.process

SHOWN = """
import os, sys
import beside
print(__name__, sys.argv, sys.path[:3], os.getcwd(), os.environ["OWN"], "VARIABLE" in os.environ, beside.__name__)
print([name for name in ("ttnn_jit", "numba", "xdsl", "llvmlite", "tests", "pytest") if name in sys.modules])
print(sys.modules["__main__"].__dict__ is globals(), __file__ if "__file__" in globals() else None)
"""


@pytest.mark.parametrize("arguments", [["-c", SHOWN, "1", "-x"], ["-m", "shown", "1"], ["shown.py", "-c", "2"]])
def test_a_program_sees_the_same_in_a_forked_process(tmp_path, arguments, monkeypatch):
    monkeypatch.setenv("VARIABLE", "of the test")
    (tmp_path / "shown.py").write_text(SHOWN)
    (tmp_path / "beside.py").touch()
    environment = {"OWN": "its own", "PYTHONPATH": os.pathsep.join(["/a", "/b"])}
    started = subprocess.run(
        [sys.executable, *arguments], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    forked = run_python(*arguments, cwd=tmp_path, env=environment)
    assert (forked.stdout, forked.stderr, forked.returncode) == (started.stdout, "", 0)


@pytest.mark.parametrize(
    ("text", "status", "message"),
    [
        ("import sys; sys.exit(3)", 3, ""),
        ("import sys; sys.exit('message')", 1, "message\n"),
        ("import sys; sys.exit()", 0, ""),
        ("import threading, time; threading.Thread(target=lambda: (time.sleep(0.05), 1 / 0)).start()", 0, "zero\n"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", -9, ""),
        ("raise LookupError('nothing')", 1, "LookupError: nothing\n"),
        ("import atexit, sys; atexit.register(print, 'end', file=sys.stderr)", 0, "end\n"),
    ],
)
def test_a_forked_process_ends_with_its_own_status_and_its_exit_functions(text, status, message):
    done = run_python("-c", text)
    assert done.returncode == status
    assert done.stderr.endswith(message)


def test_warnings_are_errors_in_the_forked_process_that_asks_for_it():
    text = "import warnings; warnings.warn('this')"
    assert run_python("-W", "error", "-c", text).returncode == 1
    assert run_python("-c", text).returncode == 0
