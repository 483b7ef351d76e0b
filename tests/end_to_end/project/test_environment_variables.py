"""The command, the page and the code agree with one table of environment variables."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import ttnn_jit
from ttnn_jit.specs.environment_variables import VARIABLES, warn_of_unknown_variables
from ttnn_jit.tools.cli import main
from ttnn_jit.tools.environment import with_table

PACKAGE = Path(ttnn_jit.__file__).parent
PAGE = Path(__file__).parents[3] / "docs" / "command_line.md"
NAMES = [variable.name for variable in VARIABLES]


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch):
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)


def trees():
    """The syntax tree of every file of the package that may read a variable; `cache` and `kernels` may be links."""
    for file in {*PACKAGE.rglob("*.py"), *(PACKAGE / "cache").rglob("*.py"), *(PACKAGE / "kernels").rglob("*.py")}:
        text = file.read_text()
        if re.search("environ|getenv|switch", text):
            yield ast.parse(text)


def calls_of(tree, name):
    """The first argument of every call of `name`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == name:
            yield node.args[0]


def changes(tree):
    """Variables that are set for child processes."""
    for node in ast.walk(tree):
        is_set = isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)
        if is_set and ast.unparse(node.value) == "os.environ":
            yield node


def test_the_table_holds_every_variable_that_the_package_reads_and_no_other():
    read = set()
    for tree in trees():
        looks = [*calls_of(tree, "os.environ.get")]
        attributes = [ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
        others = [text for text in attributes if text in {"os.environ", "os.getenv", "os.environb"}]
        walked = [
            node for node in ast.walk(tree) if isinstance(node, ast.For) and ast.unparse(node.iter) == "os.environ"
        ]
        assert len(looks) + len([*changes(tree)]) + len(walked) == len(others), (
            "this test understands `os.environ.get` alone"
        )
        named = [*looks, *calls_of(tree, "switch")]
        read |= {node.value for node in named if isinstance(node, ast.Constant)}
        computed = {ast.unparse(node) for node in named if not isinstance(node, ast.Constant)}
        assert computed <= {"name", "variable.name"}  # in `switch`, and in the command that shows them all
    assert read - {"PYTHONPATH"} == set(NAMES)  # which is Python's own
    assert len(NAMES) == len(set(NAMES))


def test_the_table_of_the_page_is_current():
    document = PAGE.read_text()
    assert with_table(document) == document, "run `make docs`"
    assert all(f"`{name}`" in document for name in NAMES)


def test_the_command_shows_set_and_unset_variables(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("TTNN_JIT_CACHE_DIR", str(tmp_path))
    assert main(["env"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == NAMES
    (line,) = [line for line in lines if line.startswith("TTNN_JIT_CACHE_DIR ")]
    assert str(tmp_path) in line
    assert sum("not set" in line for line in lines) == len(NAMES) - 1


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TTNN_JIT_CACHE", "maybe"),
        ("TTNN_JIT_DEBUG", "2"),
        ("TTNN_JIT_OUTPUT_LAYOUT", "sideways"),
        ("SYSTEM_DESC_PATH", "/no/such/file"),
        ("TTNN_JIT_NUM_THREADS", "-1"),
    ],
)
def test_an_invalid_value_is_shown_and_refused(name, value, capsys, monkeypatch):
    from ttnn_jit.specs.options import requested_threads

    requested_threads.cache_clear()
    monkeypatch.setenv(name, value)
    assert main(["env"]) == 1
    captured = capsys.readouterr()
    assert value in captured.out
    assert name in captured.err
    requested_threads.cache_clear()


def test_the_command_renews_the_table_of_a_page(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("a\n<!-- env: begin -->\nold\n<!-- env: end -->\nb\n")
    assert main(["env", "--write", str(page)]) == 0
    assert "TTNN_JIT_NUM_THREADS" in page.read_text()
    page.write_text("no marks")
    assert main(["env", "--write", str(page)]) == 1


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("TTNN_JIT_CACH_DIR", "did you mean TTNN_JIT_CACHE_DIR?"),
        ("TTNN_JIT_THREADS", "did you mean TTNN_JIT_NUM_THREADS?"),
        ("TTNN_JIT_XYZZY_PLUGH", "`ttnn-jit env` lists those that there are"),
    ],
)
def test_an_unknown_variable_of_ours_is_warned_of_once(name, hint, monkeypatch):
    monkeypatch.setenv(name, "1")
    warn_of_unknown_variables.cache_clear()
    with pytest.warns(UserWarning, match=rf"^{name} is no variable that ttnn_jit reads; {re.escape(hint)}$") as caught:
        ttnn_jit.jit(lambda x: x)
    ttnn_jit.cache_info()
    assert len(caught) == 1
    assert caught[0].filename == __file__


def test_variables_of_others_and_known_ones_are_not_warned_of(monkeypatch):
    for name in (*NAMES, "TTNN_JITTER", "TTNNJIT_CACHE"):
        monkeypatch.setenv(name, "")
    warn_of_unknown_variables.cache_clear()
    ttnn_jit.cache_info()
