"""What an error shows of the user's source."""

from __future__ import annotations

import pytest

from ttnn_jit.diagnostics.source import MAX_SHOWN_COLUMNS, Location, excerpt


def shown(path, text, start, end):
    path.write_text(f"{text}\n")
    return excerpt(Location(str(path), 1, start + 1, 1, end + 1)).splitlines()


def test_a_short_line_is_shown_whole(tmp_path):
    assert shown(tmp_path / "a.py", "y = f(x)", 4, 8) == ["    1 | y = f(x)", "      |     ^^^^"]


@pytest.mark.parametrize("terms_before", [0, 3, 40, 400])
@pytest.mark.parametrize("terms_after", [0, 3, 40, 400])
def test_of_a_long_line_the_part_around_the_carets_is_shown(tmp_path, terms_before, terms_after):
    before = "y = " + "a + " * terms_before
    text = before + "wrong(x)" + " + a" * terms_after
    line, carets = shown(tmp_path / "a.py", text, len(before), len(before) + len("wrong(x)"))
    assert len(line) <= len("    1 | ......") + MAX_SHOWN_COLUMNS
    assert line[carets.index("^") : carets.rindex("^") + 1] == "wrong(x)"
    assert line.removeprefix("    1 | ").strip(".") in text


def test_carets_stop_where_the_shown_part_of_a_long_span_does(tmp_path):
    line, carets = shown(tmp_path / "a.py", "a + " * 1000, 0, 4000)
    assert line.endswith("...")
    assert carets.count("^") == MAX_SHOWN_COLUMNS


def test_of_a_long_line_without_a_column_the_start_is_shown(tmp_path):
    (tmp_path / "a.py").write_text("y = " + "a + " * 1000)
    assert excerpt(Location(str(tmp_path / "a.py"), 1)) == f"    1 | {('y = ' + 'a + ' * 1000)[:MAX_SHOWN_COLUMNS]}..."


@pytest.mark.parametrize(
    ("before", "cells"),
    [
        ("'日本' + ", 9),
        ("'￥' + ", 7),
        ("'🚀' + ", 7),
        ("'e\u0301' + ", 6),
        ("'👩\u200d🚀' + ", 9),
        ("'é' + ", 6),
        ("'ﾊﾝｶｸ' + ", 9),
    ],
)
def test_carets_stand_under_their_span_after_characters_of_other_widths(tmp_path, before, cells):
    _, carets = shown(tmp_path / "a.py", f"{before}wrong(x)", len(before), len(before) + len("wrong(x)"))
    assert carets == f"      | {' ' * cells}{'^' * len('wrong(x)')}"


def test_a_span_of_wide_characters_has_carets_under_all_of_it(tmp_path):
    assert shown(tmp_path / "a.py", "y = f('日本')", 4, 11)[1] == "      |     ^^^^^^^^^"


def test_tabs_before_a_span_are_kept_whatever_their_width(tmp_path):
    assert shown(tmp_path / "a.py", "\t日\tf(x)", 3, 7)[1] == "      | \t  \t^^^^"
