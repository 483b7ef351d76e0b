"""Composites against torch in float64, with optional operands omitted."""

from __future__ import annotations

import re
from operator import attrgetter

import hypothesis.strategies as st
import numpy as np
import pytest
import torch
from hypothesis import given, settings

import ttnn_jit
from tests.products import TF32
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.dialects import InvalidModule, parse_module, print_module, verify
from ttnn_jit.interpreters.tile_interpreter import interpret
from ttnn_jit.ops import OPERATIONS, Composite
from ttnn_jit.specs.options import CompileOptions
from ttnn_jit.transforms import pipeline

COMPOSITES = [one for one in OPERATIONS if isinstance(one, Composite)]
CASES = [(one, shapes, statics) for one in COMPOSITES for shapes, statics in one.examples]
NAMES = [f"{one.name}-{index}" for index, (one, *_) in enumerate(CASES)]
BIT_TYPES = {torch.float32: torch.int32, torch.bfloat16: torch.int16}
# float32: sums of a hundred terms. bfloat16: one rounding, of 2**-9, for exact operands.
TOLERANCE = {torch.float32: 2e-6, torch.bfloat16: 2.0**-8}
ON_CHIPS = {torch.float32: TF32, torch.bfloat16: 2.0**-6}


def calls(operation, statics):
    """A function of any tensors, of which None are omitted."""
    keywords = dict(zip((each.name for each in operation.attributes), statics, strict=True))
    function = attrgetter(operation.name)(ttnn)

    def call(*tensors):
        named = zip((each.name for each in operation.operands), tensors, strict=True)
        return function(**{name: tensor for name, tensor in named if tensor is not None}, **keywords)

    return call


def tensors_of(shapes, dtype):
    generator = torch.Generator().manual_seed(3)
    return [None if shape is None else torch.randn(shape, generator=generator).to(dtype) for shape in shapes]


def golden(operation, tensors, statics):
    return operation.golden(torch, *(None if x is None else x.double() for x in tensors), *statics)


def assert_near(got, want, dtype):
    assert got.dtype is dtype
    bound = TOLERANCE[dtype]
    torch.testing.assert_close(got.double(), want, rtol=bound, atol=4 * bound)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize(("operation", "shapes", "statics"), CASES, ids=NAMES)
def test_a_composite_is_torchs_in_float64_and_has_the_same_bits_everywhere(
    operation, shapes, statics, dtype, device, cpu_device
):
    call, tensors = calls(operation, statics), tensors_of(shapes, dtype)
    function = ttnn_jit.jit()(call)
    got = function(*tensors)
    assert_near(got, golden(operation, tensors, statics), dtype)
    request = function.request(*tensors)
    module = request.lower().module
    is_parsed = False
    if dtype is torch.float32:
        text = print_module(module)
        assert text == ttnn_jit.jit(graph_capture=True)(call).ir(*tensors, stage="frontend")
        # One example of each operation is run through its text, with every stage verified.
        if is_parsed := (shapes, statics) == operation.examples[0]:
            module = parse_module(text)
    pipeline.run(module, request.options, until=pipeline.SCHEDULED, verify_each=is_parsed)
    assert_interpreted(module, tensors, got)
    # Eager calls in tiles, the one element type on a cpu and the other on a chip, alternating.
    is_on_chip = (CASES.index((operation, shapes, statics)) + (dtype is torch.float32)) % 2 == 1
    on_device = [
        None if x is None else ttnn.from_torch(x, layout=ttnn.TILE_LAYOUT, device=device if is_on_chip else cpu_device)
        for x in tensors
    ]
    found = ttnn.to_torch(call(*on_device))
    if is_on_chip and operation.precision_index is not None:  # tests/properties/accuracy/test_product_precision.py
        torch.testing.assert_close(found, got, rtol=ON_CHIPS[dtype], atol=8 * ON_CHIPS[dtype])
    elif is_on_chip and dtype is torch.bfloat16:  # chips flush denormals
        assert torch.equal(found, got.where(got.abs() >= torch.finfo(dtype).tiny, 0.0))
    else:
        assert torch.equal(found, got)


def assert_interpreted(module, tensors, got):
    (interpreted,) = interpret(module, [for_interpreter(x) for x in tensors if x is not None])
    assert np.array_equal(
        for_interpreter(got).view(f"i{got.itemsize}"), interpreted.view(f"i{got.itemsize}").reshape(got.shape)
    )


