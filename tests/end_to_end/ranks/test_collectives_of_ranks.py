"""One script gives the same bits in one process, in two ranks, in four and in eight."""

from __future__ import annotations

import pytest

from tests.end_to_end.ranks.collective_script import ROWS, TILES, digest_of, every_collective
from tests.ranks import in_ranks
from ttnn_jit import ttnn


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
