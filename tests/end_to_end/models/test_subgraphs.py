"""Parts of models in both frontends on both targets against torch in float64: correlation, units in the last place.

A unit is that of the largest result: what is near 0 is so by cancellation. Numbers are rounded after every operation in
bfloat16 (on a chip), hence the wide bounds there; in float32 (on cpu) inside a kernel they are not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import pytest
import torch

from ttnn_jit import jit, ttnn

TOKENS, WIDTH, HIDDEN, HEADS = 64, 128, 128, 2
CHANNELS = WIDTH // HEADS
STATES, STEPS = 32, 3
functional = torch.nn.functional


@dataclass(frozen=True)
class Subgraph:
    """A part of a model.

    Attributes:
        program: It, in ttnn.
        wanted: It, in torch.
        shapes: Of its tensors; those of more than one row are divided by the root of their rows, as weights are.
        units: In float32 and in bfloat16, how far results may be.
    """

    program: Any
    wanted: Any
    shapes: tuple[tuple[int, ...], ...]
    units: tuple[float, float]


def gate_up(x, weight, bias):
    """GPT-OSS: gates and their values side by side in one product."""
    both = ttnn.linear(x, weight, bias=bias)
    gate, up = both[:, ::2], both[:, 1::2]
    gate, up = ttnn.clamp(gate, min=-math.inf, max=7.0), ttnn.clamp(up, min=-7.0, max=7.0)
    return ttnn.multiply(ttnn.add(up, 1.0), ttnn.multiply(gate, ttnn.sigmoid(ttnn.multiply(gate, 1.702))))


def gate_up_in_torch(x, weight, bias):
    both = x @ weight + bias
    gate, up = both[:, ::2].clamp(max=7.0), both[:, 1::2].clamp(-7.0, 7.0)
    return (up + 1) * gate * torch.sigmoid(1.702 * gate)


def swiglu(x, gate, up, down):
    return ttnn.matmul(ttnn.multiply(ttnn.silu(ttnn.matmul(x, gate)), ttnn.matmul(x, up)), down)


def swiglu_in_torch(x, gate, up, down):
    return (functional.silu(x @ gate) * (x @ up)) @ down


def normed_linear(x, norm, weight, bias):
    return ttnn.linear(ttnn.rms_norm(x, weight=norm, epsilon=1e-5), weight, bias=bias)


def normed_linear_in_torch(x, norm, weight, bias):
    return functional.rms_norm(x, x.shape[-1:], norm.reshape(-1), 1e-5) @ weight + bias


def rotated(x, cos, sin):
    """Rotary embeddings by hand: channels of the first half and of the second as pairs."""
    half = CHANNELS // 2
    swapped = ttnn.concat([ttnn.neg(x[:, :, half:]), x[:, :, :half]], -1)
    return ttnn.add(ttnn.multiply(x, cos), ttnn.multiply(swapped, sin))


def heads_of(x):
    return ttnn.permute(ttnn.reshape(x, (TOKENS, HEADS, CHANNELS)), (1, 0, 2))


def attention(x, query, key, value, out, mask, cos, sin):
    q, k, v = (heads_of(ttnn.matmul(x, weight)) for weight in (query, key, value))
    q, k = rotated(q, cos, sin), rotated(k, cos, sin)
    scores = ttnn.add(ttnn.multiply(ttnn.matmul(q, k, transpose_b=True), CHANNELS**-0.5), mask)
    attended = ttnn.permute(ttnn.matmul(ttnn.softmax(scores, -1), v), (1, 0, 2))
    return ttnn.matmul(ttnn.reshape(attended, (TOKENS, WIDTH)), out)


def attention_in_torch(x, query, key, value, out, mask, cos, sin):
    q, k, v = ((x @ weight).reshape(TOKENS, HEADS, CHANNELS).transpose(0, 1) for weight in (query, key, value))
    q, k = (each * cos + torch.cat([-each.chunk(2, -1)[1], each.chunk(2, -1)[0]], -1) * sin for each in (q, k))
    attended = functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return attended.transpose(0, 1).reshape(TOKENS, WIDTH) @ out


LAYER = ((1, WIDTH), *[(WIDTH, WIDTH)] * 4, (1, WIDTH), *[(WIDTH, HIDDEN)] * 2, (HIDDEN, WIDTH))


def transformer(x, mask, cos, sin, *weights):
    for layer in range(2):
        own = weights[layer * len(LAYER) : (layer + 1) * len(LAYER)]
        normed = ttnn.rms_norm(x, weight=own[0], epsilon=1e-5)
        x = ttnn.add(x, attention(normed, own[1], own[2], own[3], own[4], mask, cos, sin))
        x = ttnn.add(x, swiglu(ttnn.rms_norm(x, weight=own[5], epsilon=1e-5), own[6], own[7], own[8]))
    return x


def transformer_in_torch(x, mask, cos, sin, *weights):
    for own in (weights[: len(LAYER)], weights[len(LAYER) :]):
        normed = functional.rms_norm(x, x.shape[-1:], own[0].reshape(-1), 1e-5)
        x = x + attention_in_torch(normed, *own[1:5], mask, cos, sin)
        x = x + swiglu_in_torch(functional.rms_norm(x, x.shape[-1:], own[5].reshape(-1), 1e-5), *own[6:])
    return x


def mamba(x, gates, rates, decays, enters, leaves, skip, out):
    """A state for every channel that every step changes; `x` is [steps * users, channels]."""
    users = TOKENS // 2
    gate, delta = ttnn.silu(ttnn.matmul(x, gates)), ttnn.softplus(ttnn.matmul(x, rates))
    enter, leave = ttnn.matmul(x, enters), ttnn.matmul(x, leaves)
    decays, state, found = ttnn.neg(ttnn.exp(decays)), None, []
    for step in range(STEPS):
        own = slice(step * users, (step + 1) * users)
        change = ttnn.reshape(delta[own], (users, WIDTH, 1))
        given = ttnn.multiply(change, ttnn.reshape(x[own], (users, WIDTH, 1)))
        given = ttnn.multiply(given, ttnn.reshape(enter[own], (users, 1, STATES)))
        if state is None:
            state = given
        else:
            state = ttnn.add(ttnn.multiply(ttnn.exp(ttnn.multiply(change, decays)), state), given)
        read = ttnn.sum(ttnn.multiply(state, ttnn.reshape(leave[own], (users, 1, STATES))), 2)
        found.append(ttnn.multiply(ttnn.add(read, ttnn.multiply(x[own], skip)), gate[own]))
    return ttnn.matmul(ttnn.concat(found, 0), out)


def mamba_in_torch(x, gates, rates, decays, enters, leaves, skip, out):
    steps = [each.reshape(STEPS, -1, each.shape[-1]) for each in (x, x @ enters, x @ leaves)]
    deltas = functional.softplus(x @ rates).reshape(STEPS, -1, WIDTH)
    state, found = 0.0, []
    for own, enter, leave, delta in zip(*steps, deltas, strict=True):
        state = torch.exp(-delta[..., None] * decays.exp()) * state + (delta * own)[..., None] * enter[:, None]
        found.append((state * leave[:, None]).sum(-1) + own * skip)
    return (torch.cat(found) * functional.silu(x @ gates)) @ out


WAVES = ((TOKENS, CHANNELS),) * 2
MASK = (TOKENS, TOKENS)
SQUARE = (WIDTH, WIDTH)
SUBGRAPHS = {
    "GPT-OSS gate-up": Subgraph(
        gate_up, gate_up_in_torch, ((TOKENS, WIDTH), (WIDTH, 2 * HIDDEN), (1, 2 * HIDDEN)), (5, 1)
    ),
    "SwiGLU MLP": Subgraph(
        swiglu, swiglu_in_torch, ((TOKENS, WIDTH), (WIDTH, HIDDEN), (WIDTH, HIDDEN), (HIDDEN, WIDTH)), (8, 1.5)
    ),
    "RMSNorm and linear": Subgraph(
        normed_linear, normed_linear_in_torch, ((TOKENS, WIDTH), (1, WIDTH), (WIDTH, HIDDEN), (1, HIDDEN)), (8, 1)
    ),
    "attention block": Subgraph(
        attention, attention_in_torch, ((TOKENS, WIDTH), *[SQUARE] * 4, MASK, *WAVES), (10, 4)
    ),
    "two-layer transformer": Subgraph(
        transformer, transformer_in_torch, ((TOKENS, WIDTH), MASK, *WAVES, *LAYER, *LAYER), (16, 5)
    ),
    "Mamba block": Subgraph(
        mamba,
        mamba_in_torch,
        ((STEPS * TOKENS // 2, WIDTH), SQUARE, SQUARE, (1, STATES), *[(WIDTH, STATES)] * 2, (1, WIDTH), SQUARE),
        (8, 1.5),
    ),
}  # fmt: skip


def tensors_of(subgraph, dtype):
    """Activations and tables unchanged, weights scaled so that results are about 1."""
    generator = torch.Generator().manual_seed(11)
    made = [torch.randn(shape, generator=generator) for shape in subgraph.shapes]
    scaled = [x if shape[0] in {1, TOKENS, len(made[0])} else x / math.sqrt(shape[0])
              for x, shape in zip(made, subgraph.shapes, strict=True)]  # fmt: skip
    return [each.to(dtype) for each in scaled]


def check(found, subgraph, tensors, units):
    want = subgraph.wanted(*(each.double() for each in tensors))
    least = 1 - (1e-10 if found.dtype is torch.float32 else 1e-3)
    assert ttnn.pearson_correlation_coefficient(want, found.double()) > least
    unit = torch.finfo(found.dtype).eps * 2.0 ** math.floor(math.log2(float(want.abs().max())))
    distance = float((found.double() - want).abs().max()) / unit
    assert distance <= units


@pytest.mark.parametrize("name", SUBGRAPHS)
@pytest.mark.parametrize("target", ["cpu", "wormhole_b0"])
def test_a_part_of_a_model_equals_torch_in_both_frontends(target, name):
    subgraph, on_chip = SUBGRAPHS[name], target != "cpu"
    tensors = tensors_of(subgraph, torch.bfloat16 if on_chip else torch.float32)
    with ttnn.manage_device(0, target=target) as device:
        on_device = [ttnn.from_torch(each, layout=ttnn.TILE_LAYOUT, device=device) for each in tensors]
        traced, parsed = (
            ttnn.to_torch(jit(graph_capture=each)(subgraph.program)(*on_device)) for each in (True, False)
        )
    assert torch.equal(traced, parsed)
    check(parsed, subgraph, tensors, subgraph.units[on_chip])


@pytest.mark.parametrize("name", ["two-layer transformer", "Mamba block"])
def test_a_part_of_a_model_takes_torchs_tensors(name):
    subgraph = SUBGRAPHS[name]
    tensors = tensors_of(subgraph, torch.bfloat16)
    check(jit()(subgraph.program)(*tensors), subgraph, tensors, subgraph.units[1])


def test_a_gated_activation_of_shards_is_one_kernel_and_its_result_is_sharded_likewise():
    """The rules of a chip's kernels: operands in L1, sharded alike."""

    def activation(gate, up):
        gate, up = ttnn.clamp(gate, min=-math.inf, max=7.0), ttnn.clamp(up, min=-7.0, max=7.0)
        return ttnn.multiply(ttnn.add(up, 1.0), ttnn.multiply(gate, ttnn.sigmoid(ttnn.multiply(gate, 1.702))))

    gate, up = torch.randn(256, 256), torch.randn(256, 256)
    with ttnn.manage_device(0, target="wormhole_b0") as device:
        config = ttnn.create_sharded_memory_config((256, 256), ttnn.CoreGrid(x=4, y=4), ttnn.ShardStrategy.BLOCK)
        on_device = [
            ttnn.from_torch(each, layout=ttnn.TILE_LAYOUT, device=device, memory_config=config) for each in (gate, up)
        ]
        function = jit()(activation)
        result = function(*on_device)
        assert result.memory_config() == config
        assert function.explain(*on_device).launches[0].nbytes == 3 * gate.nbytes
        want = (up.double().clamp(-7, 7) + 1) * gate.double() * torch.sigmoid(1.702 * gate.double())
        torch.testing.assert_close(ttnn.to_torch(result).double(), want, rtol=1e-6, atol=1e-6)
