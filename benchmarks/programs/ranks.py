"""Collectives of two ranks of one machine, beside gloo's own on tensors of torch.

Two ranks with a device each: `all_gather` along the first dimension and `all_reduce` of float32 tensors, through ttnn,
and `all_gather_into_tensor` and `all_reduce` of torch.distributed on as many bytes. The contenders take turns; the
least of many rounds. gloo's sum depends on the number of ranks; ours has the bits of one process. A function of a sum
runs as eager calls, and as a jitted function: two native calls and an exchange.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.harness.harness import Benchmark, Plots, Step, main, table
from benchmarks.harness.process import ROOT, ProcessFailedError

SIZES = [4 << 10, 32 << 10, 256 << 10, 1 << 20, 16 << 20]
WIDTH = 256  # elements of a row


@contextmanager
def steps(quick: bool) -> Iterator[Sequence[Step]]:
    """A step per size."""
    rounds = 5 if quick else 40
    yield [Step(f"{size >> 10} KB", 8, partial(launched, size, rounds)) for size in (SIZES[:3] if quick else SIZES)]


def launched(size: int, rounds: int) -> dict[str, float]:
    """Microseconds of each contender, measured by rank 0 of two."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "times.json"
        command = "import sys; from ttnn_jit.tools.cli import main; sys.exit(main(sys.argv[1:]))"
        ranks = ["launch", "-n", "2", "-m", "benchmarks.programs.ranks", str(size), str(rounds), str(file)]
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", command, *ranks],
            cwd=ROOT, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            raise ProcessFailedError(done.stderr)
        found: dict[str, float] = json.loads(file.read_text())
        return found


def measure(size: int, rounds: int) -> dict[str, float]:
    """Microseconds of each contender in this rank."""
    import torch
    import torch.distributed as dist

    import ttnn_jit
    from ttnn_jit import ttnn

    def activated(x: Any) -> Any:
        return ttnn.relu(ttnn.all_reduce(ttnn.exp(x))) + 1.0

    torch.set_num_threads(1)
    mesh = ttnn.open_mesh_device(ttnn.MeshShape(1, 2), target="cpu")
    group = dist.new_group(backend="gloo")
    own = torch.randn(size // 4 // WIDTH, WIDTH)
    gathered, summed = torch.empty(2 * own.shape[0], WIDTH), torch.zeros_like(own)
    x = ttnn.from_torch(torch.cat([own, own]), device=mesh, mesh_mapper=ttnn.ShardTensorToMesh(mesh, dim=0))
    contenders: dict[str, Callable[[], Any]] = {
        "all_gather": lambda: ttnn.all_gather(x, 0),
        "all_gather of gloo": lambda: dist.all_gather_into_tensor(gathered, own, group=group),
        "all_reduce": lambda: ttnn.all_reduce(x),
        "all_reduce of gloo": lambda: dist.all_reduce(summed, group=group),
        "eager calls": lambda: activated(x),
        "a program": partial(ttnn_jit.jit()(activated), x),
    }
    least = dict.fromkeys(contenders, float("inf"))
    for _ in range(rounds):
        for name, call in contenders.items():
            for _ in range(3 if size >= 1 << 20 else 20):
                begin = time.perf_counter()
                call()
                least[name] = min(least[name], (time.perf_counter() - begin) * 1e6)
    return least


def report(results: Mapping[str, Any], _: Plots) -> str:
    """A row per size."""
    head = ["bytes per rank", "all_gather, us", "gloo / ours", "all_reduce, us", "gloo / ours"]
    rows = [[*head, "a function of a sum, us", "eager / program"]]
    for name, found in results.items():
        row = [name]
        for operation in ("all_gather", "all_reduce"):
            row += [f"{found[operation]:.0f}", f"{found[f'{operation} of gloo'] / found[operation]:.2f}"]
        eager, program = found["eager calls"], found["a program"]
        rows.append([*row, f"{program:.0f}", f"{eager / program:.2f}"])
    return table(rows)


BENCHMARK = Benchmark("ranks", (__doc__ or "").splitlines()[0], steps, report)

if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[1].isdecimal():
        SIZE, ROUNDS, FILE = sys.argv[1:]
        TIMES = measure(int(SIZE), int(ROUNDS))
        from ttnn_jit import ttnn

        if ttnn.distributed_context_get_rank() == 0:
            Path(FILE).write_text(json.dumps(TIMES))
    else:
        main(BENCHMARK)
