"""How far each kernel is from what the machine can do: bytes, operations and achieved share, on target cpu.

The roofs are measured in the same run (benchmarks/harness/roofs.py): multiply-adds from registers, and the best copy,
with ordinary and with non-temporal stores, by one thread and by all, of as many bytes as the kernel touches. A kernel's
share is the time that the nearer roof allows over the time that it took, a whole Python call. Operations are the
floating-point ones that the kernel's text does per element, a multiply-add being two.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from typing import Any

from benchmarks.harness import plots
from benchmarks.harness.contenders import OURS, WORKLOADS, Case, Contenders, contenders, inputs_of, prepare, timed
from benchmarks.harness.harness import Benchmark, Plots, Step, cache_sizes, main, table
from benchmarks.harness.process import Process
from benchmarks.harness.programs import ttnn_operations
from benchmarks.harness.roofs import roofs
from benchmarks.kernels import elementwise, workloads

CASES = [case for case in elementwise.CASES if case.shape[0] in {256, 1024, 4096}] + workloads.CASES
QUICK = [case for case in CASES if case.shape[0] != 4096][::3]
POWERS = range(16, 29)  # exponents of 2: bytes of the copies


@contextmanager
def steps(quick: bool) -> Iterator[Sequence[Step]]:
    """The kernels, with measurements of the roofs before and after them, since machines are noisy."""
    with contenders() as running:
        yield [
            Step("roofs", 6, partial(measured_roofs, quick)),
            *(Step(case.name, 1, partial(kernel, running, case, quick)) for case in (QUICK if quick else CASES)),
            Step("roofs again", 6, partial(measured_roofs, quick)),
        ]


def measured_roofs(quick: bool) -> Any:
    """The roofs, measured in a separate process."""
    with Process({}) as process:
        return process.call(roofs, list(POWERS[::3] if quick else POWERS), 3 if quick else 7)


def kernel(running: Contenders, case: Case, quick: bool) -> dict[str, float]:
    """Seconds of a call, the best of several tenth percentiles, and its operations per element."""
    running.call(OURS, prepare, OURS, asdict(case))
    seconds = min(running.call(OURS, timed, 0.04)[1] for _ in range(3 if quick else 7))
    return {"seconds": seconds, "operations": running.call(OURS, operations_per_element, asdict(case))}


def operations_per_element(case_fields: dict[str, Any]) -> float:
    """Floating-point operations in the kernel's text, per element."""
    import ttnn_jit

    case = Case(case_fields["workload"], (32, 32), case_fields["dtype"])
    function = ttnn_jit.jit(WORKLOADS[case.workload].over(ttnn_operations()))
    return operations_in(function.ir(*inputs_of(case), stage="codegen"))


def operations_in(text: str) -> float:
    """Floating-point operations of all kernels of a program per element; a multiply-add counts as two."""
    total = 0.0
    for body in re.findall(r"^define void @k_.*?^}", text, re.DOTALL | re.MULTILINE):
        step = re.search(r"%at\.next = add i64 %at, (\d+)", body)
        assert step is not None
        multiply_adds = re.findall(r"= call <(\d+) x float> @llvm\.fma", body)
        others = re.findall(r"= f(?:add|sub|mul|div) <(\d+) x float>", body)
        total += (2 * sum(map(int, multiply_adds)) + sum(map(int, others))) / int(step.group(1))
    return total


def best(roofs_: Sequence[Mapping[str, Any]]) -> tuple[float, dict[int, float]]:
    """GFLOP/s, and bytes touched -> GB/s: the best of all measurements."""
    gflops = max(value for found in roofs_ for value in found["fma"].values())
    copies: dict[int, float] = {}
    for found in roofs_:
        for nbytes, kinds in found["copy"].items():
            copies[int(nbytes)] = max(copies.get(int(nbytes), 0.0), *kinds.values())
    return gflops, copies


def copy_at(copies: Mapping[int, float], nbytes: int) -> float:
    """GB/s of the copy whose size is nearest, by ratio."""
    return copies[min(copies, key=lambda size: max(size, nbytes) / min(size, nbytes))]


def report(results: Mapping[str, Any], plots_: Plots) -> str:
    """The roofline, the copies' curve, and a row per kernel."""
    measured = [results[name] for name in ("roofs", "roofs again") if name in results]
    if not measured:
        return "The roofs are not measured yet.\n"
    gflops, copies = best(measured)
    found = [case for case in CASES if case.name in results]
    rows = [["kernel", "us", "MB", "operations an element", "GB/s", "GFLOP/s", "bound by", "share of the roof"]]
    for case in found:
        seconds, operations = results[case.name]["seconds"], results[case.name]["operations"] * case.elements
        memory, arithmetic = case.nbytes / copy_at(copies, case.nbytes) / 1e9, operations / gflops / 1e9
        rows.append(
            [
                case.name,
                f"{seconds * 1e6:,.1f}",
                f"{case.nbytes / 1e6:.1f}",
                f"{results[case.name]['operations']:g}",
                f"{case.nbytes / seconds / 1e9:.1f}",
                f"{operations / seconds / 1e9:.1f}",
                "memory" if memory > arithmetic else "arithmetic",
                f"{max(memory, arithmetic) / seconds:.0%}",
            ]
        )
    _plot_roofline(results, found, gflops, copies, plots_)
    _plot_copies(measured, plots_)
    peaks = ", ".join(f"{n} thread{'s' * (n != '1')} {_best_fma(measured, n):.0f}" for n in measured[0]["fma"])
    return (
        f"{plots_.shown('roofline')}\n{table(rows)}\n## Roofs\n\nMultiply-adds from registers, GFLOP/s: {peaks}.\n\n"
        f"{plots_.shown('copies by size', 'copies')}\n{_copies_table(measured)}"
    )


