"""Copies that only a product reads, as its rows, are made block by block; no bit depends on the blocks."""

from __future__ import annotations

import re

import pytest
import torch

import ttnn_jit
from ttnn_jit import ttnn
from ttnn_jit.codegen.blocking import copy_blocks

TARGETS = ["wormhole_b0", "cpu"]
CHANNELS = 4
"""Too few for a product to read windows without a copy."""


def convolving(device, *, stride=1, residual=None):
    call = {"in_channels": CHANNELS, "out_channels": 32, "batch_size": 2, "input_height": 12, "input_width": 8}
    call |= {"kernel_size": (3, 3), "padding": (1, 1), "stride": (stride, stride), "device": device}
    generator = torch.Generator().manual_seed(1)
    weight = ttnn.from_torch(torch.randn((32, CHANNELS, 3, 3), generator=generator).bfloat16(), device=device)
    bias = ttnn.from_torch(torch.randn((1, 1, 1, 32), generator=generator).bfloat16(), device=device)

    def program(x):
        y = ttnn.conv2d(input_tensor=x, weight_tensor=weight, bias_tensor=bias, **call)
        return y if residual is None else ttnn.relu(ttnn.add(y, residual))

    return program


def images(device, channels=CHANNELS):
    x = torch.randn((2, 12, 8, channels), generator=torch.Generator().manual_seed(2)).bfloat16()
    return ttnn.from_torch(x.reshape(1, 1, -1, channels), layout=ttnn.TILE_LAYOUT, device=device)


def blocks_of(jitted, x, *operations):
    """The number of blocks of the product, if these operations follow it; 1 without blocks."""
    lines = [line for line in str(jitted.explain(x)).splitlines() if line.strip().startswith("launch ")]
    (product,) = (line for line in lines if all(name in line.split(";")[0] for name in ("matmul", *operations)))
    found = re.search(r"in the loop of \(.*matmul.*\) over rows, in (\d+) blocks of \d+ rows", product)
    return int(found[1]) if found else 1


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("nbytes", [1, 1500])
def test_blocks_of_any_size_have_the_bits_of_the_whole(nbytes, stride, target, monkeypatch):
    device = ttnn.open_device(device_id=0, target=target)
    program, x = convolving(device, stride=stride), images(device)
    whole = ttnn.to_torch(ttnn_jit.jit(enable_cache=False)(program)(x))
    monkeypatch.setattr(copy_blocks, "MOST_BYTES", nbytes)
    jitted = ttnn_jit.jit(enable_cache=False)(program)
    assert torch.equal(ttnn.to_torch(jitted(x)), whole)
    assert blocks_of(jitted, x) > 1


@pytest.mark.parametrize("target", TARGETS)
def test_readers_of_a_product_are_blocked_with_it(target, monkeypatch):
    device = ttnn.open_device(device_id=0, target=target)
    residual = images(device, 32)
    program, x = convolving(device, residual=residual), images(device)
    whole = ttnn.to_torch(ttnn_jit.jit(enable_cache=False)(program)(x))
    monkeypatch.setattr(copy_blocks, "MOST_BYTES", 1500)
    jitted = ttnn_jit.jit(enable_cache=False)(program)
    assert torch.equal(ttnn.to_torch(jitted(x)), whole)
    assert blocks_of(jitted, x, "add") > 1


def test_a_copy_that_is_small_stays_whole(cpu_device):
    program, x = convolving(cpu_device), images(cpu_device)
    jitted = ttnn_jit.jit()(program)
    jitted(x)
    assert blocks_of(jitted, x) == 1


def test_there_are_no_more_blocks_than_pay_for_their_launches(cpu_device, monkeypatch):
    monkeypatch.setattr(copy_blocks, "MOST_BYTES", 1)
    monkeypatch.setattr(copy_blocks, "MOST_BLOCKS", 8)
    program, x = convolving(cpu_device), images(cpu_device)
    jitted = ttnn_jit.jit(enable_cache=False)(program)
    jitted(x)
    assert blocks_of(jitted, x) == 8
