"""Tensors print as in ttnn, and numpy reads host tensors."""

from __future__ import annotations

import ast
import html
import math
import re
import textwrap
from html.parser import HTMLParser

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import ArgumentError, DeallocatedError

DTYPES = {ttnn.float32: torch.float32, ttnn.bfloat16: torch.bfloat16}


@pytest.fixture(autouse=True)
def default_options():
    ttnn.set_printoptions()
    yield
    ttnn.set_printoptions()


def host(values, dtype=ttnn.float32, layout=ttnn.ROW_MAJOR_LAYOUT):
    return ttnn.from_torch(values, dtype=dtype, layout=layout)


def shown(tensor):
    """The text of the elements alone."""
    text = repr(tensor)
    tail = f", shape={tensor.shape}, dtype={tensor.dtype}, layout={tensor.layout})"
    assert text.startswith("ttnn.Tensor(")
    assert text.endswith(tail)
    return text[len("ttnn.Tensor(") : -len(tail)]


def counted(*shape):
    return torch.arange(float(math.prod(shape))).reshape(shape)


# The C++ of ttnn gives these: `setw(precision + 3)`, the first and last two items, a blank line between matrices.
LISTINGS = {
    (0,): "[]",
    (4,): "[ 0.0000,  1.0000,  2.0000,  3.0000]",
    (5,): "[ 0.0000,  1.0000,  ...,  3.0000,  4.0000]",
    (1, 2): "[[ 0.0000,  1.0000]]",
    (2, 0): """\
        [[],
         []]""",
    (5, 2): """\
        [[ 0.0000,  1.0000],
         [ 2.0000,  3.0000],
         ...,
         [ 6.0000,  7.0000],
         [ 8.0000,  9.0000]]""",
    (2, 2, 5): """\
        [[[ 0.0000,  1.0000,  ...,  3.0000,  4.0000],
          [ 5.0000,  6.0000,  ...,  8.0000,  9.0000]],

         [[10.0000, 11.0000,  ..., 13.0000, 14.0000],
          [15.0000, 16.0000,  ..., 18.0000, 19.0000]]]""",
    (6, 1, 1): """\
        [[[ 0.0000]],

         [[ 1.0000]],

         ...,

         [[ 4.0000]],

         [[ 5.0000]]]""",
    (1, 1, 1, 2): "[[[[ 0.0000,  1.0000]]]]",
    (2, 2, 1, 1): """\
        [[[[ 0.0000]],

          [[ 1.0000]]],


         [[[ 2.0000]],

          [[ 3.0000]]]]""".replace("\n\n\n", "\n\n"),
}


@pytest.mark.parametrize("layout", [ttnn.ROW_MAJOR_LAYOUT, ttnn.TILE_LAYOUT])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", LISTINGS, ids=str)
def test_brackets_columns_and_elision_are_those_of_ttnn(shape, dtype, layout):
    expected = textwrap.indent(textwrap.dedent(LISTINGS[shape]), " " * 12).removeprefix(" " * 12)
    lines = [line.rstrip() for line in expected.splitlines()]
    assert shown(host(counted(*shape), dtype, layout)).splitlines() == lines


def test_a_scalar_has_no_brackets():
    assert shown(host(torch.tensor(1.5), ttnn.bfloat16, ttnn.TILE_LAYOUT)) == " 1.5000"


def test_a_tensor_on_a_device_is_printed_as_one_on_the_host(device):
    x = ttnn.from_torch(torch.randn(40, 3), layout=ttnn.TILE_LAYOUT, device=device)
    assert str(x) == repr(x) == repr(x.cpu())


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ([1.0, 1000.0], "[ 1.0000, 1000.0000]"),
        ([1.0, 1001.0], "[ 1.0000e+00,  1.0010e+03]"),
        ([0.0, 2.0], "[ 0.0000,  2.0000]"),
        ([1.1e-4, 2e-4], "[ 0.0001,  0.0002]"),
        ([9e-5, 2e-4], "[ 9.0000e-05,  2.0000e-04]"),
        ([1e8, 2e8], "[ 1.0000e+08,  2.0000e+08]"),
        ([1e8, 1e7], "[100000000.0000, 10000000.0000]"),
        ([math.inf, math.nan, -math.inf, 1.0], "[    inf,     nan,    -inf,  1.0000]"),
        ([math.inf, math.nan, 1e-9], "[        inf,         nan,  1.0000e-09]"),
        ([math.inf, 0.0], "[    inf,  0.0000]"),
        ([-0.0, -1.5], "[-0.0000, -1.5000]"),
    ],
)
def test_numbers_have_exponents_where_magnitudes_are_far_apart_or_far_from_one(values, text):
    assert shown(host(torch.tensor(values))) == text


