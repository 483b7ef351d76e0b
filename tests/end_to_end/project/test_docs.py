"""Tables in docs/ are current, and their snippets run."""

from __future__ import annotations

import contextlib
import io
import json
import linecache
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import ttnn_jit
from tests.processes import run_python
from ttnn_jit import ttnn
from ttnn_jit.ops import ABSENT
from ttnn_jit.tools.cli import main
from ttnn_jit.tools.names import with_table
from ttnn_jit.ttnn.namespace.lazy_names import WITHOUT_EFFECT

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"


def test_the_table_of_names_is_current():
    document = (DOCS / "from_ttnn.md").read_text()
    assert with_table(document) == document, "run `make docs`"


def test_the_command_prints_and_writes_the_table(tmp_path, capsys):
    page = tmp_path / "page.md"
    page.write_text("a\n<!-- names: begin -->\nold\n<!-- names: end -->\nb\n")
    assert main(["names", "--write", str(page)]) == 0
    assert main(["names"]) == 0
    assert page.read_text() == f"a\n<!-- names: begin -->\n{capsys.readouterr().out}<!-- names: end -->\nb\n"
    page.write_text("no marks")
    assert main(["names", "--write", str(page)]) == 1


def test_every_name_is_honoured_ignored_or_refused_and_never_two_of_these():
    for name in ttnn.__all__:
        assert getattr(ttnn, name) is not None or name in {"CONFIG_OVERRIDES", "CONFIG_PATH"}  # variables not set
    assert set(WITHOUT_EFFECT) <= set(ttnn.__all__)
    assert not set(ABSENT) & set(ttnn.__all__)
    assert dir(ttnn) == sorted(ttnn.__all__)
    for name, reason in ABSENT.items():
        assert not hasattr(ttnn, name)
        with pytest.raises(AttributeError, match=f"no attribute '{name}'") as raised:
            getattr(ttnn, name)
        assert reason in str(raised.value)


def blocks_of(page):
    """The language and the text of every block that has a language."""
    return re.findall(r"```(\w+)\n(.*?)```", page.read_text(), flags=re.DOTALL)


def python_blocks(page):
    return [text for language, text in blocks_of(page) if language == "python"]


@pytest.mark.parametrize("page", [page for page in sorted(DOCS.glob("*.md")) if python_blocks(page)], ids=str)
def test_the_python_of_a_page_runs_from_top_to_bottom_and_prints_the_output_below_it(
    page, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": page.stem}
    for number, (language, block) in enumerate(blocks := blocks_of(page)):
        if language != "python":
            continue
        file = f"<{page.name} {number}>"
        linecache.cache[file] = len(block), None, block.splitlines(keepends=True), file
        exec(compile(block, file, "exec", dont_inherit=True), names)
        if printed := capsys.readouterr().out:
            assert blocks[number + 1][1].strip() == printed.strip()


def test_the_page_on_inspecting_edits_a_module_and_goes_on(tmp_path, monkeypatch, capsys):
    section = (DOCS / "inspecting.md").read_text().partition("\n## Stop after")[2].partition("\n## ")[0]
    ((_, module), (_, commands)) = re.findall(r"```(mlir|sh)\n(.*?)```", section, flags=re.DOTALL)
    monkeypatch.chdir(tmp_path)
    Path("mine.mlir").write_text(module)
    printed = []
    for command in commands.splitlines():
        program, *arguments = shlex.split(command)
        if program == "ttnn-jit":
            assert main(arguments) == 0, capsys.readouterr().err
        else:
            subprocess.run([program, *arguments], check=True)
        printed.append(capsys.readouterr().out)
    assert Path("fused.mlir").read_text().count("= d2m.generic") == 1
    assert "tile_sub" in Path("scheduled.mlir").read_text()
    assert "tile_sub" in printed[3]
    assert printed[4] == printed[5] != ""


def test_the_page_on_operations_inspects_one():
    section = (DOCS / "how_to_add.md").read_text().partition("\n## An operation")[2].partition("\n## ")[0]
    expressions = re.findall(r"`(ttnn_jit\.jit\(\).*?)`", section.partition("Inspect it")[2])
    kernel, code = (
        eval(each.replace("<name>", "exp"), {"ttnn": ttnn, "ttnn_jit": ttnn_jit, "x": torch.zeros(4, 4)})
        for each in expressions
    )
    assert "exp" in str(kernel)
    assert code.count("define void") >= 1


EXAMPLES = [*sorted(DOCS.glob("examples/*.py")), *sorted(DOCS.glob("examples/meshes/*.py"))]
RUN_EACH = """
import contextlib, io, json, runpy, sys, traceback
import torch
torch.set_num_threads(1)  # other tests run beside this process
found = {}
for path in sys.argv[1:]:
    sys.argv, shown = [path], io.StringIO()
    with contextlib.redirect_stdout(shown):
        try:
            runpy.run_path(path, run_name="__main__")
        except BaseException:
            traceback.print_exc(file=shown)
    found[path] = shown.getvalue()
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def shown_by_examples(tmp_path_factory):
    """The output of each script, all in one process: test_scripts.py has a process per script."""
    folder = tmp_path_factory.mktemp("examples")
    (folder / "run_each.py").write_text(RUN_EACH)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = run_python("-m", "ttnn_jit", "run_each.py", *EXAMPLES, cwd=folder, env=environment, check=True)
    return json.loads(done.stdout)


@pytest.mark.process
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_scripts_that_import_ttnn_run_unmodified(path, shown_by_examples):
    assert shown_by_examples[str(path)].endswith("PASSED\n"), shown_by_examples[str(path)]


@pytest.mark.slow
def test_the_tutorial_runs_cell_by_cell(monkeypatch):
    notebook = json.loads((DOCS / "tutorial.ipynb").read_text())
    assert (notebook["nbformat"], len({cell["id"] for cell in notebook["cells"]})) == (4, len(notebook["cells"]))
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    monkeypatch.setattr("multiprocessing.spawn.get_preparation_data", lambda *_: {})
    for name in [name for name in sys.modules if name.partition(".")[0] == "ttnn"]:
        monkeypatch.delitem(sys.modules, name)
    shown = io.StringIO()
    namespace = {"__name__": "__main__"}
    with contextlib.redirect_stdout(shown):
        for number, cell in enumerate(notebook["cells"]):
            if cell["cell_type"] == "code":
                text = "".join(cell["source"])
                file = f"<tutorial cell {number}>"
                linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
                exec(compile(text, file, "exec"), namespace)
    sys.modules.pop("ttnn", None)
    for text in ('"ttnn.exp"', "1 kernel", "Only Layout.Tile tensors are supported", "is too small", "L1 of 64 cores"):
        assert text in shown.getvalue()
