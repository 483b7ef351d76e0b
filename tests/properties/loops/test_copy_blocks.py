"""Random chains of copies before a product, in blocks of rows or image by image: the bits of the whole.

Blocks run before the whole: its result may lie where theirs did, so that what they did not write would not show.
"""

from __future__ import annotations

import re

import pytest
import torch
from hypothesis import event, given, settings
from hypothesis import strategies as st

from ttnn_jit import jit, ttnn
from ttnn_jit.codegen.blocking import copy_blocks

DEVICES = {target: ttnn.open_device(device_id=0, target=target) for target in ("cpu", "wormhole_b0")}


def random(shape, dtype, seed):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def blocks_of(function, *tensors):
    return [int(each) for each in re.findall(r"in (\d+) blocks of", str(function.explain(*tensors)))]


def blocked_and_whole(program, tensors, *, most_bytes=1, most_blocks=64):
    """Results in blocks, results of the whole, and the number of blocks; both results are alive together."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(copy_blocks, "MOST_BYTES", most_bytes)
        monkeypatch.setattr(copy_blocks, "MOST_BLOCKS", most_blocks)
        monkeypatch.setattr(copy_blocks, "SHARE", 1e9)
        blocked = jit(enable_cache=False)(program)
        first, blocks = blocked(*tensors), blocks_of(blocked, *tensors)
    second = jit(enable_cache=False)(lambda *given: program(*given))(*tensors)
    event("in blocks" if blocks else "whole")
    pairs = [(first, second)] if isinstance(first, ttnn.Tensor) else zip(first, second, strict=True)
    return [[ttnn.to_torch(each) for each in pair] for pair in pairs], blocks


@settings(max_examples=30, deadline=None)
@given(
    batch=st.integers(1, 4),
    size=st.tuples(st.integers(4, 14), st.integers(4, 14)),
    channels=st.sampled_from([1, 3, 4, 8, 16]),
    kernel=st.tuples(st.integers(1, 3), st.integers(1, 3)),
    stride=st.tuples(st.integers(1, 2), st.integers(1, 2)),
    padding=st.sampled_from([(0, 0), (1, 1), (1, 2, 0, 1)]),
    dtype=st.sampled_from([torch.float32, torch.bfloat16]),
    layout=st.sampled_from([ttnn.ROW_MAJOR_LAYOUT, ttnn.TILE_LAYOUT]),
    target=st.sampled_from([*DEVICES]),
    most=st.tuples(st.sampled_from([1, 500, 3000]), st.sampled_from([4, 64])),
    biased=st.booleans(),
)
def test_blocked_convolutions_of_any_shape_have_the_bits_of_unblocked_ones(
    batch, size, channels, kernel, stride, padding, dtype, layout, target, most, biased
):
    device = DEVICES[target]
    x = ttnn.from_torch(random((1, 1, batch * size[0] * size[1], channels), dtype, 1), layout=layout, device=device)
    weight = ttnn.from_torch(random((32, channels, *kernel), dtype, 2), device=device)
    bias = ttnn.from_torch(random((1, 1, 1, 32), dtype, 3), device=device) if biased else None

    def program(x):
        return ttnn.conv2d(
            input_tensor=x, weight_tensor=weight, bias_tensor=bias, device=device, in_channels=channels,
            out_channels=32, batch_size=batch, input_height=size[0], input_width=size[1], kernel_size=kernel,
            stride=stride, padding=padding,
        )  # fmt: skip

    pairs, _ = blocked_and_whole(program, [x], most_bytes=most[0], most_blocks=most[1])
    assert all(torch.equal(*pair) for pair in pairs)


def woven(x):
    """The even columns of every row, then the odd ones: terms of a product in short runs, for which a copy pays."""
    parts = ttnn.reshape(x, (x.shape[0], x.shape[1], x.shape[2] // 2, 2))
    return ttnn.reshape(ttnn.permute(parts, (0, 1, 3, 2)), (x.shape[0], x.shape[1], x.shape[2]))


MOVES = {
    "transposed": lambda x: ttnn.permute(x, (0, 2, 1)),
    "padded": lambda x: ttnn.pad(x, [(0, 0), (1, 2), (0, 1)], 0.5),
    "cut": lambda x: x[:, 1:, ::2],
    "in_another_shape": lambda x: (
        ttnn.reshape(x, (x.shape[0], x.shape[1] * 2, x.shape[2] // 2)) if x.shape[2] % 2 == 0 else x
    ),
    "twice": lambda x: ttnn.concat([x, x], 2),
    "permuted": lambda x: ttnn.reshape(ttnn.permute(x, (1, 0, 2)), tuple(x.shape)),
    "woven": lambda x: woven(x) if x.shape[2] % 2 == 0 else x,
}


@settings(max_examples=40, deadline=None)
@given(
    shape=st.tuples(st.sampled_from([1, 1, 2, 3, 4]), st.integers(2, 48), st.integers(1, 24)),
    moves=st.lists(st.sampled_from([*MOVES]), max_size=2),
    last=st.sampled_from(["woven", "woven", *MOVES]),
    flat=st.booleans(),
    dtype=st.sampled_from([torch.float32, torch.bfloat16]),
    after=st.sampled_from(["nothing", "relu", "sum", "residual"]),
    read_too=st.sampled_from(["no", "returned", "computed with", "multiplied twice"]),
)
def test_chains_of_blocked_copies_have_the_bits_of_unblocked_ones(shape, moves, last, flat, dtype, after, read_too):
    def moved(x):
        for name in (*moves, last):
            x = MOVES[name](x)
        return ttnn.reshape(x, (x.shape[0] * x.shape[1], x.shape[2])) if flat else x

    x = ttnn.from_torch(random(shape, dtype, 1), device=DEVICES["cpu"])
    columns = ttnn.to_torch(jit(enable_cache=False)(moved)(x)).shape[-1]
    weight = ttnn.from_torch(random((columns, 8), dtype, 2), device=DEVICES["cpu"])

    def program(x, weight):
        copied = moved(x)
        product = ttnn.matmul(copied, weight)
        if after == "relu":
            product = ttnn.relu(product)
        if after == "sum":
            product = ttnn.sum(product, -1, keepdim=True)
        if after == "residual":
            product = ttnn.add(product, ttnn.multiply(product, 0.5))
        match read_too:
            case "returned":
                return product, copied
            case "computed with":
                return product, ttnn.exp(copied)
            case "multiplied twice":
                return product, ttnn.matmul(copied, ttnn.neg(weight))
        return product

    pairs, blocks = blocked_and_whole(program, [x, weight])
    assert all(torch.equal(*pair) for pair in pairs)
    assert not blocks or read_too in {"no", "computed with"}  # an elementwise reader may read through the copy
