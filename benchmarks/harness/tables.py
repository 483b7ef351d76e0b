"""Tables and plots of results of `Contenders.compare` (contenders.py): programs against their peers."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.harness import harness, plots
from benchmarks.harness.contenders import CHIP, INTO, OURS, PEER, TUNED, Case

Results = Mapping[str, Mapping[str, Any]]
"""Case -> contender -> ``seconds`` of every round and ``error``, or ``refused``."""
SHOWN = (OURS, CHIP, PEER, TUNED, INTO)
RATIOS = ((PEER, OURS), (TUNED, OURS), (INTO, OURS), (PEER, CHIP), (TUNED, CHIP))


def measured(results: Results, case: Case, contender: str) -> list[float]:
    """Seconds of every round; empty if the contender did not run the case."""
    return results.get(case.name, {}).get(contender, {}).get("seconds", [])


def ratios(results: Results, case: Case, peer: str, ours: str) -> list[float]:
    """The peer's time over ours, by round."""
    return [b / a for a, b in zip(measured(results, case, ours), measured(results, case, peer), strict=False)]


def by_case(results: Results, cases: Sequence[Case]) -> str:
    """A row per case: microseconds, our GB/s, and peers' time over ours with its spread over the rounds."""
    head = ["case", *(f"{name}, us" for name in SHOWN), "cpu, GB/s"]
    head += [f"{_short(peer)} / {_short(ours)}" for peer, ours in RATIOS]
    rows = [head]
    for case in (case for case in cases if case.name in results):
        seconds = [measured(results, case, name) for name in SHOWN]
        cells = [f"{statistics.median(values) * 1e6:,.1f}" if values else "-" for values in seconds]
        cells += [f"{case.nbytes / statistics.median(seconds[0]) / 1e9:.1f}" if seconds[0] else "-"]
        found = [ratios(results, case, peer, ours) for peer, ours in RATIOS]
        rows.append([case.name, *cells, *(harness.spread(values) if values else "-" for values in found)])
    return harness.table(rows)


def undisturbed(results: Results, cases: Sequence[Case]) -> str:
    """A row per case: microseconds of each contender's best tenth percentile, and the peers' over ours."""
    head = ["case", *(f"{name}, us" for name in SHOWN)]
    rows = [[*head, *(f"{_short(peer)} / {_short(ours)}" for peer, ours in RATIOS)]]
    for case in (case for case in cases if case.name in results):
        fast = {name: min(results[case.name].get(name, {}).get("fast") or [float("nan")]) for name in SHOWN}
        cells = [f"{seconds * 1e6:,.1f}" for seconds in fast.values()]
        cells += [f"{fast[peer] / fast[ours]:.2f}" for peer, ours in RATIOS]
        rows.append([case.name, *(cell.replace("nan", "-") for cell in cells)])
    return harness.table(rows)


def errors(results: Results, cases: Sequence[Case]) -> str:
    """A row per case: each contender's largest error against float64."""
    rows = [["case", *SHOWN]]
    for case in (case for case in cases if case.name in results):
        found = [results[case.name].get(name, {}).get("error") for name in SHOWN]
        rows.append([case.name, *("-" if error is None else f"{error:.1e}" for error in found)])
    return harness.table(rows)


def every_figure(results: Results, cases: Sequence[Case]) -> str:
    """The sections with a row per case: medians, undisturbed times, errors."""
    return (
        f"## Every case\n\nMedians of the rounds.\n\n{by_case(results, cases)}\n"
        f"## Undisturbed\n\nThe best of the rounds' tenth percentiles.\n\n{undisturbed(results, cases)}\n"
        f"## Errors against float64\n\nRelative to the largest result.\n\n{errors(results, cases)}"
    )


def summary(results: Results, cases: Sequence[Case]) -> str:
    """A row per program and dtype: the geometric mean and the minimum of the ratios over its sizes."""
    rows = [["program", *(f"{_short(peer)} / {_short(ours)}" for peer, ours in RATIOS if peer != INTO)]]
    for workload, dtype in dict.fromkeys((case.workload, case.dtype) for case in cases):
        cells = []
        for peer, ours in (pair for pair in RATIOS if pair[0] != INTO):
            same = [case for case in cases if (case.workload, case.dtype) == (workload, dtype)]
            found = median_ratios(results, same, peer, ours)
            cells.append(f"{statistics.geometric_mean(found):.2f} (least {min(found):.2f})" if found else "-")
        if set(cells) != {"-"}:
            rows.append([f"{workload} {dtype}", *cells])
    return harness.table(rows)


