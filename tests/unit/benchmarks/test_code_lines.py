"""What counts as a line of code, and the counts of a checkout by room."""

from __future__ import annotations

from collections import Counter

import pytest

from benchmarks.checkouts.code_lines import code_lines, lines_of_rooms, report


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", 0),
        ('"""A module\n\nof no code.\n"""\n\n# a comment\n', 0),
        ("x = 1  # a comment\n\n\ny = 2\n", 2),
        ("x = (\n    1,\n    # a comment\n\n    2,\n)\n", 4),
        ('class C:\n    """Doc."""\n\n    field: int\n    """Of an attribute,\n    two lines."""\n', 2),
        ('def f():\n    """Doc."""\n    return """a\n\ntext"""\n', 4),
        ("if x: 'documented'; y = 1\n", 1),
    ],
)
def test_docstrings_comments_and_blank_lines_are_no_code(text, lines):
    assert code_lines(text) == lines


def test_a_file_counts_once_in_its_room_and_links_are_not_followed(tmp_path):
    for name in (
        "ttnn_jit/api.py",
        "ttnn_jit/codegen/host/a.py",
        "ttnn_jit/codegen/b.py",
        "kernels/c.py",
        "cache/d.py",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x = 1\n")
    (tmp_path / "ttnn_jit" / "kernels").symlink_to("../kernels", target_is_directory=True)
    assert lines_of_rooms(tmp_path) == {"ttnn_jit": 1, "codegen": 2, "kernels": 1, "cache": 1}


def test_a_report_of_two_shows_what_came_and_went():
    before = Counter({"ops": 9000, "codegen": 8000, "kernels": 7000, "cache": 900})
    after = before - Counter({"codegen": 7})
    rows = {row.split(" | ")[0]: row.split(" | ")[1:] for row in report([before, after]).splitlines()}
    assert rows["| codegen"][-1] == "-7 |"
    assert rows["| all"] == ["24,900", "24,893", "-7 |"]
    assert {"| kernels", "| cache", "| ops"} <= rows.keys()
