"""Rotary embeddings are products of complex numbers, however their pairs of channels lie."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ttnn_jit import jit, ttnn
from ttnn_jit.diagnostics.errors import CompileError

FRONTENDS = pytest.mark.parametrize("graph_capture", [False, True])
TARGETS = pytest.mark.parametrize("target", ["cpu", "wormhole_b0"])
SIZES = st.tuples(st.integers(1, 2), st.integers(1, 3), st.integers(1, 35))
ROTARY, HF = ttnn.experimental.rotary_embedding, ttnn.experimental.rotary_embedding_hf
LLAMA, FUSED = ttnn.experimental.rotary_embedding_llama, ttnn.experimental.rotary_embedding_llama_fused_qk


def angles_of(*shape):
    return torch.rand(shape, dtype=torch.float64) * 6.28


def rotated(x, angles, pairs):
    """Pairs of channels as complex numbers, times exp(i angle); `pairs` says how they lie."""
    x = x.double()
    halves = x.chunk(2, -1) if pairs == "halves" else (x[..., ::2], x[..., 1::2])
    product = torch.complex(*halves) * torch.polar(torch.ones_like(angles), angles)
    parts = [product.real, product.imag]
    return torch.cat(parts, -1) if pairs == "halves" else torch.stack(parts, -1).flatten(-2)


def waves(angles, pairs):
    """Cosines and sines, for every channel one."""
    whole = torch.cat([angles, angles], -1) if pairs == "halves" else angles.repeat_interleave(2, -1)
    return whole.cos().float(), whole.sin().float()


def rotation_matrix(rows=32):
    """The matrix that rotates pairs 2i, 2i + 1 by a right angle."""
    matrix = torch.zeros(1, 1, rows, 32)
    for i in range(0, rows, 2):
        matrix[..., i, (i + 1) % 32], matrix[..., i + 1, i % 32] = 1.0, -1.0
    return matrix


def assert_near(got, want):
    torch.testing.assert_close(got.double(), want, rtol=1e-5, atol=1e-5)


@settings(max_examples=20, deadline=None)
@given(sizes=SIZES, half=st.integers(1, 40), more=st.integers(0, 5), graph_capture=st.booleans())
def test_halves_of_rows_are_rotated_by_their_position(sizes, half, more, graph_capture):
    x = torch.randn(*sizes, 2 * half)
    positions = sizes[2]
    angles = angles_of(1, 1, positions + more, half)
    cos, sin = waves(angles, "halves")
    token = positions + more - 1

    @jit(graph_capture=graph_capture)
    def every(x, cos, sin):
        return ROTARY(x, cos, sin), HF(x, cos, sin, is_decode_mode=False), ROTARY(x, cos, sin, token)

    own, hf, at = every(x, cos, sin)
    assert_near(own, rotated(x, angles[:, :, :positions], "halves"))
    assert torch.equal(hf, own)
    assert_near(at, rotated(x, angles[:, :, token : token + 1], "halves"))


@settings(max_examples=20, deadline=None)
@given(sizes=SIZES, blocks=st.integers(1, 3), decodes=st.booleans(), graph_capture=st.booleans())
def test_pairs_of_rows_are_rotated_by_their_position_or_their_user(sizes, blocks, decodes, graph_capture):
    _, users, rows = sizes
    x, width = torch.randn(1, users, rows, 32 * blocks), 16 * blocks
    angles = angles_of(1, users, 32, width) if decodes else angles_of(1, 1, rows + 3, width)
    cos, sin = waves(angles, "pairs")

    @jit(graph_capture=graph_capture)
    def rotate(x, cos, sin, matrix):
        return LLAMA(x, cos, sin, matrix, is_decode_mode=decodes)

    used = angles[:, :, :1] if decodes else angles[:, :, :rows]
    assert_near(rotate(x, cos, sin, rotation_matrix(64 if decodes else 32)), rotated(x, used, "pairs"))


@TARGETS
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_queries_and_keys_are_rotated_in_one_call(target, dtype):
    query, key = torch.randn(1, 8, 4, 64).to(dtype), torch.randn(1, 8, 2, 64).to(dtype)
    angles = angles_of(1, 16, 32, 32)
    cos, sin = (each.to(dtype) for each in waves(angles, "pairs"))
    bound = 1e-5 if dtype is torch.float32 else 0.05
    want = rotated(query, angles[:, :8, :1], "pairs"), rotated(key, angles[:, 8:, :1], "pairs")

    def call(*tensors):
        return FUSED(*tensors)

    with ttnn.manage_device(0, target=target) as device:
        on_device = [
            ttnn.from_torch(each, layout=ttnn.TILE_LAYOUT, device=device)
            for each in (query, key, cos, sin, rotation_matrix(32).to(dtype))
        ]
        eager, *jitted = call(*on_device), jit()(call)(*on_device), jit(graph_capture=True)(call)(*on_device)
        for index, whole in enumerate(want):
            found = ttnn.to_torch(eager[index])
            torch.testing.assert_close(found.double(), whole, rtol=bound, atol=bound)
            assert all(torch.equal(ttnn.to_torch(each[index]), found) for each in jitted)


@pytest.mark.parametrize("call", [ROTARY, HF])
def test_a_rotation_is_one_pass_over_its_tensor(call):
    x, (cos, sin) = torch.randn(1, 8, 64, 128), waves(angles_of(1, 1, 64, 64), "halves")
    report = str(jit()(lambda x, cos, sin: call(x, cos, sin)).explain(x, cos, sin))
    launches = [line for line in report.splitlines() if line.startswith("  launch")]
    assert [line for line in launches if "loops 128" not in line] == launches[2:]  # the others count channels
    assert len(launches) == 3


X, COS = torch.zeros(1, 2, 4, 64), torch.zeros(1, 1, 8, 64)


@FRONTENDS
@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda x, c: ROTARY(x, c, c[:, :, 1:]),
            r"the cosines have shape \[1, 1, 8, 64\], and the sines \[1, 1, 7, 64\]",
        ),
        (lambda x, c: ROTARY(x, c, c, 8), "there are angles for 8 positions, and none for position 8"),
        (lambda x, c: ROTARY(x, c, c, -1), "there are angles for 8 positions, and none for position -1"),
        (lambda x, c: ROTARY(x, c[:, :, :3], c[:, :, :3]), "angles for 3 positions, and none for position 3"),
        (lambda x, c: ROTARY(x[..., :63], c[..., :63], c[..., :63]), "rows of 63 channels are not rotated by 63"),
        (lambda x, c: ROTARY(x[..., :32], c, c), "rows of 32 channels are not rotated by 64 cosines"),
        (lambda x, c: ROTARY(x[0], c, c), r"a tensor of shape \[2, 4, 64\] is not rotated"),
        (lambda x, c: HF(x, c[:, :, :3], c[:, :, :3]), r"cosines of shape \[1, 1, 3, 64\] do not broadcast"),
        (lambda x, c: LLAMA(x, c, c, c), r"64 channels are not rotated by a matrix of shape \[1, 1, 8, 64\]"),
        (lambda x, c: FUSED(x, x, c, c, c), r"angles of shape \[1, 1, 8, 64\] are not for queries"),
    ],
)
def test_angles_that_do_not_fit_are_refused_where_they_stand(call, said, graph_capture):
    with pytest.raises(CompileError, match=said) as caught:
        jit(graph_capture=graph_capture)(call)(X, COS)
    assert caught.value.location.file == __file__
