"""What Python shows of the package and its decorator: what users write, and no more."""

from __future__ import annotations

import inspect

import ttnn_jit


def test_the_package_shows_what_is_public_and_none_of_its_rooms():
    shown = {name for name in dir(ttnn_jit) if not name.startswith("__")}
    assert shown == {*ttnn_jit.__all__, "testing", "ttnn"} - {"__version__"}


def test_the_decorator_shows_no_option_that_there_is_not():
    parameters = inspect.signature(ttnn_jit.jit).parameters.values()
    assert not [each for each in parameters if each.kind is inspect.Parameter.VAR_KEYWORD]
    assert "**" not in inspect.getdoc(ttnn_jit.jit)
