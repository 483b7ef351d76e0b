"""What a program costs: compiled, found on disk by a new process, found in memory; beside eager torch and inductor.

Every contender runs in a process of its own, unpinned, with its own threads and default flags (inductor with
``fullgraph=True, dynamic=False``, under ``torch.inference_mode``, which its warm call is fastest in); processes of
different contenders alternate, so that a drift of the machine's speed meets them all. Medians of the rounds.
"""

from __future__ import annotations

import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from benchmarks.harness import plots
from benchmarks.harness.harness import Benchmark, Plots, Step, main, table
from benchmarks.harness.process import Process
from benchmarks.harness.programs import cosh, torch_operations, tree30, ttnn_operations
from benchmarks.harness.timing import seconds

OURS, EAGER, PEER = "ttnn_jit", "eager torch", "torch.compile"
CONTENDERS = (OURS, EAGER, PEER)
MIXED_CALLS = 400
MIXED_SHAPES = [(32, 32), (64, 96), (33, 65), (128, 128), (7, 5), (256, 64), (1, 1000), (96, 96)]


def compiler_of(contender: str) -> tuple[Callable[[Any], Any], Any]:
    """A contender's decorator, and its namespace of operations."""
    if contender == OURS:
        import ttnn_jit

        return ttnn_jit.jit(), ttnn_operations()
    if contender == EAGER:
        return lambda function: function, torch_operations()
    import torch
    import torch._dynamo

    torch._dynamo.config.recompile_limit = 2 * len(MIXED_SHAPES)  # a program per shape and dtype, like ours
    return lambda function: torch.compile(function, fullgraph=True, dynamic=False), torch_operations()


