"""Rounds in which a random rank of a run is killed at a random moment: how each of the others ends.

Each round starts two to four ranks of a script of jitted and eager collectives, whose sizes change, so that it imports,
meets, compiles, writes to the disk cache and exchanges. SIGKILL comes within a second after the victim was started, has
reached the script, has met the others, or has run a compiled program. A survivor has to
end with a `DistributedError` at a line of the script within the timeout; nothing may be left in the temporary folder,
and `ttnn-jit cache verify` has to find every program of the disk cache sound.
"""

from __future__ import annotations

import os
import random
import re
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.harness.harness import Benchmark, Plots, Step, main, table
from benchmarks.harness.process import ROOT

TIMEOUT = 20  # seconds that ranks wait for each other
PATIENCE = 90  # seconds for all ranks of a round to end after the kill
SECONDS = 1.0  # within which the kill comes after a point of the script
ROUNDS_OF_A_CACHE = 10
ROUNDS = 100

_PACKAGE = [
    sys.executable,
    "-W",
    "ignore",
    "-c",
    "import sys; from ttnn_jit.tools.cli import main; sys.exit(main(sys.argv[1:]))",
]
_STARTED, _MET, _WARM, _ENDED = "started", "met", "warm", "ended"


@contextmanager
def steps(quick: bool) -> Iterator[Sequence[Step]]:
    """A step with the launcher, and one without."""
    rounds = 3 if quick else ROUNDS
    yield [
        Step("ttnn-jit launch", 15.0 * rounds, partial(counted, True, rounds)),
        Step("no launcher", 15.0 * rounds, partial(counted, False, rounds)),
    ]


def counted(has_launcher: bool, rounds: int, seed: int = 0) -> dict[str, Any]:
    """How the survivors of some rounds ended, and what was left."""
    choices = random.Random(seed + has_launcher)
    found = Counter[str]()
    faults: list[str] = []
    with TemporaryDirectory() as folder:
        for number in range(rounds):
            cache = Path(folder) / f"cache {number // ROUNDS_OF_A_CACHE}"
            counts, own_faults = _round(Path(folder), cache, has_launcher, choices)
            found += counts
            faults += [f"round {number}: {each}" for each in own_faults]
            sys.stderr.write(f"{number + 1} of {rounds}: {dict(found)} {own_faults}\n")
    return {"counts": dict(found), "faults": faults}


def _round(folder: Path, cache: Path, has_launcher: bool, choices: random.Random) -> tuple[Counter[str], list[str]]:
    count, delay = choices.randint(2, 4), choices.uniform(0.0, SECONDS)
    victim, point = choices.randrange(count), choices.choice([None, _STARTED, _MET, _WARM])
    with TemporaryDirectory(dir=folder) as own, TemporaryDirectory(dir=folder) as temporary:
        places = Path(own)
        run = _Run(places, Path(temporary), cache, count, has_launcher)
        try:
            lost_in = run.kill(victim, point, delay)
            is_over = run.wait(PATIENCE)
        finally:
            run.kill_all()
        counts = Counter({"rounds": 1, f"lost when {lost_in}": 1, "hung": 0 if is_over else 1})
        faults = [] if is_over else [f"hung: {delay:.1f} s, victim {victim} of {count}, {lost_in}"]
        for rank in range(count):
            how = run.end_of(rank) if rank != victim else None
            if how is not None:
                counts["survivors"] += 1
                counts["named"] += how == ""
                faults += [f"rank {rank} of {count}, victim {victim} {lost_in}: {how}"] if how else []
        left = [str(each.relative_to(temporary)) for each in Path(temporary).rglob("*") if each.is_file()]
        faults += [f"left: {each}" for each in left]
        counts["files left"] += len(left)
        opened = _opens(cache)
        counts["caches that open"] += opened
        return counts, faults if opened else [*faults, "the cache does not open"]


