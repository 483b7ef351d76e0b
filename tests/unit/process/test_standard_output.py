"""Standard output: all of it is written, or an error says that it is not, and nothing is left to the interpreter."""

import errno
import io
import os
import re
import sys
from pathlib import Path

import pytest

from ttnn_jit.process.standard_output import complete_output, write_output
from ttnn_jit.tools.cli import main, opt_main

FULL = Path("/dev/full")
TEXT = "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n  return %x : tensor<4xf32>\n}\n"


class ShortWrites(io.RawIOBase):
    """A disk of `size` bytes that takes three at a time."""

    def __init__(self, size=1 << 20):
        self.size, self.data = size, b""

    def writable(self):
        return True

    def write(self, data):
        taken = bytes(data)[: min(3, self.size - len(self.data))]
        if not taken:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self.data += taken
        return len(taken)


@pytest.mark.parametrize("data", ["ein Wört\n" * 9, b"bytes" * 9])
def test_what_one_write_leaves_is_written_by_the_next(data, monkeypatch):
    raw = ShortWrites()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="utf-8", write_through=True))
    write_output(data)
    assert raw.data == (data if isinstance(data, bytes) else data.encode())


def test_a_disk_that_gets_full_is_an_error_although_a_part_was_written(monkeypatch):
    raw = ShortWrites(size=7)
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="utf-8", write_through=True))
    with pytest.raises(OSError, match="No space left") as caught:
        write_output("0123456789")
    assert caught.value.filename == "standard output"
    assert raw.data == b"0123456"


def test_a_closed_output_is_an_error(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    with complete_output():
        pass  # nothing is printed where nothing is open
    with pytest.raises(OSError, match="standard output"):
        write_output("x")


@pytest.mark.skipif(not FULL.exists(), reason="Linux has it")
@pytest.mark.parametrize("command", ["opt", "env", "query", "names"])
def test_a_command_reports_what_the_disk_does_not_take_and_leaves_nothing_to_the_interpreter(
    command, tmp_path, monkeypatch, capsys
):
    file = tmp_path / "text.mlir"
    file.write_text(TEXT)
    with FULL.open("w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        assert (opt_main([str(file)]) if command == "opt" else main([command])) == 1
        full.flush()  # as at the exit: what was left went to nowhere
    assert re.fullmatch(r"error: .*No space left on device\n", capsys.readouterr().err)


def test_a_reader_that_exits_ends_a_command_without_a_word(tmp_path, monkeypatch):
    file = tmp_path / "text.mlir"
    file.write_text(TEXT)
    said = io.StringIO()
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as pipe:
        monkeypatch.setattr(sys, "stdout", pipe)
        monkeypatch.setattr(sys, "stderr", said)
        monkeypatch.setattr(said, "close", lambda: None)
        assert opt_main([str(file)]) == 1
        pipe.flush()
    assert said.getvalue() == ""
