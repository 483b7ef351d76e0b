"""The pool: alignment, reuse, limits."""

from __future__ import annotations

import ctypes
import gc
import mmap
import os
import threading

import pytest

from ttnn_jit.runtime.memory import buffer
from ttnn_jit.runtime.memory.buffer import BIG_BYTES, HOST_POOL, HUGE_PAGE, SMALL_IDLE_BYTES, BufferPool, class_bytes

MB = 1 << 20


@pytest.fixture
def pool():
    return BufferPool(idle_limit=64 * MB)


def test_a_freed_block_is_the_next_one_allocated(pool):
    first = pool.allocate(5000)
    address = int(first.address)
    del first
    assert pool.allocate(5000).address == address


def test_big_blocks_are_reused_too(pool):
    address = int(pool.allocate(5 * MB).address)
    assert pool.allocate(5 * MB).address == address


@pytest.mark.parametrize("nbytes", [0, 1, 63, 64, 65, 4096, 100_000, BIG_BYTES - 1, BIG_BYTES, 3 * MB + 5])
def test_blocks_are_aligned_writable_and_large_enough(pool, nbytes):
    block = pool.allocate(nbytes)
    assert block.address % 64 == 0
    ctypes.memset(block.address, 255, nbytes)
    assert ctypes.string_at(block.address, nbytes) == b"\xff" * nbytes


def offsets_in_pages(pool, nbytes):
    blocks = [pool.allocate(nbytes) for _ in range(16)]
    return [block.address % 4096 for block in blocks]


@pytest.mark.parametrize("nbytes", [4096, 8192, 2 * MB])
def test_no_two_blocks_start_at_nearby_offsets_of_a_page(pool, nbytes):
    offsets = offsets_in_pages(pool, nbytes)
    apart = {(offset - other) % 4096 for offset in offsets for other in offsets}
    assert not [distance for distance in apart if 0 < distance < 512]
    assert len(set(offsets)) == 8


def test_big_blocks_start_near_a_huge_page(pool):
    blocks = [pool.allocate(2 * MB) for _ in range(16)]
    assert max(block.address % HUGE_PAGE for block in blocks) < 64 * 1024


def test_size_classes_waste_at_most_a_quarter():
    for nbytes in range(512, 100_000, 37):
        assert nbytes <= class_bytes(nbytes) <= nbytes * 1.25 + 64
        assert class_bytes(nbytes) % 64 == 0
        assert class_bytes(class_bytes(nbytes)) == class_bytes(nbytes)


def test_idle_big_blocks_are_bounded(pool):
    blocks = [pool.allocate(16 * MB) for _ in range(8)]
    assert pool.statistics().live_bytes == 128 * MB
    blocks.clear()
    assert pool.statistics().live_bytes == 0
    assert pool.statistics().idle_bytes <= 64 * MB


def test_a_big_free_block_is_examined_only_beyond_the_share_of_its_class(pool, monkeypatch):
    looked = []
    monkeypatch.setattr(BufferPool, "trim", lambda _, size_class: looked.append(size_class.nbytes))
    one, another = pool.allocate(MB), pool.allocate(MB)
    del one
    assert not looked
    del another
    assert looked == [MB]


