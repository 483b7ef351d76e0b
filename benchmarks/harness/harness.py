"""Benchmarks as steps and reports, and their driver.

The driver runs the steps with a progress bar and writes ``results/<name>.json`` after each, so that an interrupted run
loses one step; ``--resume`` continues it. The report makes markdown and plots of the results.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.harness.process import ROOT, ProcessFailedError

RESULTS = Path(__file__).parents[1] / "results"


@dataclass(frozen=True)
class Step:
    """One measurement.

    Attributes:
        name: Unique in its benchmark; the key of its result.
        seconds: Its estimated time, for the progress bar.
        measure: Returns a JSON value.
    """

    name: str
    seconds: float
    measure: Callable[[], Any]


@dataclass(frozen=True)
class Benchmark:
    """A script's measurements.

    Attributes:
        name: Name of the module, and of its files under ``results``.
        summary: A sentence for the index.
        steps: Given whether the run is quick, a context with the steps, which holds what they share.
        report: Makes markdown of the results by step, of the steps that have one, with plots at the given path.
    """

    name: str
    summary: str
    steps: Callable[[bool], AbstractContextManager[Sequence[Step]]]
    report: Callable[[Mapping[str, Any], Plots], str]


@dataclass(frozen=True)
class Plots:
    """The files of a report's plots."""

    stem: str

    def path(self, name: str = "") -> Path:
        """The file of a plot."""
        return RESULTS / f"{self.stem}{'_' * bool(name)}{name}.png"

    def shown(self, alt: str, name: str = "") -> str:
        """The markdown of a plot."""
        return f"![{alt}]({self.path(name).name})\n"


def run(benchmarks: Sequence[Benchmark], *, quick: bool, resume: bool, matching: str = "") -> None:
    """Measures and reports, with one progress bar."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    RESULTS.mkdir(parents=True, exist_ok=True)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # contenders start from bytecode, as users do
    if os.getloadavg()[0] > 0.5 * (os.cpu_count() or 1):
        print("This machine is busy with something else: the figures will not mean much.", file=sys.stderr)
    columns = (TextColumn("{task.description:50.50}"), BarColumn(20), TimeElapsedColumn(), TextColumn("left"))
    with Progress(*columns, TimeRemainingColumn()) as progress:
        total = sum(step.seconds for benchmark in benchmarks for step in _steps_of(benchmark, quick, matching))
        bar = progress.add_task("", total=total)
        for benchmark in benchmarks:
            file = _ResultFile(benchmark.name, quick=quick, resume=resume)
            with benchmark.steps(quick) as steps:
                _measure([step for step in steps if matching in step.name], file, benchmark.name, progress, bar)
            file.complete()
            report(benchmark)
            progress.console.print(f"written: {(RESULTS / benchmark.name).relative_to(ROOT)}.md")


def _measure(steps: Sequence[Step], file: _ResultFile, name: str, progress: Any, bar: Any) -> None:
    for step in steps:
        progress.update(bar, description=f"{name}: {step.name}")
        if failure := file.measure(step):
            progress.console.print(f"{name}: {step.name}: {failure}", markup=False)
        progress.advance(bar, step.seconds)


def _steps_of(benchmark: Benchmark, quick: bool, matching: str) -> list[Step]:
    with benchmark.steps(quick) as steps:
        return [step for step in steps if matching in step.name]


class _ResultFile:
    """``results/<name>.json``: the machine and the commit, and the result of every finished step."""

    def __init__(self, name: str, *, quick: bool, resume: bool) -> None:
        self._path = RESULTS / f"{name}.json"
        self._content: dict[str, Any] = {"machine": machine(), "quick": quick, "complete": False, "steps": {}}
        if resume and self._path.exists():
            before = json.loads(self._path.read_text(encoding="utf-8"))
            if _same_run(before, self._content):
                self._content = before | {"complete": False}
        self._results: dict[str, Any] = self._content["steps"]

    def measure(self, step: Step) -> ProcessFailedError | None:
        """Runs and stores a step that has no result yet; returns the error if a contender's process failed."""
        if step.name in self._results:
            return None
        try:
            self._results[step.name] = step.measure()
        except ProcessFailedError as error:
            return error
        self._write()
        return None

    def complete(self) -> None:
        self._content["complete"] = True
        self._content["machine"]["load at the end"] = round(os.getloadavg()[0], 2)
        self._write()

    def _write(self) -> None:
        part = self._path.with_suffix(".part")
        part.write_text(json.dumps(self._content, indent=1) + "\n", encoding="utf-8")
        part.replace(self._path)


