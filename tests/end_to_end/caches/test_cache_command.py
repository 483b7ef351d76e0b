"""`ttnn-jit cache` reports the content of any folder; only `clear` changes it."""

from __future__ import annotations

import contextlib
import io
import json
import os
import sqlite3
import subprocess
import sys
import textwrap
from contextlib import closing
from pathlib import Path

import pytest
import torch

import ttnn_jit
from tests import programs
from ttnn_jit import ttnn
from ttnn_jit.cache.disk import DiskStore, store_of
from ttnn_jit.process import progress
from ttnn_jit.specs.options import Environment
from ttnn_jit.tools.cli import main

COMMANDS = ("info", "list", "verify", "clear")


@pytest.fixture
def filled(own_disk_cache, device):
    """The cache folder after two programs were compiled."""
    for dtype in (torch.bfloat16, torch.float32):
        x = ttnn.from_torch(torch.zeros(64, 64, dtype=dtype), layout=ttnn.TILE_LAYOUT, device=device)
        ttnn_jit.jit()(programs.cosh)(x)
    store_of(Environment.read()).close()
    return own_disk_cache


def answer(capsys, *arguments, status=0):
    assert main(["cache", *arguments, "--json"]) == status
    return json.loads(capsys.readouterr().out)


def damage(folder, name="program:%"):
    with closing(sqlite3.connect(folder / "cache.db")) as database, database:
        return database.execute("UPDATE Cache SET value = X'00' WHERE key LIKE ? RETURNING key", (name,)).fetchall()


def test_info_reports_folder_state_counts_and_bytes(filled, capsys):
    found = answer(capsys, "info")
    assert found["folder"] == str(filled)
    assert (found["state"], found["reason"], found["programs"]) == ("READY", "", 2)
    assert found["nbytes"] == ttnn_jit.cache_info().bytes
    assert main(["cache", "info"]) == 0
    printed = capsys.readouterr().out
    assert all(text in printed for text in (str(filled), "in use", "2 programs", "kB of at most 268.4 MB"))