def for_interpreter(x):
    """The elements in numpy, bfloat16 as bits."""
    return x.contiguous().view(torch.int16).numpy().view("uint16") if x.dtype is torch.bfloat16 else x.numpy()


SHIFT = 2.0**17
"""Numbers at 130,000 deviations from zero: float32 has a spacing of 2**-6 there, and so have the test's numbers."""


def shifted_cases():
    """Operations that depend on differences of elements alone, by their golden, before and after a shift."""
    for operation, shapes, statics in CASES:
        x, *others = (None if each is None else (each * 64).round() / 64 for each in tensors_of(shapes, torch.float32))
        before, after = (golden(operation, [each, *others], statics) for each in (x, x + SHIFT))
        pairs = list(zip(*(each if isinstance(each, tuple) else (each,) for each in (before, after)), strict=True))
        if torch.allclose(*pairs[0], rtol=1e-6, atol=1e-6) and pairs[0][0].abs().max() > 0:
            yield pytest.param(operation, [x + SHIFT, *others], statics, pairs[0][1], id=operation.name)


@pytest.mark.parametrize(("operation", "tensors", "statics", "want"), list(shifted_cases()))
def test_composites_of_differences_keep_their_digits_far_from_zero(operation, tensors, statics, want):
    """A mean there has a rounding error of up to an eighth of a deviation."""
    got = ttnn_jit.jit()(calls(operation, statics))(*tensors)
    got = got[0] if isinstance(got, tuple) else got
    torch.testing.assert_close(got.double(), want, rtol=4e-6, atol=8e-6)


def test_the_variance_of_equal_elements_is_zero_at_any_magnitude():
    for number in (1e-30, 0.1, 1e5, 1.1e30):
        x = torch.full((7, 33), number)
        for function in (ttnn.var, ttnn.std):
            assert not ttnn_jit.jit()(lambda x: function(x, -1))(x).any()  # noqa: B023 - called here


NORMALISATIONS = [one for one in COMPOSITES if one.name in {"layer_norm", "rms_norm"}]


@settings(max_examples=25, deadline=None)
@given(
    operation=st.sampled_from(NORMALISATIONS),
    shape=st.lists(st.integers(1, 40), min_size=1, max_size=3).map(tuple),
    given=st.lists(st.booleans(), min_size=3, max_size=3),
    epsilon=st.sampled_from([1e-12, 1e-5, 0.5]),
)
def test_any_of_the_optional_tensors_may_be_missing(operation, shape, given, epsilon):
    shapes = [shape[-1:], (1, shape[-1]), shape]
    tensors = tensors_of(
        [shape, *(own if is_given else None for own, is_given in zip(shapes, given, strict=True))], torch.float32
    )
    got = ttnn_jit.jit()(calls(operation, (epsilon,)))(*tensors)
    want = golden(operation, tensors, (float(np.float32(epsilon)),))
    # The variance of nearly equal elements has an error that is divided by epsilon.
    torch.testing.assert_close(got.double(), want, rtol=1e-4, atol=1e-3)


