"""Every template of these tests is compiled a second time, at the second size that it serves."""

import pytest


@pytest.fixture(autouse=True)
def checked_templates(monkeypatch):
    monkeypatch.setenv("TTNN_JIT_DEBUG", "1")
