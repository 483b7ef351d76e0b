"""What a program costs: compiled, found on disk by a new process, found in memory; beside eager torch and inductor.

    python benchmarks/program_cache.py [--rounds N] [--json FILE]

Every contender runs in a process of its own, unpinned, with its own threads and default flags (inductor with
``fullgraph=True, dynamic=False``, under ``torch.inference_mode``, which its warm call is fastest in); processes of
different contenders alternate, so that a drift of the machine's speed meets them all. Medians of the rounds.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

from programs import cosh, torch_operations, tree30, ttnn_operations

RESULTS = Path(__file__).parent / "results"
CONTENDERS = ("ttnn_jit", "eager torch", "torch.compile")
MIXED_CALLS = 400
MIXED_SHAPES = [(32, 32), (64, 96), (33, 65), (128, 128), (7, 5), (256, 64), (1, 1000), (96, 96)]


def compiler_of(contender: str) -> tuple[Callable[[Any], Any], Any]:
    """How a contender turns a function into a callable, and the operations that it writes it with."""
    if contender == "ttnn_jit":
        import ttnn_jit

        return ttnn_jit.jit(), ttnn_operations()
    if contender == "eager torch":
        return lambda function: function, torch_operations()
    import torch
    import torch._dynamo

    torch._dynamo.config.recompile_limit = 2 * len(MIXED_SHAPES)  # every shape and dtype its own program, as ours has
    return lambda function: torch.compile(function, fullgraph=True, dynamic=False), torch_operations()


def seconds(function: Callable[[], Any]) -> float:
    """Wall-clock seconds of one call."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def warm_seconds(function: Callable[[], Any], calls: int = 2000) -> float:
    """Median seconds of a warm call, over batches so that the clock costs nothing."""
    for _ in range(100):
        function()
    batches = []
    for _ in range(20):
        start = time.perf_counter()
        for _ in range(calls // 20):
            function()
        batches.append((time.perf_counter() - start) / (calls // 20))
    return statistics.median(batches)


def measure(contender: str) -> dict[str, float]:
    """All figures of one contender in this process; seconds, or shares for names that end in _rate."""
    import torch

    torch.manual_seed(0)
    decorate, ops = compiler_of(contender)
    with torch.inference_mode():
        x, y = torch.randn(32, 32), torch.randn(32, 32)
        first = decorate(lambda v: cosh(v, ops))
        second = decorate(lambda v, w: tree30(v, w, ops))
        figures = {
            "first call in process, cosh": seconds(lambda: first(x)),
            "first call in warm process, 30 ops": seconds(lambda: second(x, y)),
            "warm call, cosh f32 32x32": warm_seconds(lambda: first(x)),
            "warm call, 30 ops f32 32x32": warm_seconds(lambda: second(x, y)),
        }
        figures |= mixed_sequence(decorate, ops)
        if contender == "ttnn_jit":
            figures |= ttnn_tensor_calls(decorate, ops)
    return figures


def mixed_sequence(decorate: Callable[[Any], Any], ops: Any) -> dict[str, float]:
    """A run of calls over shapes and dtypes, a few of them common, most of them rare."""
    import torch

    chooser = random.Random(7)
    kinds = [(shape, dtype) for shape in MIXED_SHAPES for dtype in (torch.float32, torch.bfloat16)]
    weights = [1 / (rank + 1) for rank in range(len(kinds))]
    sequence = chooser.choices(kinds, weights, k=MIXED_CALLS)
    inputs = {kind: torch.randn(kind[0]).to(kind[1]) for kind in kinds}
    function = decorate(lambda v: cosh(v, ops))
    total = seconds(lambda: [function(inputs[kind]) for kind in sequence])
    return {
        f"mixed sequence of {MIXED_CALLS} calls": total,
        "mixed sequence hit_rate": 1 - len(set(sequence)) / MIXED_CALLS,
    }


def ttnn_tensor_calls(decorate: Callable[[Any], Any], ops: Any) -> dict[str, float]:
    """Warm calls on ttnn tensors of a wormhole_b0 device."""
    import torch

    from ttnn_jit import ttnn

    device = ttnn.open_device(device_id=0)
    figures = {}
    for dtype in (torch.float32, torch.bfloat16):
        x = ttnn.from_torch(torch.randn(32, 32).to(dtype), layout=ttnn.TILE_LAYOUT, device=device)
        function = decorate(lambda v: cosh(v, ops))
        function(x)
        name = "f32" if dtype is torch.float32 else "bf16"
        figures[f"warm call, cosh {name} 32x32, ttnn tensors"] = warm_seconds(lambda f=function, v=x: f(v))
    return figures


def run_worker(contender: str, cache_dir: str) -> dict[str, float]:
    """`measure` in a new process whose disk caches are `cache_dir`."""
    environment = os.environ | {
        "TTNN_JIT_CACHE_DIR": f"{cache_dir}/ttnn",
        "TORCHINDUCTOR_CACHE_DIR": f"{cache_dir}/inductor",
    }
    command = [sys.executable, __file__, "--worker", contender]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        raise SystemExit(f"{contender} failed:\n{done.stderr}")
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures


def one_round(contender: str, advance: Callable[[], None]) -> dict[str, float]:
    """A process with an empty disk cache, then one that finds what the first left."""
    with tempfile.TemporaryDirectory() as cache_dir:
        cold = run_worker(contender, cache_dir)
        advance()
        again = run_worker(contender, cache_dir)
        advance()
    renamed = {
        "first call in process, cosh": "disk hit: first call in a new process, cosh",
        "first call in warm process, 30 ops": "disk hit: next call in a new process, 30 ops",
    }
    return cold | {new: again[old] for old, new in renamed.items()}


def medians(rounds: list[dict[str, float]]) -> dict[str, float]:
    """Per figure, the median over the rounds."""
    return {name: statistics.median(figures[name] for figures in rounds) for name in rounds[0]}


def shown(name: str, value: float | None) -> str:
    """A figure with a unit that fits it."""
    if value is None:
        return "-"
    if name.endswith("rate"):
        return f"{value:.1%}"
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if value >= scale:
            return f"{value / scale:.3g} {unit}"
    return f"{value / 1e-9:.3g} ns"


def report(results: dict[str, dict[str, float]]) -> list[list[str]]:
    """The table's rows: a figure, the time of every contender, and each peer's time over ours."""
    peers = CONTENDERS[1:]
    rows = [["figure", *CONTENDERS, *(f"{peer} / ours" for peer in peers)]]
    for name, ours in results["ttnn_jit"].items():
        values = [results[peer].get(name) for peer in peers]
        ratios = ["" if v is None or name.endswith("rate") else f"{v / ours:.3g}" for v in values]
        rows.append([name, *(shown(name, v) for v in (ours, *values)), *ratios])
    return rows


def main() -> None:
    """Run the benchmark, or one worker of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path, default=RESULTS / "program_cache.json")
    parser.add_argument("--worker", choices=CONTENDERS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        print(json.dumps(measure(options.worker)))
        return
    from rich.console import Console
    from rich.progress import Progress
    from rich.table import Table

    rounds: dict[str, list[dict[str, float]]] = {contender: [] for contender in CONTENDERS}
    with Progress() as progress:
        task = progress.add_task("program cache", total=2 * options.rounds * len(CONTENDERS))
        for _ in range(options.rounds):
            for contender in CONTENDERS:
                progress.update(task, description=contender)
                rounds[contender].append(one_round(contender, lambda: progress.advance(task)))
    results = {contender: medians(rounds[contender]) for contender in CONTENDERS}
    heads, *rows = report(results)
    table = Table(*heads, title="Program cache")
    for row in rows:
        table.add_row(*row)
    Console(width=140).print(table)
    options.json.parent.mkdir(parents=True, exist_ok=True)
    markdown = [heads, ["---"] * len(heads), *rows]
    lines = "\n".join(f"| {' | '.join(row)} |" for row in markdown)
    options.json.with_suffix(".md").write_text(f"{lines}\n", encoding="utf-8")
    machine = {
        "date": str(date.today()),
        "python": platform.python_version(),
        "machine": platform.processor() or platform.machine(),
        "cpus": os.cpu_count(),
    }
    options.json.write_text(json.dumps({"machine": machine, "medians_s": results, "rounds": rounds}, indent=2) + "\n")
    print(f"written: {options.json}")


if __name__ == "__main__":
    main()
