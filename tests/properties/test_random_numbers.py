"""Random elements: one generator for eager calls and jitted functions, of tensors of any kind, on every target."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ttnn_jit import jit, ttnn
from ttnn_jit.diagnostics.errors import TtnnJitError
from ttnn_jit.dialects import parse_module, verify
from ttnn_jit.interpreters.tile_interpreter import interpret
from ttnn_jit.ops.selection.random_numbers import RAND, RANDN, RESOLUTION, scaled_within, threefry
from ttnn_jit.ttnn.calling.eager_operation import TtnnOperation

F32, TILE = ttnn.float32, ttnn.TILE_LAYOUT

PUBLISHED = [  # Random123's known answers: counter, key, both words
    ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
    ((2**32 - 1, 2**32 - 1), (2**32 - 1, 2**32 - 1), (0x1CB996FC, 0xBB002BE7)),
    ((0x243F6A88, 0x85A308D3), (0x13198A2E, 0x03707344), (0xC4923A9C, 0x483DF7A0)),
]


def test_the_golden_is_threefry_as_it_was_published():
    for counter, key, words in PUBLISHED:
        assert threefry(counter, *key) == words


def state_on(device, draw, key):
    return [ttnn.from_torch(torch.tensor(words), dtype=ttnn.uint32, device=device) for words in ([draw], key)]


WORDS = st.integers(0, 2**32 - 1)


@settings(max_examples=6, deadline=None)
@example(shape=(3, 0), draw=0, key=(0, 0), layout=TILE, target="cpu")
@given(
    shape=st.lists(st.integers(0, 34), max_size=3).map(tuple),
    draw=WORDS,
    key=st.tuples(WORDS, WORDS),
    layout=st.sampled_from([TILE, ttnn.ROW_MAJOR_LAYOUT]),
    target=st.sampled_from(["cpu", "wormhole_b0"]),
)
def test_elements_are_functions_of_their_index_of_the_draw_and_of_the_seed(shape, draw, key, layout, target):
    device = ttnn.open_device(device_id=0, target=target)
    state, words = state_on(device, draw, key), (torch.tensor([draw]), torch.tensor(key))
    uniform = ttnn.to_torch(TtnnOperation("rand", (RAND,))(*state, shape, F32, layout, 0.0, 1.0))
    assert torch.equal(uniform.double(), RAND.golden(torch, *words, shape, None, None, 0.0, 1.0))
    normal = ttnn.to_torch(TtnnOperation("randn", (RANDN,))(*state, shape, F32, layout))
    # The angle, below 2 pi, is rounded to float32, and the radius is at most sqrt(48 ln 2).
    bound = {"rtol": 1e-6, "atol": 5.8 * 2.0**-22}
    torch.testing.assert_close(normal.double(), RANDN.golden(torch, *words, shape, None, None), **bound)
    ttnn.close_device(device)


RANGES = [(0.0, 1.0), (-1.0, 0.0), (-1.0, 1.0), (0.1, 0.7), (-0.3, 0.85), (1e6, 1e6 + 1), (-5.0, -3.0), (0.0, 1e-30),
          (1.0, 1.0 + 2.0**-20), (-1e38, 1e38)]  # fmt: skip
NARROW = [(1e6, 1e6 + 1), (1.0, 1.0 + 2.0**-20)]
FLOATS = [ttnn.float32, ttnn.bfloat16]


@pytest.mark.parametrize("dtype", FLOATS, ids=lambda dtype: dtype.name)
@pytest.mark.parametrize("target", ["cpu", "wormhole_b0"])
def test_no_word_is_drawn_as_the_end_of_a_half_open_interval(dtype, target):
    """The fractions of random words, in groups: the one end, the other, both, and all between."""
    last = 2**RESOLUTION
    few, most = torch.arange(0, 1024), torch.arange(last - 1024, last)
    between = torch.arange(7, last, 4096)
    words = torch.cat([few, most, torch.stack([few, most], 1).flatten(), between]).reshape(-1, 32)
    with ttnn.open_device(device_id=0, target=target) as device:
        fractions = ttnn.from_torch((words / last).float(), layout=TILE, device=device)
        for low, high in RANGES:
            low, high = (torch.tensor(end).float().item() for end in (low, high))  # noqa: PLW2901 - as the IR has them
            if (low, high) in NARROW and dtype is not F32:
                continue
            got = ttnn.to_torch(ttnn.typecast(scaled_within(ttnn, fractions, dtype, low, high), dtype)).double()
            assert (got >= low).all(), (low, high, got.min())
            assert (got < high).all(), (low, high, got.max())


def test_every_fraction_is_drawn_below_1_in_float32_and_bfloat16(cpu_device):
    fractions = (torch.arange(2**RESOLUTION) / 2**RESOLUTION).float().reshape(-1, 4096)
    assert fractions.max() < 1
    on_device = ttnn.from_torch(fractions, layout=TILE, device=cpu_device)
    for dtype in (F32, ttnn.bfloat16):
        got = ttnn.to_torch(ttnn.typecast(scaled_within(ttnn, on_device, dtype, 0.0, 1.0), dtype))
        assert got.max() == 1 - 2.0 ** -(dtype.mantissa_bits + 1)
        assert got.min() == 0


@pytest.mark.parametrize("target", ["cpu", "wormhole_b0"])
@pytest.mark.parametrize("dtype", FLOATS, ids=lambda dtype: dtype.name)
def test_draws_stay_below_their_end_eagerly_and_jitted(dtype, target):
    with ttnn.open_device(device_id=0, target=target) as device:
        draw = lambda low, high: ttnn.rand((64, 1024), device, dtype=dtype, low=low, high=high, seed=3)  # noqa: E731
        for low, high in ((0.0, 1.0), (-0.5, 0.85)):
            jitted = jit()(lambda _: draw(low, high))  # noqa: B023 - called here
            for made in (draw(low, high), jitted(ttnn.zeros((32, 32), dtype=F32, layout=TILE, device=device))):
                got = ttnn.to_torch(made).float()
                assert (got >= low).all()
                assert (got < high).all()


def test_a_range_without_a_number_is_refused(device):
    with pytest.raises(TtnnJitError, match=r"BFLOAT16 has no number in \[1000001\.0, 1000002\.0\)"):
        ttnn.rand((2, 2), low=1000001.0, high=1000002.0, device=device)


def test_a_uniform_number_of_a_sum_is_below_the_sum():
    """Sampling compares sums with it: every mantissa times the largest fraction is smaller."""
    sums = np.arange(2**23, 2**24, dtype=np.float32)
    assert (np.float32(1 - 2.0**-RESOLUTION) * sums < sums).all()


def drawn(x, seed, device=None):
    where = {"dtype": F32, "layout": TILE, "device": device}
    return (
        ttnn.rand(x.shape, low=-1.0, high=3.0, seed=seed, **where),
        ttnn.experimental.dropout(x, probability=0.25, scale=2.0, seed=seed),
        ttnn.randn((1, 32), seed=seed, **where),
        ttnn.bernoulli(x, seed),
        ttnn.rand((3, 5), dtype=F32, device=device),
    )


def in_torch(results):
    return [ttnn.to_torch(each) if isinstance(each, ttnn.Tensor) else torch.as_tensor(each) for each in results]


def same(left, right):
    return all(torch.equal(one, other) for one, other in zip(in_torch(left), in_torch(right), strict=True))


@pytest.mark.parametrize("graph_capture", [False, True])
@pytest.mark.parametrize("seed", [None, 2**40 + 2**31])
@pytest.mark.parametrize("target", ["cpu", "wormhole_b0"])
def test_a_jitted_function_draws_what_eager_calls_draw_at_every_call(graph_capture, seed, target):
    x, device = torch.rand(64, 96), ttnn.open_device(device_id=0, target=target)
    tensor = ttnn.from_torch(x, layout=TILE, device=device)
    ttnn.manual_seed(11)
    eager = [in_torch(drawn(tensor, seed, device)) for _ in range(4)]
    assert not same(eager[0], eager[1])
    kinds = [tensor, x, x.numpy()] if target == "cpu" else [tensor]
    for argument in kinds:
        function = jit(graph_capture=graph_capture)(lambda x: drawn(x, seed, device))
        for _ in range(2):
            ttnn.manual_seed(11)
            for want in eager:
                assert same(function(argument), want)
    ttnn.close_device(device)


def test_the_ir_has_the_draws_and_both_frontends_and_all_executors_agree():
    def program(x):
        return ttnn.experimental.dropout(x, probability=0.5, scale=1.0), ttnn.bernoulli(x)

    x = np.random.default_rng(1).random((3, 40), np.float32)
    text = jit()(program).ir(x)
    assert text == jit(graph_capture=True)(program).ir(x)
    assert [text.count(f'"ttnn.{name}"') for name in ("dropout", "bernoulli", "next_draw")] == [1, 1, 2]
    assert "random key, numpy arrays" in text
    verify(parse_module(text))
    lowered = parse_module(jit()(program).ir(x, stage="d2m-insert-dst-register-access"))
    ttnn.manual_seed(5)
    native = jit()(program)(x)
    interpreted = interpret(lowered, [x, np.array([0], np.uint32), np.array([5, 0], np.uint32)])
    ttnn.manual_seed(5)
    numba = jit(backend="numba")(program)(x)
    for got, other, loops in zip(native, interpreted, numba, strict=False):
        assert np.array_equal(got, other)
        assert np.array_equal(got, loops)


def test_a_program_from_disk_or_of_another_device_draws_on(tmp_path, monkeypatch):
    monkeypatch.setenv("TTNN_JIT_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("TTNN_JIT_CACHE")

    def program(x):
        return x + ttnn.rand(x.shape, dtype=F32, layout=TILE)

    results = []
    for device_id in range(2):
        device = ttnn.open_device(device_id=device_id, target="cpu")
        x = ttnn.zeros((32, 32), dtype=F32, layout=TILE, device=device)
        function = jit()(program)
        results += [ttnn.to_torch(function(x)) for _ in range(3)]
    assert len({result.sum().item() for result in results}) == len(results)


def test_a_trace_draws_anew_at_each_replay(device):
    x = ttnn.ones((32, 32), dtype=F32, layout=TILE, device=device)
    function = jit()(lambda x: ttnn.experimental.dropout(x, probability=0.5, scale=1.0))
    function(x)
    ttnn.bernoulli(x)
    trace = ttnn.begin_trace_capture(device, cq_id=0)
    results = function(x), ttnn.rand((8, 8), device=device), ttnn.bernoulli(ttnn.multiply(x, 0.5))
    ttnn.end_trace_capture(device, trace, cq_id=0)
    seen = []
    for _ in range(3):
        ttnn.execute_trace(device, trace)
        seen.append(in_torch(results))
    assert not any(same([one], [other]) for one, other in zip(seen[0], seen[1], strict=True))
    assert not any(same([one], [other]) for one, other in zip(seen[1], seen[2], strict=True))


def test_comparison_mode_runs_a_function_again_with_the_elements_that_it_drew(device):
    x = ttnn.ones((32, 32), dtype=F32, layout=TILE, device=device)
    function = jit()(lambda x: ttnn.experimental.dropout(x, probability=0.5, scale=2.0))
    ttnn.manual_seed(2)
    drawn = in_torch([function(x), function(x)])
    ttnn.manual_seed(2)
    with ttnn.manage_config("enable_comparison_mode", True):
        assert same([function(x), function(x)], drawn)


@pytest.mark.parametrize("graph_capture", [False, True])
@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda _: ttnn.rand((2, 2), low=1.0, high=1.0), "`low` is 1.0, which is not below `high`"),
        (lambda _: ttnn.rand((2, -2)), "the extents of a tensor are ints of at least 0"),
        (lambda _: ttnn.randn((2, 2), dtype=ttnn.int32), "INT32 holds no random numbers"),
        (lambda _: ttnn.randn((1 << 20, 1 << 12)), "a draw has at most 1073741824 elements"),
        (lambda _: ttnn.rand((2, 2), seed=-1), "`seed` of rand is -1"),
        (lambda x: ttnn.experimental.dropout(x, probability=2, scale=1.0), "`probability` is 2"),
        (lambda x: ttnn.bernoulli(ttnn.typecast(x, ttnn.int32)), "`input` of `bernoulli` does not take INT32"),
        (lambda _: ttnn.bernoulli(3.0), "must be a tensor"),
    ],
)
def test_an_invalid_draw_in_a_function_is_refused_at_its_location(made, message, graph_capture):
    with pytest.raises(TtnnJitError, match=message) as raised:
        jit(graph_capture=graph_capture)(made)(torch.ones(2, 2))
    assert "^" in str(raised.value)
