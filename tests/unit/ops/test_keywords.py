"""Keywords that select a declaration, keywords with several names, and formulas for chip targets."""

from __future__ import annotations

from fractions import Fraction

import pytest
import torch

import ttnn_jit
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import ArgumentError, CompileError
from ttnn_jit.ops import OVERLOADS, bind
from ttnn_jit.specs.tensor_spec import DataType


def bound(name, *args, **kwargs):
    return bind(OVERLOADS[name], args, kwargs, {"tensor": DataType.FLOAT32, "short": DataType.BFLOAT16}.get)


def test_a_keyword_selects_among_declarations_of_one_name():
    assert bound("gelu", "tensor").operation.ttnn_name == "gelu"
    assert bound("gelu", "tensor", approximate="none").operation.ttnn_name == "gelu"
    assert bound("gelu", "tensor", approximate="tanh").operation.ttnn_name == "gelu_tanh"


def test_a_value_that_no_declaration_has_is_named():
    with pytest.raises(ArgumentError, match="does not support approximate='cubic'"):
        bound("gelu", "tensor", approximate="cubic")


def test_an_attribute_accepts_the_names_of_all_versions():
    for keyword in ("slope", "negative_slope"):
        assert bound("leaky_relu", "tensor", **{keyword: 0.25}).attributes == (0.25,)


def test_an_operand_accepts_the_names_of_all_versions():
    assert bound("pow", input_tensor="tensor", exponent=2).operands == ("tensor", 2.0)
    assert bound("prelu", input_tensor="tensor", weight=0.5).operands == ("tensor", 0.5)


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [
        ((2, -1), {}),
        ((2,), {"dim2": -1}),
        ((2,), {"dim1": -1}),
        ((), {"dim1": 2, "dim2": -1}),
        ((), {"dim2": -1, "dim1": 2}),
        ((), {"dim0": 2, "dim1": -1}),
        ((), {"dim1": -1, "dim0": 2}),
    ],
)
def test_an_ambiguous_keyword_is_resolved_by_the_other_keywords(args, kwargs):
    """ttnn counts the dimensions of a transpose from 1, torch and the IR from 0."""
    assert bound("transpose", "tensor", *args, **kwargs).attributes == (2, -1)
    assert {*OVERLOADS["transpose"][0].parameter_names} == {"input_tensor", "dim1", "dim2"}


@pytest.mark.parametrize(
    ("args", "kwargs", "error"),
    [
        ((), {"dim1": 0}, "lacks its argument `dim2`"),
        ((), {"dim0": 0}, "lacks its argument `dim2`"),
        ((0, 1), {"dim1": 1}, "got two values for `dim1`"),
        ((0, 1), {"dim2": 1}, "got two values for `dim2`"),
        ((), {"dim0": 0, "dim1": 1, "dim2": 1}, "got two values for `dim1`"),
        ((0,), {"dim0": 0}, "got two values for `dim1`"),
        ((0,), {"dim3": 0}, "has no argument `dim3`"),
    ],
)
def test_too_many_keywords_for_one_parameter_are_refused(args, kwargs, error):
    with pytest.raises(ArgumentError, match=error):
        bound("transpose", "tensor", *args, **kwargs)


def test_the_largest_number_is_that_of_the_dtype():
    assert bound("nan_to_num", "tensor").attributes == (0.0, 3.4028234663852886e38, -3.4028234663852886e38)
    assert bound("nan_to_num", "short").attributes == (0.0, 3.3895313892515355e38, -3.3895313892515355e38)
    assert bound("nan_to_num", "short", nan=1, posinf=2.0, neginf=-2).attributes == (1.0, 2.0, -2.0)


@pytest.mark.parametrize("decimals", [11, -11, 1.5])
def test_decimals_that_float32_has_no_power_of_ten_for_are_refused(decimals):
    with pytest.raises(ArgumentError, match="`decimals` of `round` must be an integer from -10 to 10"):
        bound("round", "tensor", decimals=decimals)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_nan_to_num_without_bounds_is_torchs(device, cpu_device, dtype):
    x = torch.tensor([torch.inf, -torch.inf, torch.nan, -0.0, 1.5]).to(dtype)
    for each_device in (device, cpu_device):
        got = ttnn.nan_to_num(ttnn.from_torch(x, layout=ttnn.TILE_LAYOUT, device=each_device)).to_torch()
        assert torch.equal(got, torch.nan_to_num(x))
    assert torch.equal(ttnn_jit.jit(lambda x: ttnn.nan_to_num(x))(x), torch.nan_to_num(x))


@pytest.mark.parametrize("decimals", [0, 1, 2, 5, 10, -1, -3])
def test_round_takes_decimals_and_ties_are_judged_on_the_exact_value(decimals):
    torch.manual_seed(0)
    x = torch.cat([torch.randn(4000) * 1000, torch.arange(-500, 500) / 8, torch.tensor([2.675, -0.0, 1e30, torch.inf])])
    got = ttnn_jit.jit(lambda x: ttnn.round(x, decimals=decimals))(x)
    exact = torch.tensor([float(round(Fraction(v), decimals)) if abs(v) < 1e9 else v for v in x.tolist()]).float()
    assert torch.equal(got, exact)
    assert torch.equal(got.signbit(), x.signbit())


