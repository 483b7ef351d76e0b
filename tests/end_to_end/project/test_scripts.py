"""``python -m ttnn_jit``: scripts that say `import ttnn` run as under plain Python."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import venv
from multiprocessing import spawn
from pathlib import Path

import pytest

import ttnn_jit
from tests.processes import run_python
from ttnn_jit.ttnn.namespace.stand_in import ON_PYTHONPATH

ROOT = Path(__file__).parents[3]
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


def write_files(folder, text, name="script.py"):
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(textwrap.dedent(text))
    return path


def test_a_script_and_its_children_import_our_namespace_as_ttnn(tmp_path):
    write_files(tmp_path, SCRIPT)
    done = python(tmp_path, "-m", "ttnn_jit", "script.py", "a", "--b")
    first, second, *children = done.stdout.splitlines()
    assert first == "ttnn_jit.ttnn ttnn.exp True False", done.stderr
    assert second == f"['script.py', 'a', '--b'] {tmp_path} {tmp_path}/script.py None"
    assert {line.split()[1] for line in children} == {"['ttnn_jit.ttnn']"}
    assert "spawn" in {line.split()[0] for line in children}
    assert done.returncode == 0


def test_a_module_runs_as_python_runs_it(tmp_path):
    write_files(tmp_path, "import sys, ttnn; print(ttnn.__name__, sys.argv, __name__, __spec__.name)", "models/cosh.py")
    done = python(tmp_path, "-m", "ttnn_jit", "-m", "models.cosh", "x")
    assert done.stdout == f"ttnn_jit.ttnn ['{tmp_path}/models/cosh.py', 'x'] __main__ models.cosh\n", done.stderr


def test_tracebacks_and_exit_codes_are_those_of_python(tmp_path):
    for text in ("def f():\n    raise KeyError('x')\nf()\n", "import sys\nsys.exit(3)\n", "print(1\n", "exit('no')\n"):
        write_files(tmp_path, text)
        ours = python(tmp_path, "-m", "ttnn_jit", "script.py")
        plain = python(tmp_path, "script.py")
        assert (ours.returncode, ours.stdout, ours.stderr) == (plain.returncode, plain.stdout, plain.stderr)


def test_a_real_ttnn_is_left_alone_and_an_empty_folder_of_that_name_is_not_one(tmp_path):
    write_files(tmp_path, "import ttnn\nprint(ttnn.__name__, hasattr(ttnn, 'exp'))\n")
    (tmp_path / "ttnn").mkdir()
    assert python(tmp_path, "-m", "ttnn_jit", "script.py").stdout == "ttnn_jit.ttnn True\n"
    write_files(tmp_path, "", "ttnn/__init__.py")
    assert python(tmp_path, "-m", "ttnn_jit", "script.py").stdout == "ttnn False\n"


@pytest.mark.parametrize("option", ["--version", "-V"])
def test_the_version_option_prints_the_version(tmp_path, option):
    assert python(tmp_path, "-m", "ttnn_jit", option).stdout == f"ttnn_jit {ttnn_jit.__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "status", "text"),
    [([], 2, "usage:"), (["-x"], 2, "usage:"), (["no.py"], 2, "can't open file"), (["-m", "no"], 1, "No module named")],
)
def test_a_script_that_cannot_be_run_is_reported(tmp_path, arguments, status, text):
    done = python(tmp_path, "-m", "ttnn_jit", *arguments)
    assert done.returncode == status
    assert text in done.stderr


STARTS_CHILDREN = """
    import subprocess
    import sys

    sys.exit(subprocess.run([sys.executable, "-c", sys.argv[1]]).returncode)
"""


@pytest.mark.parametrize(
    ("program", "output"),
    [
        ("import ttnn; print(ttnn.__name__)", "ttnn_jit.ttnn"),
        ("from ttnn import exp, float32; print(exp.__name__, float32)", "ttnn.exp DataType.FLOAT32"),
        ("import ttnn.device; print(ttnn.device.__name__)", "ttnn_jit.ttnn.device"),
        ("from ttnn.device import is_blackhole; print(is_blackhole())", "False"),
        ("import ttnn_jit.ttnn, sys, ttnn; print(ttnn is ttnn_jit.ttnn is sys.modules['ttnn'])", "True"),
        ("import importlib.util as u; print(u.find_spec('ttnn') is not None)", "True"),
        (
            "import subprocess, sys;"
            "print(subprocess.check_output([sys.executable, '-c', 'import ttnn; print(ttnn.__name__)'], text=True))",
            "ttnn_jit.ttnn\n",
        ),
    ],
)
def test_python_processes_that_a_script_starts_import_our_namespace_as_ttnn(tmp_path, program, output):
    write_files(tmp_path, STARTS_CHILDREN)
    done = python(tmp_path, "-m", "ttnn_jit", "script.py", program)
    assert (done.stdout, done.returncode) == (f"{output}\n", 0), done.stderr


def test_children_of_children_that_multiprocessing_spawns_import_our_namespace_too(tmp_path):
    write_files(tmp_path, SCRIPT, "pool.py")
    program = "import runpy, sys; sys.argv[:] = ['pool.py']; runpy.run_path('pool.py', run_name='__main__')"
    write_files(tmp_path, STARTS_CHILDREN)
    done = python(tmp_path, "-m", "ttnn_jit", "script.py", program)
    assert done.stdout.count("ttnn_jit.ttnn") == 1 + 3, done.stderr


REAL = "import sys; sys.path.append('installed'); "
FOUND_BY_A_FINDER = """
import importlib.util, sys
class Editable:
    def find_spec(name, path=None, target=None):
        return importlib.util.spec_from_file_location(name, 'installed/ttnn/__init__.py') if name == 'ttnn' else None