def warm_seconds(function: Callable[[], Any], calls: int = 2000) -> float:
    """Median seconds of a warm call, in batches so that the clock's overhead is negligible."""
    for _ in range(100):
        function()
    batches = []
    for _ in range(20):
        start = time.perf_counter()
        for _ in range(calls // 20):
            function()
        batches.append((time.perf_counter() - start) / (calls // 20))
    return statistics.median(batches)


def measure(contender: str) -> dict[str, float]:
    """All figures of one contender in this process; seconds, or shares for names that end in _rate."""
    import torch

    torch.manual_seed(0)
    decorate, ops = compiler_of(contender)
    with torch.inference_mode():
        x, y = torch.randn(32, 32), torch.randn(32, 32)
        first = decorate(lambda v: cosh(v, ops))
        second = decorate(lambda v, w: tree30(v, w, ops))
        figures = {
            "first call in process, cosh": seconds(lambda: first(x)),
            "first call in warm process, 30 ops": seconds(lambda: second(x, y)),
            "warm call, cosh f32 32x32": warm_seconds(lambda: first(x)),
            "warm call, 30 ops f32 32x32": warm_seconds(lambda: second(x, y)),
        }
        figures |= mixed_sequence(decorate, ops)
        if contender == OURS:
            figures |= ttnn_tensor_calls(decorate, ops)
    return figures


def mixed_sequence(decorate: Callable[[Any], Any], ops: Any) -> dict[str, float]:
    """A sequence of calls over shapes and dtypes, a few of them frequent, most of them rare."""
    import torch

    chooser = random.Random(7)
    kinds = [(shape, dtype) for shape in MIXED_SHAPES for dtype in (torch.float32, torch.bfloat16)]
    weights = [1 / (rank + 1) for rank in range(len(kinds))]
    sequence = chooser.choices(kinds, weights, k=MIXED_CALLS)
    inputs = {kind: torch.randn(kind[0]).to(kind[1]) for kind in kinds}
    function = decorate(lambda v: cosh(v, ops))
    total = seconds(lambda: [function(inputs[kind]) for kind in sequence])
    return {
        f"mixed sequence of {MIXED_CALLS} calls": total,
        "mixed sequence hit_rate": 1 - len(set(sequence)) / MIXED_CALLS,
    }


def ttnn_tensor_calls(decorate: Callable[[Any], Any], ops: Any) -> dict[str, float]:
    """Warm calls on ttnn tensors of a wormhole_b0 device."""
    import torch

    from ttnn_jit import ttnn

    device = ttnn.open_device(device_id=0)
    figures = {}
    for dtype in (torch.float32, torch.bfloat16):
        x = ttnn.from_torch(torch.randn(32, 32).to(dtype), layout=ttnn.TILE_LAYOUT, device=device)
        function = decorate(lambda v: cosh(v, ops))
        function(x)
        name = "f32" if dtype is torch.float32 else "bf16"
        figures[f"warm call, cosh {name} 32x32, ttnn tensors"] = warm_seconds(lambda f=function, v=x: f(v))
    return figures


def one_round(contender: str) -> dict[str, float]:
    """A process with an empty disk cache, then one with the cache that the first filled."""
    with tempfile.TemporaryDirectory() as cache:
        variables = {"TTNN_JIT_CACHE_DIR": f"{cache}/ttnn", "TORCHINDUCTOR_CACHE_DIR": f"{cache}/inductor"}
        with Process(variables) as process:
            cold = process.call(measure, contender)
        with Process(variables) as process:
            again = process.call(measure, contender)
    renamed = {
        "first call in process, cosh": "disk hit: first call in a new process, cosh",
        "first call in warm process, 30 ops": "disk hit: next call in a new process, 30 ops",
    }
    return cold | {new: again[old] for old, new in renamed.items()}


@contextmanager
def steps(quick: bool) -> Iterator[Sequence[Step]]:
    """A step per contender and round."""
    yield [
        Step(f"{contender}, round {number}", 50 if contender == PEER else 8, partial(one_round, contender))
        for number in range(1 if quick else 3)
        for contender in CONTENDERS
    ]


def report(results: Mapping[str, Any], plots_: Plots) -> str:
    """A row per figure: each contender's median over the rounds, and each peer's time over ours."""
    if not _rounds_of(results, OURS):
        return "Nothing is measured yet.\n"
    _plot(figures_of(results), plots_)
    return (
        f"{plots_.shown('times of all contenders')}\nMedians of {len(_rounds_of(results, OURS))} rounds. A first call "
        f"includes loading the compiler; eager torch has nothing to compile. The mixed sequence is {MIXED_CALLS} calls "
        f"over {2 * len(MIXED_SHAPES)} combinations of shape and dtype.\n\n{rows_of(results)}"
    )


def rows_of(results: Mapping[str, Any]) -> str:
    """The table."""
    figures = figures_of(results)
    rows = [["figure", *CONTENDERS, *(f"{peer} / ours" for peer in CONTENDERS[1:])]]
    for name, ours in figures[OURS].items():
        values = [figures[peer].get(name) for peer in CONTENDERS[1:]]
        ratios = ["-" if v is None or name.endswith("rate") else f"{v / ours:.3g}" for v in values]
        rows.append([name, *(shown(name, v) for v in (ours, *values)), *ratios])
    return table(rows)


def figures_of(results: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Contender -> figure -> its median over the rounds."""
    return {contender: medians(_rounds_of(results, contender)) for contender in CONTENDERS}


def _plot(figures: Mapping[str, Mapping[str, float]], plots_: Plots) -> None:
    """Times as points on one logarithmic axis."""
    names = [name for name in figures[OURS] if not name.endswith("rate")]
    figure, axes = plots.panels(1, 1, 7.5, 0.8 + 0.24 * len(names))
    axis = axes[0][0]
    for contender, colour in zip(CONTENDERS, (plots.CYCLE[0], plots.COLOURS[EAGER], plots.COLOURS[PEER]), strict=True):
        found = [
            (figures[contender][name], position) for position, name in enumerate(names) if name in figures[contender]
        ]
        axis.plot(*zip(*found, strict=True), "o", markersize=6, color=colour, label=contender)
    axis.set_xscale("log")
    ticks = {
        1e-6: "1 us",
        1e-5: "10 us",
        1e-4: "100 us",
        1e-3: "1 ms",
        1e-2: "10 ms",
        0.1: "100 ms",
        1: "1 s",
        10: "10 s",
    }
    axis.set_xticks(list(ticks), list(ticks.values()))
    axis.minorticks_off()
    axis.set_yticks(range(len(names)), names)
    axis.invert_yaxis()
    plots.legend_below(figure, [axis])
    plots.save(figure, plots_.path())


def _rounds_of(results: Mapping[str, Any], contender: str) -> list[dict[str, float]]:
    return [result for step, result in results.items() if step.startswith(f"{contender}, ")]


def medians(rounds: list[dict[str, float]]) -> dict[str, float]:
    """Per figure, the median over the rounds."""
    return {name: statistics.median(figures[name] for figures in rounds) for name in (rounds[0] if rounds else ())}


def shown(name: str, value: float | None) -> str:
    """A figure with a suitable unit."""
    if value is None:
        return "-"
    if name.endswith("rate"):
        return f"{value:.1%}"
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if value >= scale:
            return f"{value / scale:.3g} {unit}"
    return f"{value / 1e-9:.3g} ns"


BENCHMARK = Benchmark("program_cache", (__doc__ or "").splitlines()[0], steps, report)

if __name__ == "__main__":
    main(BENCHMARK)
