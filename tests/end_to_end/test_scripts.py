"""``python -m ttnn_jit``: scripts that say `import ttnn` run as Python runs them."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.process

SCRIPT = """
    import multiprocessing
    import sys

    import ttnn
    import ttnn.device
    from ttnn import exp
    from ttnn.device import is_blackhole

    def name_in_child(_):
        return ttnn.__name__

    if __name__ == "__main__":
        print(ttnn.__name__, exp.__name__, ttnn.device.is_blackhole is is_blackhole, is_blackhole())
        print(sys.argv, sys.path[0], __file__, __spec__ if "__spec__" in globals() else None)
        for method in multiprocessing.get_all_start_methods():
            with multiprocessing.get_context(method).Pool(1) as pool:
                print(method, pool.map(name_in_child, [0]))
"""


def python(folder, *arguments, **environment):
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
    )


def written(folder, text, name="script.py"):
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(textwrap.dedent(text))
    return path


def test_a_script_and_its_children_import_our_namespace_as_ttnn(tmp_path):
    written(tmp_path, SCRIPT)
    done = python(tmp_path, "-m", "ttnn_jit", "script.py", "a", "--b")
    first, second, *children = done.stdout.splitlines()
    assert first == "ttnn_jit.ttnn ttnn.exp True False", done.stderr
    assert second == f"['script.py', 'a', '--b'] {tmp_path} {tmp_path}/script.py None"
    assert {line.split()[1] for line in children} == {"['ttnn_jit.ttnn']"}
    assert "spawn" in {line.split()[0] for line in children}
    assert done.returncode == 0


def test_a_module_runs_as_python_runs_it(tmp_path):
    written(tmp_path, "import sys, ttnn; print(ttnn.__name__, sys.argv, __name__, __spec__.name)", "models/cosh.py")
    done = python(tmp_path, "-m", "ttnn_jit", "-m", "models.cosh", "x")
    assert done.stdout == f"ttnn_jit.ttnn ['{tmp_path}/models/cosh.py', 'x'] __main__ models.cosh\n", done.stderr


def test_tracebacks_and_exit_codes_are_those_of_python(tmp_path):
    for text in ("def f():\n    raise KeyError('x')\nf()\n", "import sys\nsys.exit(3)\n", "print(1\n", "exit('no')\n"):
        written(tmp_path, text)
        ours = python(tmp_path, "-m", "ttnn_jit", "script.py")
        plain = python(tmp_path, "script.py")
        assert (ours.returncode, ours.stdout, ours.stderr) == (plain.returncode, plain.stdout, plain.stderr)


def test_a_real_ttnn_is_left_alone_and_an_empty_folder_of_that_name_is_not_one(tmp_path):
    written(tmp_path, "import ttnn\nprint(ttnn.__name__, hasattr(ttnn, 'exp'))\n")
    (tmp_path / "ttnn").mkdir()
    assert python(tmp_path, "-m", "ttnn_jit", "script.py").stdout == "ttnn_jit.ttnn True\n"
    written(tmp_path, "", "ttnn/__init__.py")
    assert python(tmp_path, "-m", "ttnn_jit", "script.py").stdout == "ttnn False\n"


@pytest.mark.parametrize(
    ("arguments", "status", "text"),
    [([], 2, "usage:"), (["-x"], 2, "usage:"), (["no.py"], 2, "can't open file"), (["-m", "no"], 1, "No module named")],
)
def test_what_cannot_be_run_is_said(tmp_path, arguments, status, text):
    done = python(tmp_path, "-m", "ttnn_jit", *arguments)
    assert done.returncode == status
    assert text in done.stderr
