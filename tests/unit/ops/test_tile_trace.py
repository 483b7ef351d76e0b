"""Python scalar functions traced to calls of the emit protocol, and their text."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.kernels.vectors.numpy_vector import NumpyVector
from ttnn_jit.ops import operations_on
from ttnn_jit.ops.language.tile_body import TracedBody
from ttnn_jit.ops.tile_trace import MAX_RUNS, UntraceableError, trace
from ttnn_jit.specs.dtypes import FLOATS

SCALE = 3.0
POINTS = np.array([-7.5, -2.0, -1.0, -0.25, -0.0, 0.0, 0.25, 1.0, 2.0, 7.5], np.float32)


def traced(function, *names):
    body = trace(function, names or ("x",))
    assert TracedBody.parse(body.text) == body
    return body


def values(body, *operands):
    b = NumpyVector()
    with NumpyVector.quiet():
        return np.broadcast_to(body.emit(b, *operands), POINTS.shape)


def helper(z):
    return math.tanh(z / SCALE)


def recursive(x, depth=3):
    return x if depth == 0 else recursive(x * 0.5, depth - 1)


def test_operators_constants_and_math_functions_are_traced():
    text = traced(lambda x: SCALE * math.tanh(x / SCALE) - 1).text
    assert text == "x -> t0 = div(x, 3.0); t1 = tanh(t0); t2 = mul(3.0, t1); t3 = sub(t2, 1.0); return t3"


def test_helpers_are_inlined_and_equal_steps_are_merged():
    text = traced(lambda x: helper(x) * helper(x) + 0 * math.pi).text
    assert text == "x -> t0 = div(x, 3.0); t1 = tanh(t0); t2 = mul(t1, t1); t3 = add(t2, 0.0); return t3"
    assert traced(recursive).text == "x -> t0 = mul(x, 0.5); t1 = mul(t0, 0.5); t2 = mul(t1, 0.5); return t2"


def test_dead_steps_are_removed():
    def function(x):
        _ = math.exp(x)
        return x

    assert traced(function).text == "x -> return x"


def branches(x):
    if x > 1:
        return x - 1
    if x < -1 and x > -5:
        return -2.0 * x
    return 0.5 if not x else x * x


def ternary(x):
    return x if 0 < x < 2 else -x


def early(x):
    total = 0.0
    for k in range(3):
        if x < k:
            break
        total += x
    return total


@pytest.mark.parametrize(
    "function",
    [
        branches,
        ternary,
        early,
        lambda x: max(x, 0.5) - min(1, x, -2.0),
        lambda x: (x > 1) | (x < -1) & ~(x < -5),
        lambda x: x > 0 and x < 1,
        lambda x: abs(x) + math.fabs(x) + round(x) + math.floor(x) + math.ceil(x) + math.trunc(x),
        lambda x: math.copysign(2.0, x) + float(x) + (+x),
        lambda _: 0.25,
        lambda x: 2**x + (1 / (x * x + 1)),
    ],
)
def test_a_traced_body_computes_what_the_function_does(function):
    expected = [float(np.float32(function(float(x)))) for x in POINTS]
    np.testing.assert_allclose(values(traced(function), POINTS), expected, rtol=1e-6)


def test_numpy_and_ttnn_functions_are_traced():
    text = traced(lambda x: np.maximum(np.exp(x), x)).text
    assert text == "x -> t0 = exp(x); t1 = maximum(t0, x); return t1"
    text = traced(lambda x: np.where(np.isnan(x), np.float32(1.0), np.exp(x))).text
    assert text == (
        "x -> t0 = ne(x, x); t1 = exp(x); t2 = select(t0, 1.0, 0.0); t3 = ne(t2, 0.0); t4 = select(t3, 1.0, t1); "
        "return t4"
    )
    text = traced(lambda x: ttnn.where(x > 0, ttnn.gelu(x), ttnn.clamp(x, -1.0, 1.0))).text
    assert "gelu(x)" in text
    assert "maximum(x, -1.0)" in text


def test_a_number_beside_a_truth_counts_as_true_where_it_is_not_zero():
    text = traced(lambda x: (x > 1.0) & x).text
    assert text == "x -> t0 = gt(x, 1.0); t1 = ne(x, 0.0); t2 = both(t0, t1); t3 = select(t2, 1.0, 0.0); return t3"


def test_several_operands_keep_their_names():
    assert traced(lambda a, b: a - b, "a", "b").text == "a, b -> t0 = sub(a, b); return t0"
    assert traced(lambda t0, t1: t0 - t1, "t0", "t1").text == "t0, t1 -> t2 = sub(t0, t1); return t2"


def until_small(x):
    while x > 1e-3:
        x = x / 2
    return x


def many_branches(*xs):
    return sum(1.0 if x > k else 0.5 * k for x in xs for k in range(MAX_RUNS))


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (lambda x: int(x), r"takes the `int\(\)`"),
        (lambda x: math.sqrt(x) if x > 0 else math.gamma(x), "`gamma` has no counterpart"),
        (lambda x: [1.0, 2.0][x], "as an index or a count"),
        (lambda x: round(x, 2), "digits"),
        (lambda _: "text", "a str is no number"),
        (lambda _: None, "a NoneType is no number"),
        (lambda x: x.real, "AttributeError"),
        (until_small, "more than"),
        (many_branches, "more than"),
    ],
)
def test_an_untraceable_function_has_a_reason(function, reason):
    with pytest.raises(UntraceableError, match=reason):
        trace(function, ("x",))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "x -> x",
        "x -> return y",
        "x -> t0 = nothing(x); return t0",
        "x -> t0 = add(x); return t0",
        "x -> t0 = exp(t1); return t0",
        "x -> t0 = lt(x, 1.0); return t0",
        "x -> t0 = select(x, x, x); return t0",
        "x -> t0 = select(1.0, x, x); return t0",
        "x -> x = exp(x); return x",
        "x -> t0 = __class__(x); return t0",
    ],
)
def test_text_that_is_no_body_is_refused(text):
    with pytest.raises(ArgumentError):
        TracedBody.parse(text)


@given(st.floats(width=32))
@settings(max_examples=200, deadline=None)
def test_every_number_round_trips_through_the_text(number):
    body = TracedBody(("x",), (), number)
    again = TracedBody.parse(body.text).result
    assert again == number or math.isnan(number)
    assert math.copysign(1, again) == math.copysign(1, number) or math.isnan(number)


def test_every_operation_can_be_part_of_a_body():
    untraceable = {}
    for operation in operations_on(FLOATS):
        names = tuple(f"x{k}" for k in range(operation.arity))
        function = getattr(ttnn, operation.name)
        numbers = operation.tested_attributes
        try:
            trace(eval(f"lambda {', '.join(names)}: function({', '.join(names)}, *numbers)", locals()), names)
        except UntraceableError as error:
            untraceable[operation.name] = str(error)
    assert untraceable == {}
