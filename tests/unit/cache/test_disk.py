"""The disk store keeps its entries, trusts only the user's folders, and never breaks a call."""

from __future__ import annotations

import os
import pickle
import signal
import sqlite3
import subprocess
import sys
import textwrap
import threading
import warnings
from contextlib import closing
from pathlib import Path

import pytest

from tests.unit.cache.scripts import run
from ttnn_jit.cache import disk
from ttnn_jit.cache.bytes_disk import BytesDisk, UnreadableEntryError
from ttnn_jit.cache.disk import DiskStore, store_of
from ttnn_jit.specs.options import Environment


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "store"


@pytest.fixture
def store(folder):
    with closing(DiskStore(folder)) as opened:
        yield opened


def test_bytes_are_found_by_another_store_of_the_folder(store, folder):
    store.set("program:a", b"\0code")
    store.set("program:big", bytes(300_000))
    with closing(DiskStore(folder)) as other:
        assert other.get("program:a") == b"\0code"
        assert other.get("program:big") == bytes(300_000)
        assert other.get("program:b") is None


def test_nothing_is_created_before_the_first_store_or_look_up(store, folder):
    assert store.usage() == (0, 0)
    store.clear()
    assert not folder.exists()


def test_a_damaged_value_is_a_miss_and_removed(store, folder):
    store.set("program:a", b"some machine code")
    with closing(sqlite3.connect(folder / "cache.db")) as database, database:
        ((value,),) = database.execute("SELECT value FROM Cache").fetchall()
        damaged = value[:-1] + bytes([value[-1] ^ 1])
        database.execute("UPDATE Cache SET value = ?", (damaged,))
    assert store.get("program:a") is None
    assert store.usage() == (0, 0)


def test_an_interrupt_waits_until_a_connection_is_closed(store, monkeypatch):
    store.set("program:a", b"code")
    entries = store._open()
    close = entries.close

    def interrupted_close():
        entries._con.close()
        os.kill(os.getpid(), signal.SIGINT)
        close()

    monkeypatch.setattr(entries, "close", interrupted_close)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs of a shell ignore it
    with pytest.raises(KeyboardInterrupt):
        store.close()
    signal.signal(signal.SIGINT, before)
    monkeypatch.undo()
    assert store.get("program:a") == b"code"


def test_a_value_under_another_name_is_a_miss(store, folder):
    store.set("program:a", b"code of a")
    with closing(sqlite3.connect(folder / "cache.db")) as database, database:
        database.execute("UPDATE Cache SET key = 'program:b'")
    assert store.get("program:b") is None


class Bomb:
    def __reduce__(self):
        return (os.mkdir, ("exploded",))


