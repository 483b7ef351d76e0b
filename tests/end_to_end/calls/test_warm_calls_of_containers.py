"""Warm calls with lists, tuples, dicts and records refuse and detect the same as the first call."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import numpy as np
import pytest
import torch

from tests.end_to_end.calls.warm_functions import on, warmed
from ttnn_jit import jit, ttnn
from ttnn_jit.diagnostics.errors import ArgumentError, DeallocatedError, TtnnJitError


@pytest.fixture
def device():
    with ttnn.open_device(device_id=0) as opened:
        yield opened


def weighted(x, weights, scale=1.0):
    gain, (shift, power) = weights["gain"], weights["rest"]
    return (x[0] * gain + x[1] * shift) * scale if power == 2.0 else x[0] * power


def of_containers(device, library):
    make = {"ttnn": lambda: on(device, 32, 32), "torch": lambda: torch.randn(32, 32), "numpy": lambda: np.ones(4, "f4")}
    x, y, gain, shift = (make[library]() for _ in range(4))
    return [x, y], {"gain": gain, "rest": (shift, 2.0)}


def as_torch(result):
    return torch.as_tensor(result) if isinstance(result, np.ndarray | torch.Tensor) else result.to_torch()


@pytest.mark.parametrize("library", ["ttnn", "torch", "numpy"])
def test_lists_tuples_and_dicts_take_the_fast_path(device, library, monkeypatch):
    x, weights = of_containers(device, library)
    compiled = warmed(weighted, x, weights)
    first = compiled(x, weights)
    monkeypatch.setattr(compiled, "_slow_path", None)
    assert torch.equal(as_torch(compiled(x, weights)), as_torch(first))
    assert torch.equal(as_torch(compiled(list(x), dict(weights))), as_torch(first))
    assert torch.equal(as_torch(compiled(x[::-1], weights)), as_torch(weighted(x[::-1], weights)))


class Pair(NamedTuple):
    first: object
    second: object


class Swapped(NamedTuple):
    first: object
    second: object


@dataclasses.dataclass
class Record:
    gain: object
    scale: float = 1.0
    later: object = dataclasses.field(init=False)


@dataclasses.dataclass(slots=True)
class Whole:
    gain: object
    scale: float = 1.0


def of_records(pair, record):
    first, second = (pair.second, pair.first) if isinstance(pair, Swapped) else (pair.first, pair.second)
    return (first - second) * record.gain * record.scale


def test_records_take_the_fast_path_and_are_distinguished(device, monkeypatch):
    x, y, gain = (on(device, 32, 32) for _ in range(3))
    others = [
        (Pair(x, y), Whole(gain)),
        (Pair(y, x), Whole(gain)),
        (Swapped(x, y), Whole(gain)),
        (Pair(x, 2.0), Whole(gain)),
        (Pair(x, y), Whole(gain, 2.0)),
        (Pair(x, y), Whole(2.0)),
        (Pair(x, y), Record(gain)),
    ]
    expected = [of_records(*arguments).to_torch() for arguments in others]
    for warm in others:
        compiled = warmed(of_records, *warm)
        for arguments, result in zip(others, expected, strict=True):
            assert torch.equal(compiled(*arguments).to_torch(), result)
    compiled = warmed(of_records, *others[0])
    lacking = Whole(gain)
    del lacking.scale
    with pytest.raises(TtnnJitError, match="scale"):
        compiled(others[0][0], lacking)
    monkeypatch.setattr(compiled, "_slow_path", None)
    assert torch.equal(compiled(*others[0]).to_torch(), expected[0])


def test_warm_calls_distinguish_containers(device):
    x, weights = of_containers(device, "ttnn")
    (a, b), gain, shift = x, weights["gain"], weights["rest"][0]
    others = [
        ((a, b), weights),
        ([a, b, a], weights),
        (x, {"rest": (shift, 2.0), "gain": gain}),
        (x, {"gain": gain, "rest": [shift, 2.0]}),
        (x, {"gain": gain, "rest": (shift, 0.0)}),
        (x, {"gain": gain, "rest": (shift, -0.0)}),
        (x, {"gain": gain, "rest": (2.0, 2.0)}),
        (x, {"gain": 2.0, "rest": (shift, 2.0)}),
        (x, weights, 3.0),
        (x, weights),
    ]
    compiled = warmed(weighted, x, weights)
    for _ in range(3):
        for arguments in others:
            expected = weighted(*arguments).to_torch()
            got = compiled(*arguments).to_torch()
            assert torch.equal(got, expected)
            assert torch.equal(got.signbit(), expected.signbit())


def test_a_warm_call_refuses_in_containers_what_the_first_would_refuse(device):
    x, weights = of_containers(device, "ttnn")
    compiled = warmed(weighted, x, weights)
    with ttnn.open_device(device_id=1) as other, pytest.raises(ArgumentError, match="different devices"):
        compiled([x[0], on(other, 32, 32)], weights)
    with pytest.raises(ArgumentError, match="torch tensors and ttnn tensors in one call"):
        compiled([x[0], torch.randn(32, 32)], weights)
    with pytest.raises(TtnnJitError, match="out of range"):
        compiled(x[:1], weights)
    with pytest.raises(TtnnJitError, match="gain"):
        compiled(x, {"rest": weights["rest"]})
    ttnn.deallocate(x[0])
    with pytest.raises(DeallocatedError):
        compiled(x, weights)


def test_tensors_of_a_mesh_in_containers_run_on_each_device_when_warm():
    mesh = ttnn.open_mesh_device(ttnn.MeshShape(1, 2))
    whole = [torch.randn(64, 32) for _ in range(2)]
    mapper = ttnn.ShardTensorToMesh(mesh, dim=0)
    x = [ttnn.from_torch(each, layout=ttnn.TILE_LAYOUT, device=mesh, mesh_mapper=mapper) for each in whole]
    compiled = jit(lambda pair: pair[0] - pair[1])
    for _ in range(4):
        result = ttnn.to_torch(compiled(x), mesh_composer=ttnn.ConcatMeshToTensor(mesh, dim=0))
        assert torch.equal(result, whole[0] - whole[1])
    ttnn.close_mesh_device(mesh)
