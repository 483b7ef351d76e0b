"""One script gives the same bits in one process, in two ranks, in four and in eight."""

from __future__ import annotations

import pytest

import ttnn_jit
from tests.end_to_end.ranks.collective_script import (
    ROWS,
    TILES,
    Script,
    digest_of,
    every_collective,
    files,
    partial_tensors,
    traces,
)
from tests.ranks import in_ranks
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.runtime.ranks.channel import Channel
from ttnn_jit.ttnn.calling import rank_exchange


@pytest.mark.parametrize("count", [2, 3, 8])
@pytest.mark.parametrize(
    ("dtype", "layout"),
    [(ttnn.bfloat16, TILES), (ttnn.float32, ROWS), (ttnn.bfloat8_b, TILES), (ttnn.uint16, ROWS)],
    ids=["bfloat16 in tiles", "float32 in rows", "block floats", "uint16"],
)
def test_every_collective_gives_the_bits_of_one_process(dtype, layout, count):
    def collectives(script):
        if dtype is ttnn.bfloat8_b:
            for axis in (0, 1, None):
                script.read(ttnn.all_gather(script.x, 0, cluster_axis=axis))
                script.read(ttnn.all_reduce(script.x, cluster_axis=axis))
                script.read(ttnn.all_reduce(script.x, cluster_axis=axis, reduce_type="mean"))
        else:
            every_collective(script)

    run = digest_of(collectives, dtype, layout)
    assert in_ranks(count, run) == [run()] * count


@ttnn_jit.jit()
def mixed(x, y):
    return ttnn.gelu(ttnn.multiply(x, 0.5)) + y, ttnn.reshape(y, (1, *y.shape))


@ttnn_jit.jit()
def exchanging(x):
    return ttnn.all_reduce(x, cluster_axis=0)


def programs(script):
    x = script.x
    for _ in range(3):  # compiled, found, warm
        total = ttnn.all_reduce(x, cluster_axis=1)
        own, row = mixed(x, total)
        assert own.tensor_topology() == x.tensor_topology()
        script.read(own)
        script.read(ttnn.squeeze(row, 0))
        script.read(ttnn.all_gather(own, 1, cluster_axis=0))
        x = own


@pytest.mark.parametrize("count", [2, 8])
def test_jitted_functions_run_on_the_devices_of_each_rank(count):
    run = digest_of(programs, ttnn.bfloat16, TILES)
    assert in_ranks(count, run) == [run()] * count


def test_a_jitted_function_does_not_exchange_with_other_ranks():
    def refused(_):
        with pytest.raises(CompileError, match="all_reduce exchanges with devices of other ranks"):
            exchanging(Script(ttnn.bfloat16, TILES).x)

    in_ranks(2, refused)


@pytest.mark.parametrize("count", [2, 8])
def test_tensors_on_some_devices_and_in_files_are_those_of_one_process(count, tmp_path):
    def both(script):
        partial_tensors(script)
        files(script, tmp_path / "x.tensorbin")

    run = digest_of(both, ttnn.bfloat16, TILES)
    assert in_ranks(count, run) == [run()] * count


@pytest.mark.parametrize("count", [2, 8])
def test_traces_replay_exchanges_with_other_ranks(count):
    run = digest_of(traces, ttnn.bfloat16, TILES)
    assert in_ranks(count, run) == [run()] * count


@pytest.mark.parametrize("count", [4, 8])
@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.bfloat8_b], ids=["bfloat16", "block floats"])
def test_reductions_in_two_stages_give_the_same_bits(dtype, count, monkeypatch):
    def reductions(script):
        for axis in (0, 1, None):
            script.read(ttnn.all_reduce(script.x, cluster_axis=axis))
            script.read(ttnn.all_reduce(script.x, cluster_axis=axis, reduce_type="mean"))
        script.read(ttnn.all_gather(script.x, 0, cluster_axis=0))

    run = digest_of(reductions, dtype, TILES)
    expected = run()
    rank_exchange.planned.cache_clear()
    monkeypatch.setattr(rank_exchange, "STAGED_BYTES", 1)
    staged = []
    exchange = Channel.exchange
    monkeypatch.setattr(
        Channel,
        "exchange",
        lambda self, call, *others, **named: (
            staged.append("second stage" in call.text),
            exchange(self, call, *others, **named),
        ),
    )
    try:
        assert in_ranks(count, run) == [expected] * count
        assert any(staged)
    finally:
        rank_exchange.planned.cache_clear()