def test_list_shows_every_program_with_its_function_tensors_size_and_time(filled, capsys):
    listed = answer(capsys, "list")["programs"]
    assert [program["function"] for program in listed] == ["cosh", "cosh"]
    specs = [f"([64, 64], {dtype}, TILE, dram, interleaved)" for dtype in ("bf16", "f32")]
    assert [program["inputs"] for program in listed] == [[spec] for spec in specs]
    assert all(program["nbytes"] > 1000 and program["stored_at"] > 1.7e9 for program in listed)
    assert main(["cache", "list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert lines[1].split()[2:5] == [f"{listed[0]['nbytes'] / 1000:.1f}", "kB", "cosh"]
    assert lines[1].endswith(f"cosh  {specs[0]}")
    assert lines[0].endswith(str(filled))


def test_a_damaged_program_is_listed_as_such(filled, capsys):
    damage(filled)
    assert [program["function"] for program in answer(capsys, "list")["programs"]] == [None, None]
    assert main(["cache", "list"]) == 0
    assert capsys.readouterr().out.count("cannot be read") == 2


def test_verify_names_what_is_damaged_with_status_one_and_removes_nothing(filled, capsys):
    sound = answer(capsys, "verify")
    assert sound["damaged"] == []
    names = {name for (name,) in damage(filled)}
    for _ in range(2):
        found = answer(capsys, "verify", status=1)
        assert {entry["name"] for entry in found["damaged"]} == names
        assert found["entries"] == sound["entries"]
    assert main(["cache", "verify"]) == 1
    printed = capsys.readouterr().out
    assert all(f"{name}: its checksum does not match" in printed for name in names)
    assert f"{found['entries']} entries, 2 damaged" in printed


def test_clear_prints_the_number_of_removed_entries(filled, capsys):
    before = answer(capsys, "info")
    assert main(["cache", "clear"]) == 0
    assert capsys.readouterr().out == (
        f"removed 2 programs and {before['others']} other entries, {before['nbytes'] / 1000:.1f} kB, from {filled}\n"
    )
    after = answer(capsys, "info")
    assert (after["programs"], after["others"], after["nbytes"]) == (0, 0, 0)
    assert answer(capsys, "clear")["removed"] == {"programs": 0, "others": 0, "nbytes": 0}


@pytest.mark.parametrize("command", COMMANDS)
def test_without_a_folder_every_command_reports_nothing_and_creates_nothing(command, own_disk_cache, capsys):
    assert main(["cache", command]) == 0
    assert str(own_disk_cache) in capsys.readouterr().out
    assert isinstance(answer(capsys, command), dict)
    assert not own_disk_cache.exists()


@pytest.mark.parametrize("command", COMMANDS)
def test_an_empty_folder_stays_empty(command, own_disk_cache, capsys):
    own_disk_cache.mkdir(mode=0o700)
    assert main(["cache", command]) == 0
    assert str(own_disk_cache) in capsys.readouterr().out
    assert list(own_disk_cache.iterdir()) == []


@pytest.mark.parametrize("command", ["list", "verify", "clear"])
@pytest.mark.parametrize(
    ("why", "text"), [("off", "TTNN_JIT_CACHE"), ("written", "chmod go-w"), ("file", "is not a folder")]
)
def test_an_unused_cache_is_an_error_with_the_reason(command, why, text, own_disk_cache, capsys, monkeypatch):
    match why:
        case "off":
            monkeypatch.setenv("TTNN_JIT_CACHE", "0")
        case "written":
            own_disk_cache.mkdir(mode=0o700)
            own_disk_cache.chmod(0o777)
        case _:
            own_disk_cache.write_text("")
    assert main(["cache", command]) == 1
    captured = capsys.readouterr()
    assert text in captured.err
    assert captured.err.count("not used") + captured.err.count("turned off") == 1
    assert captured.out == ""
    assert main(["cache", "info"]) == 0
    told = capsys.readouterr().out
    assert text in told
    assert told.count("not used") + told.count("turned off") == 1


def test_info_and_verify_report_a_file_that_is_no_database_and_clear_removes_it(filled, capsys):
    (filled / "cache.db").write_bytes(b"no database" * 1000)
    assert answer(capsys, "info")["state"] == "DAMAGED"
    (found,) = answer(capsys, "verify", status=1)["damaged"]
    assert found["name"] == "cache.db"
    assert main(["cache", "list"]) == 1
    assert "`ttnn-jit cache clear`" in capsys.readouterr().err
    assert main(["cache", "clear"]) == 0
    assert capsys.readouterr().out == f"removed a damaged database, 11.0 kB, from {filled}\n"
    assert answer(capsys, "info")["state"] in {"ABSENT", "READY"}


def test_clear_fails_while_another_process_holds_the_lock(filled, capsys, monkeypatch):
    monkeypatch.setattr("ttnn_jit.cache.disk.LOCK_TIMEOUT", 0.01)
    with closing(sqlite3.connect(filled / "cache.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert main(["cache", "clear"]) == 1
        assert "failed" in capsys.readouterr().err
        other.execute("ROLLBACK")
    assert answer(capsys, "info")["programs"] == 2


@pytest.mark.process
@pytest.mark.slow
def test_a_read_only_folder_is_read_and_not_cleared():
    script = """
    import locale, os, tempfile  # whoever may not read Python's own files has imported what argparse needs
    from pathlib import Path
    import diskcache
    import ttnn_jit.cache.bytes_disk
    import ttnn_jit.tools.cache
    from ttnn_jit.cache.disk import DiskStore
    from ttnn_jit.tools.cli import main
    with tempfile.TemporaryDirectory() as home:
        if os.geteuid() == 0:  # root may write anywhere
            os.chown(home, 65534, 65534), os.setegid(65534), os.seteuid(65534)
        folder = Path(home, "store")
        os.environ["TTNN_JIT_CACHE_DIR"] = str(folder)
        store = DiskStore(folder)
        store.set("program:a", b"code")
        store.close()
        for path in (*folder.iterdir(), folder):
            path.chmod(0o500)
        print(*(main(["cache", command]) for command in ("info", "list", "verify", "clear", "info")))
        folder.chmod(0o700)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
    )
    assert done.stdout.splitlines()[-1] == "0 0 0 1 0", done.stderr
    assert done.stdout.count("read-only") == 2
    assert done.stdout.count("1 program") == 3
    assert "is read-only" in done.stderr
    assert "Traceback" not in done.stderr


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_verify_shows_its_progress_on_a_terminal_and_erases_it(filled, monkeypatch):
    monkeypatch.setattr(progress, "INTERVAL", 0)
    with contextlib.redirect_stderr(Terminal()) as terminal:
        assert main(["cache", "verify"]) == 0
    shown = terminal.getvalue()
    assert "\rchecking: 1 of " in shown
    assert shown.endswith("\r")
    assert filled.exists()


def test_no_progress_is_shown_elsewhere(filled, capsys, monkeypatch):
    monkeypatch.setattr(progress, "INTERVAL", 0)
    for command in COMMANDS:
        assert main(["cache", command]) == 0
    assert capsys.readouterr().err == ""
    assert filled.exists()


def test_the_progress_yields_items_unchanged_and_is_erased_by_an_early_stop(monkeypatch):
    monkeypatch.setattr(progress, "INTERVAL", 0)
    with contextlib.redirect_stderr(Terminal()) as terminal:
        assert list(progress.with_progress(range(5), 5, "x")) == [0, 1, 2, 3, 4]
        shown = progress.with_progress("abc", 3, "x")
        assert [next(shown), next(shown)] == ["a", "b"]
        shown.close()
    assert terminal.getvalue().endswith("\rx: 1 of 3\r         \r")


def test_a_store_that_was_opened_sees_that_it_was_cleared(filled, capsys):
    with closing(DiskStore(filled)) as store:
        assert store.usage()[0] == 2
        assert main(["cache", "clear"]) == 0
        capsys.readouterr()
        assert store.usage() == (0, 0)