def test_an_elided_element_counts_for_the_exponents():
    values = torch.ones(100)
    values[50] = 1e-9
    assert shown(host(values)) == "[ 1.0000e+00,  1.0000e+00,  ...,  1.0000e+00,  1.0000e+00]"


def test_the_options_are_those_of_ttnn():
    x = host(counted(6))
    ttnn.set_printoptions(profile="full")
    assert shown(x) == "[ 0.0000,  1.0000,  2.0000,  3.0000,  4.0000,  5.0000]"
    ttnn.set_printoptions(profile="Empty")
    assert shown(x) == "..."
    ttnn.set_printoptions(sci_mode=True)
    assert shown(x) == "[ 0.0000e+00,  1.0000e+00,  ...,  4.0000e+00,  5.0000e+00]"
    ttnn.set_printoptions(sci_mode=False, precision=1)
    assert shown(host(torch.tensor([1e-9, 1.0]))) == "[ 0.0,  1.0]"
    ttnn.set_printoptions(sci_mode="default", precision=0)
    assert shown(x) == "[  0,   1,  ...,   4,   5]"


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"profile": "long"}, '`profile` is \'long\'\nhelp: it takes "empty", "short" or "full"'),
        ({"profile": None}, "`profile` is None"),
        ({"sci_mode": "maybe"}, "`sci_mode` is 'maybe'"),
        ({"precision": -1}, "`precision` is -1"),
        ({"precision": 2.5}, "`precision`"),
    ],
)
def test_options_of_another_kind_are_refused_and_change_nothing(wrong, text):
    ttnn.set_printoptions(precision=2)
    with pytest.raises(ArgumentError, match=re.escape(text)):
        ttnn.set_printoptions(**wrong)
    assert shown(host(torch.ones(1))) == "[ 1.00]"


SHAPES = st.lists(st.integers(0, 6), max_size=5).filter(lambda shape: math.prod(shape) <= 1000)


@given(SHAPES, st.sampled_from(list(DTYPES)), st.booleans(), st.integers(0, 2**32))
def test_the_full_profile_prints_every_element_in_its_position(shape, dtype, tiled, seed):
    values = torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(DTYPES[dtype])
    ttnn.set_printoptions(profile="full", sci_mode=True, precision=8)
    text = shown(host(values, dtype, ttnn.TILE_LAYOUT if tiled else ttnn.ROW_MAJOR_LAYOUT))
    assert np.array_equal(np.array(ast.literal_eval(text.strip()), np.float32).reshape(shape), values.float().numpy())


@given(
    SHAPES,
    st.lists(st.floats(width=32), min_size=1, max_size=20),
    st.sampled_from(["empty", "short", "full"]),
    st.sampled_from([None, True, False]),
)
def test_printing_never_fails(shape, numbers, profile, sci_mode):
    ttnn.set_printoptions(profile=profile, sci_mode=sci_mode)
    tensor = host(torch.tensor(numbers).repeat(1000)[: math.prod(shape)].reshape(shape))
    text = shown(tensor)
    assert text.count("[") == text.count("]")
    if profile == "short":
        assert len(re.findall(r"[-\w][-+.\w]*", text.replace("...", ""))) <= 4 ** len(shape)
    tensor.deallocate()
    assert shown(tensor) == "<buffer is not allocated>"


# --- Notebooks ------------------------------------------------------------------------------------------------------