def test_the_limit_holds_even_if_classes_keep_an_unexamined_share(pool):
    sizes = [class_bytes(MB + index * MB // 4) for index in range(60)]
    for blocks in ([pool.allocate(size) for size in order] for order in (sizes, sizes[::-1], sizes + sizes)):
        while blocks:
            blocks.pop()
            assert pool.statistics().idle_bytes <= pool.idle_limit


def test_the_class_idle_for_longest_loses_its_blocks_first(pool):
    old = pool.allocate(32 * MB)
    del old
    young = [pool.allocate(8 * MB) for _ in range(6)]
    kept = int(young[-1].address)
    young.clear()
    assert not pool.size_class(32 * MB).free
    assert kept in pool.size_class(8 * MB).free


def test_a_block_above_the_limit_is_unmapped_at_once(pool):
    pool.allocate(100 * MB)
    assert pool.statistics().idle_bytes == 0
    assert pool.statistics().mapped_bytes == 0


def test_idle_small_blocks_are_unmapped_by_regions(pool):
    blocks = [pool.allocate(4096) for _ in range(3 * SMALL_IDLE_BYTES // 4096)]
    kept = blocks[::1000]
    blocks.clear()
    gc.collect()
    pool.allocate(4096)  # blocks of a size are examined at its next allocation
    assert pool.statistics().live_bytes == 4096 * len(kept)
    assert pool.statistics().idle_bytes <= SMALL_IDLE_BYTES
    again = [pool.allocate(4096) for _ in range(100)]
    assert not {block.address for block in again} & {block.address for block in kept}


def test_idle_small_blocks_of_one_size_are_unmapped_when_memory_of_another_is_mapped(pool):
    blocks = [pool.allocate(4096) for _ in range(3 * SMALL_IDLE_BYTES // 4096)]
    blocks.clear()
    pool.allocate(MB)
    assert pool.statistics().idle_bytes <= SMALL_IDLE_BYTES


def test_the_first_block_is_the_one_that_was_mapped_first(pool):
    for nbytes in (4096, 4 * MB):
        blocks = [pool.allocate_first(nbytes) for _ in range(70 if nbytes == 4096 else 5)]
        addresses = [block.address for block in blocks]
        plain = [int(address) for address in addresses]
        del addresses
        while blocks:
            blocks.pop(len(blocks) // 3)
        again = [pool.allocate_first(nbytes) for _ in plain]
        assert [block.address for block in again] == plain


def test_a_block_is_not_free_while_its_address_is_held(pool):
    address = pool.allocate(4096).address
    assert pool.statistics().live_bytes == 4096
    assert pool.allocate(4096).address != address
    del address
    assert pool.statistics().live_bytes == 0


def test_release_idle_keeps_only_memory_of_tensors(pool):
    small, big = pool.allocate(100), pool.allocate(4 * MB)
    pool.allocate(8 * MB)
    pool.release_idle()
    statistics = pool.statistics()
    assert statistics.live_bytes == class_bytes(100) + 4 * MB
    assert statistics.mapped_bytes < 5 * MB
    ctypes.memset(small.address, 1, 100)
    ctypes.memset(big.address, 1, 4 * MB)


def test_a_system_without_huge_pages_behaves_the_same(pool, monkeypatch):
    monkeypatch.delattr(mmap, "MADV_HUGEPAGE", raising=False)
    block = pool.allocate(4 * MB)
    ctypes.memset(block.address, 1, 4 * MB)


def test_a_kernel_that_refuses_madvise_behaves_the_same(pool, monkeypatch):
    monkeypatch.setattr(mmap, "MADV_HUGEPAGE", 12345, raising=False)
    block = pool.allocate(4 * MB)
    ctypes.memset(block.address, 1, 4 * MB)


def test_an_allocation_that_fails_after_idle_blocks_were_released_is_a_memory_error(pool, monkeypatch):
    pool.allocate(4 * MB)
    real = buffer._map

    def no_memory(nbytes):
        if nbytes > 8 * MB:
            raise OSError(12, "Cannot allocate memory")
        return real(nbytes)

    monkeypatch.setattr(buffer, "_map", no_memory)
    with pytest.raises(MemoryError, match="no memory for a block of 16,777,216 bytes"):
        pool.allocate(16 * MB)
    assert pool.statistics().mapped_bytes == 0
    ctypes.memset(pool.allocate(4 * MB).address, 1, 4 * MB)


def test_threads_never_share_a_block(pool):
    clashes = []

    def work(number):
        for step in range(2000):
            nbytes = 8 * (number + 1) * (step % 7 + 1)
            block = pool.allocate(nbytes)
            ctypes.memset(block.address, number, nbytes)
            if ctypes.string_at(block.address, nbytes) != bytes([number]) * nbytes:
                clashes.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not clashes
    assert pool.statistics().live_bytes == 0


def test_blocks_in_garbage_cycles_are_reused(pool):
    cycle = [pool.allocate(MB)]
    cycle.append(cycle)
    del cycle
    gc.collect()
    assert pool.statistics().live_bytes == 0


@pytest.mark.process
def test_a_forked_child_has_memory_of_its_own():
    block = HOST_POOL.allocate(4096)
    ctypes.memset(block.address, 7, 4096)
    child = os.fork()
    if child == 0:
        ctypes.memset(block.address, 9, 4096)
        other = HOST_POOL.allocate(2 * MB)
        os._exit(0 if other.address else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert ctypes.string_at(block.address, 1) == b"\x07"
