"""Whole models in their full size: eager ttnn, jitted, in a trace, torch eager and torch.compile, f32 and bf16.

The programs of docs/examples/models with random weights on the cpu target, and eagerly on wormhole_b0; those of ttnn
compute in bfloat16, torch's bf16 is its autocast, torch.compile freezes the weights. Every contender has a process of
its own, and the contenders of a model take turns. A figure is the least time of a warm call; of a model that generates
tokens, the calls for all of them. Behind these stand what models hold in memory, what they take to compile, and small
operations (benchmarks/programs/model_costs.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict
from functools import cache, partial
from typing import Any

from benchmarks.harness import plots
from benchmarks.harness.harness import Benchmark, Plots, Step, main, table
from benchmarks.harness.process import Process
from benchmarks.harness.timing import seconds
from benchmarks.programs import model_costs
from benchmarks.programs.model_programs import CHIP, JIT, MAIN, OURS, PEERS, TRACE, Model, built, in_torch, models

QUICK = ("bert", "gpt2", "mnist_mlp")
ALONE = ("llama", "unet_block")
"""Models whose contenders run one after the other, since memory does not hold all of them."""
TURNS = 3
CALLS = 5


@cache
def _call(name: str, batch: int | None, contender: str, quick: bool) -> Callable[[], Any] | None:
    """A function that runs a model as a contender does; None if its trace is not supported."""
    target = "wormhole_b0" if contender == CHIP else "cpu"
    device, run, reference = built(Model(name, batch), quick=quick, target=target, jitted=contender in {JIT, TRACE})
    if contender == TRACE:
        return _traced(device, run)
    return run if contender in OURS else in_torch(reference, contender)  # type: ignore[no-any-return]


def _traced(device: Any, run: Callable[[], Any]) -> Callable[[], Any] | None:
    from ttnn_jit import ttnn
    from ttnn_jit.diagnostics.errors import TraceError

    run()
    trace = ttnn.begin_trace_capture(device, cq_id=0)
    try:
        _kept = run()
    except TraceError:
        return None
    ttnn.end_trace_capture(device, trace, cq_id=0)
    return partial(ttnn.execute_trace, device, trace, cq_id=0, blocking=True)


def prepare(name: str, batch: int | None, contender: str, quick: bool) -> None:
    """Builds, compiles and runs once, in this process."""
    if call := _call(name, batch, contender, quick):
        call()


def turn(name: str, batch: int | None, contender: str, quick: bool) -> float | None:
    """The minimum of a warm call's seconds, in this process."""
    call = _call(name, batch, contender, quick)
    return min(seconds(call) for _ in range(2 if quick else CALLS)) if call else None


@contextmanager
def steps(quick: bool) -> Iterator[Sequence[Step]]:
    """A step per model, then those of `model_costs`."""
    chosen = (model for model in models() if model.name in QUICK or not quick)
    timed = [Step(model.title, 60 if model.name in MAIN else 20, partial(_measure, model, quick)) for model in chosen]
    yield [*timed, *model_costs.steps(quick)]


def _measure(model: Model, quick: bool) -> dict[str, float | None]:
    return _measured_alone(model, quick) if model.name in ALONE else _measured_in_turn(model, quick)


def _measured_alone(model: Model, quick: bool) -> dict[str, float | None]:
    found = {}
    for contender in model.contenders:
        with Process({}) as process:
            process.call(prepare, *asdict(model).values(), contender, quick)
            found[contender] = process.call(turn, *asdict(model).values(), contender, quick)
    return found


def _measured_in_turn(model: Model, quick: bool) -> dict[str, float | None]:
    processes = {contender: Process({}) for contender in model.contenders}
    found: dict[str, list[float | None]] = {contender: [] for contender in processes}
    try:
        with ThreadPoolExecutor(2) as pool:  # torch.compile takes most of the time
            tasks = [
                pool.submit(process.call, prepare, *asdict(model).values(), contender, quick)
                for contender, process in reversed(processes.items())
            ]
            for task in tasks:
                task.result()
        for _ in range(1 if quick else TURNS):
            for contender, process in processes.items():
                found[contender].append(process.call(turn, *asdict(model).values(), contender, quick))
    finally:
        for process in processes.values():
            process.__exit__()
    return {contender: None if None in times else min(filter(None, times)) for contender, times in found.items()}


def report(results: Mapping[str, Any], plots_: Plots) -> str:
    """The table and the plot of times, then the report of `model_costs`."""
    timed = _timed(results)
    if timed:
        _plot(timed, plots_)
    shown = f"{plots_.shown('best of torch over ours')}\n" if timed else ""
    return f"{shown}{times(results)}\n{model_costs.report(results)}"


def times(results: Mapping[str, Any]) -> str:
    """The table of times."""
    heads = ["model, ms", *OURS, *PEERS, "best of torch / ours on cpu", "/ wormhole_b0"]
    return table([heads, *map(_row, _timed(results).items())])


def ratios(results: Mapping[str, Any]) -> dict[str, tuple[float, float]]:
    """Model -> the best time of torch over ours, on cpu and on wormhole_b0."""
    return {name: (_ratio(least, OURS[:3]), _ratio(least, (CHIP,))) for name, least in _timed(results).items()}


def _timed(results: Mapping[str, Any]) -> dict[str, Mapping[str, float | None]]:
    return {model.title: results[model.title] for model in models() if model.title in results}


def _row(result: tuple[str, Mapping[str, float | None]]) -> list[str]:
    name, least = result
    found = (least.get(contender) for contender in (*OURS, *PEERS))
    shown = (f"{time * 1e3:.2f}" if time else "-" for time in found)
    return [name, *shown, f"{_ratio(least, OURS[:3]):.2f}", f"{_ratio(least, (CHIP,)):.2f}"]


def _ratio(least: Mapping[str, float | None], ours: Sequence[str]) -> float:
    """The best time of torch over the best of `ours`."""
    best_peer, best = (min(filter(None, map(least.get, group)), default=math.nan) for group in (PEERS, ours))
    return best_peer / best


def _plot(timed: Mapping[str, Mapping[str, float | None]], plots_: Plots) -> None:
    figure, axes = plots.panels(1, 1, 5.5, 0.8 + 0.3 * len(timed))
    axis = axes[0][0]
    for shift, (label, ours) in enumerate((("cpu", OURS[:3]), ("wormhole_b0", (CHIP,)))):
        found = [_ratio(least, ours) for least in timed.values()]
        positions = [position + 0.4 * shift for position in range(len(timed))]
        axis.barh(positions, found, height=0.4, color=plots.COLOURS[f"ttnn_jit {label}"], label=label)
    axis.set_yticks([position + 0.2 for position in range(len(timed))], list(timed))
    axis.axvline(1, color="black", linewidth=0.8)
    axis.set_xlabel("the best of torch over the best of ours")
    axis.invert_yaxis()
    axis.grid(axis="y", visible=False)
    plots.legend_below(figure, axes[0])
    plots.save(figure, plots_.path())


BENCHMARK = Benchmark("models", (__doc__ or "").splitlines()[0], steps, report)

if __name__ == "__main__":
    main(BENCHMARK)