def test_a_pickle_in_the_database_is_never_opened(store, folder, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    store.set("program:a", b"code")
    with closing(sqlite3.connect(folder / "cache.db")) as database, database:
        database.execute("UPDATE Cache SET mode = 4, value = ?", (pickle.dumps(Bomb()),))
    assert store.get("program:a") is None
    with closing(sqlite3.connect(folder / "cache.db")) as database, database:
        database.execute("UPDATE Cache SET mode = 4, value = NULL, filename = 'x.val'")
    (folder / "x.val").write_bytes(pickle.dumps(Bomb()))
    assert store.get("program:a") is None
    assert not Path("exploded").exists()


def test_only_text_keys_and_bytes_values_are_stored_and_returned(tmp_path):
    entries = BytesDisk(str(tmp_path))
    for key in (b"bytes", 1, ("tuple",)):
        with pytest.raises(TypeError, match="a key of the disk cache is a str"):
            entries.put(key)
    for value in ("text", 1, ["list"]):
        with pytest.raises(TypeError, match="a value of the disk cache is bytes"):
            entries.store(value, read=False)
    with pytest.raises(UnreadableEntryError):
        entries.get(pickle.dumps("key"), raw=False)
    with pytest.raises(UnreadableEntryError):
        entries.fetch(4, None, pickle.dumps("value"), read=False)


def test_an_entry_stored_with_an_update_exists_if_the_update_does(store):
    store.update("manifest:a", lambda _: b"names b", also_store={"program:b": b"code"})
    assert (store.get("manifest:a"), store.get("program:b")) == (b"names b", b"code")

    def fail(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.update("manifest:c", fail, also_store={"program:c": b"code"})
    assert (store.get("manifest:c"), store.get("program:c")) == (None, None)


def test_an_update_sees_the_current_value(store):
    store.update("manifest:a", lambda old: b"first" if old is None else b"wrong")
    store.update("manifest:a", lambda old: (old or b"") + b", second")
    assert store.get("manifest:a") == b"first, second"


def test_usage_counts_programs_and_all_bytes(store):
    store.set("program:a", bytes(1000))
    store.set("manifest:a", bytes(500))
    programs, stored = store.usage()
    assert programs == 1
    assert 1500 <= stored < 1700
    assert store.names("manifest:") == ["manifest:a"]
    store.clear()
    assert store.usage() == (0, 0)


@pytest.mark.slow
def test_the_size_is_bounded_by_evicting_the_oldest_entries(folder, monkeypatch):
    monkeypatch.setitem(disk.SETTINGS, "size_limit", 1 << 20)
    with closing(DiskStore(folder)) as store:
        for number in range(60):
            store.set(f"program:{number:03}", os.urandom(50_000))
        programs, stored = store.usage()
        assert 0 < stored < 1 << 20
        assert programs < 25
        assert store.get("program:059") is not None
        assert store.get("program:000") is None
    assert (folder / "cache.db").stat().st_size < 2 << 20


def test_a_database_of_garbage_is_replaced(folder):
    folder.mkdir(mode=0o700)
    (folder / "cache.db").write_bytes(b"not a database, " * 1000)
    with closing(DiskStore(folder)) as store:
        with pytest.warns(RuntimeWarning, match=r"is damaged and starts empty: (?!.*goes on without)"):
            store.set("program:a", b"code")
        store.set("program:a", b"code")
        assert store.get("program:a") == b"code"


def test_a_folder_that_vanishes_does_not_break_a_call(store, folder):
    store.set("program:a", b"code")
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        store.set("program:b", b"code")
        store.get("program:a")


def test_threads_share_a_store(store):
    failures = []

    def work(number):
        for step in range(10):
            store.set(f"program:{number}-{step}", bytes([number]) * 100)
            if store.get(f"program:{number}-{step}") != bytes([number]) * 100:
                failures.append((number, step))
        store.close()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert store.usage()[0] == 40


def test_the_environment_names_the_store_or_turns_it_off(folder, monkeypatch):
    monkeypatch.setenv("TTNN_JIT_CACHE_DIR", str(folder))
    store = store_of(Environment.read())
    assert store is not None
    assert store.directory == folder
    assert store_of(Environment.read()) is store
    monkeypatch.setenv("TTNN_JIT_CACHE", "0")
    assert store_of(Environment.read()) is None


WRITER = """
    import sys
    from pathlib import Path
    sys.path.insert(0, ".")
    from ttnn_jit.cache.disk import DiskStore
    store = DiskStore(Path(sys.argv[1]))
"""


@pytest.mark.process
@pytest.mark.slow
def test_processes_write_one_store_at_once(store, folder):
    script = (
        WRITER
        + """
    for step in range(20):
        store.set(f"program:{sys.argv[2]}-{step}", sys.argv[2].encode() * 3000)
        store.update("manifest:all", lambda old: (old or b"") + b"x")
    """
    )
    arguments = [sys.executable, "-W", "error", "-c", textwrap.dedent(script), str(folder)]
    workers = [subprocess.Popen([*arguments, str(n)], cwd=Path(disk.__file__).parents[2]) for n in range(3)]
    assert [worker.wait(timeout=60) for worker in workers] == [0, 0, 0]
    assert store.usage()[0] == 60
    assert store.get("program:2-19") == b"2" * 3000
    assert store.get("manifest:all") == b"x" * 60


@pytest.mark.process
@pytest.mark.slow
def test_a_writer_killed_in_the_middle_leaves_whole_entries(store, folder):
    script = (
        WRITER
        + """
    store.set("program:ready", b"code")
    print("ready", flush=True)
    step = 0
    while True:
        store.set(f"program:{step % 50}", bytes([step % 50]) * 200_000)
        step += 1
    """
    )
    command = [sys.executable, "-c", textwrap.dedent(script), str(folder)]
    for delay in (0.0, 0.03, 0.1):
        with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=Path(disk.__file__).parents[2]) as writer:
            writer.stdout.readline()
            threading.Event().wait(delay)
            writer.kill()
        assert store.get("program:ready") == b"code"
        for step in range(50):
            value = store.get(f"program:{step}")
            assert value is None or value == bytes([step]) * 200_000
    store.set("program:after", b"code")
    assert store.get("program:after") == b"code"


@pytest.mark.process
@pytest.mark.slow
def test_a_full_disk_is_reported_once_and_does_not_break_a_call(folder):
    script = (
        WRITER
        + """
    import resource, signal
    store.set("program:before", b"code")
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
    for step in range(5):
        store.set(f"program:{step}", bytes(400_000))
    print(store.get("program:before"), store.get("program:1"))
    """
    )
    done = run(script, folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "b'code' None\n"
    assert done.stderr.count("RuntimeWarning") == 1
    assert "goes on without it" in done.stderr


@pytest.mark.process
@pytest.mark.slow
def test_a_folder_that_cannot_be_written_does_not_break_a_call(folder):
    script = (
        WRITER
        + """
    import os, diskcache, ttnn_jit.cache.bytes_disk
    if os.geteuid() == 0:  # root may write anywhere
        os.setegid(65534), os.seteuid(65534)
    store.set("program:a", b"code")
    print(store.get("program:a"))
    """
    )
    folder.parent.chmod(0o555)
    done = run(script, folder)
    folder.parent.chmod(0o755)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "None\n"
    assert "RuntimeWarning" in done.stderr


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.parametrize("writer", ["closed", "killed"])  # a killed process leaves SQLite's log behind
def test_a_read_only_folder_is_read_and_reported_once_when_an_entry_would_be_stored(writer):
    script = """
    import os, sys, tempfile
    from pathlib import Path
    import diskcache, ttnn_jit.cache.bytes_disk, ttnn_jit.cache.read_only
    from ttnn_jit.cache.disk import DiskStore
    with tempfile.TemporaryDirectory() as home:
        if os.geteuid() == 0:  # root may write anywhere
            os.chown(home, 65534, 65534), os.setegid(65534), os.seteuid(65534)
        folder = Path(home, "a store#?")
        before = DiskStore(folder)
        before.set("program:a", b"code")
        before.set("manifest:b", b"{}")
        if sys.argv[1] == "closed":
            before.close()
        assert Path(folder, "cache.db-wal").exists() == (sys.argv[1] == "killed")
        for path in (*folder.iterdir(), folder):
            path.chmod(0o500)
        store = DiskStore(folder)
        print(store.get("program:a"), store.get("program:b"), store.names("manifest:"), store.usage()[0], flush=True)
        os.write(2, b"READ\\n")
        store.set("program:c", b"code")
        store.update("manifest:b", lambda before: before + b"{}")
        store.clear()
        print(store.get("program:a"), store.get("program:c"), store.get("manifest:b"))
        folder.chmod(0o700)
    """
    done = run(script, writer)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "b'code' None ['manifest:b'] 1\nb'code' None b'{}'\n"
    while_reading, while_writing = done.stderr.split("READ\n")
    assert "Warning" not in while_reading
    assert while_writing.count("Warning: ") == 1
    assert "is read-only: what it holds is used, nothing is kept or removed" in while_writing
