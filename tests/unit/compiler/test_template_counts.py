"""A function of changing sizes compiles few programs: only what changes a kernel, or a loop, needs another one."""

import pytest
import torch

import ttnn_jit
from ttnn_jit import ttnn
from ttnn_jit.cache.statistics import COUNTERS

WIDTH, HEADS, POSITIONS = 64, 2, 48
GENERATOR = torch.Generator().manual_seed(0)
SQUARE = [torch.randn(WIDTH, WIDTH, generator=GENERATOR) / 8 for _ in range(4)]
WIDE, NARROW = (torch.randn(*shape, generator=GENERATOR) / 8 for shape in ((WIDTH, 4 * WIDTH), (4 * WIDTH, WIDTH)))
SCALE, SHIFT = torch.ones(WIDTH), torch.zeros(WIDTH)
SIZES = (300, 33, 2000, 129, 47, 512, 100, 1025, 256, 1500, 64, 130, 90, 700)
TOKENS = (84, 40, 103, 14, 20, 139, 16, 56, 154, 76, 93, 81, 9, 33, 64, 128, 32, 47, 127)


def compiles(function, calls):
    """How many programs the calls compile, the first one's for its sizes alone included."""
    compiled = ttnn_jit.jit(enable_cache=False)(function)
    before = COUNTERS.compiles
    for arguments in calls:
        compiled(*arguments)
    return COUNTERS.compiles - before


def normal(x):
    return ttnn.layer_norm(x, weight=SCALE, bias=SHIFT, epsilon=1e-5)


def heads(x, weight):
    batch, tokens, _ = x.shape
    return ttnn.permute(ttnn.reshape(ttnn.matmul(x, weight), (batch, tokens, HEADS, WIDTH // HEADS)), (0, 2, 1, 3))


def attended(query, keys, values, mask):
    batch, _, tokens, _ = query.shape
    scores = ttnn.multiply(ttnn.matmul(query, ttnn.permute(keys, (0, 1, 3, 2))), 0.2)
    scores = scores if mask is None else ttnn.add(scores, mask)
    found = ttnn.permute(ttnn.matmul(ttnn.softmax(scores, dim=-1), values), (0, 2, 1, 3))
    return ttnn.matmul(ttnn.reshape(found, (batch, tokens, WIDTH)), SQUARE[3])


def mlp(x):
    return ttnn.softmax(ttnn.matmul(ttnn.gelu(ttnn.matmul(x, WIDE)), NARROW), dim=-1)


def encoder(x, mask):
    query, key, value = (heads(normal(x), each) for each in SQUARE[:3])
    return mlp(ttnn.add(x, attended(query, key, value, mask)))


def gpt(x):
    return encoder(encoder(x, None), None)


def decoded(x, position, keys, values):
    query, key, value = (heads(normal(x), each) for each in SQUARE[:3])
    keys = ttnn.concat([keys[:, :, :position], key], dim=2)
    values = ttnn.concat([values[:, :, :position], value], dim=2)
    return mlp(ttnn.add(x, attended(query, keys, values, None)))


def written(x, position, keys, values):
    query, key, value = (heads(normal(x), each) for each in SQUARE[:3])
    keys[:, :, position : position + 1] = key
    values[:, :, position : position + 1] = value
    past = slice(position + 1)
    return mlp(ttnn.add(x, attended(query, keys[:, :, past], values[:, :, past], None)))


def rows(*sizes):
    return [(torch.ones(size, WIDTH),) for size in sizes]


def test_an_elementwise_function_has_a_program_per_class_of_sizes():
    assert compiles(lambda x: ttnn.multiply(ttnn.exp(x), ttnn.tanh(x)), rows(*SIZES)) <= 4


def test_a_softmax_and_an_mlp_have_one_program_for_many_rows():
    assert compiles(lambda x: ttnn.softmax(x, dim=-1), rows(*SIZES)) == 2
    assert compiles(mlp, rows(*SIZES)) == 2


def test_a_gpt_has_one_program_for_many_tokens():
    assert compiles(gpt, [(torch.ones(2, tokens, WIDTH),) for tokens in TOKENS]) <= 3


@pytest.mark.parametrize("function", [decoded, written])
def test_a_decode_has_few_programs_for_the_positions_of_a_cache(function):
    caches = [torch.zeros(2, HEADS, POSITIONS, WIDTH // HEADS) for _ in range(2)]
    calls = ((torch.ones(2, 1, WIDTH), position, *caches) for position in range(POSITIONS))
    assert compiles(function, calls) <= 4, "positions 0 and 1, the last one, and all others"


def test_an_encoder_has_few_programs_for_batches_of_many_lengths():
    sizes = [(2 + (7 * tokens) % 11, tokens) for tokens in TOKENS]
    calls = ((torch.ones(batch, tokens, WIDTH), torch.zeros(batch, 1, 1, tokens)) for batch, tokens in sizes)
    assert compiles(encoder, calls) <= 3