def _best_fma(measured: Sequence[Mapping[str, Any]], threads: str) -> float:
    return max(float(found["fma"][threads]) for found in measured)


def _copies_table(measured: Sequence[Mapping[str, Any]]) -> str:
    kinds = list(next(iter(measured[0]["copy"].values())))
    rows = [["bytes read and written", *(f"{_kind(kind)}, GB/s" for kind in kinds)]]
    for nbytes in measured[0]["copy"]:
        rows.append([_size(int(nbytes)), *(f"{max(m['copy'][nbytes][kind] for m in measured):.0f}" for kind in kinds)])
    return table(rows)


def _kind(kind: str) -> str:
    threads, _, stores = kind.partition(" ")
    return f"{threads} thread{'s' * (threads != '1')}, {stores}"


def _size(nbytes: int) -> str:
    return f"{nbytes >> 20} MB" if nbytes >= 1 << 20 else f"{nbytes >> 10} KB"


def _plot_copies(measured: Sequence[Mapping[str, Any]], plots_: Plots) -> None:
    figure, axes = plots.panels(1, 1, 5, 2.8)
    axis = axes[0][0]
    sizes = [int(nbytes) for nbytes in measured[0]["copy"]]
    for kind in next(iter(measured[0]["copy"].values())):
        speeds = [max(found["copy"][str(size)][kind] for found in measured) for size in sizes]
        axis.plot(sizes, speeds, "--" if "around" in kind else "-", marker="o", label=_kind(kind))
    for level, size in cache_sizes().items():
        axis.axvline(size, color="#999999", linewidth=0.8, linestyle=":")
        axis.text(size, axis.get_ylim()[1], f" L{level}", va="top", color="#777777")
    plots.powers_of_two(axis, sizes[::2], [_size(size) for size in sizes[::2]])
    axis.set_ylim(bottom=0)
    axis.set_ylabel("GB/s read and written")
    axis.set_xlabel("bytes of a copy")
    axis.legend()
    plots.save(figure, plots_.path("copies"))


def _plot_roofline(
    results: Mapping[str, Any], found: Sequence[Case], gflops: float, copies: Mapping[int, float], plots_: Plots
) -> None:
    figure, axes = plots.panels(1, 1, 8, 4.6)
    axis = axes[0][0]
    intensities = [2.0**k for k in range(-6, 8)]
    levels = {f"L{level}": size // 2 for level, size in cache_sizes().items() if level > 1} | {"memory": max(copies)}
    for style, (label, size) in zip(("-", "--", ":"), levels.items(), strict=False):
        speed = copy_at(copies, size)
        axis.plot(intensities, [min(gflops, speed * x) for x in intensities], style, color="#888888",
                  label=f"copy in {label}, {speed:.0f} GB/s")  # fmt: skip
    markers = {"f32": "o", "bf16": "s"}
    programs = list(dict.fromkeys(case.workload for case in found))
    for case in found:
        operations = results[case.name]["operations"] or 0.25  # a copy has none, and is drawn at the left edge
        x = operations * case.elements / case.nbytes
        y = operations * case.elements / results[case.name]["seconds"] / 1e9
        size = 14 if case.nbytes < 1 << 21 else 34 if case.nbytes < 1 << 26 else 70
        colour = plots.CYCLE[programs.index(case.workload) % len(plots.CYCLE)]
        axis.scatter([x], [y], s=size, marker=markers[case.dtype], color=colour, alpha=0.8, linewidths=0)
    for program in programs:
        axis.scatter([], [], color=plots.CYCLE[programs.index(program) % len(plots.CYCLE)], label=program, s=20)
    axis.scatter([], [], marker="o", color="#555555", label="f32", s=20)
    axis.scatter([], [], marker="s", color="#555555", label="bf16", s=20)
    axis.set_xscale("log", base=2)
    axis.set_yscale("log", base=2)
    axis.set_xlabel("floating-point operations per byte (copy: as if a quarter of one per element)")
    axis.set_ylabel("GFLOP/s")
    axis.set_title(f"larger marks: more bytes; peak of multiply-adds {gflops:.0f} GFLOP/s")
    for of in (axis.xaxis, axis.yaxis):
        of.set_major_formatter(lambda value, _: f"{value:g}" if value >= 1 else f"1/{1 / value:g}")
    figure.legend(loc="outside right upper")
    plots.save(figure, plots_.path())


BENCHMARK = Benchmark("roofline", (__doc__ or "").splitlines()[0], steps, report)

if __name__ == "__main__":
    main(BENCHMARK)