sys.meta_path.append(Editable)
"""


@pytest.mark.parametrize("prepare", [REAL, FOUND_BY_A_FINDER])
def test_a_child_that_has_a_real_ttnn_imports_that_one_wherever_it_is_installed(tmp_path, prepare):
    write_files(tmp_path, STARTS_CHILDREN)
    (tmp_path / "installed").mkdir()
    write_files(tmp_path, "where = __file__\n", "installed/ttnn/__init__.py")
    done = python(tmp_path, "-m", "ttnn_jit", "script.py", f"{prepare}\nimport ttnn\nprint(ttnn.where, ttnn.__name__)")
    assert done.stdout.endswith("installed/ttnn/__init__.py ttnn\n"), done.stderr
    own = {"PYTHONPATH": f"{tmp_path / 'installed'}{os.pathsep}{ROOT}"}
    done = python(tmp_path, "-m", "ttnn_jit", "script.py", "import ttnn; print(ttnn.where)", **own)
    assert done.stdout.endswith("installed/ttnn/__init__.py\n"), done.stderr


def test_a_script_that_inherits_our_folder_before_a_real_ttnn_imports_the_real_one(tmp_path):
    write_files(tmp_path, "import ttnn\nprint(ttnn.where)\n")
    (tmp_path / "installed").mkdir()
    write_files(tmp_path, "where = __file__\n", "installed/ttnn/__init__.py")
    path = os.pathsep.join([str(ROOT), ON_PYTHONPATH, str(tmp_path / "installed")])
    for arguments in (["script.py"], ["-m", "ttnn_jit", "script.py"]):
        done = python(tmp_path, *arguments, PYTHONPATH=path)
        assert done.stdout.endswith("installed/ttnn/__init__.py\n"), done.stderr


def test_a_child_that_has_an_empty_folder_named_ttnn_imports_our_namespace(tmp_path):
    write_files(tmp_path, STARTS_CHILDREN)
    (tmp_path / "ttnn").mkdir()
    done = python(tmp_path, "-m", "ttnn_jit", "script.py", "import ttnn; print(ttnn.__name__)")
    assert done.stdout == "ttnn_jit.ttnn\n", done.stderr


def test_a_python_without_ttnn_jit_says_so_each_time_it_imports_ttnn(tmp_path):
    venv.create(tmp_path / "other", with_pip=False)
    text = f"""
        import os
        import subprocess

        entries = [entry for entry in os.environ["PYTHONPATH"].split(os.pathsep) if entry != {str(ROOT)!r}]
        program = '''
        for _ in range(2):
            try:
                import ttnn
            except ModuleNotFoundError as error:
                print(error.name, error)
        '''
        environment = {{**os.environ, "PYTHONPATH": os.pathsep.join(entries)}}
        subprocess.run(["other/bin/python", "-c", __import__("textwrap").dedent(program)], env=environment, check=True)
    """
    write_files(tmp_path, text)
    done = python(tmp_path, "-m", "ttnn_jit", "script.py")
    lines = done.stdout.splitlines()
    assert len(lines) == 2, done.stderr
    for line in lines:
        assert line.startswith("ttnn No module named 'ttnn': ")
        assert f"{tmp_path}/other/bin/python has neither ttnn nor a ttnn_jit" in line


def test_an_older_python_names_the_one_that_has_ttnn_jit(tmp_path):
    write_files(tmp_path, STARTS_CHILDREN)
    done = python(tmp_path, "-m", "ttnn_jit", "script.py", "import sys; sys.version_info = (3, 9, 0); import ttnn")
    assert done.stderr.count("Traceback") == 1
    assert "No module named 'ttnn': " in done.stderr
    assert "Python 3.11 or newer has ttnn_jit" in done.stderr


@pytest.mark.parametrize("own", [["one", "two"], ["one", ""]])
def test_a_users_own_pythonpath_comes_first_and_is_kept(tmp_path, own):
    write_files(tmp_path, "import os; print(os.environ['PYTHONPATH'])")
    entries = os.pathsep.join([str(ROOT), *own])
    done = python(tmp_path, "-m", "ttnn_jit", "script.py", PYTHONPATH=entries)
    first, _, last = done.stdout.strip().rpartition(os.pathsep)
    assert first == entries, done.stderr
    assert Path(last).parent == ROOT / "ttnn_jit" / "ttnn"


@pytest.mark.parametrize("own", [None, ""])
def test_without_a_pythonpath_ours_is_the_only_entry(monkeypatch, own):
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(spawn, "get_preparation_data", spawn.get_preparation_data)
    if own is None:
        monkeypatch.delenv("PYTHONPATH", raising=False)
    else:
        monkeypatch.setenv("PYTHONPATH", own)
    ttnn_jit.register_as_ttnn()
    assert Path(os.environ["PYTHONPATH"]).parent == ROOT / "ttnn_jit" / "ttnn"


def test_registering_twice_names_our_folder_once_and_nothing_is_left_behind(tmp_path):
    text = "import os, ttnn_jit; [ttnn_jit.register_as_ttnn() for _ in 'ab']; print(os.environ['PYTHONPATH'])"
    before = sorted(path for path in tmp_path.rglob("*"))
    done = python(tmp_path, "-c", text, TMPDIR=str(tmp_path))
    assert len(done.stdout.split(os.pathsep)) == 2, done.stderr
    assert sorted(path for path in tmp_path.rglob("*")) == before


def test_processes_of_a_launcher_import_our_namespace(tmp_path):
    write_files(tmp_path, "import os, ttnn; print(os.environ['RANK'], ttnn.__name__)", "worker.py")
    launcher = "-m", "ttnn_jit", "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", "worker.py"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    done = run_python(*launcher, cwd=tmp_path, env=environment)
    assert sorted(done.stdout.splitlines()) == ["0 ttnn_jit.ttnn", "1 ttnn_jit.ttnn"], done.stderr


HELPER = """
    import ttnn_jit
    import ttnn
    from ttnn_jit._src.utils import get_maximal_block_sharding_grid

    print(get_maximal_block_sharding_grid((2, 512, 2048), (7, 7)))
    print(get_maximal_block_sharding_grid([96, 576], core_grid=(7, 7)))
    print(get_maximal_block_sharding_grid(ttnn.Shape([1, 64]), (7, 7)), get_maximal_block_sharding_grid((), (7, 7)))
    print(get_maximal_block_sharding_grid is ttnn.get_maximal_block_sharding_grid)
