"""The content of a cache folder is reported, damage included, and not changed."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ttnn_jit.cache.contents import Damage, State, checked, contents_of, stored_programs
from ttnn_jit.cache.disk import DiskStore
from ttnn_jit.specs.options import Environment, OutputLayout


@pytest.fixture
def folder(own_disk_cache):
    """The environment's cache folder, with three entries."""
    with closing(DiskStore(own_disk_cache)) as store:
        for name, value in {"program:a": b"code of a", "manifest:a": b"{}", "code:c": bytes(100)}.items():
            store.set(name, value)
    return own_disk_cache


def look():
    return contents_of(Environment.read())


def damages(folder):
    return [damage for damage in checked(folder) if damage]


def change(folder, sql, *values):
    with closing(sqlite3.connect(folder / "cache.db")) as database, database:
        database.execute(sql, values)


def test_a_missing_folder_is_not_created(own_disk_cache):
    assert look().state is State.ABSENT
    assert not own_disk_cache.exists()
    own_disk_cache.mkdir(mode=0o700)
    assert look().state is State.ABSENT
    assert list(own_disk_cache.iterdir()) == []


def test_a_missing_folder_that_the_user_may_not_create_is_refused_with_the_reason(monkeypatch):
    user = os.geteuid()
    with tempfile.TemporaryDirectory() as home:
        Path(home).chmod(0o555)
        monkeypatch.setenv("TTNN_JIT_CACHE_DIR", f"{home}/.cache/programs")
        if user == 0:
            os.seteuid(65534)  # root may write everywhere
        try:
            contents = look()
        finally:
            os.seteuid(user)
        Path(home).chmod(0o755)
        assert contents.state is State.REFUSED
        assert contents.reason.endswith(f"programs does not exist, and this user may not write to {home}")


def test_a_disabled_cache_has_no_folder(monkeypatch):
    monkeypatch.setenv("TTNN_JIT_CACHE", "0")
    assert look().state is State.OFF


def test_entries_are_counted_and_verified(folder):
    contents = look()
    assert (contents.state, contents.programs, contents.others) == (State.READY, 1, 2)
    assert contents.nbytes > 100
    assert len(list(checked(folder))) == 3
    assert damages(folder) == []


def test_a_folder_that_others_may_write_to_is_refused_with_the_reason(folder):
    folder.chmod(0o777)
    assert look().state is State.REFUSED
    assert "others may write to" in look().reason


def test_a_file_in_the_place_of_the_folder_or_its_parent_is_refused(own_disk_cache, monkeypatch):
    own_disk_cache.write_text("")
    assert look().state is State.REFUSED
    monkeypatch.setenv("TTNN_JIT_CACHE_DIR", str(own_disk_cache / "below"))
    assert look().state is State.REFUSED


@pytest.mark.parametrize("text", [b"", b"no database", bytes(100_000)])
def test_a_file_that_is_no_database_is_damage_and_stays(folder, text):
    (folder / "cache.db").write_bytes(text)
    assert look().state is State.DAMAGED
    with pytest.raises(sqlite3.Error):
        damages(folder)
    assert (folder / "cache.db").read_bytes() == text


@pytest.mark.parametrize(
    ("sql", "values", "found"),
    [
        ("UPDATE Cache SET value = ? WHERE key = 'code:c'", [b"x"], Damage("code:c", "its checksum does not match")),
        ("UPDATE Cache SET key = 'code:d' WHERE key = 'code:c'", [], Damage("code:d", "its checksum does not match")),
        ("UPDATE Cache SET value = NULL WHERE key = 'code:c'", [], Damage("code:c", "its value is not plain bytes")),
        ("UPDATE Cache SET value = 'text' WHERE key = 'code:c'", [], Damage("code:c", "its value is not plain bytes")),
        ("UPDATE Cache SET mode = 4 WHERE key = 'code:c'", [], Damage("code:c", "its value is not plain bytes")),
        ("UPDATE Cache SET filename = 'x' WHERE key = 'code:c'", [], Damage("code:c", "its value is not plain bytes")),
        ("UPDATE Cache SET raw = 0 WHERE key = 'code:c'", [], Damage("code:c", "its name is not text")),
        ("UPDATE Cache SET key = ? WHERE key = 'code:c'", [b"\xff"], Damage("\\xff", "its name is not text")),
        ("UPDATE Cache SET key = NULL WHERE key = 'code:c'", [], Damage("", "its name is not text")),
        (
            "UPDATE Cache SET key = CAST(? AS TEXT) WHERE key = 'code:c'",
            [b"\xff"],
            Damage("\\xff", "its checksum does not match"),
        ),
    ],
)
def test_every_kind_of_damage_to_an_entry_is_named_and_kept(folder, sql, values, found):
    change(folder, sql, *values)
    assert damages(folder) == [found]
    assert damages(folder) == [found]
    assert look().state is State.READY


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    """A private folder with one program in it, and the bytes of its database."""
    folder = tmp_path_factory.mktemp("store")
    folder.chmod(0o700)
    with closing(DiskStore(folder)) as store:
        store.set("program:a", b"code of a")
    return folder, (folder / "cache.db").read_bytes()


@given(data=st.data())
def test_a_database_with_changed_bytes_is_verified_or_reported_as_damaged_and_kept(database, data):
    folder, sound = database
    content = bytearray(sound)
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    (folder / "cache.db").write_bytes(content)
    environment = Environment(True, folder, None, OutputLayout.FIRST_OPERAND)
    assert contents_of(environment).state in {State.READY, State.DAMAGED}
    for function in (checked, stored_programs):
        with contextlib.suppress(sqlite3.Error):
            list(function(folder))
    assert (folder / "cache.db").read_bytes() == content


def test_a_program_that_cannot_be_read_is_listed_without_its_description(folder):
    (program,) = stored_programs(folder)
    assert (program.key, program.function, program.inputs) == ("a", None, ())


def test_reading_leaves_no_file_behind(folder):
    before = sorted(path.name for path in folder.iterdir())
    look(), damages(folder), list(stored_programs(folder))
    assert sorted(path.name for path in folder.iterdir()) == before == ["cache.db"]


def test_entries_that_another_process_is_still_writing_are_seen(own_disk_cache: Path):
    with closing(DiskStore(own_disk_cache)) as store:
        store.set("program:a", b"code of a")
        assert (own_disk_cache / "cache.db-wal").exists()
        assert look().programs == 1
        store.set("program:b", b"code of b")
        assert look().programs == 2
        assert damages(own_disk_cache) == []
