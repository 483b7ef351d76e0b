"""How costs grow: with elements, with operations, with shapes.

Time per element of cosh over 2^10 to 2^26 elements; time of a compile over 1 to 500 operations; time of a warm call
and kernels compiled over 1 to 10,000 distinct shapes of one function. A process per curve, no disk cache.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from benchmarks.harness import plots
from benchmarks.harness.harness import Benchmark, Plots, Step, main, table
from benchmarks.harness.process import Process
from benchmarks.harness.programs import Workload, cosh, ttnn_operations, unary_chain
from benchmarks.harness.timing import seconds, times_of

Curve = dict[str, float]  # the point, as JSON writes keys -> the cost


def elements_curve(powers: list[int]) -> dict[str, Curve]:
    """Elements -> nanoseconds per element of a warm cosh."""
    import torch

    import ttnn_jit

    function = ttnn_jit.jit(Workload(cosh, 1).over(ttnn_operations()))
    curve = {}
    for power in powers:
        x = torch.randn(1 << power)
        curve[str(1 << power)] = statistics.median(times_of(lambda x=x: function(x), 0.3)) / (1 << power) * 1e9
    return {"elements: ns an element, cosh f32": curve}


def operations_curve(counts: list[int]) -> dict[str, Curve]:
    """Operations -> milliseconds of a first call; each count has a new function."""
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
        curve[str(count)] = seconds(lambda function=function: function(x)) * 1e3
    return {"operations: ms of a first call": curve}


def shapes_curve(counts: list[int]) -> dict[str, Curve]:
    """Distinct shapes seen -> microseconds of a warm call, and kernels compiled so far."""
    import torch

    import ttnn_jit
    from ttnn_jit.codegen.images.kernel_images import IMAGES

    function = ttnn_jit.jit(Workload(unary_chain, 1).over(ttnn_operations()))
    probe = torch.randn(8, 8)
    seen = 0
    shapes = _shapes()
    before = len(IMAGES)
    lookups: Curve = {}
    kernels: Curve = {}
    for count in counts:
        while seen < count:
            function(torch.empty(next(shapes)))
            seen += 1
        lookups[str(count)] = statistics.median(times_of(lambda: function(probe), 0.2)) * 1e6
        kernels[str(count)] = float(len(IMAGES) - before)
    return {"shapes: us of a warm call": lookups, "shapes: kernels compiled": kernels}


def _shapes() -> Iterator[tuple[int, int]]:
    """Distinct shapes of up to 128 x 128."""
    return ((rows, columns) for rows in range(1, 129) for columns in range(1, 129))


@contextmanager
def steps(quick: bool) -> Iterator[Sequence[Step]]:
    """A step per curve."""
    powers = list(range(10, 21 if quick else 27))
    counts = [1, 3, 10, 30, *([] if quick else [100, 200, 500])]
    shapes = [1, 10, 100, *([] if quick else [1000, 10_000])]
    yield [
        Step("elements", 5 if quick else 12, partial(_alone, elements_curve, powers)),
        Step("operations", 4 if quick else 12, partial(_alone, operations_curve, counts)),
        Step("shapes", 4 if quick else 60, partial(_alone, shapes_curve, shapes)),
    ]


def _alone(curves: Callable[[list[int]], dict[str, Curve]], points: list[int]) -> dict[str, Curve]:
    with Process({"TTNN_JIT_CACHE": "0"}) as process:
        found: dict[str, Curve] = process.call(curves, points)
    return found


def report(results: Mapping[str, Any], plots_: Plots) -> str:
    """A panel and a table per curve."""
    curves = {title: curve for step in results.values() for title, curve in step.items()}
    figure, axes = plots.panels(1, len(curves), 2.8, 2.4)
    for axis, (title, curve) in zip(axes[0], curves.items(), strict=True):
        axis.plot([int(point) for point in curve], list(curve.values()), marker="o")
        axis.set_xscale("log")
        axis.set_ylim(0, 1.08 * max(curve.values()))
        what, _, unit = title.partition(": ")
        axis.set_title(unit)
        axis.set_xlabel(what)
    plots.save(figure, plots_.path())
    parts = [plots_.shown("cost against elements, operations and shapes")]
    for title, curve in curves.items():
        what, _, unit = title.partition(": ")
        parts.append(
            table([[what, *(f"{int(point):,}" for point in curve)], [unit, *(f"{v:.3g}" for v in curve.values())]])
        )
    return "\n".join(parts)


BENCHMARK = Benchmark("curves", (__doc__ or "").splitlines()[0], steps, report)

if __name__ == "__main__":
    main(BENCHMARK)