def text_of_html(source):
    """The text between tags, which must be closed in order."""
    texts, open_tags = [], []

    class Parser(HTMLParser):
        def handle_starttag(self, tag, _):
            open_tags.append(tag)

        def handle_endtag(self, tag):
            assert open_tags.pop() == tag

        def handle_data(self, data):
            texts.append(data)

    parser = Parser()
    parser.feed(source)
    parser.close()
    assert not open_tags
    return "\n".join(texts)


def test_a_notebook_shows_the_text_and_the_memory_config(device):
    x = ttnn.from_torch(torch.randn(3, 2), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    text = text_of_html(x._repr_html_())
    assert repr(x) in text
    assert "3x2 BFLOAT16 TILE on Device(wormhole_b0 rules on cpu, id=0)" in text
    x.deallocate()
    assert html.escape("<buffer is not allocated>") in x._repr_html_()


def test_a_notebook_shows_few_lines_whatever_the_rank_and_the_profile(cpu_device):
    ttnn.set_printoptions(profile="full")
    for shape in [(2048, 2048), (5,) * 6, (1000,)]:
        assert len(ttnn.from_torch(torch.ones(shape), device=cpu_device)._repr_html_().splitlines()) <= 41


# --- numpy ----------------------------------------------------------------------------------------------------------


@given(SHAPES, st.sampled_from(list(DTYPES)), st.booleans(), st.integers(0, 2**32))
def test_numpy_gets_the_elements_of_a_host_tensor_in_float32(shape, dtype, tiled, seed):
    values = torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(DTYPES[dtype])
    tensor = host(values, dtype, ttnn.TILE_LAYOUT if tiled else ttnn.ROW_MAJOR_LAYOUT)
    for array in (np.asarray(tensor), np.array(tensor), np.asarray(tensor, np.float32), np.array(tensor, copy=True)):
        assert type(array) is np.ndarray
        assert array.dtype == np.float32
        assert array.flags.c_contiguous
        assert array.flags.writeable
        assert np.array_equal(array, values.float().numpy())
    assert np.asarray(tensor, np.float64).dtype == np.float64
    np.testing.assert_array_equal(tensor, values.float().numpy())


def test_every_bfloat16_has_its_bits_in_numpy():
    patterns = torch.arange(-(2**15), 2**15).to(torch.int16)
    array = np.asarray(host(patterns.view(torch.bfloat16), ttnn.bfloat16))
    assert np.array_equal(array.view(np.uint32) >> 16, patterns.numpy().view(np.uint16))


def test_an_array_is_a_copy():
    tensor = host(torch.ones(3))
    array = np.asarray(tensor)
    array[:] = 2.0
    tensor.deallocate()
    assert array.tolist() == [2.0] * 3


def test_errors_of_numpy_about_a_device_or_mesh_tensor_show_the_conversion(device):
    x = ttnn.from_torch(torch.ones(32, 32), layout=ttnn.TILE_LAYOUT, device=device)
    way = r"is on Device\(.*, id=0\)\nhelp: write `numpy.asarray\(tensor.cpu\(\)\)`, or `ttnn.to_torch"
    for use in (np.asarray, np.array, lambda t: np.testing.assert_allclose(t, 1.0)):
        with pytest.raises(ArgumentError, match=way):
            use(x)
    np.testing.assert_allclose(x.cpu(), 1.0)
    mesh = ttnn.open_mesh_device(ttnn.MeshShape(1, 2))
    with pytest.raises(ArgumentError, match="is on MeshDevice"):
        np.asarray(ttnn.from_torch(torch.ones(2), device=mesh))
    with pytest.raises(ArgumentError, match="get_device_tensors"):
        np.asarray(ttnn.from_torch(torch.ones(2), device=mesh).cpu())


def test_tensors_that_numpy_cannot_represent_are_refused():
    tensor = host(torch.ones(3))
    with pytest.raises(ArgumentError, match="gets a copy only"):
        tensor.__array__(copy=False)
    tensor.deallocate()
    with pytest.raises(DeallocatedError, match=r"numpy\.asarray: the tensor was deallocated"):
        np.asarray(tensor)
