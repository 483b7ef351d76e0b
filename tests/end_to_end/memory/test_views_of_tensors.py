"""Views of ttnn tensors: a reshape that keeps the pages shares its operand's memory, eagerly and in programs."""

from __future__ import annotations

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ttnn_jit import jit, ttnn
from ttnn_jit.diagnostics.errors import ArgumentError

MODES = {"eager": lambda function: function, "interpreted": jit(graph_capture=False), "traced": jit(graph_capture=True)}
EVERY_MODE = pytest.mark.parametrize("mode", MODES)


def on_device(x, device, layout=ttnn.TILE_LAYOUT, **keywords):
    return ttnn.from_torch(x, layout=layout, device=device, **keywords)


def keeps_pages(shape, new, layout):
    """The rule of tt-metal's reshape, for tensors that are not sharded."""
    (*_, rows, columns), (*_, new_rows, new_columns) = (1, 1, *shape), (1, 1, *new)
    return columns == new_columns and (
        layout is ttnn.ROW_MAJOR_LAYOUT or rows == new_rows or (rows % 32 == 0 and new_rows % 32 == 0)
    )


SHAPES = [
    (2, 64, 32),
    (4, 32, 32),
    (128, 32),
    (1, 128, 32),
    (2, 2, 32, 32),
    (64, 64),
    (2, 32, 64),
    (4096,),
    (128, 1, 32),
]


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    start=st.sampled_from(SHAPES),
    steps=st.lists(st.tuples(st.sampled_from(SHAPES), st.booleans()), min_size=1, max_size=4),
    layout=st.sampled_from([ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT]),
    mode=st.sampled_from(sorted(MODES)),
)
def test_writes_go_to_the_addresses_of_pages(cpu_device, start, steps, layout, mode):
    x = torch.randint(-3, 4, start, generator=torch.Generator().manual_seed(len(steps))).float()

    def program(given):
        tensors = [given]
        for number, (shape, of_first) in enumerate(steps):
            tensors.append(ttnn.reshape(tensors[0 if of_first else -1], shape))
            ttnn.add_(tensors[-1], number + 1.0)
        return [ttnn.multiply(each, 2.0) for each in tensors]

    expected = [x.clone()]
    for number, (shape, of_first) in enumerate(steps):
        base = expected[0 if of_first else -1]
        moved = base.view(shape) if keeps_pages(base.shape, shape, layout) else base.clone().view(shape)
        expected.append(moved.add_(number + 1.0))
    tensor = on_device(x, cpu_device, layout)
    found = MODES[mode](program)(tensor)
    assert all(torch.equal(ttnn.to_torch(mine), 2 * theirs) for mine, theirs in zip(found, expected, strict=True))
    assert torch.equal(ttnn.to_torch(tensor), expected[0])


@EVERY_MODE
def test_dimensions_of_one_are_added_and_removed_in_place(mode, device):
    def program(x):
        ttnn.add_(ttnn.unsqueeze_to_4D(x), 1.0)
        ttnn.multiply_(ttnn.squeeze(ttnn.unsqueeze(x, 0), 0), 3.0)

    x = torch.ones(33, 40)
    tensor = on_device(x, device) if mode == "eager" else on_device(torch.ones(64, 32), device)
    MODES[mode](program)(tensor)
    assert torch.equal(ttnn.to_torch(tensor), torch.full(tuple(tensor.shape), 6.0))


def test_a_view_outlives_its_base(device):
    x = on_device(torch.ones(2, 32, 32), device, memory_config=ttnn.L1_MEMORY_CONFIG)
    view = ttnn.reshape(x, (64, 32))
    assert view.buffer_address() == x.buffer_address()
    ttnn.deallocate(x)
    others = [on_device(torch.zeros(2, 32, 32), device) for _ in range(4)]
    assert torch.equal(ttnn.to_torch(view), torch.ones(64, 32))
    assert not any(ttnn.to_torch(other).any() for other in others)


def test_a_tensor_is_charged_to_l1_once_for_all_its_views(device):
    before = device.l1.view().used
    x = on_device(torch.ones(2, 32, 32), device, memory_config=ttnn.L1_MEMORY_CONFIG)
    taken = device.l1.view().used - before
    views = [ttnn.reshape(x, (64, 32)), ttnn.unsqueeze(x, 0)]
    assert device.l1.view().used - before == taken > 0
    del x, views
    assert device.l1.view().used == before


def test_a_view_and_its_base_among_written_arguments_are_refused(cpu_device):
    x = on_device(torch.ones(2, 32, 32), cpu_device)
    view = ttnn.reshape(x, (64, 32))

    @jit()
    def run(a, b):
        ttnn.add_(a, 1.0)
        return ttnn.multiply(b, 2.0)

    for _ in range(3):
        with pytest.raises(ArgumentError, match="shares memory with argument"):
            run(x, view)
    assert torch.equal(ttnn.to_torch(x), torch.ones(2, 32, 32))
