"""One style for all plots: colours by contender, light grids, small files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

COLOURS = {
    "ttnn_jit cpu": "#0b6e4f",
    "ttnn_jit wormhole_b0": "#7fb800",
    "torch.compile": "#d1495b",
    "torch.compile tuned": "#edae49",
    "torch.compile into out": "#8d6a9f",
    "eager torch": "#30638e",
}
CYCLE = ("#0b6e4f", "#d1495b", "#30638e", "#edae49", "#8d6a9f", "#7fb800", "#555555", "#00798c", "#b5651d", "#e377c2")


def panels(rows: int, columns: int, width: float, height: float, **options: Any) -> tuple[Any, Any]:
    """A figure of equal panels, sizes in inches per panel; the panels as an array of rows."""
    import matplotlib

    matplotlib.use("Agg")
    from cycler import cycler
    from matplotlib import pyplot

    style = {
        "font.size": 8,
        "axes.titlesize": 9,
        "legend.fontsize": 7,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "grid.color": "#dddddd",
        "grid.linewidth": 0.6,
        "axes.axisbelow": True,
        "axes.prop_cycle": cycler(color=CYCLE),
        "lines.linewidth": 1.4,
        "lines.markersize": 3.5,
        "legend.frameon": False,
        "figure.constrained_layout.use": True,
    }
    matplotlib.rcParams.update(style)
    return pyplot.subplots(rows, columns, figsize=(columns * width, rows * height), squeeze=False, **options)


def legend_below(figure: Any, axes: Iterable[Any]) -> None:
    """One legend for all panels, in as many columns as fit."""
    pairs = [pair for axis in axes for pair in zip(*axis.get_legend_handles_labels(), strict=True)]
    named = {label: handle for handle, label in reversed(pairs)}
    ordered = list(dict.fromkeys(label for _, label in pairs))
    columns = max(1, int(figure.get_figwidth() / (0.6 + 0.058 * max(map(len, ordered)))))
    handles = [named[label] for label in ordered]
    figure.legend(handles, ordered, loc="outside lower center", ncols=min(columns, len(ordered)))


def save(figure: Any, path: Path) -> None:
    """Writes a figure and closes it."""
    from matplotlib import pyplot

    figure.savefig(path, dpi=110, pil_kwargs={"optimize": True})
    pyplot.close(figure)


def powers_of_two(axis: Any, values: list[int], labels: list[str]) -> None:
    """A logarithmic x axis with these labels and no others."""
    axis.set_xscale("log", base=2)
    axis.set_xticks(values, labels)
    axis.minorticks_off()


def plain_logarithm(axis: Any) -> None:
    """A logarithmic axis with plain numbers: 0.5, 1, 2, 10."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis.axes.set(**{f"{axis.axis_name}scale": "log"})
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())
