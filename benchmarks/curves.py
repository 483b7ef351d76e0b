"""How costs grow: with elements, with operations, with shapes.

    python benchmarks/curves.py [--quick]

Time per element of cosh over 2^10 to 2^26 elements; time of a compile over 1 to 500 operations; time of a warm call
and kernels compiled over 1 to 10,000 distinct shapes of one function. One process, no disk cache; writes
``results/curves.json`` and ``.png``.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable, Iterator
from typing import Any

from comparison import RESULTS, machine, seconds_of
from programs import Workload, cosh, ttnn_operations, unary_chain

Curve = dict[int, float]


def seconds(call: Callable[[], Any]) -> float:
    """Wall-clock seconds of one call."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def elements_curve(powers: range) -> Curve:
    """Elements -> nanoseconds per element of a warm cosh."""
    import torch

    import ttnn_jit

    function = ttnn_jit.jit(Workload(cosh, 1).over(ttnn_operations()))
    curve = {}
    for power in powers:
        x = torch.randn(1 << power)
        curve[1 << power] = seconds_of(lambda x=x: function(x)) / (1 << power) * 1e9
    return curve


def operations_curve(counts: list[int]) -> Curve:
    """Operations -> milliseconds of a first call; every count is a function of its own text."""
    import torch

    import ttnn_jit

    x = torch.randn(32, 32)
    ops = ttnn_operations()
    kinds = [ops.add, ops.mul, ops.sub]

    def chain(value: Any, count: int) -> Any:
        for index in range(count):
            value = kinds[index % 3](value, 1.0 + index / 1024)
        return value

    ttnn_jit.jit(lambda v: chain(v, 2))(x)
    curve = {}
    for count in counts:
        function = ttnn_jit.jit(lambda v, count=count: chain(v, count))
        curve[count] = seconds(lambda function=function: function(x)) * 1e3
    return curve


def shapes_curve(counts: list[int]) -> tuple[Curve, Curve]:
    """Distinct shapes seen -> microseconds of a warm call, and kernels compiled so far."""
    import torch

    import ttnn_jit
    from ttnn_jit import compiler

    function = ttnn_jit.jit(Workload(unary_chain, 1).over(ttnn_operations()))
    probe = torch.randn(8, 8)
    seen = 0
    shapes = _shapes()
    before = len(compiler._OBJECTS)
    lookups: Curve = {}
    kernels: Curve = {}
    for count in counts:
        while seen < count:
            function(torch.empty(next(shapes)))
            seen += 1
        lookups[count] = seconds_of(lambda: function(probe)) * 1e6
        kernels[count] = len(compiler._OBJECTS) - before
    return lookups, kernels


def _shapes() -> Iterator[tuple[int, int]]:
    """Distinct shapes of up to 128 x 128."""
    return ((rows, columns) for rows in range(1, 129) for columns in range(1, 129))


def plot(curves: dict[str, Curve]) -> None:
    """One panel a curve."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, len(curves), figsize=(4 * len(curves), 3.2))
    for panel, (title, curve) in zip(panels, curves.items(), strict=True):
        panel.plot(list(curve), list(curve.values()), marker="o", markersize=3)
        panel.set_xscale("log")
        panel.set_ylim(bottom=0)
        panel.set_title(title, fontsize=9)
    figure.tight_layout()
    figure.savefig(RESULTS / "curves.png", dpi=120)


def main() -> None:
    """Measure, write, plot."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer and smaller points")
    quick = parser.parse_args().quick
    os.environ["TTNN_JIT_CACHE"] = "0"
    from rich.progress import Progress

    curves: dict[str, Curve] = {}
    with Progress() as progress:
        task = progress.add_task("curves", total=3)
        curves["elements: ns an element, cosh f32"] = elements_curve(range(10, 19 if quick else 27))
        progress.advance(task)
        curves["operations: ms of a first call"] = operations_curve([1, 3, 10, 30] + ([] if quick else [100, 200, 500]))
        progress.advance(task)
        lookups, kernels = shapes_curve([1, 10, 100] + ([] if quick else [1000, 10_000]))
        curves |= {"shapes: us of a warm call": lookups, "shapes: kernels compiled": kernels}
        progress.advance(task)
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / "curves.json").write_text(json.dumps({"machine": machine(), "curves": curves}, indent=1) + "\n")
    plot(curves)
    for title, curve in curves.items():
        print(title, *(f"{count}: {value:.3g}" for count, value in curve.items()), sep="  ")


if __name__ == "__main__":
    main()