"""
SHARDING_GRIDS = "[7, 7]\n[5, 2]\n[1, 0] [0, 0]\nTrue\n"


def test_a_script_finds_the_helper_that_tests_of_ttnn_jit_import(tmp_path):
    write_files(tmp_path, HELPER)
    done = python(tmp_path, "-m", "ttnn_jit", "script.py")
    assert done.stdout == SHARDING_GRIDS, done.stderr


def test_the_package_itself_has_no_such_helper_and_scripts_find_no_other(tmp_path):
    write_files(tmp_path, "import ttnn_jit\nprint(hasattr(ttnn_jit, '_src'))\nfrom ttnn_jit._src import utils\n")
    done = python(tmp_path, "script.py")
    assert done.stdout == "False\n"
    assert "No module named 'ttnn_jit._src'" in done.stderr
    write_files(tmp_path, "import ttnn_jit._src.utils\nimport ttnn_jit._src.ir_generator\n")
    done = python(tmp_path, "-m", "ttnn_jit", "script.py")
    assert "No module named 'ttnn_jit._src.ir_generator'" in done.stderr


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        ("from ttnn import softcap", "`ttnn.softcap` is a name of ttnn that is not here yet"),
        ("from ttnn import exp, get_all_programs_perf_data", "there is no device profiler"),
        ("from ttnn import profiler", "`ttnn.profiler` is a name of ttnn that is not here yet"),
        ("from ttnn import nonsense", "cannot import name 'nonsense'"),
        ("import ttnn.profiler", "No module named 'ttnn.profiler'"),
    ],
)
def test_importing_a_missing_name_is_an_import_error_with_the_reason(tmp_path, statement, text):
    write_files(
        tmp_path, f"try:\n    {statement}\nexcept ImportError as error:\n    print(type(error).__name__, error)\n"
    )
    done = python(tmp_path, "-m", "ttnn_jit", "script.py")
    assert text in done.stdout, done.stderr


def test_a_missing_name_cannot_be_imported_according_to_python(tmp_path):
    text = """
        import importlib.util
        import ttnn
        import ttnn_jit.ttnn.device
        print([importlib.util.find_spec(f"ttnn.{name}") for name in ("profiler", "softcap", "nonsense")])
        print(importlib.util.find_spec("ttnn.device") is not None, hasattr(ttnn, "softcap"))
    """
    write_files(tmp_path, text)
    done = python(tmp_path, "-m", "ttnn_jit", "script.py")
    assert done.stdout == "[None, None, None]\nTrue False\n", done.stderr


def test_workers_of_pytest_import_our_namespace_without_a_plugin_of_ours(tmp_path):
    suite = "import pytest, ttnn\n@pytest.mark.parametrize('n', range(4))\ndef test(n): assert ttnn.exp\n"
    write_files(tmp_path, suite, "test_suite.py")
    done = python(
        tmp_path, "-m", "ttnn_jit", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "1", "test_suite.py"
    )
    assert "4 passed" in done.stdout, done.stdout + done.stderr
