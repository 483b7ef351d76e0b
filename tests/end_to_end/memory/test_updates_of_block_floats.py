"""Updates of block-float caches pack the written rows in place and access nothing else."""

from __future__ import annotations

import ctypes
import mmap

import pytest
import torch

import ttnn_jit
from ttnn_jit import ttnn

USERS, HEADS, POSITIONS = 3, 2, 70  # the last tiles of positions are partial
BLOCK, BLOCKS = 32, 4

packed_dtypes = pytest.mark.parametrize("dtype", [ttnn.bfloat8_b, ttnn.bfloat4_b], ids=lambda dtype: dtype.name.lower())
widths = pytest.mark.parametrize("width", [5, 16, 40, 64])
eager_and_jitted = pytest.mark.parametrize("jitted", [False, True], ids=["eager", "jitted"])


def drawn(generator, dtype, device, *shape):
    values = torch.randn(*shape, generator=generator) * torch.exp2(torch.randint(-9, 9, shape, generator=generator))
    return ttnn.from_torch(values, dtype=dtype, layout=ttnn.TILE_LAYOUT, device=device)


def of_integers(values, device):
    return ttnn.from_torch(torch.as_tensor(values, dtype=torch.int32), dtype=ttnn.int32, device=device)


def repacked(values, like):
    """These numbers rounded to the element type of `like`."""
    return ttnn.to_torch(ttnn.from_torch(values, dtype=like.dtype, layout=ttnn.TILE_LAYOUT))


def call(function, jitted):
    return ttnn_jit.jit(function) if jitted else function


@pytest.fixture
def generator():
    return torch.Generator().manual_seed(0)


@eager_and_jitted
@widths
@packed_dtypes
@pytest.mark.parametrize("given", [ttnn.bfloat16, ttnn.float32], ids=lambda dtype: dtype.name.lower())
def test_one_position_of_all_users_is_packed(device, generator, dtype, given, width, jitted):
    cache = drawn(generator, dtype, device, USERS, HEADS, POSITIONS, width)
    new = drawn(generator, given, device, 1, HEADS, USERS, width)
    expected = ttnn.to_torch(cache).float()
    expected[:, :, 37] = ttnn.to_torch(new).float()[0].transpose(0, 1)
    call(lambda cache, new: ttnn.update_cache(cache, new, 37), jitted)(cache, new)
    assert torch.equal(ttnn.to_torch(cache), repacked(expected, cache))


@eager_and_jitted
@packed_dtypes
@pytest.mark.parametrize("from_tensor", [False, True], ids=["numbers", "tensor"])
def test_a_position_of_each_user_is_packed(device, generator, dtype, from_tensor, jitted):
    cache = drawn(generator, dtype, device, USERS, HEADS, POSITIONS, 40)
    new = drawn(generator, ttnn.bfloat16, device, 1, USERS, HEADS, 40)
    expected, at = ttnn.to_torch(cache).float(), [69, 0, 31]
    for user, position in enumerate(at):
        expected[user, :, position] = ttnn.to_torch(new).float()[0, user]
    if from_tensor:
        index = of_integers(at, device)
        update = call(lambda c, x, i: ttnn.experimental.paged_update_cache(c, x, update_idxs_tensor=i), jitted)
        update(cache, new, index)
    else:
        call(lambda c, x: ttnn.experimental.paged_update_cache(c, x, update_idxs=at), jitted)(cache, new)
    assert torch.equal(ttnn.to_torch(cache), repacked(expected, cache))


@eager_and_jitted
@widths
@packed_dtypes
def test_a_prompt_is_packed_from_the_first_position_on(device, generator, dtype, width, jitted):
    cache = drawn(generator, dtype, device, USERS, HEADS, POSITIONS, width)
    prompt = drawn(generator, dtype, device, 1, HEADS, 45, width)
    expected = ttnn.to_torch(cache).float()
    expected[1, :, :45] = ttnn.to_torch(prompt).float()[0]
    call(lambda cache, prompt: ttnn.fill_cache(cache, prompt, 1), jitted)(cache, prompt)
    assert torch.equal(ttnn.to_torch(cache), repacked(expected, cache))


