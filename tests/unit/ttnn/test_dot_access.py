"""Dicts whose items are attributes."""

from __future__ import annotations

import pytest

from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.ttnn.dot_access import DotAccessDict, make_dot_access_dict


class Kept(dict):
    pass


def test_items_are_attributes_in_nested_dicts_too():
    made = make_dot_access_dict({"a": {"b": 3}, "kept": Kept(c=1), 4: "four"}, ignore_types=(Kept,))
    assert (made.a.b, made["a"]["b"], made[4]) == (3, 3, "four")
    assert type(made.a) is DotAccessDict is ttnn.dot_access.DotAccessDict
    assert type(made.kept) is Kept
    made.d = 5
    del made.a
    assert dict(made) == {"kept": {"c": 1}, 4: "four", "d": 5}
    with pytest.raises(AttributeError, match="there is no item `a`; there are `kept`, `4`, `d`"):
        _ = made.a


def test_an_argument_that_is_no_dict_is_refused():
    with pytest.raises(ArgumentError, match="`dictionary` of make_dot_access_dict must be a Mapping, got 3"):
        make_dot_access_dict(3)
