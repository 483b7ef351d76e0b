"""Programs against their peers: every contender in processes of its own, in turn; medians; tables and plots.

A contender measures all cases in one process, unpinned, warm, with its own threads. *tuned* is torch.compile with an
allocator that keeps its pages: glibc's gives results of 32 MB and more back to the system at every call, which costs
page faults that ours, pooled, does not have. Both are shown; neither is weakened.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from programs import COPY, ELEMENTWISE, NAMED, Workload, torch_operations, ttnn_operations

RESULTS = Path(__file__).parent / "results"
WORKLOADS: dict[str, Workload] = ELEMENTWISE | NAMED | {"copy": COPY}
OURS, CHIP, PEER, TUNED = "ttnn_jit cpu", "ttnn_jit wormhole_b0", "torch.compile", "torch.compile tuned"
CONTENDERS = (OURS, CHIP, PEER, TUNED)
TUNED_ALLOCATOR = "glibc.malloc.mmap_max=0:glibc.malloc.trim_threshold=8589934592:glibc.malloc.top_pad=1073741824"
CASE_SECONDS = 0.15  # per case and round


@dataclass(frozen=True)
class Case:
    """One program on inputs of one shape and dtype (f32 or bf16)."""

    workload: str
    shape: tuple[int, ...]
    dtype: str

    @property
    def name(self) -> str:
        """The case as a table shows it."""
        return f"{self.workload} {self.dtype} {'x'.join(map(str, self.shape))}"

    @property
    def nbytes(self) -> int:
        """That a perfectly fused program moves: every input and the result once."""
        elements = 1
        for extent in self.shape:
            elements *= extent
        return (WORKLOADS[self.workload].inputs + 1) * elements * (4 if self.dtype == "f32" else 2)


def inputs_of(case: Case) -> list[Any]:
    """The case's torch tensors, the same in every process; between 1 and 3, where every program is tame."""
    import torch

    generator = torch.Generator().manual_seed(0)
    dtype = torch.float32 if case.dtype == "f32" else torch.bfloat16
    count = WORKLOADS[case.workload].inputs
    return [(1 + 2 * torch.rand(case.shape, generator=generator)).to(dtype) for _ in range(count)]


def prepared(contender: str, case: Case) -> Callable[[], Any]:
    """The call to be timed."""
    workload, tensors = WORKLOADS[case.workload], inputs_of(case)
    if contender in {PEER, TUNED}:
        import torch

        compiled = torch.compile(workload.over(torch_operations()), fullgraph=True, dynamic=False)
        return lambda: compiled(*tensors)
    import ttnn_jit
    from ttnn_jit import ttnn

    function = ttnn_jit.jit(workload.over(ttnn_operations()))
    if contender == CHIP:
        device = ttnn.open_device(device_id=0)
        tensors = [ttnn.from_torch(tensor, layout=ttnn.TILE_LAYOUT, device=device) for tensor in tensors]
    return lambda: function(*tensors)


def seconds_of(call: Callable[[], Any]) -> float:
    """Median seconds of a warm call; short calls are timed in batches."""
    for _ in range(3):
        call()
    start = time.perf_counter()
    call()
    once = time.perf_counter() - start
    batch = max(1, int(20e-6 / max(once, 1e-9)))
    times = []
    end = time.perf_counter() + CASE_SECONDS
    while time.perf_counter() < end or len(times) < 7:
        start = time.perf_counter()
        for _ in range(batch):
            call()
        times.append((time.perf_counter() - start) / batch)
    return statistics.median(times)


def distance(contender: str, case: Case, call: Callable[[], Any]) -> float:
    """Largest error against the program in float64, relative to the largest result."""
    import torch

    result = call()
    result = result.to_torch() if contender == CHIP else result
    golden = WORKLOADS[case.workload].over(torch_operations())(*(tensor.double() for tensor in inputs_of(case)))
    return float((result.double() - golden).abs().max() / golden.abs().max()) if torch.is_tensor(golden) else 0.0


def worker(contender: str, cases: Iterable[Case]) -> dict[str, dict[str, float]]:
    """Seconds and error of every case that the contender runs."""
    import torch

    found = {}
    with torch.inference_mode():
        for case in cases:
            try:
                call = prepared(contender, case)
                found[case.name] = {"seconds": seconds_of(call), "error": distance(contender, case, call)}
            except ValueError as error:  # a chip target refuses shapes that are not whole tiles
                found[case.name] = {"refused": 1.0}
                print(f"{contender}: {case.name}: {error}", file=sys.stderr)
            torch._dynamo.reset()
    return found


def measured(
    script: str, cases: list[Case], rounds: int, advance: Callable[[str], None]
) -> dict[str, dict[str, dict[str, float]]]:
    """Contender -> case -> figures, medians over rounds in which the contenders take turns."""
    collected: dict[str, list[dict[str, dict[str, float]]]] = {contender: [] for contender in CONTENDERS}
    with tempfile.TemporaryDirectory() as cache:
        for _ in range(rounds):
            for contender in CONTENDERS:
                advance(contender)
                collected[contender].append(_in_a_process(script, contender, cases, cache))
    return {contender: _medians(rounds_) for contender, rounds_ in collected.items()}