@eager_and_jitted
@packed_dtypes
def test_pages_are_packed(device, generator, dtype, jitted):
    table = torch.randperm(USERS * BLOCKS, generator=generator).reshape(USERS, BLOCKS)
    pages = drawn(generator, dtype, device, USERS * BLOCKS, HEADS, BLOCK, 40)
    new = drawn(generator, ttnn.bfloat16, device, 1, USERS, HEADS, 40)
    prompt = drawn(generator, ttnn.bfloat16, device, 1, HEADS, 70, 40)
    expected, at = ttnn.to_torch(pages).float(), [100, 5, 64]
    for position in range(70):
        page, row = table[1, position // BLOCK], position % BLOCK
        expected[page, :, row] = ttnn.to_torch(prompt).float()[0, :, position]
    for user, position in enumerate(at):
        expected[table[user, position // BLOCK], :, position % BLOCK] = ttnn.to_torch(new).float()[0, user]

    def update(pages, prompt, new, index, table):
        ttnn.experimental.paged_fill_cache(pages, prompt, table, batch_idx=1)
        return ttnn.experimental.paged_update_cache(pages, new, update_idxs_tensor=index, page_table=table)

    call(update, jitted)(pages, prompt, new, of_integers(at, device), of_integers(table, device))
    assert torch.equal(ttnn.to_torch(pages), repacked(expected, pages))


@packed_dtypes
def test_tensors_that_a_function_creates_are_updated_too(device, generator, dtype):
    """The cache is no argument, so that its tiles are copied first."""
    source = drawn(generator, dtype, device, 2, HEADS, 64, 64)
    new = drawn(generator, ttnn.bfloat16, device, 1, HEADS, 32, 64)

    @ttnn_jit.jit
    def function(source, new):
        cache = ttnn.multiply(source, 2.0)
        updated = ttnn.update_cache(cache, new, 3)
        return cache, ttnn.update_cache(updated, new, 4)

    doubled = ttnn.to_torch(source).float() * 2
    expected = doubled.clone()
    expected[:, :, 3] = expected[:, :, 4] = ttnn.to_torch(new).float()[0, :, :2].transpose(0, 1)
    cache, updated = function(source, new)
    assert torch.equal(ttnn.to_torch(cache), repacked(expected, source))
    assert torch.equal(ttnn.to_torch(updated), repacked(expected, source))


@packed_dtypes
def test_numba_alone_packs_the_same(device, generator, dtype):
    cache = drawn(generator, dtype, device, USERS, HEADS, POSITIONS, 40)
    new = drawn(generator, ttnn.bfloat16, device, 1, HEADS, USERS, 40)
    expected = ttnn.to_torch(cache).float()
    expected[:, :, 37] = ttnn.to_torch(new).float()[0].transpose(0, 1)
    ttnn_jit.jit(lambda cache, new: ttnn.update_cache(cache, new, 37), backend="numba")(cache, new)
    assert torch.equal(ttnn.to_torch(cache), repacked(expected, cache))


@packed_dtypes
def test_the_launches_pack_and_unpack_only_parts_of_a_cache(device, generator, dtype):
    cache = drawn(generator, dtype, device, 1, HEADS, 2048, 64)
    new = drawn(generator, ttnn.bfloat16, device, 1, HEADS, 1, 64)
    said = str(ttnn_jit.jit(lambda cache, new: ttnn.update_cache(cache, new, 37)).explain(cache, new))
    assert "writes argument 0 where it lies" in said
    assert "block floats unpacked" not in said
    assert "block floats packed" not in said


_NO_ACCESS = 0


@eager_and_jitted
@packed_dtypes
def test_pages_of_memory_without_written_rows_are_neither_read_nor_written(device, generator, dtype, jitted):
    """All other pages are made inaccessible: an access would kill the process."""
    positions, at = 4096, 37
    cache = drawn(generator, dtype, device, 1, 1, positions, 64)
    new = drawn(generator, ttnn.bfloat16, device, 1, 1, 1, 64)
    expected = ttnn.to_torch(cache).float()
    update = call(lambda cache, new: ttnn.update_cache(cache, new, at), jitted)
    update(cache, new)
    new = drawn(generator, ttnn.bfloat16, device, 1, 1, 1, 64)
    expected[0, 0, at] = ttnn.to_torch(new).float()[0, 0, 0]
    tile_row = cache.spec.nbytes // (positions // 32)
    first = cache.buffer_address() + tile_row * (at // 32 + 1)
    begin = -(-first // mmap.PAGESIZE) * mmap.PAGESIZE
    end = (cache.buffer_address() + cache.spec.nbytes) // mmap.PAGESIZE * mmap.PAGESIZE
    assert end - begin > 0.9 * cache.spec.nbytes
    protect = ctypes.CDLL(None, use_errno=True).mprotect
    protect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    assert protect(begin, end - begin, _NO_ACCESS) == 0
    try:
        update(cache, new)
    finally:
        assert protect(begin, end - begin, mmap.PROT_READ | mmap.PROT_WRITE) == 0
    assert torch.equal(ttnn.to_torch(cache), repacked(expected, cache))
