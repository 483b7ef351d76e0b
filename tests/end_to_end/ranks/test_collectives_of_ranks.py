"""One script gives the same bits in one process, in two ranks, in four and in eight."""

from __future__ import annotations

import pytest

from tests.end_to_end.ranks.collective_script import (
    ROWS,
    TILES,
    digest_of,
    every_collective,
    files,
    partial_tensors,
    traces,
)
from tests.ranks import in_ranks
from ttnn_jit import ttnn
from ttnn_jit.ops.collectives import rank_stages
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
    monkeypatch.setattr(rank_stages, "STAGED_BYTES", 1)
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
