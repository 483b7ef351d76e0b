"""Introspection of the package and its decorator shows public names and no more."""

from __future__ import annotations

import inspect

import ttnn_jit


def test_dir_of_the_package_lists_public_names_only():
    shown = {name for name in dir(ttnn_jit) if not name.startswith("__")}
    assert shown == {*ttnn_jit.__all__, "testing", "ttnn"} - {"__version__"}


def test_every_option_in_the_decorators_signature_exists():
    parameters = inspect.signature(ttnn_jit.jit).parameters.values()
    assert not [each for each in parameters if each.kind is inspect.Parameter.VAR_KEYWORD]
    assert "**" not in inspect.getdoc(ttnn_jit.jit)
