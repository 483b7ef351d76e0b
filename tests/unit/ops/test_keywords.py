"""Keywords that choose a declaration, keywords of several names, and formulas that chip targets have of their own."""

from __future__ import annotations

import pytest
import torch

import ttnn_jit
from ttnn_jit import ttnn
from ttnn_jit.errors import ArgumentError
from ttnn_jit.ops import OVERLOADS, bind
from ttnn_jit.target import Numerics


def bound(name, *args, **kwargs):
    return bind(OVERLOADS[name], args, kwargs, lambda value: value == "tensor")


def test_a_keyword_chooses_among_declarations_of_one_name():
    assert bound("gelu", "tensor").operation.ttnn_name == "gelu"
    assert bound("gelu", "tensor", approximate="none").operation.ttnn_name == "gelu"
    assert bound("gelu", "tensor", approximate="tanh").operation.ttnn_name == "gelu_tanh"


def test_a_value_that_no_declaration_has_is_named():
    with pytest.raises(ArgumentError, match="no form for approximate='cubic'"):
        bound("gelu", "tensor", approximate="cubic")


def test_an_attribute_answers_to_the_names_of_all_versions():
    for keyword in ("slope", "negative_slope"):
        assert bound("leaky_relu", "tensor", **{keyword: 0.25}).attributes == (0.25,)


def test_both_forms_of_gelu_run_in_one_jitted_function():
    x = torch.linspace(-3, 3, 64)
    function = ttnn_jit.jit(enable_cache=False)(lambda x: ttnn.subtract(ttnn.gelu(x), ttnn.gelu(x, approximate="tanh")))
    expected = torch.nn.functional.gelu(x) - torch.nn.functional.gelu(x, approximate="tanh")
    torch.testing.assert_close(function(x), expected, atol=1e-6, rtol=0)


def test_a_chip_target_has_ttnn_s_digamma_and_says_so(device):
    x = torch.linspace(2.0, 6.0, 1024).reshape(32, 32)
    on_device = ttnn.from_torch(x, layout=ttnn.TILE_LAYOUT, device=device)
    got = ttnn.digamma(on_device).to_torch()
    distance = (got - torch.digamma(x)).abs()
    assert (distance <= 1 / (6 * x**2)).all()
    assert distance.max() > 0.03
    assert "1/(6 x**2)" in ttnn.digamma.__doc__
    (operation,) = OVERLOADS["digamma"]
    assert operation.tile_body(Numerics.DEVICE) is not operation.tile_body(Numerics.IEEE)