def _same_run(before: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    facts = ("cpu", "cpus", "python", "torch", "commit")
    return before["quick"] == now["quick"] and all(before["machine"].get(f) == now["machine"][f] for f in facts)


def report(benchmark: Benchmark) -> None:
    """Writes the markdown and the plots of a benchmark's JSON."""
    content = json.loads((RESULTS / f"{benchmark.name}.json").read_text(encoding="utf-8"))
    lines = "\n".join(f"- {key}: {value}" for key, value in content["machine"].items())
    kind = "a quick run: few rounds of few cases" * content["quick"] or "a full run"
    kind += "" if content["complete"] else ", broken off"
    text = benchmark.report(content["steps"], Plots(benchmark.name))
    head = f"# {benchmark.name}\n\n{benchmark.summary}\n\n"
    page = f"{head}{text}\n## Machine\n\n- {kind}\n{lines}\n"
    (RESULTS / f"{benchmark.name}.md").write_text(page, encoding="utf-8")


def machine() -> dict[str, Any]:
    """The machine, the versions and the commit on which figures depend."""
    import torch

    return {
        "date": datetime.now(UTC).isoformat(timespec="minutes"),
        "command": " ".join([Path(sys.executable).name, "-m", _started(), *sys.argv[1:]]),
        "commit": commit_of(ROOT),
        "cpu": _cpu_model(),
        "cpus": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "caches": ", ".join(f"L{level} {size >> 10} KB" for level, size in cache_sizes().items()),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "load at the start": round(os.getloadavg()[0], 2),
    }


def _started() -> str:
    spec = getattr(sys.modules["__main__"], "__spec__", None)
    return spec.name if spec is not None else Path(sys.argv[0]).stem


def commit_of(checkout: Path) -> str:
    """The revision of a checkout, and whether it has uncommitted changes."""
    changed = _git(checkout, "status", "--porcelain", "--", ".", ":!benchmarks/results")
    return (_git(checkout, "rev-parse", "--short", "HEAD") or "unknown") + (" with changes" if changed else "")


def _git(checkout: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(["git", *arguments], cwd=checkout, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return ""
    return done.stdout.strip()


def _cpu_model() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        facts = [line.partition(":") for line in info.read_text(encoding="utf-8").splitlines()]
        found = {key.strip(): value.strip() for key, _, value in reversed(facts)}
        name = found.get("model name", platform.machine())
        return f"{name} (family {found['cpu family']}, model {found['model']})" if "cpu family" in found else name
    return platform.processor() or platform.machine()


def cache_sizes() -> dict[int, int]:
    """Level -> bytes of the first CPU's data caches, as far as the system lists them."""
    sizes = {}
    for index in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        kind = (index / "type").read_text(encoding="ascii").strip()
        if kind != "Instruction":
            size = (index / "size").read_text(encoding="ascii").strip().removesuffix("K")
            sizes[int((index / "level").read_text(encoding="ascii"))] = int(size) << 10
    return sizes


def table(rows: Sequence[Sequence[str]], *, text_columns: int = 1) -> str:
    """A Markdown table; the first row is the head, numbers are right-aligned."""
    head, *body = rows
    rule = ["---"] * text_columns + ["---:"] * (len(head) - text_columns)
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, rule, *body)) + "\n"


def spread(values: Sequence[float], form: str = "{:.2f}") -> str:
    """The median, with minimum and maximum in brackets."""
    median, low, high = (form.format(value) for value in (statistics.median(values), min(values), max(values)))
    return f"{median} [{low}-{high}]"


def command_line(name: str) -> argparse.ArgumentParser:
    """The parser of the module that ``python -m`` started, whose docstring is its help; else of `name`."""
    started = sys.modules["__main__"]
    return argparse.ArgumentParser(
        prog=f"python -m {started.__spec__.name if started.__spec__ else name}",
        description=started.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def main(benchmark: Benchmark) -> None:
    """The command line of a script."""
    parser = command_line(benchmark.name)
    parser.add_argument("--quick", action="store_true", help="fewer cases and rounds")
    parser.add_argument("--resume", action="store_true", help="keep the results of a run that was broken off")
    parser.add_argument("--only", default="", metavar="TEXT", help="steps whose name contains TEXT")
    parser.add_argument("--report", action="store_true", help="measure nothing: tables and plots of what was measured")
    options = parser.parse_args()
    if options.report:
        report(benchmark)
    else:
        run([benchmark], quick=options.quick, resume=options.resume, matching=options.only)
    print((RESULTS / f"{benchmark.name}.md").read_text(encoding="utf-8"))
