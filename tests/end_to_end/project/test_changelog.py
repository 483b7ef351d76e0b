"""CHANGELOG.md has its declared format, and its latest release is the package's version."""

from __future__ import annotations

import re
from pathlib import Path

import ttnn_jit

TEXT = (Path(__file__).parents[3] / "CHANGELOG.md").read_text()
KINDS = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def test_the_latest_release_is_the_packages_version():
    first, second, *_ = re.findall(r"^## (.*)$", TEXT, re.MULTILINE)
    assert first == "[Unreleased]"
    assert re.fullmatch(rf"\[{re.escape(ttnn_jit.__version__)}\] - \d{{4}}-\d\d-\d\d", second)


def test_every_section_names_the_kind_of_its_changes_once():
    for release in re.split(r"^## ", TEXT, flags=re.MULTILINE)[1:]:
        kinds = re.findall(r"^### (.*)$", release, re.MULTILINE)
        assert set(kinds) <= KINDS
        assert len(kinds) == len(set(kinds))