def test_omitted_operands_are_recorded_in_the_ir_and_read_from_it():
    x, w = torch.randn(4, 40), torch.randn(40)
    text = ttnn_jit.jit()(lambda x, w: ttnn.layer_norm(x, weight=w)).ir(x, w, stage="frontend")
    assert "operandSegmentSizes = array<i32: 1, 1, 0, 0>" in text
    module = parse_module(text.replace("1, 1, 0, 0", "1, 0, 1, 0"))
    assert "1, 0, 1, 0" in print_module(module)
    pipeline.run(module, CompileOptions(), until=pipeline.SCHEDULED)
    (got,) = interpret(module, [x.numpy(), w.numpy()])
    want = torch.nn.functional.layer_norm(x, (40,), eps=1e-12) + w
    torch.testing.assert_close(torch.from_numpy(np.array(got)), want, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("sizes", ["0, 1, 1, 0", "1, 1, 1, 0", "1, 1, 0", "1, 2, 0, 0", "1, 0, 0, 0"])
def test_sizes_of_segments_that_are_not_those_of_the_operands_are_refused(sizes):
    x, w = torch.randn(4, 40), torch.randn(40)
    text = ttnn_jit.jit()(lambda x, w: ttnn.layer_norm(x, weight=w)).ir(x, w, stage="frontend")
    with pytest.raises(InvalidModule, match="operandSegmentSizes"):
        verify(parse_module(text.replace("1, 1, 0, 0", sizes)))


@pytest.mark.parametrize(
    ("call", "help_"),
    [
        (lambda x: ttnn.linear(x, x[:, :5], bias=x[:1], transpose_a=True), r"added to every row has shape \[1, 5\]"),
        (lambda x: ttnn.layer_norm(x, weight=x[0, :39]), r"one element per column of a tensor of shape \[4, 40\]: 40"),
        (lambda x: ttnn.rms_norm(x, bias=x[0, :39]), r"one element per column of a tensor of shape \[4, 40\]: 40"),
        *(
            (lambda x, name=name: ttnn.multiply(x, getattr(x, name)()), "elements are not known before the call")
            for name in ("item", "tolist", "numpy", "to_torch")
        ),
    ],
)
def test_errors_about_operands_say_what_fits(call, help_):
    with pytest.raises(CompileError) as caught:
        ttnn_jit.jit(graph_capture=True)(call)(torch.randn(4, 40))
    assert re.search(help_, caught.value.help)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda x: ttnn.linear(x, x, bias=x, transpose_b=True),
            r"the bias has shape \[4, 40\], and the product \[4, 4\]",
        ),
        (lambda x: ttnn.linear(x, x, transpose_b=True, activation="gleu"), "'gleu' is no activation"),
        (
            lambda x: ttnn.linear(x, x, transpose_b=True, activation=3),
            "`activation` of `linear` must be the name of an activation, a `ttnn.UnaryWithParam` or None, got int",
        ),
        (lambda x: ttnn.linear(x, x), "the dimensions to contract have 40 and 4 elements"),
        (lambda x: ttnn.linear(x, None), "`input_tensor_b` of `linear` is None"),
        (lambda x: ttnn.linear(x, x, bias=1.0), "`bias` of `linear` must be a tensor or None, got float"),
        (lambda x: ttnn.layer_norm(x, weight=x[:, :39][0]), "`weight` has 39 elements, and the rows 40"),
        (lambda x: ttnn.rms_norm(x, residual_input_tensor=x[:1]), r"`residual_input_tensor` has shape \[1, 40\]"),
        (lambda x: ttnn.var(x, 2), "there is no dimension 2 in a tensor of rank 2"),
    ],
)
@pytest.mark.parametrize("graph_capture", [False, True])
def test_mismatched_operands_are_refused_by_name_at_their_location(call, message, graph_capture):
    with pytest.raises(CompileError, match=message) as caught:
        ttnn_jit.jit(graph_capture=graph_capture)(call)(torch.randn(4, 40))
    assert caught.value.location.file == __file__


ONE_LAUNCH = {
    "layer_norm": lambda x, _, v, u: ttnn.layer_norm(x, weight=v, bias=u, epsilon=1e-5),
    "rms_norm": lambda x, _, v, u: ttnn.rms_norm(x, weight=v, bias=u, residual_input_tensor=x),
    "scale_mask_softmax": lambda x, _, v, u: ttnn.multiply(ttnn.scale_mask_softmax(x, 0.125, u), v),
    "attention_softmax": lambda x, _, v, u: ttnn.transformer.attention_softmax(ttnn.add(x, u), attention_mask=v),
    "linear": lambda x, w, v, u: ttnn.multiply(ttnn.linear(x, w, bias=v, activation="silu"), u),
    "std": lambda x, _, v, u: ttnn.std(ttnn.add(ttnn.multiply(x, v), u), -1, True),
}


@pytest.mark.parametrize("name", ONE_LAUNCH)
def test_a_composite_is_one_launch(name):
    x, w, v, u = torch.randn(64, 96), torch.randn(96, 96), torch.randn(96), torch.randn(96)
    report = str(ttnn_jit.jit()(ONE_LAUNCH[name]).explain(x, w, v, u))
    assert re.findall(r"^  launch (\d)", report, re.MULTILINE) == ["0"]


def test_a_composite_may_be_written_in_terms_of_others():
    x = torch.randn(3, 40)
    text = ttnn_jit.jit()(lambda x: ttnn.layer_norm(x)).ir(x, stage="ttir-decompose-composites")
    assert "ttir.mean" not in text
    assert "ttir.sum" in text
