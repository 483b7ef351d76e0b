"""The folder of the disk cache must be the user's, or one that nobody else could have written to."""

from __future__ import annotations

import os
import sqlite3
import tempfile
import warnings
from contextlib import closing
from pathlib import Path

import pytest

from tests.unit.cache.scripts import run
from ttnn_jit.cache.disk import DiskStore


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "store"


@pytest.fixture
def store(folder):
    with closing(DiskStore(folder)) as opened:
        yield opened


def test_the_folder_is_the_users_alone(store, folder):
    store.set("program:a", b"code")
    assert folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("mode", [0o777, 0o775, 0o770])
def test_a_folder_that_others_may_write_to_is_not_used(folder, mode):
    folder.mkdir()
    folder.chmod(mode)
    with closing(DiskStore(folder)) as store:
        with pytest.warns(RuntimeWarning, match=rf"others may write to .*{mode:04o}.*chmod go-w.*goes on without it"):
            store.set("program:a", b"code")
        assert store.get("program:a") is None  # and no second warning
        assert store.usage() == (0, 0)
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("mode", [0o755, 0o750, 0o711])
def test_a_folder_that_others_may_enter_but_not_write_to_is_used_with_the_mode_of_mkdir(folder, mode):
    folder.mkdir()
    folder.chmod(mode)
    before = os.umask(0)
    try:
        with closing(DiskStore(folder)) as store:
            store.set("program:a", b"code")
            assert store.get("program:a") == b"code"
            assert not any(file.stat().st_mode & 0o022 for file in folder.iterdir())
    finally:
        os.umask(before)


@pytest.mark.parametrize("suffix", ["", "-wal", "-shm"])
def test_a_file_that_others_may_write_to_is_not_opened_in_a_folder_of_the_users(store, folder, suffix):
    store.set("program:a", b"code")
    store.close()
    folder.chmod(0o755)
    (folder / f"cache.db{suffix}").touch()
    (folder / f"cache.db{suffix}").chmod(0o666)
    with closing(DiskStore(folder)) as other, pytest.warns(RuntimeWarning, match="others may write to .*cache.db"):
        assert other.get("program:a") is None


def test_a_folder_of_somebody_else_is_not_used(folder, monkeypatch):
    folder.mkdir(mode=0o700)
    if os.geteuid() == 0:
        os.chown(folder, 12345, -1)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: folder.stat().st_uid + 1)
    with closing(DiskStore(folder)) as store, pytest.warns(RuntimeWarning, match="belongs to user"):
        assert store.get("program:a") is None


def test_a_file_in_the_folders_place_is_reported_once(folder):
    folder.write_text("")
    with closing(DiskStore(folder)) as store:
        with pytest.warns(RuntimeWarning, match="failed: .*File exists"):
            store.set("program:a", b"code")
        assert store.get("program:a") is None


def test_a_folder_that_cannot_be_read_counts_as_empty(tmp_path):
    store = DiskStore(tmp_path / ("n" * 300))
    assert store.usage() == (0, 0)
    store.clear()


@pytest.mark.parametrize(("mode", "uses"), [(0o777, False), (0o1777, True), (0o775, False), (0o755, True)])
def test_a_folder_in_one_that_others_may_write_to_is_used_only_if_they_cannot_replace_it(tmp_path, mode, uses):
    parent = tmp_path / "parent"
    (parent / "between").mkdir(parents=True)
    if os.geteuid() == 0:
        os.chown(parent, 0, 12345)  # a group with other members
    elif mode == 0o775:
        pytest.skip("the user's group may be the user's alone")
    parent.chmod(mode)
    with closing(DiskStore(parent / "between" / "store")) as store, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        store.set("program:a", b"code")
        assert store.get("program:a") == (b"code" if uses else None)
    assert [f"others may put another folder in {parent}" in str(warning.message) for warning in caught] == [True] * (
        not uses
    )


def test_a_replaced_folder_is_checked_again(store, folder, tmp_path):
    store.set("program:a", b"code")
    folder.rename(tmp_path / "elsewhere")
    folder.mkdir(mode=0o700)
    assert store.get("program:a") is None
    store.set("program:b", b"code")
    assert store.get("program:b") == b"code"
    folder.rename(tmp_path / "elsewhere, too")
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.warns(RuntimeWarning, match="others may write"):
        assert store.get("program:b") is None
    assert list(folder.iterdir()) == []