class _Run:
    """The ranks of one round."""

    def __init__(self, places: Path, temporary: Path, cache: Path, count: int, has_launcher: bool) -> None:
        self._places, self._count = places, count
        self._is_launched = has_launcher
        environment = {
            **os.environ,
            "TMPDIR": str(temporary),
            "TTNN_JIT_CACHE_DIR": str(cache),
            "TTNN_JIT_RANKS_TIMEOUT": str(TIMEOUT),
            "OMP_NUM_THREADS": "1",
            "PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH")))),
        }
        script = ["-m", "benchmarks.programs.lost_ranks", "as-rank", str(places)]
        start = partial(subprocess.Popen, cwd=ROOT, start_new_session=True, stdin=subprocess.DEVNULL)
        if has_launcher:
            with (places / "launcher").open("wb") as file:
                command = [*_PACKAGE, "launch", "-n", str(count), *script]
                self._processes = [start(command, env=environment, stdout=file, stderr=file)]
            return
        environment |= {"MASTER_ADDR": "localhost", "MASTER_PORT": str(_free_port()), "WORLD_SIZE": str(count)}
        self._processes = []
        for rank in range(count):
            with (places / f"{rank}.error").open("wb") as file:
                command = [sys.executable, "-W", "ignore", *script]
                own = {**environment, "RANK": str(rank), "LOCAL_RANK": str(rank)}
                self._processes.append(start(command, env=own, stdout=file, stderr=file))

    def kill(self, victim: int, point: str | None, delay: float) -> str:
        """Kill a rank some seconds after a point of the script, or after the start; returns how far it was."""
        process = None if self._is_launched else self._processes[victim].pid
        end = time.monotonic() + PATIENCE
        while (process is None or not (point is None or self._has(victim, point))) and time.monotonic() < end:
            process = process or self._process_of(victim)
            time.sleep(0.01)
        time.sleep(delay)
        how_far = self._how_far(victim)
        if process is not None:
            os.kill(process, signal.SIGKILL)
        return how_far

    def _process_of(self, rank: int) -> int | None:
        """The process of a rank of the launcher, once it runs the script."""
        file = self._places / f"{rank}.process"
        text = file.read_text() if file.exists() else ""
        return int(text) if text else None

    def _how_far(self, rank: int) -> str:
        return next((each for each in (_ENDED, _WARM, _MET, _STARTED) if self._has(rank, each)), "importing")

    def _has(self, rank: int, what: str) -> bool:
        return (self._places / f"{rank}.{what}").exists()

    def wait(self, seconds: float) -> bool:
        """Whether all processes end in time."""
        end = time.monotonic() + seconds
        for process in self._processes:
            try:
                process.wait(max(0.0, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                return False
        return True

    def kill_all(self) -> None:
        """End what is left."""
        for process in self._processes:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def end_of(self, rank: int) -> str | None:
        """Empty for an end with the named error, else what it was instead; None if it had not reached the script."""
        if not self._has(rank, _STARTED):
            return None
        file = self._places / f"{rank}.error"
        told = self._places / f"{rank}.told"
        text = told.read_text() if told.exists() else ""
        if re.match(rf"DistributedError: {re.escape(__file__)}:\d+:\d+: ", text):
            return ""
        file = file if file.exists() else self._places / "launcher"
        shown = file.read_text(errors="replace")[-1000:]
        return f"{self._how_far(rank)}, {text or 'it said nothing'} {shown!r}"


def _free_port() -> int:
    with socket.socket() as own:
        own.bind(("localhost", 0))
        port: int = own.getsockname()[1]
        return port


def _opens(cache: Path) -> bool:
    """Whether all programs in a folder are sound; a folder that was not made yet has none."""
    if not cache.exists():
        return True
    environment = {**os.environ, "TTNN_JIT_CACHE_DIR": str(cache)}
    verify = [*_PACKAGE, "cache", "verify"]
    done = subprocess.run(verify, cwd=ROOT, env=environment, capture_output=True, check=False, timeout=PATIENCE)
    return done.returncode == 0


# --- The script of a rank ---------------------------------------------------------------------------------------------


def as_rank(places: Path) -> None:
    """Exchange until the end, which is an error; leaves its text."""
    from ttnn_jit.diagnostics.errors import DistributedError

    rank = int(os.environ["RANK"])
    (places / f"{rank}.process").write_text(str(os.getpid()))
    (places / f"{rank}.{_STARTED}").touch()
    try:
        _exchange(places, rank)
        (places / f"{rank}.{_ENDED}").touch()
    except DistributedError as error:
        (places / f"{rank}.told").write_text(f"{type(error).__name__}: {error}")
        raise


def _exchange(places: Path, rank: int) -> None:
    import torch

    import ttnn_jit
    from ttnn_jit import ttnn

    torch.set_num_threads(1)
    mesh = ttnn.open_mesh_device(ttnn.MeshShape(1, 4), target="cpu")
    (places / f"{rank}.{_MET}").touch()

    @ttnn_jit.jit()
    def layer(x: Any, weight: Any) -> Any:
        total = ttnn.all_reduce(ttnn.matmul(x, weight))
        return ttnn.softmax(total), ttnn.all_gather(ttnn.gelu(x), 1)

    columns = ttnn.ShardTensorToMesh(mesh, dim=1)
    weight = ttnn.from_torch(torch.randn(64, 256), device=mesh, mesh_mapper=ttnn.ShardTensorToMesh(mesh, dim=0))
    end = time.monotonic() + 2 * PATIENCE
    rows = 0
    while time.monotonic() < end:
        rows += 1
        x = ttnn.from_torch(torch.randn(8 * rows, 64), device=mesh, mesh_mapper=columns)
        for _ in range(50):
            total, _ = layer(x, weight)
            ttnn.all_gather(total, 0)
        (places / f"{rank}.{_WARM}").touch()


def report(results: Mapping[str, Any], _: Plots) -> str:
    """A row for each way to start, and the faults."""
    columns = ["rounds", "survivors", "named", "hung", "files left", "caches that open"]
    moments = ["importing", _STARTED, _MET, _WARM]
    rows = [["ranks of", *columns, *(f"lost when {each}" for each in moments)]]
    for name, found in results.items():
        counts = found["counts"]
        rows.append([name, *(str(counts.get(each, 0)) for each in (*columns, *rows[0][len(columns) + 1 :]))])
    faults = [f"- {name}, {each}\n" for name, found in results.items() for each in found["faults"]]
    return f"{table(rows)}\n{''.join(faults) or 'No faults.'}\n"


BENCHMARK = Benchmark("lost_ranks", (__doc__ or "").splitlines()[0], steps, report)

if __name__ == "__main__":
    if sys.argv[1:2] == ["as-rank"]:
        as_rank(Path(sys.argv[2]))
    else:
        main(BENCHMARK)