def median_ratios(results: Results, cases: Sequence[Case], peer: str, ours: str) -> list[float]:
    """Per case that both ran, the median over the rounds of the peer's time over ours."""
    return [statistics.median(values) for case in cases if (values := ratios(results, case, peer, ours))]


def _short(contender: str) -> str:
    return contender.removeprefix("ttnn_jit ").removeprefix("torch.compile ").replace("torch.compile", "peer")


def plot_by_size(results: Results, cases: Sequence[Case], path: Path) -> None:
    """Peers' time over ours against the size: a column per program, a row per dtype."""
    programs = list(dict.fromkeys(case.workload for case in cases))
    dtypes = list(dict.fromkeys(case.dtype for case in cases))
    figure, axes = plots.panels(len(dtypes), len(programs), 2.3, 2.2, sharex=True, sharey=True)
    for row, dtype in zip(axes, dtypes, strict=True):
        for axis, program in zip(row, programs, strict=True):
            _panel(axis, results, [case for case in cases if (case.workload, case.dtype) == (program, dtype)])
            axis.set_title(f"{program}, {dtype}")
    for row in axes:
        row[0].set_ylabel("times as long as ttnn_jit")
    plots.legend_below(figure, axes.flat)
    plots.save(figure, path)


def _panel(axis: Any, results: Results, cases: Sequence[Case]) -> None:
    """The ratios of one program and dtype: cases of one size each."""
    for peer, ours in RATIOS:
        points = [(case.shape[0], values) for case in cases if (values := ratios(results, case, peer, ours))]
        if points:
            _line(axis, points, peer, ours)
    axis.axhline(1, color="black", linewidth=0.8)
    plots.powers_of_two(axis, [case.shape[0] for case in cases], [f"{case.shape[0]}²" for case in cases])
    plots.plain_logarithm(axis.yaxis)


def _line(axis: Any, points: list[tuple[int, list[float]]], peer: str, ours: str) -> None:
    sizes = [size for size, _ in points]
    style = "--" if ours == CHIP else "-"
    label = f"{peer} / {ours}"
    axis.plot(sizes, [statistics.median(values) for _, values in points], style, marker="o", label=label,
              color=plots.COLOURS[peer])  # fmt: skip
    if ours == OURS:
        low, high = zip(*((min(values), max(values)) for _, values in points), strict=True)
        axis.fill_between(sizes, low, high, color=plots.COLOURS[peer], alpha=0.15, linewidth=0)


def plot_bars(results: Results, cases: Sequence[Case], path: Path) -> None:
    """Peers' time over ours, bars per case."""
    pairs = [pair for pair in RATIOS if any(ratios(results, case, *pair) for case in cases)]
    figure, axes = plots.panels(1, 1, 7.5, 0.8 + 0.42 * len(cases))
    axis = axes[0][0]
    height = 0.8 / len(pairs)
    for offset, (peer, ours) in enumerate(pairs):
        found = [statistics.median(ratios(results, case, peer, ours) or [float("nan")]) for case in cases]
        positions = [index + height * (offset - (len(pairs) - 1) / 2) for index in range(len(cases))]
        axis.barh(positions, found, height=0.9 * height, label=f"{peer} / {ours}", color=plots.COLOURS[peer],
                  alpha=0.55 if ours == CHIP else 1)  # fmt: skip
    axis.set_yticks(range(len(cases)), [case.name for case in cases])
    axis.axvline(1, color="black", linewidth=0.8)
    axis.set_xlabel("times as long as ttnn_jit")
    axis.invert_yaxis()
    axis.grid(axis="y", visible=False)
    plots.plain_logarithm(axis.xaxis)
    plots.legend_below(figure, [axis])
    plots.save(figure, path)
