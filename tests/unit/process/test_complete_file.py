"""Files are written completely or not at all (`process/complete_file.py`)."""

from __future__ import annotations

import itertools
import os
import random
import resource
import signal
import time
from contextlib import contextmanager

import pytest

from ttnn_jit.process.complete_file import check_writable, complete_file, write_complete

LONG = 1_000_000


@contextmanager
def little_room():
    """Limits files to a thousand bytes, including those of pytest, which may write none in the block."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def refused(path):
    with pytest.raises(OSError, match="Errno") as error:
        write_complete(path, [b"new" * 1000])
    return error.value


def test_an_error_about_a_full_disk_names_the_file_and_keeps_the_old_one(tmp_path):
    path = tmp_path / "weights"
    path.write_bytes(b"old")
    with little_room():
        error = refused(path)
    assert str(error).endswith(f": '{path}'")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_process_that_is_killed_leaves_the_old_file_or_the_new_one(tmp_path):
    """The writers are killed at random times, between parts and within them; the parts need many writes."""
    draw, path, seen = random.Random(7), tmp_path / "file", set()
    write_complete(path, [b"0" * LONG])
    for _ in range(20):
        child = os.fork()
        if not child:
            for number in itertools.count(1):
                write_complete(path, [str(number % 10).encode() * (LONG // 100)] * 100)
        time.sleep(draw.uniform(0.0, 0.01))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        found = path.read_bytes()
        assert len(found) == LONG
        assert len({*found}) == 1
        seen.add(found[:1])
    assert len(seen) > 1, "files were written"
    assert all(each == path or each.suffix == ".tmp" for each in tmp_path.iterdir())


def test_a_link_stays_a_link_to_the_file_that_is_written(tmp_path):
    file, link, dangling = tmp_path / "file", tmp_path / "link", tmp_path / "dangling"
    file.write_bytes(b"old")
    link.symlink_to("file")
    write_complete(link, [b"new"])
    assert link.is_symlink()
    assert file.read_bytes() == b"new"
    dangling.symlink_to("elsewhere")
    write_complete(dangling, [b"new"])
    assert (tmp_path / "elsewhere").read_bytes() == b"new"


def test_what_is_no_file_is_written_and_stays(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_complete(pipe, [b"new"])
    assert os.read(reader, 10) == b"new"
    os.close(reader)
    assert pipe.is_fifo()
    assert list(tmp_path.iterdir()) == [pipe]


def test_an_error_about_an_unwritable_path_names_the_users_path(tmp_path):
    folder, file = tmp_path / "folder", tmp_path / "file"
    folder.mkdir()
    file.touch()
    for path in (tmp_path / "missing" / "x", file / "x", folder):
        assert str(refused(path)).endswith(f": '{path}'")
    assert sorted(tmp_path.iterdir()) == [file, folder]


def test_a_path_is_checked_without_writing_it(tmp_path):
    folder, file, pipe, link = (tmp_path / name for name in ("folder", "file", "pipe", "link"))
    folder.mkdir()
    file.write_bytes(b"old")
    os.mkfifo(pipe)
    link.symlink_to("elsewhere")
    for path in (file, tmp_path / "new", pipe, link):
        check_writable(path)
    for path in (tmp_path / "missing" / "x", file / "x", folder):
        with pytest.raises(OSError, match="Errno") as error:
            check_writable(path)
        assert str(error.value).endswith(f": '{path}'")
    assert file.read_bytes() == b"old"
    assert sorted(tmp_path.iterdir()) == [file, folder, link, pipe]


def test_what_a_writer_makes_of_a_full_disk_is_the_error_of_the_disk(tmp_path):
    """torch's raises a RuntimeError of its own."""
    torch = pytest.importorskip("torch")
    path = tmp_path / "file"
    with little_room(), pytest.raises(OSError, match="File too large") as caught, complete_file(path) as file:
        torch.save([torch.ones(1 << 16)], file)
    assert caught.value.filename == str(path)
    assert list(tmp_path.iterdir()) == []