def test_a_link_to_a_folder_is_treated_as_its_target(tmp_path):
    (tmp_path / "own").mkdir(mode=0o700)
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    for name in ("own", "open"):
        (tmp_path / f"to {name}").symlink_to(tmp_path / name)
    with closing(DiskStore(tmp_path / "to own")) as store:
        store.set("program:a", b"code")
        assert store.get("program:a") == b"code"
    with closing(DiskStore(tmp_path / "to open")) as store, pytest.warns(RuntimeWarning, match="others may write"):
        store.set("program:a", b"code")


READER = """
    import os, sys
    from pathlib import Path
    import diskcache, ttnn_jit.cache.bytes_disk, ttnn_jit.cache.read_only
    from ttnn_jit.cache.disk import DiskStore
    os.setgroups([]), os.setegid(65534), os.seteuid(65534)
    store = DiskStore(Path(sys.argv[1]))
    print(store.get("program:a"), store.names("program:"))
"""


AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be two users")


@pytest.fixture
def shared():
    """A warm cache that all may read, in a folder that all may enter: pytest's own folders are private."""
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home, "store")
        with closing(DiskStore(folder)) as store:
            store.set("program:a", b"code")
        with closing(sqlite3.connect(folder / "cache.db")) as database:
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        for file in folder.iterdir():
            file.chmod(0o444)
        Path(home).chmod(0o755)
        folder.chmod(0o755)
        yield folder
        folder.chmod(0o700)


@AS_ROOT
@pytest.mark.process
@pytest.mark.parametrize(("mode", "owner"), [(0o555, 0), (0o755, 0), (0o555, 65534), (0o500, 65534)])
def test_a_warm_cache_that_only_root_or_nobody_may_write_is_read_by_another_user(shared, mode, owner):
    os.chown(shared, owner, -1)
    shared.chmod(mode)
    done = run(READER, shared)
    assert (done.stdout, done.stderr) == ("b'code' ['program:a']\n", "")


@AS_ROOT
@pytest.mark.process
@pytest.mark.parametrize(
    ("mode", "owner", "reason"),
    [
        (0o555, 12345, "belongs to user 12345"),
        (0o777, 0, "belongs to user 0"),
        (0o775, 0, "belongs to user 0"),
        (0o700, 0, "Permission denied"),
        (0o775, 65534, "others may write"),
    ],
)
def test_a_cache_that_others_may_have_written_is_not_read(shared, mode, owner, reason):
    os.chown(shared, owner, -1)
    shared.chmod(mode)
    done = run(READER, shared)
    assert done.stdout == "None []\n"
    assert reason in done.stderr


@AS_ROOT
@pytest.mark.process
@pytest.mark.parametrize("damage", ["writable", "foreign", "link"])
def test_a_file_in_a_shared_cache_that_others_may_write_is_not_read(shared, damage):
    database = shared / "cache.db"
    match damage:
        case "writable":
            database.chmod(0o666)
        case "foreign":
            os.chown(database, 12345, -1)
        case "link":
            database.rename(shared.parent / "elsewhere.db")
            database.symlink_to(shared.parent / "elsewhere.db")
    shared.chmod(0o555)
    done = run(READER, shared)
    assert done.stdout == "None []\n"
    assert "others may write to" in done.stderr


def test_a_folder_that_nobody_may_write_is_read_by_its_owner(shared):
    shared.chmod(0o555)
    with closing(DiskStore(shared)) as store:
        assert store.get("program:a") == b"code"
        with pytest.warns(RuntimeWarning, match="is read-only"):
            store.set("program:b", b"code")


def test_a_damaged_cache_that_is_read_only_is_left_as_it_is(shared):
    (shared / "cache.db").chmod(0o600)
    (shared / "cache.db").write_bytes(b"not a database, " * 1000)
    shared.chmod(0o555)
    with closing(DiskStore(shared)) as store:
        with pytest.warns(RuntimeWarning, match="is damaged: .*goes on without it"):
            assert store.get("program:a") is None
        assert store.get("program:a") is None
    assert (shared / "cache.db").exists()
