"""Calls with an invalid argument either work or are refused by name and leave no state behind."""

from __future__ import annotations

import gc

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import ttnn_jit
from ttnn_jit import jit, ttnn
from ttnn_jit.diagnostics.errors import TtnnJitError
from ttnn_jit.runtime.memory.random_words import next_draw

FLOAT, WHOLE = ttnn.bfloat16, ttnn.uint32
CALLS = {
    "rand": (lambda x, _: ttnn.rand(x.shape, dtype=FLOAT, layout=x.layout, device=x.device()), [(32, 64)], ()),
    "dropout": (
        lambda x, keywords: ttnn.experimental.dropout(x, probability=keywords["half"], scale=2.0),
        [(32, 64)],
        ("half",),
    ),
    "bernoulli": (lambda x, keywords: ttnn.bernoulli(x, keywords["seed"]), [(32, 64)], ("seed",)),
    "sparse_matmul": (
        lambda a, b, s, keywords: ttnn.sparse_matmul(a, b, sparsity=s, nnz=keywords["nnz"]),
        [(1, 2, 32, 64), (1, 3, 64, 32), (1, 1, 2, 3)],
        ("nnz",),
    ),
    "group_attn_matmul": (
        lambda a, b, _: ttnn.experimental.group_attn_matmul(a, b),
        [(1, 4, 3, 32), (3, 2, 32, 64)],
        (),
    ),
    "upsample": (lambda x, keywords: ttnn.upsample(x, keywords["factor"]), [(1, 8, 8, 32)], ("factor",)),
    "grid_sample": (
        lambda x, grid, keywords: ttnn.grid_sample(x, grid, mode=keywords["mode"]),
        [(1, 8, 8, 32), (1, 4, 4, 2)],
        ("mode",),
    ),
    "repeat_bw": (lambda g, x, keywords: ttnn.repeat_bw(g, x, keywords["shape"]), [(64, 64), (32, 64)], ("shape",)),
    "prod_bw": (lambda g, x, keywords: ttnn.prod_bw(g, x, keywords["dim"]), [(1, 64), (32, 64)], ("dim",)),
    "embedding_bw": (
        lambda i, w, g, _: ttnn.embedding_bw(i, w, g),
        [(1, 32), (64, 32), (1, 32, 32)],
        (),
    ),
}
FINE = {"half": 0.5, "seed": 3, "nnz": 6, "factor": 1.5, "mode": "nearest", "shape": (2, 1), "dim": 0}
BAD = [0, -1, 7, 2.5, 1e30, float("nan"), "nearest", "none", None, (2,), (0, -3), True]


@st.composite
def damaged_calls(draw):
    """A call's name, the shapes and element types of its tensors, and its keywords, with one or two invalid parts."""
    name = draw(st.sampled_from([*CALLS]))
    _, shapes, keywords = CALLS[name]
    shapes, dtypes, given_ = [list(shape) for shape in shapes], [FLOAT] * len(shapes), dict(FINE)
    dtypes[0] = WHOLE if name == "embedding_bw" else FLOAT
    for _ in range(draw(st.integers(1, 2))):
        which = draw(st.integers(0, len(shapes) - 1))
        damage = draw(st.sampled_from(["extent", "rank", "dtype", *(["keyword"] * 2 if keywords else [])]))
        if damage == "extent" and shapes[which]:
            shapes[which][draw(st.integers(0, len(shapes[which]) - 1))] = draw(st.sampled_from([0, 1, 3, 32, 33]))
        elif damage == "rank":
            shapes[which] = shapes[which][1:] if draw(st.booleans()) else [1, *shapes[which]]
        elif damage == "dtype":
            dtypes[which] = draw(st.sampled_from([ttnn.float32, ttnn.int32, ttnn.uint16]))
        elif damage == "keyword":
            given_[draw(st.sampled_from(keywords))] = draw(st.sampled_from(BAD))
    return name, shapes, dtypes, given_


@pytest.fixture(autouse=True)
def no_disk_cache():
    """Programs on disk are counted too."""


@pytest.fixture(scope="module", autouse=True)
def nothing_else_to_collect():
    """Garbage of other tests is collected once, not at every call."""
    gc.collect()
    gc.freeze()


def state_of(device):
    gc.collect()
    info = ttnn_jit.cache_info()
    used = device.memory_view().used
    return used, device.num_program_cache_entries(), info.entries, info.compiles, next_draw()


def refusal_of(run, tensors):
    """The refusal of the call; empty if it works."""
    try:
        run(*tensors)
    except TtnnJitError as error:
        return str(error)
    return ""


@settings(max_examples=12, deadline=None)
@given(damaged_calls(), st.sampled_from(["eager", "interpreted", "traced"]))
def test_a_refused_call_leaves_no_memory_no_program_and_no_draw(call, mode):
    name, shapes, dtypes, keywords = call
    device = ttnn.open_device(device_id=0, target="cpu")
    tensors = [
        ttnn.from_torch(torch.ones(shape), dtype=dtype, device=device, memory_config=ttnn.L1_MEMORY_CONFIG)
        for shape, dtype in zip(shapes, dtypes, strict=True)
    ]
    function = CALLS[name][0]

    def program(*given_):
        return function(*given_, keywords)

    run = program if mode == "eager" else jit(graph_capture=mode == "traced")(program)
    before = state_of(device)
    if message := refusal_of(run, tensors):
        assert message.strip()
        assert state_of(device) == before
    ttnn.close_device(device)
