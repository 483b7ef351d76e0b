"""Output, commands and links in README.md and the pages of docs/ are real."""

from __future__ import annotations

import linecache
import re
import shlex
from pathlib import Path

import pytest

from benchmarks import readme
from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.tools import cli

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "README.md").read_text()
PAGES = [
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    *sorted(f"docs/{p.name}" for p in (ROOT / "docs").glob("*.md")),
]


def blocks(language, text=TEXT):
    return [block for kind, block in re.findall(r"```(\w*)\n(.*?)```", text, re.DOTALL) if kind == language]


def run(source):
    """The output of the file model.py with this text."""
    linecache.cache["model.py"] = len(source), None, source.splitlines(keepends=True), "model.py"
    names = {"__name__": "model"}
    exec(compile(source, "model.py", "exec"), names)
    return names


def test_the_first_block_of_python_prints_the_output_below_it_and_has_the_shown_ir(capsys):
    (source,) = blocks("python")
    names = run(source)
    assert capsys.readouterr().out.strip() == blocks("")[0].strip()
    (shown,) = blocks("mlir")
    assert names["cosh"].ir(names["x"]).startswith(shown.removesuffix("    ...\n"))


def test_the_shown_mistake_gives_the_shown_error():
    x = run(blocks("python")[0])["x"]
    (message,) = [text for text in blocks("") if text.startswith("model.py:")]
    number, statement = re.search(r"^ +(\d+) \| (.*)$", message, re.MULTILINE).groups()
    head = ["from ttnn_jit import jit, ttnn", "", "def half(x):"]
    assert int(number) == len(head) + 1
    jitted = run("\n".join([*head, statement, "half = jit()(half)"]))["half"]
    with pytest.raises(CompileError) as raised:
        jitted(x)
    assert str(raised.value) == message.strip()


def commands(page):
    text = (ROOT / page).read_text()
    code = [*re.findall(r"`([^`\n]+(?:\n[^`\n]+)?)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL))]
    lines = [line for block in blocks("sh", text) for line in block.splitlines()]
    return [" ".join(line.partition("  #")[0].split()) for line in (*lines, *code)]


NAMED = [(page, command) for page in PAGES if page != "CHANGELOG.md" for command in sorted({*commands(page)})]
SYNOPSES = ("COMMAND", "FILE", "...")


@pytest.mark.parametrize(
    ("page", "command"),
    [(p, c) for p, c in NAMED if c.startswith("ttnn-jit ") and not any(word in c for word in SYNOPSES)],
)
def test_every_command_on_a_page_is_accepted_by_the_parser(page, command):
    assert cli._parser().parse_args(shlex.split(command)[1:]).run, page


def test_every_make_target_on_a_page_exists():
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = {command.split()[1] for _, command in NAMED if command.startswith("make ")}
    assert {"demo", "test", "bench", "site"} <= named <= targets


@pytest.mark.parametrize("page", [readme.README, readme.PAGE], ids=lambda page: page.name)
def test_speeds_on_a_page_are_those_of_the_results(page):
    text = page.read_text()
    assert readme.renewed(page, text) == text, "run `python -m benchmarks.readme`"
    with pytest.raises(ValueError, match="unpack"):
        readme.renewed(page, text.replace("end of speed", "end of it"))


def test_the_first_page_is_short_and_has_one_short_table_of_speed():
    assert len(TEXT.splitlines()) <= 150
    assert len(re.findall(r"^\|", readme.short(), re.MULTILINE)) <= 2 + 12


@pytest.mark.parametrize("page", PAGES)
def test_every_linked_page_exists(page):
    path = ROOT / page
    links = re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", path.read_text())
    assert [link for link in links if not (path.parent / link).exists()] == []
