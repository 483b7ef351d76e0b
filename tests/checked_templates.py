"""The fixture of tests whose templates are all compiled a second time, at the second size that they serve."""

import pytest

from ttnn_jit.compiler import driver


@pytest.fixture(autouse=True)
def checked_templates(monkeypatch):
    """Compiles keep no module for a reproducer, and share equal kernels."""
    monkeypatch.setenv("TTNN_JIT_DEBUG", "1")
    monkeypatch.setattr(driver, "_reproducers", lambda: None)
