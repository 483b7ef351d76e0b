"""Comparison of two checkouts: intervals of ratios, the verdict on a row, and the imported package."""

import json
import shutil
import subprocess
import sys
from math import comb, inf
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.checkouts import checkout_figures, compare_checkouts
from benchmarks.checkouts.checkouts import UnknownCheckoutError, checkout, importable
from benchmarks.checkouts.compare_checkouts import Row, median_interval, rows_of
from benchmarks.harness import harness
from benchmarks.harness.process import Process
from ttnn_jit import ttnn

ROOT = Path(__file__).parents[3]


def step(before, after):
    return {"before": {"row": before}, "after": {"row": after}}


@pytest.mark.parametrize(("count", "rank"), [(6, 0), (9, 1), (15, 3), (40, 13)])
def test_an_interval_ends_at_the_order_statistics_of_the_sign_test(count, rank):
    assert median_interval(range(count)) == (rank, count - 1 - rank)


@pytest.mark.parametrize("count", range(1, 6))
def test_fewer_than_six_values_bound_no_median(count):
    assert median_interval([1.0] * count) == (-inf, inf)


@given(st.integers(6, 60))
def test_an_interval_misses_the_median_at_most_once_in_twenty_and_a_shorter_one_would_oftener(count):
    rank, _ = median_interval(range(count))
    assert 2 * sum(comb(count, k) for k in range(rank + 1)) / 2**count <= 0.05
    assert 2 * sum(comb(count, k) for k in range(rank + 2)) / 2**count > 0.05


@given(st.lists(st.floats(0.01, 100), min_size=6, max_size=30), st.randoms())
def test_the_order_of_the_alternations_does_not_matter_and_the_median_lies_in_the_interval(ratios, chooser):
    row = Row("row", [1.0] * len(ratios), ratios)
    chooser.shuffle(shuffled := list(ratios))
    assert Row("row", [1.0] * len(ratios), shuffled).interval == row.interval
    assert row.interval[0] <= row.ratio <= row.interval[1]


def test_a_ratio_is_of_the_two_processes_of_one_alternation():
    row = Row("row", [1.0, 10.0, 100.0], [2.0, 20.0, 50.0])
    assert row.ratio == 2.0


@pytest.mark.parametrize(
    ("ratios", "verdict"),
    [
        ([1.2] * 15, "**slower**"),
        ([1.2] * 11 + [1.0] * 4, ""),  # the interval begins at 1.0
        ([1.049] * 15, ""),
        ([1.2] * 5, ""),  # too few values for an interval
        ([0.8] * 15, "faster"),
        ([1.0] * 15, ""),
    ],
)
def test_a_row_is_slower_if_its_whole_interval_lies_beyond_five_percent(ratios, verdict):
    assert Row("row", [1.0] * len(ratios), ratios).verdict() == verdict


def test_the_tolerance_is_a_parameter_of_the_verdict():
    row = Row("row", [1.0] * 15, [1.04] * 15)
    assert [row.verdict(tolerance) for tolerance in (5.0, 3.0)] == ["", "**slower**"]
    assert Row("row", [1.0] * 15, [0.96] * 15).verdict(3.0) == "faster"


def test_rows_are_those_that_both_checkouts_measured():
    results = {"alternation 1": {"before": {"a": 1.0, "b": 1.0}, "after": {"a": 2.0, "c": 1.0}}}
    assert rows_of(results) == [Row("a", [1.0], [2.0])]


def test_an_alternation_that_failed_is_left_out_of_every_row():
    assert rows_of({"alternation 1": step(1.0, 2.0), "alternation 3": step(3.0, 4.0)}) == [
        Row("row", [1.0, 3.0], [2.0, 4.0])
    ]


def test_checkouts_alternate_in_running_first(monkeypatch, tmp_path):
    pytest.importorskip("rich", reason="the driver's progress bar is of the extra [bench]")
    monkeypatch.setattr(harness, "RESULTS", tmp_path)
    monkeypatch.setattr(harness, "ROOT", tmp_path)
    order = []

    def figures_of(folder, *_):
        number = (folder / "ttnn_jit" / "number").read_text()
        order.append(number)
        return {"row": float(number)}

    for name, number in (("before", "1.0"), ("after", "1.3")):
        (tmp_path / name / "ttnn_jit").mkdir(parents=True)
        (tmp_path / name / "ttnn_jit" / "number").write_text(number)

    monkeypatch.setattr(compare_checkouts, "figures_of", figures_of)
    rows = compare_checkouts.compare(tmp_path / "before", tmp_path / "after", alternations=6)
    assert order == ["1.0", "1.3", "1.3", "1.0"] * 3
    assert [row.verdict() for row in rows] == ["**slower**"]
    assert "| row | 1 s | 1.3 s | 1.300 | 1.300-1.300 | **slower** |" in (tmp_path / "compare_checkouts.md").read_text()
    assert len(json.loads((tmp_path / "compare_checkouts.json").read_text())["steps"]) == 6


