"""`format_input_tensor`, `format_output_tensor`, and arguments of creation and movement in public programs."""

import pytest
import torch

import ttnn_jit
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import ArgumentError

X = torch.arange(2 * 3 * 5 * 7, dtype=torch.float32).reshape(2, 3, 5, 7)
LAYOUTS = [ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT]


@pytest.fixture
def device():
    opened = ttnn.open_device(device_id=0)
    yield opened
    ttnn.close_device(opened)


@pytest.mark.parametrize("on_device", [False, True])
@pytest.mark.parametrize("start", LAYOUTS)
@pytest.mark.parametrize("end", LAYOUTS)
@pytest.mark.parametrize("memory_config", [None, ttnn.L1_MEMORY_CONFIG])
def test_a_tensor_is_padded_laid_out_and_moved_and_back(device, on_device, start, end, memory_config):
    x = ttnn.from_torch(X, layout=start, device=device if on_device else None)
    padded = ttnn.format_input_tensor(x, device, [2, 4, 32, 32], -1.0, end, memory_config)
    wanted = torch.nn.functional.pad(X, (0, 25, 0, 27, 0, 1), value=-1.0)
    assert padded.layout is end
    assert padded.device() is device
    assert padded.memory_config() == (memory_config or ttnn.DRAM_MEMORY_CONFIG)
    assert torch.equal(padded.to_torch(), wanted)
    back = ttnn.format_output_tensor(padded, [2, 3, 5, 7], device, start, memory_config)
    assert back.layout is start
    assert torch.equal(back.to_torch(), X)


def test_a_tensor_in_the_requested_format_is_returned_itself(device):
    x = ttnn.from_torch(X, layout=ttnn.TILE_LAYOUT, device=device)
    assert ttnn.format_input_tensor(x, device, X.shape, 0.0, ttnn.TILE_LAYOUT) is x
    assert ttnn.format_output_tensor(x, X.shape, device, ttnn.TILE_LAYOUT) is x


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda x, d: ttnn.format_input_tensor(x, d, [2, 3, 5, 6], 0.0, ttnn.TILE_LAYOUT), "has no padded shape"),
        (lambda x, d: ttnn.format_input_tensor(x, d, [5, 7], 0.0, ttnn.TILE_LAYOUT), "has no padded shape"),
        (lambda x, d: ttnn.format_output_tensor(x, [2, 3, 5, 8], d, ttnn.TILE_LAYOUT), "has no part of shape"),
        (
            lambda x, d: ttnn.format_output_tensor(x, [2, 3, 5, 7], d, 3),
            "`target_layout` of format_output_tensor must be a ttnn.Layout",
        ),
    ],
)
def test_shapes_that_do_not_fit_are_refused(device, call, text):
    with pytest.raises(ValueError, match=text):
        call(ttnn.from_torch(X, layout=ttnn.TILE_LAYOUT, device=device), device)


@pytest.mark.parametrize("sizes", [[2, 3], (1, 4), [2, 4], [4, 100], [5], [9], [1, 1, 1, 1, 1]])
@pytest.mark.parametrize("dim", [2, -2])
@pytest.mark.parametrize("jitted", [False, True])
def test_the_last_part_of_a_split_has_what_is_left(sizes, dim, jitted):
    device = ttnn.open_device(device_id=0, target="cpu")
    split = lambda x: ttnn.split(x, sizes, dim)  # noqa: E731 - the same source for both
    parts = (ttnn_jit.jit()(split) if jitted else split)(ttnn.from_torch(X, layout=ttnn.TILE_LAYOUT, device=device))
    assert len(parts) == len(sizes)
    assert torch.equal(torch.cat([part.to_torch() for part in parts], 2), X)
    assert [part.shape[2] for part in parts[:-1]] == list(sizes[:-1])
    ttnn.close_device(device)


@pytest.mark.parametrize("sizes", [[2, 2], [5, 1], [-1, 6], [], [9, 9]])
def test_split_sizes_that_do_not_cover_a_dimension_or_exceed_it_are_refused(device, sizes):
    with pytest.raises(ValueError, match="do not make up dimension 2"):
        ttnn.split(ttnn.from_torch(X, layout=ttnn.TILE_LAYOUT, device=device), sizes, 2)


