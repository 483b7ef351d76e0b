"""Long compiles and conversions say on a terminal how far they are; nothing is said elsewhere, nor of short ones."""

from __future__ import annotations

import contextlib
import io

import pytest
import torch

import ttnn_jit
from ttnn_jit import ttnn
from ttnn_jit.process import progress
from ttnn_jit.ttnn.model_preprocessing import preprocess_model_parameters


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def work(cpu_device):
    """A compile, and a conversion."""
    x = ttnn.from_torch(torch.randn(32, 32), layout=ttnn.TILE_LAYOUT, device=cpu_device)
    model = torch.nn.Sequential(torch.nn.Linear(32, 32), torch.nn.Linear(32, 32))

    def run(number):
        ttnn_jit.jit(enable_cache=False)(lambda x: ttnn.exp(x) @ x + number)(x)
        preprocess_model_parameters(initialize_model=lambda: model, device=cpu_device)

    return run


def test_what_takes_long_is_counted_on_a_terminal_and_wiped_off(work, monkeypatch):
    monkeypatch.setattr(progress, "INTERVAL", -10)  # as if every item took seconds
    with contextlib.redirect_stderr(Terminal()) as terminal:
        work(1.25)
    for what in ("compiling, passes: 3 of ", "compiling, launches: 1 of ", "converting modules: 2 of 3"):
        assert f"\r{what}" in terminal.getvalue()
    assert terminal.getvalue().endswith(" \r")


def test_what_is_short_or_not_on_a_terminal_is_silent(work, monkeypatch, capsys):
    with contextlib.redirect_stderr(Terminal()) as terminal:
        progress_of_nothing = list(progress.with_progress(range(3), 3, "x", after=progress.SHOW_AFTER))
    assert (terminal.getvalue(), progress_of_nothing) == ("", [0, 1, 2])
    monkeypatch.setattr(progress, "INTERVAL", -10)
    work(2.25)
    assert capsys.readouterr().err == ""
