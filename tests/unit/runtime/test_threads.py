"""Kernels shared among threads have the same bits for any number of them, from any caller, and in a forked child."""

from __future__ import annotations

import math
import os
import threading
import time
from dataclasses import replace
from typing import get_args
from unittest import mock

import pytest
import torch

from tests.processes import run_python
from tests.programs import add_mul_exp_sigmoid, cosh
from ttnn_jit import jit, ttnn
from ttnn_jit.codegen.host import host_program
from ttnn_jit.codegen.schedules.kernel import Copy, Move, Repack
from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.runtime.native import chunks
from ttnn_jit.runtime.native.chunks import chunks_of
from ttnn_jit.runtime.native.structures import Pool
from ttnn_jit.runtime.native.threads import HELPERS, HelperPool, thread_count
from ttnn_jit.runtime.plans.host_costs import HOST_COSTS
from ttnn_jit.runtime.plans.launches import Launch
from ttnn_jit.specs.options import requested_threads

SHAPES = [(1000,), (7, 333), (64, 64), (3, 5, 77), (4099,)]


@pytest.fixture
def shares_everything(monkeypatch):
    """Kernels of any size are cut, into chunks that leave tails at all boundaries."""
    monkeypatch.setattr(chunks, "HOST_COSTS", replace(HOST_COSTS, shared_from_ns=0.0, wakes_from_ns=0.0))
    monkeypatch.setattr(chunks, "MIN_ELEMENTS", 96)
    monkeypatch.setattr(chunks, "MAX_ELEMENTS", 96)


@pytest.fixture
def wakes_nobody(monkeypatch, shares_everything):  # noqa: ARG001
    """All these kernels are too short to wake a thread."""
    monkeypatch.setattr(chunks, "HOST_COSTS", replace(HOST_COSTS, shared_from_ns=0.0, wakes_from_ns=math.inf))


@pytest.fixture
def set_threads(monkeypatch):
    """Sets ``TTNN_JIT_NUM_THREADS``, or unsets it, and makes the runtime read it again."""

    def set_(text):
        if text is None:
            monkeypatch.delenv("TTNN_JIT_NUM_THREADS", raising=False)
        else:
            monkeypatch.setenv("TTNN_JIT_NUM_THREADS", text)
        requested_threads.cache_clear()

    yield set_
    requested_threads.cache_clear()


def operands(shape):
    """Pairs of inputs that are traversed by one loop, by strides, and with broadcasts."""
    x = torch.randn(*shape) * 8
    wide = torch.randn(*shape[:-1], 2 * shape[-1])[..., ::2]
    return [(x, x + 1), (x, wide), (x, torch.randn(1)), (x, torch.randn(shape[-1])), (x.bfloat16(), x.bfloat16())]


@pytest.mark.usefixtures("shares_everything")
def test_no_bit_depends_on_the_number_of_threads(set_threads):
    compiled = jit(add_mul_exp_sigmoid)
    for a, b in (pair for shape in SHAPES for pair in operands(shape)):
        results = []
        for count in ("1", "2", "5", "2"):
            set_threads(count)
            results.append(compiled(a, b))
        assert all(torch.equal(result, results[0]) for result in results[1:])


