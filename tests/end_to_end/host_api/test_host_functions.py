"""Host functions around movement: patterns, random tensors, searches for elements."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ttnn_jit import jit, ttnn
from ttnn_jit.diagnostics.errors import TtnnJitError

LAYOUTS = (ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT)


@st.composite
def patterns(draw):
    """A shape, a pattern with its lengths, and the expected result by reshapes and a permutation."""
    extents = draw(st.lists(st.integers(1, 4), min_size=1, max_size=5))
    names = list("abcde"[: len(extents)])
    order = draw(st.permutations(range(len(names))))
    left, lengths = _grouped(draw, names)
    right, _ = _grouped(draw, [names[k] for k in order])
    known = dict(zip(names, extents, strict=True))
    shape = [math.prod(known[name] for name in group) for group in left]
    merged = [math.prod(known[name] for name in group) for group in right]
    text = " -> ".join(" ".join(_written(group, draw) for group in side) for side in (left, right))
    given_lengths = {name: known[name] for name in lengths}
    return shape, text, given_lengths, lambda x: x.reshape(extents).permute(order).reshape(merged)


def _grouped(draw, names):
    """Groups of neighbouring names, and the known lengths: all but one per group."""
    groups, lengths = [], []
    while names:
        size = draw(st.integers(1, len(names)))
        groups.append(names[:size])
        lengths += names[: size - 1]
        names = names[size:]
    return groups, lengths


def _written(group, draw):
    text = f"({' '.join(group)})" if len(group) > 1 else group[0]
    return draw(st.sampled_from(["", " "])) + text


@settings(max_examples=30, deadline=None)
@given(patterns())
def test_a_rearrangement_is_a_reshape_a_permutation_and_a_reshape(case):
    shape, pattern, lengths, in_torch = case
    x = torch.arange(math.prod(shape), dtype=torch.float32).reshape(shape)
    function = jit()(lambda x: ttnn.rearrange(x, pattern, **lengths))
    assert torch.equal(function(x), in_torch(x))
    assert function.ir(x) == jit(graph_capture=True)(lambda x: ttnn.rearrange(x, pattern, **lengths)).ir(x)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_rearrangement_runs_eagerly_and_supports_ellipsis_and_extents_of_one(layout, device):
    x = torch.randn(2, 12, 5)
    tensor = ttnn.from_torch(x, layout=layout, device=device)
    for pattern, lengths, want in (
        ("b (h w) c -> b c h w", {"h": 4}, x.reshape(2, 4, 3, 5).permute(0, 3, 1, 2)),
        ("... c -> c ...", {}, x.permute(2, 0, 1)),
        ("b ... -> (b ...)", {}, x.reshape(-1)),
        ("b n c -> b 1 (n c)", {}, x.reshape(2, 1, 60)),
    ):
        assert torch.equal(ttnn.to_torch(ttnn.rearrange(tensor, pattern, **lengths)), want)


@pytest.mark.parametrize(
    ("pattern", "lengths", "message"),
    [
        ("a b c", {}, "has no two sides"),
        ("a b c -> a b", {}, "do not name the same dimensions"),
        ("a b c -> a b (c", {}, "the parentheses of .* do not match"),
        ("a b c -> a b) c", {}, "the parentheses of .* do not match"),
        ("a b c -> a % b c", {}, "does not parse at '% b c'"),
        ("a a c -> a c", {}, "names a dimension twice"),
        ("a (b d) c -> a b c d", {}, "the extents of b and d are not known"),
        ("a (b d) c -> a b c d", {"b": 5}, "dimension 1 has extent 12, which 5 does not divide"),
        ("a (b d) c -> a b c d", {"b": 0}, "which 0 does not divide"),
        ("a b -> b a", {}, "has 2 dimensions, the tensor 3"),
        ("a b c -> c b a", {"z": 1}, "has no dimension 'z'"),
        ("a b c -> a b c ...", {}, "has `...` on the right alone"),
        (3, {}, "`pattern` of rearrange must be a text, got 3"),
        ("a b c -> c b a", {"a": 1.5}, "`a` of rearrange"),
    ],
)
@pytest.mark.parametrize("graph_capture", [False, True])
def test_a_pattern_that_does_not_fit_is_refused_at_its_location(pattern, lengths, message, graph_capture):
    with pytest.raises(TtnnJitError, match=message) as raised:
        jit(graph_capture=graph_capture)(lambda x: ttnn.rearrange(x, pattern, **lengths))(torch.ones(2, 12, 5))
    assert "^" in str(raised.value)


@pytest.mark.parametrize("dtype", [ttnn.uint8, ttnn.uint16, ttnn.uint32, ttnn.int32, ttnn.float32])
def test_indices_and_unique_elements_are_found_among_elements_of_every_type(dtype, device):
    x = ttnn.from_torch(torch.tensor([[0, 3, 0, 3, 1]]), dtype=dtype, device=device)
    count, indices = ttnn.nonzero(x)
    assert ttnn.to_torch(count).tolist() == [[[[3]]]]
    assert ttnn.to_torch(indices).tolist() == [[1, 3, 4, 0, 0]]
    found = ttnn.unique(x)
    assert (found.dtype, ttnn.to_torch(found).tolist()) == (dtype, [0, 1, 3])


# --- Random elements ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [ttnn.float32, ttnn.bfloat16])
def test_a_seed_decides_what_is_drawn(dtype, device):
    half = ttnn.full((40, 40), 0.5, device=device)
    for draw in (
        lambda seed: ttnn.rand((40, 40), dtype=dtype, seed=seed, device=device),
        lambda seed: ttnn.randn((40, 40), dtype=dtype, seed=seed, device=device),
        lambda seed: ttnn.bernoulli(half, seed, dtype=dtype),
        lambda seed: ttnn.experimental.dropout(half, probability=0.5, scale=2.0, seed=seed),
    ):
        first, again, other = (ttnn.to_torch(draw(seed)) for seed in (3, 3, 4))
        assert torch.equal(first, again)
        assert not torch.equal(first, other)
        drawn = []
        for _ in range(2):
            ttnn.manual_seed(9)
            drawn.append([ttnn.to_torch(draw(None)) for _ in range(2)])
        assert torch.equal(drawn[0][0], drawn[1][0])
        assert torch.equal(drawn[0][1], drawn[1][1])
        assert not torch.equal(drawn[0][0], drawn[0][1])


def test_random_numbers_have_the_requested_distribution(device):
    uniform = ttnn.to_torch(ttnn.rand((200, 200), dtype=ttnn.float32, low=-3.0, high=1.0, seed=1))
    assert -3.0 <= float(uniform.min()) < -2.9
    assert 0.9 < float(uniform.max()) < 1.0
    normal = ttnn.to_torch(ttnn.randn((200, 200), dtype=ttnn.float32, seed=1))
    assert abs(float(normal.mean())) < 0.03
    assert abs(float(normal.std()) - 1.0) < 0.03
    chances = ttnn.from_torch(torch.tensor([[0.0, 1.0]] * 50), device=device)
    assert torch.equal(ttnn.to_torch(ttnn.bernoulli(chances, 5)), ttnn.to_torch(chances))
    x = torch.full((64, 64), torch.inf)
    x[0, 0] = torch.nan
    tensor = ttnn.from_torch(x, layout=ttnn.TILE_LAYOUT, device=device)
    for probability, want in ((0.0, x), (1.0, torch.zeros(64, 64))):
        dropped = ttnn.to_torch(ttnn.experimental.dropout(tensor, probability=probability, scale=2.0, seed=1))
        assert torch.equal(dropped.nan_to_num(7.0), want.nan_to_num(7.0))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ttnn.rand((2,), low=1.0, high=1.0), "`low` is 1.0, which is not below `high`"),
        (lambda: ttnn.rand((2,), dtype=ttnn.int32), "INT32 holds no random numbers"),
        (lambda: ttnn.randn((2,), seed=-1), "`seed` of randn is -1"),
        (lambda: ttnn.manual_seed(1.5), "`seeds` of manual_seed"),
        (lambda: ttnn.bernoulli(ttnn.full((2,), 1.5)), "an element is not from 0 to 1"),
        (lambda: ttnn.experimental.dropout(ttnn.zeros((2,)), probability=2, scale=1.0), "`probability` is 2"),
    ],
)
def test_invalid_random_draws_are_refused(call, message):
    with pytest.raises(TtnnJitError, match=message):
        call()


# --- Elements that are found, and tensors made of others --------------------------------------------------------------


@pytest.mark.parametrize("layout", LAYOUTS)
def test_indices_and_unique_elements_are_found_eagerly(layout, device):
    x = torch.tensor([[[[0.0, 3.0, -0.0, 1.0, 3.0, torch.inf]]]])
    tensor = ttnn.from_torch(x, layout=layout, device=device)
    count, indices = ttnn.nonzero(tensor)
    assert ttnn.to_torch(count).flatten().tolist() == [4]
    assert ttnn.to_torch(indices).flatten().tolist() == [1, 3, 4, 5, 0, 0]
    assert indices.shape == tensor.shape
    assert ttnn.to_torch(ttnn.unique(tensor)).tolist() == [0.0, 1.0, 3.0, torch.inf]
    with pytest.raises(TtnnJitError, match="nonzero: the tensor has shape"):
        ttnn.nonzero(ttnn.from_torch(torch.ones(2, 2), device=device))


def test_fill_functions_and_the_identity_matrix(device):
    x = ttnn.from_torch(torch.rand(3, 5), layout=ttnn.TILE_LAYOUT, device=device)
    assert torch.equal(ttnn.to_torch(ttnn.fill(x, 2.5)), torch.full((3, 5), 2.5))
    assert torch.equal(jit()(lambda x: ttnn.fill(x, 2.5))(torch.rand(3, 5)), torch.full((3, 5), 2.5))
    assert torch.equal(ttnn.to_torch(ttnn.eye(3, 5, dtype=ttnn.int32)), torch.eye(3, 5, dtype=torch.int32))


def test_experimental_names_are_those_of_the_namespace(device):
    x = torch.rand(4, 6)
    assert torch.equal(jit()(lambda x: ttnn.experimental.view(x, (24,)))(x), x.reshape(24))
    tensor = ttnn.from_torch(x, device=device)
    assert ttnn.experimental.typecast(tensor, ttnn.bfloat16).dtype == ttnn.bfloat16


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: ttnn.upsample(x, 2, align_corners=True), "upsample: got an unexpected keyword argument 'align_c"),
        (lambda x: ttnn.upsample(x), "upsample: missing a required argument: 'scale_factor'"),
        (lambda x: ttnn.clone(x, 1, 2, 3, 4, 5, 6), "clone: too many positional arguments"),
        (
            lambda _: ttnn.Shape((2, 8), (32, 32)),
            "a Shape is made of its extents in one list or tuple, got 2 arguments",
        ),
        (lambda _: ttnn.CloseDevices("all"), "`devices` of CloseDevices must be a Mapping, got 'all'"),
    ],
)
def test_an_invalid_call_is_refused_in_the_functions_own_terms(device, call, message):
    x = ttnn.from_torch(torch.ones(1, 2, 2, 32), device=device)
    with pytest.raises(TtnnJitError) as refused:
        call(x)
    assert message in str(refused.value)
