"""Memory: speed from DRAM beside a non-temporal copy, peak resident set, and page faults of results of 64 MB.

- *Share of a copy*: a call whose operands lie in DRAM, and a copy of as many bytes with non-temporal stores, in turns
  in one process; the copy by one thread or by all, whichever is faster.
- *Peak resident set*: of a new process, over what it held after its imports and a small call, in which everything that
  a call loads is loaded; the inputs and one result are taken off.
- *Page faults*: of 20 calls after the first ones, whose result of 64 MB is dropped every time.
"""

from __future__ import annotations

import gc
import os
import resource
import statistics
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.harness import contenders as running_
from benchmarks.harness import plots
from benchmarks.harness.contenders import CHIP, EAGER, INTO, OURS, PEER, TUNED, Case, Contenders, contenders, prepare
from benchmarks.harness.harness import Benchmark, Plots, Step, main, spread, table
from benchmarks.harness.process import Process
from benchmarks.harness.roofs import Copy

SHARES = [
    Case(workload, (4096, 4096), dtype)
    for workload in ("copy", "cosh", "unary chain", "add-mul-exp-sigmoid", "add tree of 8")
    for dtype in ("f32", "bf16")
]
PEAKS = [case for case in SHARES if case.workload in {"cosh", "add tree of 8"}]
FAULTS = Case("cosh", (4096, 4096), "f32")
FAULT_CONTENDERS = (OURS, CHIP, EAGER, PEER, TUNED, INTO)
MAX_EXTRA = 64 << 20  # bytes that a call may allocate besides its inputs and its result
CALLS = 20


@contextmanager
def steps(quick: bool) -> Iterator[Sequence[Step]]:
    """A step per case and figure."""
    with contenders() as running:
        yield [
            *(Step(f"share, {case.name}", 5, partial(share, case, quick)) for case in SHARES[:: 5 if quick else 1]),
            *(Step(f"peak, {case.name}", 5, partial(peak, case)) for case in PEAKS[:: 4 if quick else 1]),
            *(
                Step(f"faults, {name}", 6, partial(faults, running, name))
                for name in FAULT_CONTENDERS[: 2 if quick else None]
            ),
        ]


def share(case: Case, quick: bool) -> Any:
    """Seconds of calls and of copies, by round."""
    with Process({}) as process:
        return process.call(calls_and_copies, asdict(case), 5 if quick else 15)


def calls_and_copies(case_fields: dict[str, Any], rounds: int) -> dict[str, list[float]]:
    """In a separate process: alternating calls and copies."""
    case = Case(case_fields["workload"], tuple(case_fields["shape"]), case_fields["dtype"])
    prepare(OURS, case_fields)
    copies = [Copy(case.nbytes, threads, around_caches=True) for threads in sorted({1, os.cpu_count() or 1})]
    ours: list[float] = []
    copied: list[float] = []
    for _ in range(rounds):
        ours.append(running_.timed(0.02)[0])
        copied.append(min(statistics.median(copy.seconds(1) for _ in range(3)) for copy in copies))
    return {"ours": ours, "copy": copied}


def _shares(found: Mapping[str, Sequence[float]]) -> list[float]:
    return [copy / ours for ours, copy in zip(found["ours"], found["copy"], strict=True)]


def median_share(found: Mapping[str, Sequence[float]]) -> float:
    """The median of the speed of a call over that of a copy, from a result of `share`."""
    return statistics.median(_shares(found))


def peak(case: Case) -> Any:
    """Peak bytes besides inputs and result."""
    with Process({}) as process:
        return process.call(peak_bytes, asdict(case))


def peak_bytes(case_fields: dict[str, Any]) -> dict[str, int]:
    """In a separate process: the peak resident set of a few calls."""
    case = Case(case_fields["workload"], tuple(case_fields["shape"]), case_fields["dtype"])
    prepare(OURS, case_fields | {"shape": [32, 32]})
    inputs = running_.inputs_of(case)
    input_bytes = sum(tensor.nbytes for tensor in inputs)
    call = running_._call_of(OURS, case, inputs)
    gc.collect()
    before = _status("VmRSS") - input_bytes
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # resets the peak
    for _ in range(5):
        call()
    return {
        "over": _status("VmHWM") - before - input_bytes - case.result_bytes,
        "inputs": input_bytes,
        "result": case.result_bytes,
    }


def _status(field: str) -> int:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith(f"{field}:"))


def faults(running: Contenders, contender: str) -> Any:
    """Page faults per call."""
    running.call(contender, prepare, contender, asdict(FAULTS))
    return running.call(contender, faults_per_call, CALLS)


def faults_per_call(calls: int) -> float:
    """Page faults per call, in the contender's process."""
    import torch

    with torch.inference_mode():
        for _ in range(3):
            running_._CURRENT.call()
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        for _ in range(calls):
            running_._CURRENT.call()
    return (resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before) / calls


def report(results: Mapping[str, Any], plots_: Plots) -> str:
    """A table per figure, and the shares as bars."""
    rows = [["kernel", "MB", "ours, GB/s", "copy, GB/s", "share of the copy"]]
    bars: dict[str, list[float]] = {}
    for case in (case for case in SHARES if f"share, {case.name}" in results):
        found = results[f"share, {case.name}"]
        shares = _shares(found)
        speeds = [case.nbytes / statistics.median(found[who]) / 1e9 for who in ("ours", "copy")]
        bars[case.name] = shares
        rows.append([case.name, f"{case.nbytes / 1e6:.0f}", *(f"{s:.1f}" for s in speeds), spread(shares)])
    peaks = [["kernel", "inputs, MB", "result, MB", "over both, MB", f"at most {MAX_EXTRA >> 20} MB"]]
    for case in (case for case in PEAKS if f"peak, {case.name}" in results):
        found = results[f"peak, {case.name}"]
        sizes = [f"{found[part] / (1 << 20):.1f}" for part in ("inputs", "result", "over")]
        peaks.append([case.name, *sizes, "yes" if found["over"] <= MAX_EXTRA else "no"])
    faulty = [["contender", "page faults a call"]]
    faulty += [
        [name, f"{results[f'faults, {name}']:,.1f}"] for name in FAULT_CONTENDERS if f"faults, {name}" in results
    ]
    if bars:
        _plot(bars, plots_)
    return (
        f"{plots_.shown('share of a non-temporal copy')}\n## Share of a copy\n\n{table(rows)}\n"
        f"## Peak resident set\n\n{table(peaks)}\n## Page faults, {FAULTS.name}\n\n{table(faulty)}"
    )


def _plot(bars: Mapping[str, Sequence[float]], plots_: Plots) -> None:
    figure, axes = plots.panels(1, 1, 5.5, 0.8 + 0.26 * len(bars))
    axis = axes[0][0]
    medians = [statistics.median(values) for values in bars.values()]
    colours = [plots.COLOURS[OURS] if "f32" in name else plots.COLOURS[CHIP] for name in bars]
    axis.barh(range(len(bars)), medians, height=0.7, color=colours)
    axis.set_yticks(range(len(bars)), list(bars))
    axis.axvline(1, color="black", linewidth=0.8)
    axis.set_xlabel("share of the speed of a non-temporal copy of the same bytes")
    axis.invert_yaxis()
    axis.grid(axis="y", visible=False)
    plots.save(figure, plots_.path())


BENCHMARK = Benchmark("memory", (__doc__ or "").splitlines()[0], steps, report)

if __name__ == "__main__":
    main(BENCHMARK)