MOVED = {
    "transposed": (lambda x: ttnn.transpose(x, 0, 1), lambda x: x.T),
    "reversed": (lambda x: ttnn.flip(x, [1]), lambda x: x.flip(1)),
    "by twos": (lambda x: x[:, ::2], lambda x: x[:, ::2]),
    "by threes": (lambda x: x[:, ::3], lambda x: x[:, ::3]),
    "repeated": (lambda x: ttnn.repeat_interleave(x, 2, 1), lambda x: x.repeat_interleave(2, 1)),
    "short rows": (
        lambda x: ttnn.permute(ttnn.reshape(x[:, : x.shape[1] // 2 * 2], (x.shape[0], x.shape[1] // 2, 2)), (1, 0, 2)),
        lambda x: x[:, : x.shape[1] // 2 * 2].reshape(x.shape[0], -1, 2).permute(1, 0, 2),
    ),
}


def test_every_kind_of_move_in_registers_is_tested_with_cuts():
    with mock.patch.object(host_program, "kernel_of", wraps=host_program.kernel_of) as kernel_of:
        for program, _ in MOVED.values():
            jit(graph_capture=True)(program).ir(torch.ones(64, 96), stage="codegen")
    kernels = [call.args[0] for call in kernel_of.call_args_list]
    assert {type(kernel.move) for kernel in kernels if isinstance(kernel, Copy)} == {*get_args(Move)} - {Repack}


@pytest.mark.filterwarnings("ignore:.* compiles every size by itself")
@pytest.mark.usefixtures("shares_everything")
@pytest.mark.parametrize("name", MOVED)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_a_copy_supports_every_part_of_a_row_that_a_thread_may_get(set_threads, name, dtype):
    """Threads cut the innermost loop too: the last part may be shorter than the vectors of its text."""
    program, expected = MOVED[name]
    set_threads("2")
    compiled = jit(graph_capture=True)(program)
    for rows, columns in [(1, 6 * k) for k in (*range(129, 150), 1000)] + [(5, 211), (300, 7), (96, 97)]:
        x = torch.arange(rows * columns).reshape(rows, columns).to(dtype)
        assert torch.equal(compiled(x), expected(x)), (rows, columns)


ON_A_HOST_WITHOUT_POSIX_THREADS = """
import numpy
from ttnn_jit.runtime import native
from ttnn_jit.runtime.native.launch_symbols import HostThreads
from ttnn_jit.runtime.native.launch_ir import launch_text

native.HOST_THREADS = HostThreads.NONE
assert "pthread" not in launch_text("x86_64", HostThreads.NONE)

import ttnn_jit
from ttnn_jit import ttnn

x = numpy.random.default_rng(0).standard_normal((1024, 1024), numpy.float32)
y = ttnn_jit.jit()(lambda x: ttnn.exp(x) + ttnn.exp(-x))(x)
numpy.testing.assert_allclose(y, numpy.exp(x) + numpy.exp(-x), rtol=1e-6)
"""


@pytest.mark.process
def test_a_host_without_posix_threads_runs_kernels_on_their_callers(tmp_path):
    env = os.environ | {"TTNN_JIT_NUM_THREADS": "4", "TTNN_JIT_CACHE_DIR": str(tmp_path)}
    run_python("-W", "ignore", "-c", ON_A_HOST_WITHOUT_POSIX_THREADS, env=env, check=True)


@pytest.mark.usefixtures("wakes_nobody")
def test_a_short_kernel_is_shared_only_if_calls_follow_each_other(set_threads):
    set_threads("2")
    compiled, x = jit(cosh), torch.randn(201, 300)
    expected = compiled(x)
    wait_until(lambda: pool_field(Pool.awake) == 0)
    shared = pool_field(Pool.round)
    compiled(x)
    assert (pool_field(Pool.round), pool_field(Pool.awake)) == (shared, 0)
    wait_until(lambda: torch.equal(compiled(x), expected) and pool_field(Pool.round) > shared + 20)
    wait_until(lambda: pool_field(Pool.awake) == 0)


def pool_field(field):
    return HELPERS._state[field.offset // 8]


def wait_until(holds):
    end = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < end


@pytest.mark.usefixtures("shares_everything")
def test_many_python_threads_may_call_at_once(set_threads):
    set_threads("3")
    compiled = jit(cosh)
    inputs = [torch.randn(200, 300) for _ in range(6)]
    expected = [compiled(x) for x in inputs]
    wrong = []

    def call(x, result):
        wrong.extend(not torch.equal(compiled(x), result) for _ in range(40))

    callers = [threading.Thread(target=call, args=pair) for pair in zip(inputs, expected, strict=True)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert len(wrong) == 240
    assert not any(wrong)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the host has no fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.usefixtures("shares_everything")
def test_a_forked_child_starts_helpers_of_its_own(set_threads):
    set_threads("2")
    compiled = jit(cosh)
    x = torch.randn(200, 300)
    expected = compiled(x)
    child = os.fork()
    if child == 0:
        same = all(compiled(x).numpy().tobytes() == expected.numpy().tobytes() for _ in range(3))
        os._exit(0 if same else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert torch.equal(compiled(x), expected)


def test_the_number_of_threads_is_that_of_the_variable_or_of_torch(set_threads):
    set_threads(None)
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        assert thread_count() == 3
        set_threads("7")
        assert thread_count() == 7
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize("text", ["0", "-1", "two", "1.5"])
def test_an_invalid_number_of_threads_is_refused(set_threads, text):
    set_threads(text)
    with pytest.raises(ArgumentError, match="TTNN_JIT_NUM_THREADS"):
        requested_threads()


def test_more_threads_than_the_host_can_start_are_refused_and_fewer_run_afterwards(monkeypatch, set_threads):
    def no_more(_):
        raise RuntimeError("can't start new thread")

    pool = HelperPool()
    set_threads("3")
    with monkeypatch.context() as patch:
        patch.setattr("threading.Thread.start", no_more)
        with pytest.raises(ArgumentError, match="helper thread 1 of 2 could not be started"):
            pool.pool_address()
    set_threads("1")
    assert pool.pool_address() == 0


def test_longer_launches_are_cut_and_still_longer_ones_wake_threads():
    def cut(elements, picoseconds):
        return chunks_of(Launch("k", (0, 1), (elements, 1, 1), picoseconds), (4, 4), 8 * elements)

    assert cut(1 << 14, 500) is None
    assert cut(1 << 24, 0) is None  # of unknown cost
    assert (cut(1 << 16, 500).count, cut(1 << 16, 500).wakes) == (4, False)
    assert (cut(1 << 18, 500).count, cut(1 << 18, 500).wakes) == (16, True)


@pytest.mark.parametrize(
    ("cpus", "elements", "chunk"),
    [
        (2, 1 << 18, 1 << 14),
        (2, 1 << 20, 1 << 16),
        (64, 1 << 20, 1 << 14),
        (2, 1 << 26, 1 << 17),
        (2, 1_000_001, 3 << 14),
    ],
)
def test_every_cpu_finds_several_chunks_none_of_them_small_or_huge(monkeypatch, cpus, elements, chunk):
    monkeypatch.setattr(chunks, "_cpus", lambda: cpus)
    cut = chunks_of(Launch("k", (0, 1), (elements, 1, 1), 500), (4, 4), 8 * elements)
    assert cut.params[0] == chunk


@pytest.mark.usefixtures("shares_everything")
def test_chunks_cover_a_launch_exactly_once(monkeypatch):
    monkeypatch.setattr(chunks, "_cpus", lambda: 2)
    cut = chunks_of(Launch("k", (0, 1), (100, 3, 1, 160, 2, 200), 10), (4, 2), 1 << 20)
    assert (cut.count, cut.params, cut.last_params) == (2, (64, 3, 1, 160, 2, 200), (36, 3, 1, 160, 2, 200))
    assert cut.steps == (64 * 4, 64 * 2 * 2)  # whole lines


@pytest.mark.usefixtures("shares_everything")
def test_rows_are_not_cut_if_there_are_enough_to_share(monkeypatch):
    monkeypatch.setattr(chunks, "_cpus", lambda: 2)
    cut = chunks_of(Launch("k", (0, 1), (5000, 7, 1, 60, 2, 100), 10), (4, 2), 1 << 20)
    assert (cut.count, cut.params, cut.steps) == (7, (5000, 1, 1, 60, 2, 100), (60 * 4, 100 * 2))


@pytest.mark.usefixtures("shares_everything")
def test_the_outermost_of_the_long_loops_is_cut(monkeypatch):
    monkeypatch.setattr(chunks, "_cpus", lambda: 2)
    cut = chunks_of(Launch("k", (0, 1), (64, 54, 50, 8, *(1, 64, 3712, 1 << 18) * 2), 10), (4, 4), 1 << 24)
    assert (cut.count, cut.params[:4], cut.steps) == (8, (64, 54, 50, 1), (1 << 20, 1 << 20))


@pytest.mark.usefixtures("shares_everything")
def test_the_longest_loop_is_cut_at_any_depth():
    launch = Launch("k", (0, 1), (7, 50, 60, 1, 100, 2), 10)
    cut = chunks_of(launch, (4, 2), 1 << 20)
    assert (cut.count, cut.params, cut.last_params) == (4, (7, 13, 60, 1, 100, 2), (7, 11, 60, 1, 100, 2))
    assert cut.steps == (13 * 4, 13 * 2 * 2)


@pytest.mark.usefixtures("shares_everything")
@pytest.mark.parametrize("columns", [128, 500, 2048])
def test_reduced_columns_are_cut_into_few_strips_of_whole_cache_lines(monkeypatch, columns):
    monkeypatch.setattr(chunks, "_cpus", lambda: 2)
    launch = Launch("k", (0, 1), (columns, 8192, 1, columns, 1, 0), 100, reduced=(1,))
    cut = chunks_of(launch, (4, 4), 4 * columns * 8192)
    assert 2 <= cut.count <= 4
    assert cut.params[0] % 32 == 0


def test_windows_of_a_depthwise_convolution_are_cut_by_rows_whose_channels_stay_together(monkeypatch):
    monkeypatch.setattr(chunks, "_cpus", lambda: 2)
    windows = (1, 144, 8352, 144, 8352)
    launch = Launch(
        "k", (0, 1, 2), (144, 3, 3, 56, 56, *windows, 1, 144, 432, 0, 0, 1, 0, 0, 144, 8064), 100, reduced=(1, 2)
    )
    cut = chunks_of(launch, (4, 4, 4), 1 << 23)
    assert cut.count >= 4
    assert cut.params[:3] == (144, 3, 3)


def product(batch, rows, inner, columns):
    """A launch of products whose operands are row-major."""
    strides = (0, 1, inner, rows * inner, 1, columns, 0, inner * columns, 1, 0, columns, rows * columns)
    return Launch("k", (0, 1, 2), (columns, inner, rows, batch, *strides), 100, reduced=(1,))


@pytest.mark.parametrize("batch", [4, 16])
def test_an_operand_of_one_element_does_not_change_how_products_are_cut(monkeypatch, batch):
    monkeypatch.setattr(chunks, "_cpus", lambda: 2)
    without = product(batch, 64, 512, 256)
    strides = without.params[:12] + (0,) * 4 + without.params[12:]
    scaled = replace(without, operands=(0, 1, 2, 3), params=strides, offsets=(0,) * 4)
    cut, own = chunks_of(scaled, (4,) * 4, 1 << 23), chunks_of(without, (4,) * 3, 1 << 23)
    assert (cut.count, cut.params[:4]) == (own.count, own.params[:4])


@pytest.mark.parametrize(("images", "loop", "count"), [(1, 4, 4), (8, 5, 4)])
def test_products_of_windows_are_cut_by_rows_of_images_or_by_images(monkeypatch, images, loop, count):
    monkeypatch.setattr(chunks, "_cpus", lambda: 2)
    left, right, result = (0, 1, 3712, 64, 3712, 215296), (1, 64, 12288, 0, 0, 0), (1, 0, 0, 64, 3584, 200704)
    rank = 6 if images > 1 else 5
    strides = [stride for own in (left, right, result) for stride in own[:rank]]
    extents = (64, 192, 3, 56, 56, images)[:rank]
    cut = chunks_of(Launch("k", (0, 1, 2), (*extents, *strides), 100, reduced=(1, 2)), (4, 4, 4), 1 << 23)
    assert (cut.count, cut.params[loop]) == (count, extents[loop] // count)
    assert cut.params[:loop] == extents[:loop]


def test_products_of_few_rows_of_windows_are_cut_by_columns_which_each_chunk_packs(monkeypatch):
    monkeypatch.setattr(chunks, "_cpus", lambda: 2)
    strides = (0, 1, 4608, 512, 4608, 41472, 1, 512, 786432, 0, 0, 0, 1, 0, 0, 512, 3584, 25088)
    cut = chunks_of(Launch("k", (0, 1, 2), (512, 1536, 3, 7, 7, 8, *strides), 100, reduced=(1, 2)), (4, 4, 4), 1 << 23)
    assert (cut.count, cut.params[:6]) == (4, (128, 1536, 3, 7, 7, 8))


@pytest.mark.parametrize("columns", [96, 1000, 3072, 16384])
def test_a_product_of_one_row_is_cut_into_few_chunks_of_whole_tiles(monkeypatch, columns):
    monkeypatch.setattr(chunks, "_cpus", lambda: 2)
    cut = chunks_of(product(1, 1, 16384, columns), (2, 2, 2), 1 << 26)
    assert cut is None or (cut.params[0] % 32 == 0 and cut.count <= 4)
    assert columns < 1000 or cut.count >= 2


@pytest.mark.parametrize("cpus", [2, 16])
def test_batched_products_are_cut_by_product_if_there_are_enough_and_else_into_whole_tiles(cpus, monkeypatch):
    monkeypatch.setattr(chunks, "_cpus", lambda: cpus)
    many = chunks_of(product(64, 64, 64, 64), (4, 4, 4), 1 << 22)
    assert many.params[:4] == (64, 64, 64, 64 // min(2 * cpus, 16))
    assert all(many.steps)
    large = chunks_of(product(1, 2048, 2048, 2048), (4, 4, 4), 1 << 26)
    assert large.count == 2 * cpus
    uneven = chunks_of(product(1, 300, 256, 1000), (4, 4, 4), 1 << 22)
    assert uneven.params[0] % 32 == 0
    assert (uneven.count - 1) * uneven.params[0] + uneven.last_params[0] == 1000
