"""Writes the benchmark figures in README.md and docs/benchmarks.md, from ``benchmarks/results``.

    python -m benchmarks.readme

README.md has one sentence and a table of at most twelve rows, docs/benchmarks.md all tables, each with the date, the
machine and the command of its run. Nothing in them is typed by hand.
"""

from __future__ import annotations

import json
import statistics
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.harness import tables
from benchmarks.harness.contenders import CHIP, OURS, PEER
from benchmarks.harness.harness import RESULTS, Benchmark, command_line, table
from benchmarks.harness.process import ROOT
from benchmarks.harness.turns import TYPES
from benchmarks.kernels import attention, convolution, elementwise, matmul, movement, reductions, workloads
from benchmarks.programs import memory, models, program_cache, traces

README, PAGE = ROOT / "README.md", ROOT / "docs" / "benchmarks.md"
LIBRARIES = (matmul, reductions, movement, attention, convolution)
COMPILED, BEST, BEST_PEER = "torch.compile", "the best of torch", "the best of torch and oneDNN"
PROGRAMS = ((elementwise, "cosh", "bf16"), (elementwise, "add-mul-exp-sigmoid", "f32"), (workloads, "swiglu", "bf16"))
OPERATIONS = (("linear", "bf16"), ("softmax", "bf16"), ("attention", "bf16"))
MODELS = ("bert, batch 1", "llama", "resnet50", "vit, batch 1")
COSTS = ("first call in process, cosh", "warm call, cosh f32 32x32")


def marked(page: Path) -> dict[str, str]:
    """Name -> text of each part of a page that this module writes."""
    return {"how fast": how_fast(), "speed": short()} if page == README else {"speed": section()}


def renewed(page: Path, text: str) -> str:
    """The text of a page with its parts written from the results.

    Raises:
        ValueError: The page lacks the markers of a part.
    """
    for name, part in marked(page).items():
        begin, end = f"<!-- {name}: written by `python -m benchmarks.readme` -->", f"<!-- end of {name} -->"
        before, rest = text.split(begin)
        _, after = rest.split(end)
        text = f"{before}{begin}\n\n{part}\n{end}{after}"
    return text


def how_fast() -> str:
    """The range over whole models, on either target: one sentence."""
    on_cpu, on_chip = zip(*models.ratios(_content(models.BENCHMARK.name)["steps"]).values(), strict=True)
    sentence = (
        f"On whole models the target `cpu`, which is the fast one, runs at {_range(on_cpu)} times the speed of the "
        "best of torch on the same processor; the default target, `wormhole_b0`, follows that chip's rules and "
        f"rounding, and runs at {_range(on_chip)} times."
    )
    return f"{textwrap.fill(sentence, 120)}\n"


def _range(ratios: Sequence[float]) -> str:
    return f"{min(ratios):.1f} to {max(ratios):.1f} (median {statistics.median(ratios):.1f})"


def short() -> str:
    """The table of README.md, with the dates of its figures."""
    rows = [["program", "compared with", "`cpu`, times as fast", "`wormhole_b0`, times as fast"]]
    rows += [*_program_rows(), *_operation_rows(), *_model_rows(), *_cost_rows()]
    dates = [_content(name)["machine"]["date"][:10] for name in _names()]
    cpus = _content(elementwise.BENCHMARK.name)["machine"]["cpus"]
    return f"{table(rows)}\nMeasured {min(dates)} to {max(dates)} on {cpus} CPUs.\n"


def _names() -> Iterator[str]:
    """The names of the benchmarks in the short table."""
    modules = (*(module for module, *_ in PROGRAMS), *LIBRARIES, models, program_cache)
    return (module.BENCHMARK.name for module in modules)


def _program_rows() -> Iterator[list[str]]:
    for module, workload, dtype in PROGRAMS:
        steps = _content(module.BENCHMARK.name)["steps"]
        cases = [case for case in module.CASES if (case.workload, case.dtype) == (workload, dtype)]
        means = (statistics.geometric_mean(tables.median_ratios(steps, cases, PEER, ours)) for ours in (OURS, CHIP))
        yield [f"{workload}, {dtype}", COMPILED, *(f"{mean:.1f}" for mean in means)]


def _operation_rows() -> Iterator[list[str]]:
    found = {row[0]: row for module in LIBRARIES for row in module.summary(_content(module.BENCHMARK.name)["steps"])}
    for name, dtype in OPERATIONS:
        mean = found[name][1 + TYPES.index(dtype)].partition(" ")[0]
        yield [f"{name}, {dtype}", BEST_PEER, f"{float(mean):.1f}", "-"]


def _model_rows() -> Iterator[list[str]]:
    found = models.ratios(_content(models.BENCHMARK.name)["steps"])
    for name in MODELS:
        yield [f"the model {name}", BEST, *(f"{ratio:.1f}" for ratio in found[name])]


def _cost_rows() -> Iterator[list[str]]:
    figures = program_cache.figures_of(_content(program_cache.BENCHMARK.name)["steps"])
    for name in COSTS:
        yield [name, COMPILED, f"{figures[COMPILED][name] / figures[program_cache.OURS][name]:.1f}", "-"]


def section() -> str:
    """All tables of docs/benchmarks.md."""
    cache, each, named = (_content(benchmark.BENCHMARK.name) for benchmark in (program_cache, elementwise, workloads))
    about = each["machine"]
    remarks = " A quick run: few rounds of few cases." * any(content["quick"] for content in (cache, each, named))
    before = cache["machine"]["load at the start"]  # that of the first benchmark, before the others load it
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
        f"Ratios by size, rooflines, latencies, errors: [{RESULTS.name}](../{RESULTS.relative_to(ROOT)}/README.md).\n"
    )


def _libraries() -> str:
    """The table of operations with library kernels: rows of groups of cases."""
    rows, whens = [["best peer / ours", *TYPES]], []
    for module in (each for each in LIBRARIES if (RESULTS / f"{each.BENCHMARK.name}.json").exists()):
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
    """The date and commit of the results of a benchmark; each may be run by itself."""
    content = _content(benchmark.name)
    remark = " a quick run: few rounds of few cases." if content["quick"] else ""
    about = content["machine"]
    return f"{about['date'][:10]}, commit {about['commit']}, `{about['command']}`.{remark}\n\n"


def _memory() -> str:
    """The range of the speed of DRAM-sized kernels relative to a copy."""
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
    """Writes the parts of both pages."""
    command_line("readme").parse_args()
    for page in (README, PAGE):
        page.write_text(renewed(page, page.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
