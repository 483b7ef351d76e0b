"""Eager operations are compiled for many sizes at once, from the second size on."""

from __future__ import annotations

import pytest
import torch

import ttnn_jit
from ttnn_jit import ttnn
from ttnn_jit.cache.statistics import COUNTERS
from ttnn_jit.compiler import stored_programs
from ttnn_jit.dispatch import lru_programs

W = torch.randn(9, 5)


@pytest.fixture
def cpu(own_disk_cache):  # noqa: ARG001 - nothing is found there
    for cache in COUNTERS.memory_caches:
        cache.clear()
    return ttnn.open_device(device_id=0, target="cpu")


def changes(call):
    """The changes of the counts of compiles, templates, and sizes that one served."""
    before = ttnn_jit.cache_info()
    call()
    after = ttnn_jit.cache_info()
    return tuple(getattr(after, name) - getattr(before, name) for name in ("compiles", "templates", "template_hits"))


def on(device, tensor):
    return ttnn.from_torch(tensor, layout=ttnn.TILE_LAYOUT, device=device)


OPERATIONS = {
    "exp": (ttnn.exp, torch.exp),
    "softmax": (lambda x: ttnn.softmax(x, dim=-1), lambda x: x.softmax(-1)),
    "matmul": (lambda x: ttnn.matmul(x, on(x.device(), W)), lambda x: x @ W),
    "sum": (lambda x: ttnn.sum(x, dim=0), lambda x: x.sum(0)),
    "add of a number": (lambda x: ttnn.add(x, 2.5), lambda x: x + 2.5),
    "concat": (lambda x: ttnn.concat([x, x], dim=0), lambda x: torch.cat([x, x])),
    "slice": (lambda x: x[1:5], lambda x: x[1:5]),
    "activation": (lambda x: ttnn.add(x, x, activations=["relu"]), lambda x: torch.relu(x + x)),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_is_compiled_twice_for_many_sizes(name, cpu):
    ours, reference = OPERATIONS[name]

    def run():
        for rows in (40, 41, 42, 50, 61):
            x = torch.randn(rows, 9)
            for _ in range(3):  # by the program, then by warm calls
                torch.testing.assert_close(ttnn.to_torch(ours(on(cpu, x))), reference(x), rtol=1e-4, atol=1e-4)

    assert changes(run) == (2, 1, 3)


def test_an_operation_in_place_serves_many_sizes_and_writes_into_its_operand(cpu):
    def run():
        for rows in (40, 41, 42, 50):
            x = torch.randn(rows, 9)
            given = on(cpu, x)
            for number in range(1, 4):
                assert ttnn.add_(given, 1.0) is given
                torch.testing.assert_close(ttnn.to_torch(given), x + number, rtol=1e-5, atol=1e-5)

    assert changes(run) == (2, 1, 2)


def test_an_operation_writes_results_of_many_sizes_into_a_given_tensor(cpu):
    def run():
        for rows in (40, 41, 42, 50):
            x = torch.randn(rows, 9)
            output = on(cpu, torch.zeros(rows, 9))
            for _ in range(2):
                assert ttnn.exp(on(cpu, x), output_tensor=output) is output
                torch.testing.assert_close(ttnn.to_torch(output), x.exp(), rtol=1e-4, atol=1e-4)

    ttnn.exp.clear()
    assert changes(run) == (2, 1, 2)


def test_every_size_is_an_entry_and_clear_forgets_templates(cpu):
    ttnn.exp.clear()
    for rows in (40, 41, 42):
        ttnn.exp(on(cpu, torch.randn(rows, 9)))
    assert ttnn.exp.num_entries == 3
    ttnn.exp.clear()
    stored_programs.IN_MEMORY.clear()
    assert ttnn.exp.num_entries == 0
    before = ttnn_jit.cache_info().disk_hits
    assert changes(lambda: ttnn.exp(on(cpu, torch.randn(43, 9)))) == (0, 0, 0)
    assert ttnn_jit.cache_info().disk_hits == before + 1


def test_an_evicted_size_is_made_by_the_template_again(cpu, monkeypatch):
    monkeypatch.setattr(lru_programs, "MAX_PROGRAMS", 4)
    ttnn.exp.clear()

    def run():
        for rows in (*range(40, 44), 40, *range(40, 44)):
            ttnn.exp(on(cpu, torch.randn(rows, 9)))

    assert changes(run) == (2, 1, 2)
    assert changes(lambda: [ttnn.exp(on(cpu, torch.randn(rows, 9))) for rows in range(44, 50)]) == (0, 0, 6)
    assert ttnn.exp.num_entries == 4
    assert changes(lambda: ttnn.exp(on(cpu, torch.randn(41, 9)))) == (0, 0, 1)


def test_an_operation_on_a_chip_is_compiled_twice_for_many_sizes(device):
    assert device.target.tile_aligned_only
    ttnn.exp.clear()
    found = changes(lambda: [ttnn.exp(on(device, torch.randn(rows, 32))) for rows in (320, 352, 384)])
    assert found == (2, 1, 1)
