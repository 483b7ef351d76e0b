"""The fixture of tests whose templates are all compiled a second time, at the second size that they serve."""

import pytest


@pytest.fixture(autouse=True)
def checked_templates(monkeypatch):
    monkeypatch.setenv("TTNN_JIT_DEBUG", "1")
