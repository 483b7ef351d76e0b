"""Checks of indices and sparsities against the same checks in torch."""

from __future__ import annotations

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ttnn_jit import ttnn
from ttnn_jit.runtime.tensors.tensor import elements_of

TYPES = {torch.int32: ttnn.int32, torch.uint8: ttnn.uint8, torch.int64: ttnn.uint32, torch.int16: ttnn.uint16}
SHAPES = st.sampled_from([(), (0,), (1,), (7,), (3, 40), (2, 3, 33), (1, 20_000)])
LAYOUTS = st.sampled_from([ttnn.ROW_MAJOR_LAYOUT, ttnn.TILE_LAYOUT])


@settings(max_examples=60, deadline=None)
@given(
    shape=SHAPES,
    dtype=st.sampled_from(sorted(TYPES, key=str)),
    layout=LAYOUTS,
    count=st.sampled_from([1, 2, 128, 200, 255, 256, 32_000, 2**31 - 1]),
    planted=st.sampled_from([None, -1, -(2**31), 0, 1, 127, 128, 199, 200, 255, 32_000, 2**31 - 1]),
    seed=st.integers(0, 99),
)
def test_an_index_is_out_of_range_exactly_where_torch_reports_it(shape, dtype, layout, count, planted, seed):
    generator = torch.Generator().manual_seed(seed)
    held = torch.iinfo(dtype)
    x = torch.randint(0, min(count, held.max, 2**31 - 1), shape, generator=generator).to(dtype)
    lowest = held.min if dtype is torch.int32 else 0
    if planted is not None and x.numel() and lowest <= planted <= held.max:
        x.view(-1)[int(torch.randint(x.numel(), (), generator=generator))] = planted
    tensor = ttnn.from_torch(x, dtype=TYPES[dtype], layout=layout)
    found = elements_of(tensor, "this test").out_of_range(count)
    numbers = x.long()
    wrong = numbers[(numbers < 0) | (numbers >= count)]
    assert (found is None) is (wrong.numel() == 0)
    assert found is None or found in {int(wrong.min()), int(wrong.max())}


@settings(max_examples=30, deadline=None)
@given(
    shape=SHAPES,
    dtype=st.sampled_from([ttnn.float32, ttnn.bfloat16, ttnn.int32]),
    layout=LAYOUTS,
    planted=st.sampled_from([0.0, -0.0, float("nan"), float("inf"), -1.0]),
    seed=st.integers(0, 99),
)
def test_nonzero_elements_are_counted_as_in_torch_unless_one_is_nan(shape, dtype, layout, planted, seed):
    generator = torch.Generator().manual_seed(seed)
    x = torch.randint(-1, 2, shape, generator=generator).float()
    if x.numel() and dtype is not ttnn.int32:
        x.view(-1)[0] = planted
    found = elements_of(ttnn.from_torch(x, dtype=dtype, layout=layout), "this test").count_nonzeros()
    assert found == (None if x.isnan().any() else int(x.count_nonzero()))
    packed = ttnn.from_torch(torch.ones(32, 32), dtype=ttnn.bfloat8_b)
    assert elements_of(packed, "this test").count_nonzeros() is None
