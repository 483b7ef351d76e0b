"""What README.md shows is what happens, and what it names is there."""

from __future__ import annotations

import linecache
import re
import shlex
from pathlib import Path

import pytest

from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.tools import cli

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"```(\w*)\n(.*?)```", TEXT, re.DOTALL)


def blocks(language):
    return [text for kind, text in BLOCKS if kind == language]


def run(source):
    """What the file model.py of this text leaves."""
    linecache.cache["model.py"] = len(source), None, source.splitlines(keepends=True), "model.py"
    names = {"__name__": "model"}
    exec(compile(source, "model.py", "exec"), names)
    return names


def test_the_first_block_of_python_prints_what_stands_below_it_and_has_the_ir_that_is_shown(capsys):
    (source,) = blocks("python")
    names = run(source)
    assert capsys.readouterr().out.strip() == blocks("")[0].strip()
    (shown,) = blocks("mlir")
    assert names["cosh"].ir(names["x"]).startswith(shown.removesuffix("    ...\n"))


def test_the_mistake_is_the_error_that_is_shown():
    x = run(blocks("python")[0])["x"]
    (message,) = [text for text in blocks("") if text.startswith("model.py:")]
    number, statement = re.search(r"^ +(\d+) \| (.*)$", message, re.MULTILINE).groups()
    head = ["from ttnn_jit import jit, ttnn", "", "def half(x):"]
    assert int(number) == len(head) + 1
    jitted = run("\n".join([*head, statement, "half = jit()(half)"]))["half"]
    with pytest.raises(CompileError) as raised:
        jitted(x)
    assert str(raised.value) == message.strip()


def commands():
    code = [*re.findall(r"`([^`\n]+(?:\n[^`\n]+)?)`", re.sub(r"```.*?```", "", TEXT, flags=re.DOTALL))]
    lines = [line for block in blocks("sh") for line in block.splitlines()]
    return [" ".join(text.partition("  #")[0].split()) for text in (*lines, *code)]


@pytest.mark.parametrize("command", sorted({text for text in commands() if text.startswith("ttnn-jit ")}))
def test_a_command_that_is_named_is_one_that_the_parser_takes(command):
    assert cli._parser().parse_args(shlex.split(command)[1:]).run


def test_every_target_of_make_that_is_named_is_there():
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = {text.split()[1] for text in commands() if text.startswith("make ")}
    assert {"demo", "test", "bench"} <= named <= targets


@pytest.mark.parametrize(
    "page", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", *sorted(map(str, Path(ROOT, "docs").glob("*.md")))]
)
def test_every_page_that_is_linked_is_there(page):
    path = ROOT / page
    links = re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", path.read_text())
    assert [link for link in links if not (path.parent / link).exists()] == []