@pytest.mark.parametrize("mode", ["floor", "trunc", None])
def test_divide_takes_torchs_rounding_modes(cpu_device, mode):
    torch.manual_seed(0)
    x, y = torch.randn(2, 4000) * 50
    x[:4], y[:4] = torch.tensor([-0.5, 0.5, 6.0, -7.0]), torch.tensor([3.0, -3.0, -2.0, 2.0])
    tensors = [ttnn.from_torch(v, layout=ttnn.TILE_LAYOUT, device=cpu_device) for v in (x, y)]
    expected = torch.div(x.double(), y.double(), rounding_mode=mode).float()
    reverse = ttnn_jit.jit(lambda y, x: ttnn.rdiv(y, x, rounding_mode=mode))
    calls = [(ttnn.divide, tensors), (ttnn.div, tensors), (ttnn.rdiv, tensors[::-1]), (reverse, tensors[::-1])]
    for divide, operands in calls:
        got = (divide(*operands) if divide is reverse else divide(*operands, rounding_mode=mode)).to_torch()
        assert torch.equal(got, expected)
        assert torch.equal(got.signbit(), expected.signbit())
    with pytest.raises(ArgumentError, match="does not support rounding_mode='ceil'"):
        ttnn.divide(*tensors, rounding_mode="ceil")


@pytest.mark.parametrize("bounds", [{"min": 0.0}, {"max": 1.0}, {"min": -1.0, "max": 2.0}, {}])
def test_an_omitted_bound_has_no_effect(cpu_device, bounds):
    x = torch.tensor([torch.inf, -torch.inf, torch.nan, 3.4e38, -3.0, -0.0])
    got = ttnn.clamp(ttnn.from_torch(x, layout=ttnn.TILE_LAYOUT, device=cpu_device), **bounds).to_torch()
    expected = torch.clamp(x, **bounds) if bounds else x
    assert torch.equal(got.nan_to_num(7.0, torch.inf, -torch.inf), expected.nan_to_num(7.0, torch.inf, -torch.inf))


def test_a_weight_of_prelu_is_per_channel_and_not_broadcast_along_columns(cpu_device):
    x, weight = torch.randn(2, 4, 4, 4), torch.rand(4)
    on_device = ttnn.from_torch(x, layout=ttnn.TILE_LAYOUT, device=cpu_device)
    flat, shaped = (
        ttnn.from_torch(w.contiguous(), layout=ttnn.TILE_LAYOUT, device=cpu_device)
        for w in (weight, weight.reshape(1, 4, 1, 1))
    )
    with pytest.raises(CompileError, match=r"reshape it to \[1, 4, 1, 1\]"):
        ttnn.prelu(on_device, flat)
    assert torch.equal(ttnn.prelu(on_device, shaped).to_torch(), torch.nn.functional.prelu(x, weight))
    assert torch.equal(ttnn.prelu(on_device, weight=0.5).to_torch(), torch.nn.functional.prelu(x, torch.tensor([0.5])))


def test_a_number_without_a_float_is_refused(cpu_device):
    x = ttnn.from_torch(torch.ones(2), layout=ttnn.TILE_LAYOUT, device=cpu_device)
    with pytest.raises(ArgumentError, match="is out of range of float"):
        ttnn.add(x, 10**400)


def test_the_values_of_where_decide_the_dtype_and_the_predicate_if_they_are_numbers(cpu_device):
    wide, narrow = (
        ttnn.from_torch(torch.ones(2, 3, dtype=dtype), device=cpu_device) for dtype in (torch.float32, torch.bfloat16)
    )
    assert ttnn.where(wide, narrow, narrow).dtype is ttnn.bfloat16
    assert ttnn.where(wide, 1.0, narrow).dtype is ttnn.bfloat16
    assert ttnn.where(narrow, 1.0, 2.0).dtype is ttnn.bfloat16


def test_golden_functions_ignore_options_of_the_implementation():
    x = torch.randn(4)
    assert torch.equal(ttnn.get_golden_function(ttnn.exp)(x, fast_and_approximate_mode=True), torch.exp(x))


def test_both_forms_of_gelu_run_in_one_jitted_function():
    x = torch.linspace(-3, 3, 64)
    function = ttnn_jit.jit(enable_cache=False)(lambda x: ttnn.subtract(ttnn.gelu(x), ttnn.gelu(x, approximate="tanh")))
    expected = torch.nn.functional.gelu(x) - torch.nn.functional.gelu(x, approximate="tanh")
    torch.testing.assert_close(function(x), expected, atol=1e-6, rtol=0)


def test_digamma_is_torchs_on_every_target(device, cpu_device):
    """ttnn's first formula had three signs wrong, 0.4635 at 2; it has been replaced there."""
    x = torch.tensor([[2.0, 0.25, 1e-30, 0.0, -0.0, 100.0, 3e38, torch.inf, -0.5, -1.0]])
    for each_device in (device, cpu_device):
        got = ttnn.digamma(ttnn.from_torch(x, layout=ttnn.TILE_LAYOUT, device=each_device)).to_torch()
        torch.testing.assert_close(got.double(), torch.digamma(x.double()), rtol=1e-6, atol=0, equal_nan=True)
