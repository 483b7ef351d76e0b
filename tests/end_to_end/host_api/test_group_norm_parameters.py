"""Prepared parameters of `group_norm`: every mask covers its group, and padding is removed."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import given, settings

from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import ArgumentError, ShapeError


@settings(max_examples=25, deadline=None)
@given(size=st.integers(1, 70), per_core=st.integers(1, 5), cores=st.integers(1, 4))
def test_a_group_norm_mask_has_ones_at_the_channels_of_a_group_on_its_core(size, per_core, cores):
    groups = per_core * cores
    mask = ttnn.to_torch(ttnn.create_group_norm_input_mask(size * groups, groups, cores))
    other = ttnn.to_torch(ttnn.create_group_norm_input_negative_mask(size * groups, groups, cores))
    assert mask.shape[:3] == (1, groups, 32)
    assert mask.shape[3] % 32 == 0
    assert torch.equal(mask + other, torch.ones_like(mask))
    for group in range(groups):
        columns = mask[0, group, 0].nonzero().flatten()
        first = group % per_core * size % 32
        assert columns.tolist() == list(range(first, first + size))


@settings(max_examples=15, deadline=None)
@given(chunk=st.sampled_from([32, 33, 97]), chunks=st.integers(1, 3), groups=st.sampled_from([1, 3]))
def test_numbers_that_were_padded_per_core_belong_to_the_right_channels(chunk, chunks, groups):
    device = ttnn.open_device(device_id=0, target="cpu")
    channels, groups = chunk * chunks, groups if chunk * chunks % groups == 0 else 1
    x, weight, bias = torch.randn(2, 1, 6, channels), torch.randn(channels), torch.randn(channels)
    prepared = [ttnn.create_group_norm_weight_bias_rm(each, channels, chunks) for each in (weight, bias)]
    assert prepared[0].shape[-1] == 32
    on_device = [ttnn.from_torch(each, device=device) for each in (x, *prepared)]
    mask = ttnn.to_device(ttnn.create_group_norm_input_mask(channels, groups, 1), device)
    got = ttnn.group_norm(
        on_device[0],
        num_groups=groups,
        weight=on_device[1],
        bias=on_device[2],
        epsilon=1e-5,
        input_mask=mask,
        inplace=False,
    )
    rows = x.double().movedim(-1, 1)
    want = torch.nn.functional.group_norm(rows, groups, weight.double(), bias.double()).movedim(1, -1)
    torch.testing.assert_close(ttnn.to_torch(got).double(), want, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("is_row_major", [False, True])
@pytest.mark.parametrize("is_height_sharded", [False, True])
@pytest.mark.parametrize(("channels", "groups", "rows"), [(320, 32, 4096), (64, 4, 100), (640, 32, 1024)])
def test_a_sharded_config_holds_its_operand(channels, groups, rows, is_height_sharded, is_row_major, device):
    config, grid = ttnn.determine_expected_group_norm_sharded_config_and_grid_size(
        device=device,
        num_channels=channels,
        num_groups=groups,
        input_nhw=rows,
        is_height_sharded=is_height_sharded,
        is_row_major=is_row_major,
    )
    height, width = config.shard_spec.shape
    cores = ttnn.get_group_norm_cores_across_channel(config.memory_layout, grid, config.shard_spec.orientation)
    assert width * cores == channels
    assert width % (channels // groups) == 0
    assert height * (grid.x * grid.y // cores) >= rows
    if is_height_sharded:
        x = torch.randn(1, 1, rows, channels)
        on_device = ttnn.from_torch(x, layout=ttnn.TILE_LAYOUT, device=device, memory_config=config)
        got = ttnn.group_norm(on_device, num_groups=groups, epsilon=1e-5, core_grid=grid, memory_config=config)
        want = torch.nn.functional.group_norm(x.double().movedim(-1, 1), groups).movedim(1, -1)
        torch.testing.assert_close(ttnn.to_torch(got).double(), want, rtol=1e-4, atol=1e-4)


def test_counts_that_do_not_fit_are_refused(device):
    with pytest.raises(ShapeError, match="40 channels do not make 3 equal groups on 1 cores"):
        ttnn.create_group_norm_input_mask(40, 3, 1)
    with pytest.raises(ArgumentError, match="`num_groups` is 0"):
        ttnn.create_group_norm_input_mask(40, 0, 1)
    with pytest.raises(ShapeError, match="40 elements are not 41 channels"):
        ttnn.create_group_norm_weight_bias_rm(torch.zeros(40), 41, 1)
    with pytest.raises(ShapeError, match="40 channels are no multiple of 32"):
        ttnn.determine_expected_group_norm_sharded_config_and_grid_size(
            device=device, num_channels=40, num_groups=2, input_nhw=32, is_height_sharded=True
        )
