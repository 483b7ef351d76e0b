"""Alternating contenders: their results equal torch in float64, and ratios are to the best peer."""

from __future__ import annotations

import re

import pytest

from benchmarks.harness import turns
from benchmarks.kernels import attention, convolution, matmul, movement, reductions


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setattr(reductions, "SIZE", 64)
    monkeypatch.setattr(reductions, "IMAGES", (2, 64, 4, 4))
    monkeypatch.setattr(movement, "SIZES", dict.fromkeys(movement.SIZES, 1 << 16))


@pytest.mark.parametrize("work", reductions.WORKS)
def test_the_benchmarked_programs_equal_torch(work):
    fields = {"work": work, "dtype": "f32", "threads": 1}
    assert all(reductions.prepare(contender, fields) < 1e-5 for contender in (turns.OURS, reductions.EAGER))


@pytest.mark.parametrize("work", ["NHWC to NCHW", "split of dim -1", "gather along rows", "from tiles, padded"])
def test_benchmarked_movements_equal_torch(work):
    case = movement.Case(work, "bf16", "cache", 1)
    fields = {"work": work, "dtype": "bf16", "size": "cache", "threads": 1}
    assert not any(movement.prepare(contender, fields) for contender in (turns.OURS, movement.EAGER))
    assert movement.nbytes_of(case) >= 2 * (1 << 16)


@pytest.mark.parametrize("causal", [False, True])
def test_benchmarked_attention_equals_torch(causal):
    fields = {"positions": 40, "causal": causal, "dtype": "f32", "threads": 1}
    assert all(attention.prepare(contender, fields) < 1e-5 for contender in attention.CONTENDERS)


@pytest.mark.parametrize(("pool", "norm"), [("", False), ("", True), ("max", False), ("avg", False)])
def test_benchmarked_layers_equal_torch(monkeypatch, pool, norm):
    layer = convolution.Layer("layer", 8, 4, 6, 3, 2, 2 - bool(pool), pool, norm)
    monkeypatch.setattr(convolution, "LAYERS", (layer,))
    fields = {"layer": "layer", "dtype": "f32", "batch": 2, "threads": 1}
    assert all(convolution.prepare(contender, fields) < 1e-5 for contender in (turns.OURS, convolution.EAGER))


def test_the_roofline_of_a_layer_is_the_longer_of_its_arithmetic_and_its_bytes():
    copies = {str(1 << power): {"2 ordinary": 10.0, "1 ordinary": 99.0} for power in range(16, 29)}
    measured = [{"fma": {"2": 100.0}, "pairs": {"2": 200.0}, "copy": copies}]
    wide, narrow = (convolution.Layer("layer", 32, channels, channels, 3) for channels in (256, 4))
    case = convolution.Case("layer", "bf16", 2, 2)
    operations, nbytes = 2 * 2 * 32**2 * 9 * 256**2, 2 * (2 * 2 * 32**2 * 4 + 4 * (4 * 9 + 1))
    roofs = [convolution.roof_of(case, layer, measured) for layer in (wide, narrow)]
    assert [roof.bound for roof in roofs] == ["arithmetic", "memory"]
    assert [roof.seconds for roof in roofs] == pytest.approx([operations / 200e9, nbytes / 10e9])


@pytest.mark.parametrize("module", [attention, convolution, matmul, movement, reductions])
def test_a_summary_has_every_case_with_all_threads_in_one_cell(module):
    cases = module.CASES if module is matmul else module.cases(quick=False)
    figures = {"error": 0.0, "seconds": [2.0], "least": [1.0]}
    names = {"torch", "torch.compile", "packed", "a read", turns.OURS}
    rows = module.summary({case.name: dict.fromkeys(names, figures) for case in cases})
    cells = [
        re.fullmatch(r"1\.00(?: \(of (\d+), least 1\.00\))?", cell) for _, *row in rows for cell in row if cell != "-"
    ]
    with_all = [case for case in cases if getattr(case, "threads", 0) in {0, turns.thread_counts()[0]}]
    if module is movement:
        with_all = [case for case in with_all if case.size == "memory" and case.dtype in turns.TYPES]
    assert sum(int(cell[1] or 1) for cell in cells) == len(with_all)
    assert len({name for name, *_ in rows}) == len(rows)


def test_a_ratio_is_of_the_fastest_calls_of_the_best_peer_and_of_ours():
    def figures(*least):
        return {"error": 0.0, "seconds": [2 * each for each in least], "least": list(least)}

    found = {turns.OURS: figures(2.0, 1.0), "one": figures(8.0, 3.0), "other": figures(6.0, 4.0)}
    assert turns.ratio(found, ["one", "other"]) == 3.0
    assert turns.ratio_of_medians(found, ["one", "other"]) == "3.00 [3.00-3.00]"