@pytest.mark.parametrize("jitted", [False, True])
@pytest.mark.parametrize("mode", ttnn.TileReshapeMapMode)
def test_a_reshape_accepts_a_tile_padding_mode(device, mode, jitted):
    reshape = lambda x: ttnn.reshape(x, (6, 35), reshape_tile_mode=mode)  # noqa: E731 - the same source for both
    x = ttnn.from_torch(X, layout=ttnn.TILE_LAYOUT, device=device)
    assert torch.equal((ttnn_jit.jit()(reshape) if jitted else reshape)(x).to_torch(), X.reshape(6, 35))


def test_arange_takes_its_end_as_the_only_argument():
    assert ttnn.arange(end=5, dtype=ttnn.int32).to_torch().tolist() == [0, 1, 2, 3, 4]
    assert ttnn.arange(start=2, end=7, step=2, dtype=ttnn.int32).to_torch().tolist() == [2, 4, 6]
    assert ttnn.arange(3, dtype=ttnn.int32).to_torch().tolist() == [0, 1, 2]
    with pytest.raises(ArgumentError, match="neither a start nor an end"):
        ttnn.arange()


def test_nonzero_takes_a_memory_config_and_a_queue(device):
    x = ttnn.from_torch(torch.tensor([[[[0.0, 3.0, 0.0, 4.0]]]]), device=device)
    count, indices = ttnn.nonzero(x, queue_id=0, memory_config=ttnn.L1_MEMORY_CONFIG)
    assert count.to_torch().item() == 2
    assert indices.to_torch().flatten()[:2].tolist() == [1, 3]
    assert indices.memory_config() == ttnn.L1_MEMORY_CONFIG
    jitted = ttnn_jit.jit()(lambda x: ttnn.to_memory_config(x + 1.0, ttnn.DRAM_MEMORY_CONFIG, queue_id=0))
    y = ttnn.from_torch(torch.ones(32, 32), layout=ttnn.TILE_LAYOUT, device=device)
    assert torch.equal(jitted(y).to_torch(), torch.full((32, 32), 2.0))


def test_to_dtype_of_the_same_type_is_the_tensor_itself_on_a_device_too(device):
    for x in (ttnn.from_torch(X), ttnn.from_torch(X, layout=ttnn.TILE_LAYOUT, device=device)):
        assert ttnn.to_dtype(x, ttnn.float32) is x


USERS, HEADS, POSITIONS, CHANNELS = 3, 2, 64, 32


@pytest.mark.parametrize("jitted", [False, True])
@pytest.mark.parametrize("target", ["cpu", "wormhole_b0"])
@pytest.mark.parametrize("by_tensor", [False, True])
def test_two_caches_are_written_by_one_call(jitted, target, by_tensor):
    device = ttnn.open_device(device_id=0, target=target)
    values = [torch.randn(USERS, HEADS, POSITIONS, CHANNELS), torch.randn(1, USERS, 32, CHANNELS)]
    values += [torch.randn_like(value) for value in values]
    at = [5, 63, 0]
    tensors = [ttnn.from_torch(value, layout=ttnn.TILE_LAYOUT, device=device) for value in values]
    index = ttnn.from_torch(torch.tensor(at, dtype=torch.int32), dtype=ttnn.int32, device=device)

    def update(k, new_k, v, new_v, index):
        where = {"update_idxs_tensor": index} if by_tensor else {"update_idxs": [5, 63, 0]}
        return ttnn.experimental.paged_fused_update_cache(k, new_k, v, new_v, **where, batch_offset=0)

    results = (ttnn_jit.jit()(update) if jitted else update)(*tensors, index)
    for cache, new in ((0, 1), (2, 3)):
        wanted = values[cache].clone()
        for user, position in enumerate(at):
            wanted[user, :, position] = values[new][0, user, :HEADS]
        assert torch.equal(tensors[cache].to_torch(), wanted)
    assert type(results) is tuple
    assert results[0] is tensors[0]
    assert results[1] is tensors[2]
    with pytest.raises(ArgumentError, match="`batch_offset` of paged_fused_update_cache must be 0"):
        ttnn.experimental.paged_fused_update_cache(*tensors, update_idxs_tensor=index, batch_offset=1)
    ttnn.close_device(device)
