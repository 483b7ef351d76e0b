"""On a chip target results that are not whole tiles are read by launches of the host program."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import given, settings

import ttnn_jit
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import LayoutError, ShapeError

DEVICE = ttnn.open_device(device_id=0)
X = ttnn.from_torch(
    torch.randn(64, 96, generator=torch.Generator().manual_seed(0)).bfloat16(), layout=ttnn.TILE_LAYOUT, device=DEVICE
)


@settings(max_examples=8, deadline=None)
@given(
    rows=st.integers(1, 64),
    columns=st.integers(1, 96),
    layouts=st.tuples(*[st.sampled_from([ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT])] * 2),
    graph_capture=st.booleans(),
)
def test_partial_tiles_and_computed_row_major_tensors_have_eager_bits(rows, columns, layouts, graph_capture):
    def program(x):
        first = ttnn.to_layout(x[:rows, :columns], layouts[0])
        second = ttnn.to_layout(x[64 - rows :, 96 - columns :], layouts[1])
        return ttnn.relu(ttnn.add(ttnn.exp(first), second))

    got, want = ttnn_jit.jit(graph_capture=graph_capture)(program)(X), program(X)
    assert torch.equal(ttnn.to_torch(got), ttnn.to_torch(want))
    assert (got.layout, got.shape) == (want.layout, want.shape)


def test_operations_on_them_are_launches_of_their_own():
    jitted = ttnn_jit.jit()(lambda x: ttnn.exp(ttnn.neg(x[:40])))
    text = jitted.ir(X)
    assert "ttnn.hoist_generic_via_d2m" not in text
    assert "hoist" in ttnn_jit.jit()(lambda x: ttnn.exp(ttnn.neg(x[:32]))).ir(X)
    assert "not fused: neg into exp" in str(jitted.explain(X))


@pytest.mark.parametrize(
    ("shape", "layout", "error"),
    [((40, 96), ttnn.TILE_LAYOUT, ShapeError), ((64, 96), ttnn.ROW_MAJOR_LAYOUT, LayoutError)],
)
def test_an_argument_that_a_kernel_reads_is_still_refused(shape, layout, error):
    x = ttnn.from_torch(torch.zeros(shape), layout=layout, device=DEVICE)
    with pytest.raises(error, match="`x`" if error is ShapeError else "Only Layout.Tile"):
        ttnn_jit.jit()(lambda x: ttnn.exp(x))(x)
