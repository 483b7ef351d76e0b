"""Builtin functions around native code: arguments, results, and the release of the lock."""

import ctypes
import sys
import threading
import time

import pytest

from ttnn_jit.runtime.native.entry import entry
from ttnn_jit.runtime.native.structures import LaunchEntry, LaunchTable


def table_of(kernel, operands):
    """A launch table of one kernel with null for its params, and the objects that it points to."""
    address = ctypes.cast(kernel, ctypes.c_void_p).value
    indices = (ctypes.c_int64 * operands)(*range(operands))
    offsets = (ctypes.c_int64 * operands)()
    addresses = {"indices": ctypes.addressof(indices), "offsets": ctypes.addressof(offsets)}
    given = {"function": address, "operands": operands, "chunks": 1, **addresses}
    fields = LaunchEntry.int64s(**dict.fromkeys(LaunchEntry.fields, 0) | given)
    head = LaunchTable.int64s(kernels=1, widest=operands)
    table = (ctypes.c_int64 * (len(head) + len(fields)))(*head, *fields)
    return ctypes.addressof(table), (indices, offsets, table, kernel)


@pytest.mark.parametrize("releases_gil", [False, True])
def test_kernels_get_the_addresses_and_none_is_returned(releases_gil):
    seen = []
    kernel = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_uint64), ctypes.c_void_p)(lambda p, _: seen.append(p[0]))
    table, keeps = table_of(kernel, operands=1)
    highest = (1 << 64) - 64
    references = sys.getrefcount(None)
    for address in (64, highest) * 500:
        assert entry(releases_gil=releases_gil)(0, table, address) is None
    assert seen == [64, highest] * 500
    assert abs(sys.getrefcount(None) - references) < 500  # one per call would be 1,000; other objects refer to None too
    del keeps


def test_invalid_numbers_are_refused_before_anything_runs():
    with pytest.raises(TypeError, match="int"):
        entry(releases_gil=False)(0, 0, "x")


@pytest.mark.skipif(sys.platform == "win32", reason="nanosleep is POSIX's")
@pytest.mark.parametrize("releases_gil", [False, True])
def test_other_threads_run_only_in_calls_that_release_the_lock(releases_gil):
    # nanosleep takes the address of seconds and nanoseconds, and one that may be null: a kernel of two buffers.
    nanosleep = ctypes.CDLL(None).nanosleep
    table, keeps = table_of(nanosleep, operands=2)
    ticks, stop = [], threading.Event()

    def tick():
        while not stop.wait(0.005):
            ticks.append(time.monotonic())

    ticker = threading.Thread(target=tick)
    ticker.start()
    start = time.monotonic()
    entry(releases_gil=releases_gil)(0, table, 0, 200_000_000)
    end = time.monotonic()
    stop.set()
    ticker.join()
    assert end - start >= 0.2
    assert any(start + 0.05 < at < end - 0.05 for at in ticks) == releases_gil
    del keeps
