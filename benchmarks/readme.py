"""Renews the section of README.md that shows speed, from ``benchmarks/results``.

    python -m benchmarks.readme

Both targets beside their peers, with the date, the machine and the command of the run; nothing in it is typed by hand.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from benchmarks import (
    attention,
    convolution,
    elementwise,
    matmul,
    memory,
    models,
    movement,
    program_cache,
    reductions,
    tables,
    traces,
    workloads,
)
from benchmarks.harness import RESULTS, Benchmark, command_line, table
from benchmarks.process import ROOT
from benchmarks.turns import TYPES

BEGIN, END = "<!-- speed: written by `python -m benchmarks.readme` -->", "<!-- end of speed -->"
README = ROOT / "README.md"


def section() -> str:
    """The markdown between the markers."""
    cache, each, named = (_content(benchmark.BENCHMARK.name) for benchmark in (program_cache, elementwise, workloads))
    about = each["machine"]
    remarks = " A quick run: few rounds of few cases." * any(content["quick"] for content in (cache, each, named))
    before = cache["machine"]["load at the start"]  # of the first benchmark: later ones find the load of those before
    remarks += f" The machine was busy (load {before}): these figures mean little." * (before > about["cpus"] / 2)
    return (
        f"`make bench`, {about['date'][:10]}, commit {about['commit']}: {about['cpus']} CPUs of {about['cpu']}, Python "
        f"{about['python']}, torch {about['torch']}. Every contender runs in a process of its own, with its own "
        f"threads and its best flags.{remarks}\n\nElementwise programs from 256² to 4096²: how many times as long "
        "`torch.compile` takes, the geometric mean over the sizes and the least; *tuned* is `torch.compile` with an "
        "allocator that keeps its pages.\n\n"
        f"{tables.summary(each['steps'], elementwise.CASES)}\n"
        "Named programs, likewise:\n\n"
        f"{tables.summary(named['steps'], workloads.CASES)}\n"
        "What a program costs before and around its kernels:\n\n"
        f"{program_cache.rows_of(cache['steps'])}\n"
        f"{_memory()}"
        "Products, reductions, movements, attention and convolutions: how many times as long the best peer takes, "
        "which is torch, torch.compile, or oneDNN with weights that it reordered beforehand; the fastest calls of "
        "contenders that take turns, with all threads.\n\n"
        f"{_libraries()}\n"
        "Whole models in their full size, least milliseconds of a call:\n\n"
        f"{_models()}\n"
        "Nanoseconds of an operation in a chain of 1,000, called eagerly and replayed from a trace, on one thread:\n\n"
        f"{_traces()}\n"
        f"Ratios by size, rooflines, latencies, errors: [{RESULTS.name}]({RESULTS.relative_to(ROOT)}/README.md).\n"
    )


def _libraries() -> str:
    """What libraries have kernels for: rows of groups of cases."""
    rows, whens = [["best peer / ours", *TYPES]], []
    modules = (matmul, reductions, movement, attention, convolution)
    for module in (each for each in modules if (RESULTS / f"{each.BENCHMARK.name}.json").exists()):
        rows += module.summary(_content(module.BENCHMARK.name)["steps"])
        whens.append(_when(module.BENCHMARK))
    return f"{''.join(dict.fromkeys(whens))}{table(rows)}"


def _models() -> str:
    """A row per model."""
    return f"{_when(models.BENCHMARK)}{models.times(_content(models.BENCHMARK.name)['steps'])}"


def _traces() -> str:
    """A row per chain."""
    return f"{_when(traces.BENCHMARK)}{traces.times(_content(traces.BENCHMARK.name)['steps'])}"


def _when(benchmark: Benchmark) -> str:
    """Of which commit results are: benchmarks may be run one by one."""
    content = _content(benchmark.name)
    remark = " a quick run: few rounds of few cases." if content["quick"] else ""
    about = content["machine"]
    return f"{about['date'][:10]}, commit {about['commit']}, `{about['command']}`.{remark}\n\n"


def _memory() -> str:
    """The range of what DRAM-sized kernels reach of a copy."""
    steps = _content(memory.BENCHMARK.name)["steps"]
    shares = [memory.median_share(steps[f"share, {c.name}"]) for c in memory.SHARES if f"share, {c.name}" in steps]
    return (
        f"Programs whose operands lie in memory (4096²) run at {min(shares):.0%} to {max(shares):.0%} of the speed of "
        "a non-temporal copy of the same bytes.\n\n"
        if shares
        else ""
    )


def _content(name: str) -> Mapping[str, Any]:
    content: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return content


def main() -> None:
    """Rewrite README.md."""
    command_line("readme").parse_args()
    text = README.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    README.write_text(f"{before}{BEGIN}\n\n{section()}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
