"""The page docs/kernel_level.md shows what its commands print."""

from __future__ import annotations

import re
from pathlib import Path

from ttnn_jit.tools.cli import main

PAGE = Path(__file__).parents[3] / "docs" / "kernel_level.md"


def test_the_commands_of_the_page_run_a_program_and_a_damaged_one(tmp_path, monkeypatch, capsys):
    blocks = re.findall(r"```(\w+)\n(.*?)```", PAGE.read_text(), flags=re.DOTALL)
    (python,) = [text for language, text in blocks if language == "python"]
    shown = [text for language, text in blocks if language == "text"][-1]
    names = {}
    monkeypatch.chdir(tmp_path)
    exec(compile(python, "page", "exec"), names)
    capsys.readouterr()
    Path("added.mlir").write_text(names["text"])
    assert main(["run", "added.mlir"]) == 0
    assert main(["run", "--interpret", "added.mlir"]) == 0
    broken = [line for line in names["text"].splitlines(keepends=True) if "cb_push_back" not in line]
    Path("broken.mlir").write_text("".join(broken))
    capsys.readouterr()
    assert main(["run", "broken.mlir"]) == 1
    printed = capsys.readouterr().err
    for line in shown.splitlines():
        assert line in printed
    assert "stands" not in printed


def test_what_takes_a_program_of_tensors_refuses_one_of_kernels(tmp_path, capsys):
    file = tmp_path / "kernels.mlir"
    file.write_text("module {\n  ttkernel.tile_regs_acquire() : () -> ()\n}\n")
    assert main(["run", "--golden", str(file)]) == 1
    assert "--golden takes no module of kernels" in capsys.readouterr().err