def _in_a_process(script: str, contender: str, cases: list[Case], cache: str) -> dict[str, dict[str, float]]:
    environment = os.environ | {
        "TTNN_JIT_CACHE_DIR": f"{cache}/ttnn_jit",
        "TORCHINDUCTOR_CACHE_DIR": f"{cache}/inductor",
    }
    if contender == TUNED:
        environment["GLIBC_TUNABLES"] = TUNED_ALLOCATOR
    asked = json.dumps([asdict(case) for case in cases])
    command = [sys.executable, script, "--worker", contender]
    done = subprocess.run(command, input=asked, capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        raise SystemExit(f"{contender} failed:\n{done.stderr}")
    figures: dict[str, dict[str, float]] = json.loads(done.stdout.splitlines()[-1])
    return figures


def answer_as_worker(contender: str) -> None:
    """Read cases from stdin, print their figures: the other end of `measured`."""
    cases = [Case(one["workload"], tuple(one["shape"]), one["dtype"]) for one in json.load(sys.stdin)]
    print(json.dumps(worker(contender, cases)))


def _medians(rounds: list[dict[str, dict[str, float]]]) -> dict[str, dict[str, float]]:
    return {
        case: {figure: statistics.median(one[case][figure] for one in rounds) for figure in rounds[0][case]}
        for case in rounds[0]
    }


def machine() -> dict[str, Any]:
    """What the figures depend on."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        lines = [line for line in info.read_text(encoding="utf-8").splitlines() if line.startswith("model name")]
        model = lines[0].partition(":")[2].strip() if lines else model
    return {
        "date": datetime.now(UTC).isoformat(timespec="minutes"),
        "python": platform.python_version(),
        "cpu": model,
        "cpus": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "load": os.getloadavg()[0],
        "command": " ".join([Path(sys.executable).name, *sys.argv]),
    }


Figures = Mapping[str, Mapping[str, Mapping[str, float]]]


def ratio(figures: Figures, case: Case, ours: str, peer: str) -> float | None:
    """How many times as long the peer takes."""
    a, b = figures[ours].get(case.name, {}).get("seconds"), figures[peer].get(case.name, {}).get("seconds")
    return b / a if a and b else None


def table(figures: Figures, cases: list[Case]) -> str:
    """A row per case: microseconds of every contender, GB/s of ours, peers' time over ours."""
    head = ["case", *(f"{contender}, us" for contender in CONTENDERS)]
    head += ["cpu GB/s", "peer / cpu", "tuned / cpu", "peer / wormhole", "error cpu", "error peer"]
    rows = [head, ["---", *["---:"] * (len(head) - 1)]]
    for case in cases:
        times = [figures[contender].get(case.name, {}).get("seconds") for contender in CONTENDERS]
        speed = f"{case.nbytes / times[0] / 1e9:.1f}" if times[0] else "-"
        ratios = [ratio(figures, case, OURS, PEER), ratio(figures, case, OURS, TUNED), ratio(figures, case, CHIP, PEER)]
        errors = [figures[contender].get(case.name, {}).get("error") for contender in (OURS, PEER)]
        rows.append(
            [
                case.name,
                *(f"{time_ * 1e6:,.1f}" if time_ else "refused" for time_ in times),
                speed,
                *(f"{value:.2f}" if value else "-" for value in ratios),
                *(f"{error:.1e}" if error is not None else "-" for error in errors),
            ]
        )
    return "\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n"


def write(name: str, figures: Figures, cases: list[Case], plot: Callable[[Path], None]) -> None:
    """``results/<name>.json``, ``.md`` and ``.png``."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    about = machine()
    (RESULTS / f"{name}.json").write_text(json.dumps({"machine": about, "figures": figures}, indent=1) + "\n")
    lines = "\n".join(f"- {key}: {value}" for key, value in about.items())
    (RESULTS / f"{name}.md").write_text(f"# {name}\n\n{lines}\n\n{table(figures, cases)}")
    plot(RESULTS / f"{name}.png")


def plot_ratios(figures: Figures, cases: list[Case], path: Path) -> None:
    """Peers' time over ours, a bar per case."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(10, 1 + 0.28 * len(cases)))
    for offset, (peer, label) in enumerate(((PEER, "torch.compile"), (TUNED, "torch.compile, tuned allocator"))):
        values = [ratio(figures, case, OURS, peer) or 0 for case in cases]
        axes.barh([index + 0.4 * offset for index in range(len(cases))], values, height=0.38, label=label)
    axes.set_yticks([index + 0.2 for index in range(len(cases))], [case.name for case in cases], fontsize=7)
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_xlabel("times as long as ttnn_jit on target cpu")
    axes.invert_yaxis()
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=120)


def run(name: str, script: str, description: str, cases: list[Case]) -> None:
    """The command line of a comparison."""
    import argparse

    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--worker", choices=CONTENDERS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        answer_as_worker(options.worker)
        return
    from rich.progress import Progress

    chosen = [case for case in cases if options.only in case.name]
    with Progress() as progress:
        task = progress.add_task(name, total=options.rounds * len(CONTENDERS))
        done = iter(range(options.rounds * len(CONTENDERS)))

        def advance(contender: str) -> None:
            progress.update(task, completed=next(done), description=f"{name}: {contender}")

        figures = measured(script, chosen, options.rounds, advance)
    write(name, figures, chosen, lambda path: plot_ratios(figures, chosen, path))
    print(table(figures, chosen))
