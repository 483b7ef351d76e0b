"""A KeyboardInterrupt at any point of a call ends only that call: the next one has its normal result."""

from __future__ import annotations

import gc
import inspect
import random
import signal
import sys
import threading
import time

import pytest
import torch

from tests.sampling import drawn
from ttnn_jit import jit, ttnn
from ttnn_jit.process.compile_lock import compiles, compiling, interrupts_postponed
from ttnn_jit.runtime.memory.buffer import BIG_BYTES, HOST_POOL, BufferPool

A = torch.randn(4, 6)


def interrupted(call, event_number):
    """Runs `call` and interrupts it at the given event of Python's profiler; returns the interrupt if it came."""
    count = 0

    def profile(frame, event, _):
        nonlocal count
        # A generator would be left without its `finally`, which no interrupt does; llvmlite calls numba under its lock.
        generator = frame.f_code.co_flags & inspect.CO_GENERATOR
        postponed = str(frame.f_globals.get("__name__")).startswith(("llvmlite", "numba", "diskcache", "contextlib"))
        if not generator and event in {"call", "return"} and not postponed:
            count += 1
            if count == event_number:
                sys.setprofile(None)
                raise KeyboardInterrupt

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        call()
    except KeyboardInterrupt as interrupt:
        return interrupt
    finally:
        sys.setprofile(before)
    return None


def free_for_another_thread():
    acquired = []

    def acquire():
        with compiling():
            acquired.append(True)

    thread = threading.Thread(target=acquire)
    thread.start()
    thread.join(timeout=10)
    return bool(acquired)


@pytest.mark.parametrize("cached", [False, True])
@pytest.mark.filterwarnings("ignore:.*was compiled for 16 values")
def test_a_compile_that_was_interrupted_leaves_nothing_behind(cached):
    events = random.Random(int(cached))
    function = jit(enable_cache=cached, dynamic=False)(lambda x, scale: ttnn.exp(x) * scale)
    function(A, -1.0)  # one-time work of a process is done
    for number in range(drawn(120)):
        scale = number + 0.5
        interrupted(lambda scale=scale: function(A, scale), int(events.choice([100, 1_000, 10_000]) * events.random()))
        interrupted(lambda scale=scale: function(A, scale), int(1_000 * events.random()))
        for _ in range(3):
            assert torch.allclose(function(A, scale), A.exp() * scale, rtol=1e-6)
        assert gc.isenabled()
    assert free_for_another_thread()


def test_an_interrupt_whose_traceback_is_kept_holds_no_lock_and_leaks_nothing():
    def work():
        with compiling():
            len(())

    @compiles
    def function():
        work()

    kept = []
    while interrupt := interrupted(function, len(kept) + 1):
        kept.append(interrupt)
        assert free_for_another_thread()
        assert gc.isenabled()
    assert len(kept) > 3


def test_a_warm_call_that_was_interrupted_leaves_nothing_behind():
    function = jit()(lambda x, scale=2.0: x * scale)
    for _ in range(4):
        function(A), function(A, 3.0), function(A.T)
    number = 1
    while interrupted(lambda: (function(A), function(A, 3.0), function(A.T), function(A, scale=2.0)), number):
        assert torch.equal(function(A), A * 2.0)
        assert torch.equal(function(A, 3.0), A * 3.0)
        assert torch.equal(function(A.T), A.T * 2.0)
        number += 1
    assert number > 10


@pytest.fixture
def interrupted_by_a_timer(monkeypatch):
    """Runs a function for a while and interrupts it by a timer's signal; counts swallowed errors."""
    unseen = []
    monkeypatch.setattr(sys, "unraisablehook", unseen.append)
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    draw = random.Random(0)
    gc.disable()  # its callbacks, of which hypothesis has one, swallow exceptions

    def run(step):
        until = time.monotonic() + 0.02
        try:
            signal.setitimer(signal.ITIMER_REAL, draw.uniform(2e-6, 150e-6))
            while time.monotonic() < until:
                step()
        except KeyboardInterrupt:
            pass
        return unseen

    yield run
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)
    gc.enable()


def test_an_interrupted_allocation_loses_no_memory(interrupted_by_a_timer):
    pool = BufferPool()
    for _ in range(drawn(4000)):
        kept = []
        assert interrupted_by_a_timer(lambda kept=kept: kept.append(pool.allocate(64))) == []
        kept.clear()
        assert pool.statistics().live_bytes == 0
        pool.release_idle()


