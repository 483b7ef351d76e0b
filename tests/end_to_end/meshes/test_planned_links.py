"""What `explain(machine=...)` says of the collectives of a program."""

from __future__ import annotations

import json

import pytest
import torch

import ttnn_jit
from tests.end_to_end.meshes.test_exchanges import opened
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import ArgumentError


@ttnn_jit.jit()
def layer(x, w):
    hidden = ttnn.relu(ttnn.all_reduce(ttnn.matmul(x, w), cluster_axis=1))
    return ttnn.all_gather(hidden, 1, cluster_axis=0), ttnn.mesh_partition(hidden, 1, cluster_axis=1)


@pytest.fixture
def operands():
    mesh = opened((2, 4))
    parts = ttnn.ShardTensorToMesh(mesh, dim=0)
    return [ttnn.from_torch(torch.randn(8 * rows, 64), device=mesh, mesh_mapper=parts) for rows in (32, 64)]


def test_each_collective_has_its_bytes_a_bound_and_an_estimate(operands):
    links = layer.explain(*operands, machine="t3000").links
    reduced, gathered = links.collectives
    assert [(each.name, each.devices, each.tensor_bytes) for each in links.collectives] == [
        ("all_reduce", 4, 32 * 64 * 4),
        ("all_gather", 2, 32 * 64 * 4),
    ]
    assert reduced.link_bytes == gathered.link_bytes == 32 * 64 * 4 / 2
    assert reduced.bound == 32 * 64 * 2 / 12.5e9
    assert reduced.estimate == links.fit.latency + 32 * 64 * 2 / links.fit.bytes_per_second
    assert links.bound == reduced.bound + gathered.bound
    assert links.estimate == reduced.estimate + gathered.estimate
    assert reduced.location.rpartition(":")[0] == __file__


def test_the_text_names_the_machine_the_fit_and_its_error(operands):
    text = str(layer.explain(*operands, machine="t3000"))
    assert "on t3000: all_reduce of 8,192 bytes among 4 devices at " in text
    assert "a link moves at least 4,096 bytes one way, 0.3 us or more; estimate 15.1 us" in text
    assert "12.5 GB/s per link and direction" in text
    assert "fitted to 21 targets of tt-metal" in text
    assert "missed by 14% at the median and 71% at worst" in text
    assert "cycles" not in text
    assert layer.explain(*operands).links is None


def test_a_machine_of_json_has_its_own_links(operands):
    mine = {"name": "mine", "mesh": [2, 4], "links": 1, "rings": [False, True], "bytes_per_second": 1e9}
    reduced, _ = layer.explain(*operands, machine=json.dumps(mine)).links.collectives
    assert reduced.bound == pytest.approx(2 * 3 / 4 * 32 * 64 * 4 / 2 / 1e9)


def test_a_program_of_one_device_moves_nothing_over_links():
    device = ttnn.open_device(device_id=0, target="cpu")
    x = ttnn.from_torch(torch.randn(32, 32), device=device)
    report = ttnn_jit.jit()(lambda x: ttnn.relu(x)).explain(x, machine="galaxy")
    assert not report.links.collectives
    assert "on galaxy: no collective moves anything over links" in str(report)


def test_a_mesh_that_the_machine_does_not_have_is_refused(operands):
    with pytest.raises(ArgumentError, match="does not fit n300"):
        layer.explain(*operands, machine="n300")
