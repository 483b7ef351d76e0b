"""Gathered rows are copied by a loop without numba: every type and layout, dense or strided."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import ttnn_jit
from tests.processes import run_python
from ttnn_jit import ttnn

TYPES = {
    torch.float32: ttnn.float32,
    torch.bfloat16: ttnn.bfloat16,
    torch.int32: ttnn.int32,
    torch.uint8: ttnn.uint8,
}


@given(st.data())
@settings(deadline=None, max_examples=25)
def test_rows_of_any_type_are_gathered_by_their_index(data):
    device = ttnn.open_device(device_id=0, target=data.draw(st.sampled_from(["cpu", "wormhole_b0"])))
    rows, width = data.draw(st.integers(1, 70)), data.draw(st.sampled_from([1, 15, 16, 17, 33, 64, 100]))
    shape = data.draw(st.sampled_from([(1,), (7,), (2, 5), (1, 3, 4)]))
    kind = data.draw(st.sampled_from(list(TYPES)))
    table = torch.randint(0, 200, (rows, width)).to(kind)
    index = torch.randint(0, rows, shape)
    layout = data.draw(st.sampled_from([ttnn.ROW_MAJOR_LAYOUT, ttnn.TILE_LAYOUT]))
    stored = data.draw(st.sampled_from([ttnn.ROW_MAJOR_LAYOUT, ttnn.TILE_LAYOUT]))
    found = ttnn.embedding(
        ttnn.from_torch(index, dtype=data.draw(st.sampled_from([ttnn.uint32, ttnn.int32, ttnn.uint16])), device=device),
        ttnn.from_torch(table, dtype=TYPES[kind], layout=stored, device=device),
        layout=layout,
    )
    assert torch.equal(ttnn.to_torch(found).to(kind), table[index])


@pytest.mark.parametrize("backend", ["ttnn", "numba"])
def test_an_index_beyond_the_table_is_clamped_and_rows_may_be_strided(backend):
    table = torch.randn(64, 100).T[::3]
    index = torch.tensor([[0, -1, -(2**31), 33, 34, 2**31 - 1]], dtype=torch.int32)
    look_up = ttnn_jit.jit(backend=backend)(lambda index, table: ttnn.embedding(index, table))
    assert torch.equal(look_up(index, table), table[index.long().clamp(0, len(table) - 1)])


def test_programs_for_tables_of_other_strides_or_types_are_found_on_disk():
    index, floats = torch.tensor([[0, 1, 33]], dtype=torch.int32), torch.randn(34, 64)
    for table in (torch.randn(64, 100).T[::3], floats, floats.view(torch.int32)):
        look_up = ttnn_jit.jit()(lambda index, table: ttnn.embedding(index, table))
        look_up(index, table)
        look_up.clear()
        before = ttnn_jit.cache_info()
        assert torch.equal(look_up(index, table), table[index.long()])
        after = ttnn_jit.cache_info()
        assert (after.disk_hits - before.disk_hits, after.compiles - before.compiles) == (1, 0)


@pytest.mark.process
def test_an_embedding_is_compiled_without_numba():
    text = (
        "import sys; from ttnn_jit import ttnn; device = ttnn.open_device(device_id=0);"
        "made = lambda shape, dtype: ttnn.ones(shape, dtype=dtype, device=device);"
        "ttnn.embedding(made([1, 1], ttnn.uint32), made([3, 4], ttnn.bfloat16));"
        "assert 'numba' not in sys.modules"
    )
    run_python("-c", text, check=True)


@pytest.mark.parametrize("layout", [ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT])
def test_rows_have_the_layout_of_the_weight_by_default(layout, device):
    weight = torch.randn(50, 64)
    indices = ttnn.from_torch(torch.tensor([[3, 7, 3]]), dtype=ttnn.uint32, device=device)
    table = ttnn.from_torch(weight, dtype=ttnn.bfloat16, layout=layout, device=device)
    rows = ttnn.embedding(indices, table)
    assert rows.layout is layout
    assert torch.equal(ttnn.to_torch(rows), ttnn.to_torch(table)[torch.tensor([[3, 7, 3]])])
    assert ttnn.embedding(indices, table, layout=ttnn.TILE_LAYOUT).layout is ttnn.TILE_LAYOUT