@pytest.mark.parametrize(("after", "status", "others"), [(1.0, 0, []), (1.2, 1, []), (1.2, 0, ["--tolerance", "30"])])
def test_the_exit_status_reports_slower_rows(after, status, others, monkeypatch, tmp_path):
    (tmp_path / "compare_checkouts.md").write_text("")
    monkeypatch.setattr(harness, "RESULTS", tmp_path)
    monkeypatch.setattr(sys, "argv", ["compare_checkouts", str(ROOT), str(ROOT), *others])
    monkeypatch.setattr(compare_checkouts, "compare", lambda *_: [Row("row", [1.0] * 15, [after] * 15)])
    assert compare_checkouts.main() == status


@pytest.mark.parametrize(
    ("arguments", "message"), [(["nowhere", "HEAD"], "nowhere is neither a folder"), ([str(ROOT)] * 2, "nothing was")]
)
def test_a_comparison_without_figures_is_an_error(arguments, message, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["compare_checkouts", *arguments])
    monkeypatch.setattr(compare_checkouts, "compare", lambda *_: [])
    with pytest.raises(SystemExit):
        compare_checkouts.main()
    assert message in capsys.readouterr().err


def test_an_argument_that_is_neither_a_checkout_nor_a_revision_is_refused_by_name(tmp_path):
    with pytest.raises(UnknownCheckoutError, match="no-such-revision"), checkout("no-such-revision"):
        pass
    with pytest.raises(UnknownCheckoutError, match=r"has no ttnn_jit/__init__\.py"), checkout(str(tmp_path)):
        pass


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A repository of two commits, whose package names its commit."""
    from benchmarks.checkouts import checkouts

    (tmp_path / "repository" / "ttnn_jit").mkdir(parents=True)
    folder = tmp_path / "repository"

    def git(*arguments):
        subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=e", *arguments], cwd=folder, check=True)

    git("init", "-q", "-b", "main")
    for number in (1, 2):
        (folder / "ttnn_jit" / "__init__.py").write_text(f"number = {number}\n")
        git("add", ".")
        git("commit", "-q", "-m", str(number))
    monkeypatch.setattr(checkouts, "ROOT", folder)
    return folder


@pytest.mark.process
@pytest.mark.skipif(shutil.which("git") is None, reason="revisions are git's")
def test_a_revision_is_a_worktree_while_it_is_compared(repository):
    with checkout("HEAD~1") as folder:
        assert (folder / "ttnn_jit" / "__init__.py").read_text() == "number = 1\n"
    assert not folder.exists()
    listed = subprocess.run(["git", "worktree", "list"], cwd=repository, capture_output=True, text=True, check=True)
    assert len(listed.stdout.splitlines()) == 1
    with checkout(str(repository)) as folder:
        assert folder == repository


@pytest.mark.process
def test_a_process_imports_the_package_of_the_checkout_and_the_benchmarks_of_this_one(tmp_path):
    (tmp_path / "ttnn_jit").mkdir()
    (tmp_path / "ttnn_jit" / "__init__.py").write_text("number = 7\n")
    with importable(tmp_path) as folder:
        command = [sys.executable, "-c", "import ttnn_jit, benchmarks.harness.programs; print(ttnn_jit.number)"]
        assert subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout == "7\n"


@pytest.mark.process
@pytest.mark.parametrize("only", ["cold compile, chain", "disk hit, chain", "import"])
def test_figures_are_measured_in_processes_of_a_checkout(only):
    with importable(ROOT) as folder:
        found = compare_checkouts.figures_of(folder, only, quick=True)
    assert found
    assert all(only in name and seconds > 0 for name, seconds in found.items())


@pytest.fixture
def closed_devices(monkeypatch):
    """Closes what is opened: the figures' own processes end with their devices open."""
    open_device, opened = ttnn.open_device, []
    monkeypatch.setattr(ttnn, "open_device", lambda **options: opened.append(open_device(**options)) or opened[-1])
    yield
    for device in opened:
        ttnn.close_device(device)


@pytest.mark.usefixtures("closed_devices")
@pytest.mark.parametrize("only", ["warm call, eager with", "cosh f32 256x256", "cold compile, BERT"])
def test_every_kind_of_figure_is_measured(only):
    found = checkout_figures.measure(only, quick=True)
    assert found
    assert all(only in name and seconds > 0 for name, seconds in found.items())


def test_no_process_starts_for_figures_that_nobody_asks_for(monkeypatch):
    started = []

    monkeypatch.setattr(compare_checkouts, "_in_process", lambda *call: started.append(call[2].__name__) or {})
    monkeypatch.setattr(compare_checkouts, "run_python", lambda *_: started.append("import") or "1.0")
    for only in ("import", "warm call, torch", "nothing of that name"):
        compare_checkouts.figures_of(ROOT, only, quick=True)
    assert started == ["import", "measure"]


@pytest.mark.process
def test_a_process_starts_in_the_given_folder():
    with importable(ROOT) as folder, Process({}, folder) as process:
        import os

        assert process.call(os.getcwd) == str(folder)
