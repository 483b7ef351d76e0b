"""The generated pages of the documentation."""

from __future__ import annotations

import ast
import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from docs.site_pages import calls, commands, pictures, programs, rooms
from ttnn_jit.tools import cli

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "ttnn_jit"
FOLDERS = sorted(
    str(path.relative_to(ROOT))
    for folder in (
        PACKAGE,
        PACKAGE / "kernels",
        PACKAGE / "cache",
    )  # the latter are links, which `glob` does not follow
    for path in folder.glob("**/__init__.py")
)
PAGES = ["README.md", "CONTRIBUTING.md", *sorted(f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md"))]
OF_A_WALK = {"codegen/moved_words.py", "transforms/passes/stamp_kernels.py", "codegen/host/unread_launches.py"}
"""Files that a reader of how_to_add.md writes."""


def test_the_picture_of_the_rooms_matches_the_imports():
    text = rooms.PAGE.read_text()
    assert rooms.with_mermaid(text) == text, "run `make docs`"


def test_every_arrow_of_the_picture_points_downwards_in_the_order_that_the_linter_enforces():
    depth = {room: number for number, row in enumerate(rooms.layers()) for room in row}
    needed = rooms.needed_by_rooms()
    assert {*needed} == {*depth}
    assert [(room, other) for room, others in needed.items() for other in others if depth[room] >= depth[other]] == []


def closure(arrows):
    """Box -> all boxes that a path leads to, by Warshall's algorithm."""
    names = sorted({*arrows, *(name for others in arrows.values() for name in others)})
    below = {name: {*arrows.get(name, ())} for name in names}
    for middle in names:
        for name in names:
            if middle in below[name]:
                below[name] |= below[middle]
    return below


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sets(st.sampled_from([(one, other) for one in "abcdefg" for other in "abcdefg"])))
def test_a_reduced_picture_has_the_same_reachability_no_redundant_arrow_and_circles_as_one_box(pairs):
    arrows = {name: {other for one, other in pairs if one == name} for name, _ in pairs}
    shown, wanted = pictures.reduced(arrows), closure(arrows)
    boxes = {name: box for box in shown for name in box.split(" + ")}
    assert {*boxes} == {*wanted}
    found = closure(shown)
    for name, others in wanted.items():
        for other in wanted:
            if boxes[name] == boxes[other]:
                assert name == other or (other in others and name in wanted[other])
            else:
                assert (boxes[other] in found[boxes[name]]) == (other in others)
    for box, others in shown.items():
        for other in others:
            assert other not in closure(shown | {box: others - {other}})[box]
    if shown:
        drawn = pictures.layered(arrows, {}, "boxes")
        assert drawn.count("marker-end") == sum(map(len, shown.values()))
        assert sorted(re.findall(r'middle">([^<]*)<', drawn)) == sorted(shown)


def test_a_warm_call_enters_no_room_and_a_first_one_those_of_a_compile(tmp_path, monkeypatch):
    monkeypatch.setenv("TTNN_JIT_CACHE_DIR", str(tmp_path))
    first, warm = calls.first_and_warm()
    compiling = ["calls", "compiler", "frontend", "transforms", "codegen", "runtime"]
    assert [entry.room for entry in first if entry.room in compiling] == compiling
    assert warm[0][0] == calls.USER
    assert warm[-1][1:] == (calls.NATIVE, "ttnn_jit_call")


def test_every_command_has_a_page_with_its_row_of_the_table():
    pages = dict(commands.pages())
    named = {command.split()[1] for command, _ in commands.rows()}
    assert named == {*pages} == {name for name, _ in commands._commands(cli._parser())}
    assert all(meaning in pages[command.split()[1]] for command, meaning in commands.rows())
    for name in ("info", "list", "verify", "clear"):
        assert f"## ttnn-jit cache {name}\n" in pages["cache"]


def test_every_file_has_its_line_on_the_page_of_its_room():
    pages = dict(rooms.pages())
    for room, page in pages.items():
        folder = PACKAGE / room
        shown = re.findall(r"^\| `(\w+)\.py` \| (.*) \|$", page, re.MULTILINE)
        files = [path.stem for path in folder.glob("**/*.py") if path.stem != "__init__"]
        assert sorted(name for name, _ in shown) == sorted(files)
        assert all(line for _, line in shown)


def named_files(text):
    """The files that a text names with their folders."""
    return {name for name in re.findall(r"`([\w./]+/[\w.]+\.py)`", text) if not name.startswith("generated/")}


@pytest.mark.parametrize("name", [*PAGES, *FOLDERS])
def test_every_file_that_a_page_or_a_folder_names_exists(name):
    text = (ROOT / name).read_text()
    text = text if name.endswith(".md") else ast.get_docstring(ast.parse(text))
    absent = {file for file in named_files(text) if not any((top / file).exists() for top in (ROOT, PACKAGE))}
    assert absent <= OF_A_WALK


def test_the_list_of_examples_has_the_first_comment_of_each():
    *_, (name, index) = programs.examples()
    assert name == "index"
    for path in (ROOT / "docs" / "examples").glob("**/*.py"):
        (line,) = re.findall(rf"^\| \[{path.stem}\]\({path.stem}\.md\) \| (.*) \|$", index, re.MULTILINE)
        first, second = next(pairwise(path.read_text().splitlines()))
        assert line.startswith(first.removeprefix("# "))
        assert line.endswith(second.removeprefix("# ").rstrip("#")) or second.strip() in {"#", ""}