@pytest.mark.parametrize("kind", ["ttnn", "torch"])
def test_an_interrupted_call_loses_no_memory(kind, device, interrupted_by_a_timer):
    x = (
        torch.ones(512, 512)
        if kind == "torch"
        else ttnn.from_torch(torch.ones(32, 32), layout=ttnn.TILE_LAYOUT, device=device)
    )
    function = jit()(lambda x: ttnn.exp(x))
    for _ in range(4):
        function(x)
    gc.collect()
    before = HOST_POOL.statistics().live_bytes
    for _ in range(drawn(1000)):
        kept = []  # interrupts while a block is freed are tested separately
        assert interrupted_by_a_timer(lambda kept=kept: kept.append(function(x))) == []
        kept.clear()
        assert HOST_POOL.statistics().live_bytes == before


@pytest.mark.parametrize("nbytes", [64, 4096, 3 << 20, 20 << 20])
def test_an_interrupt_while_blocks_are_freed_loses_no_memory(nbytes, interrupted_by_a_timer):
    # Three blocks of 20 MB exceed the limit of idle memory, so that memory is unmapped all the time.
    pool = BufferPool(idle_limit=32 << 20)
    for _ in range(drawn(800)):
        kept = []

        def step(kept=kept):
            kept[:] = [pool.allocate(nbytes) for _ in range(3)]
            kept.clear()

        unseen = interrupted_by_a_timer(step)
        if nbytes < BIG_BYTES:  # otherwise Python may swallow one at the start of a finalizer, without a loss
            assert unseen == []
        unseen.clear()
        kept.clear()
        statistics = pool.statistics()
        assert statistics.live_bytes == 0
        assert statistics.mapped_bytes == pool.mapped_bytes
        pool.release_idle()
        assert pool.statistics().mapped_bytes == pool.mapped_bytes == 0


def test_an_interrupt_at_any_event_of_a_trim_loses_no_memory():
    for nbytes in (4096, 5 << 20):
        number, came = 0, True
        while came:
            number += 1
            pool = BufferPool(idle_limit=16 << 20)
            count = 3 * (16 << 20) // nbytes
            blocks = [pool.allocate(nbytes) for _ in range(count)]
            size_class = blocks[0].home
            size_class.trim_above = count  # nothing is trimmed before a request
            blocks.clear()
            size_class.trim_above = 0
            came = interrupted(lambda pool=pool, size_class=size_class: pool.trim(size_class), number)
            statistics = pool.statistics()
            assert statistics.live_bytes == 0
            assert statistics.mapped_bytes == pool.mapped_bytes
            pool.release_idle()
            assert pool.statistics().mapped_bytes == 0
            assert len(pool.allocate(nbytes).home.regions) == 1
        assert number > 3


def test_a_large_block_that_is_freed_propagates_an_interrupt(monkeypatch, interrupted_by_a_timer):  # noqa: ARG001
    def interrupted_trim(*_):
        raise KeyboardInterrupt

    pool = BufferPool(idle_limit=0)
    block = pool.allocate(2 << 20)
    monkeypatch.setattr(BufferPool, "trim", interrupted_trim)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):  # noqa: PT012 - it comes behind what frees the block
            del block
            len(())
    finally:
        signal.signal(signal.SIGINT, before)
    assert pool.statistics().live_bytes == 0


def test_an_interrupt_while_tensors_in_l1_are_allocated_and_freed_is_raised_and_leaks_no_l1(
    device, interrupted_by_a_timer
):
    x = ttnn.from_torch(torch.ones(32, 32), layout=ttnn.TILE_LAYOUT, device=device)
    in_l1 = ttnn.to_memory_config(x, ttnn.L1_MEMORY_CONFIG)
    calls = [
        lambda: ttnn.exp(in_l1),
        lambda: ttnn.to_memory_config(x, ttnn.L1_MEMORY_CONFIG),
        lambda: ttnn.exp(x, memory_config=ttnn.L1_MEMORY_CONFIG),
    ]
    for call in calls * 3:
        call()
    before, tensors = device.memory_view().used, device.memory_view().tensors
    for number in range(150):
        kept = []

        def step(kept=kept, call=calls[number % 3]):
            kept[:] = [call(), call()]
            kept.clear()

        assert interrupted_by_a_timer(step) == []
        kept.clear()
        if device.memory_view().used != before:
            gc.collect()  # an interrupted call may leave a cycle, and the collector is off
        view = device.memory_view()
        assert (view.used, view.tensors) == (before, tensors)


@pytest.fixture
def pythons_own_handler():
    """Installs Python's own handler of interrupts, which background jobs of a shell lack."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("pythons_own_handler")
def test_an_interrupt_is_deferred_within_critical_sections():
    done = []

    @interrupts_postponed()
    def work():
        signal.raise_signal(signal.SIGINT)
        done.append(True)

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_handler_of_the_programs_own_is_left_alone():
    seen = []
    before = signal.signal(signal.SIGINT, lambda number, _: seen.append(number))
    try:
        with interrupts_postponed():
            signal.raise_signal(signal.SIGINT)
            assert seen == [signal.SIGINT]
    finally:
        signal.signal(signal.SIGINT, before)
