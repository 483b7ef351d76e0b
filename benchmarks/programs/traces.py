"""Traces: what an operation costs in one, beside the same operations called one by one.

A chain of 1,000 operations on ttnn tensors of one size, each on the result of the one before: called eagerly, and
replayed from a trace. Of one element the kernel takes a nanosecond or two: that row is the price of an operation above
its kernel. The least of many rounds, on one thread.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from benchmarks.harness.harness import Benchmark, Plots, Step, main, table
from benchmarks.harness.threads import on_threads

LENGTH = 1_000


@dataclass(frozen=True)
class Chain:
    """The same operation again and again.

    Attributes:
        operation: The operation's name.
        extent: Both extents of the tensors.
        target: The device's target.
    """

    operation: str
    extent: int
    target: str

    @property
    def name(self) -> str:
        """The chain in tables."""
        return f"{self.operation}, {self.extent}x{self.extent} on {self.target}"


CHAINS = [
    *(Chain("add", 1, target) for target in ("cpu", "wormhole_b0")),
    *(Chain(operation, extent, "cpu") for operation in ("add", "exp", "matmul") for extent in (32, 128)),
]


@contextmanager
def steps(quick: bool) -> Iterator[Sequence[Step]]:
    """A step per chain."""
    rounds = 20 if quick else 200
    with on_threads(1):
        yield [Step(chain.name, 2, partial(measured, chain, rounds)) for chain in (CHAINS[:3] if quick else CHAINS)]


def measured(chain: Chain, rounds: int) -> dict[str, float]:
    """Nanoseconds per operation, called and replayed."""
    import torch

    from ttnn_jit import ttnn

    device = ttnn.open_device(device_id=0, target=chain.target)
    layout = ttnn.ROW_MAJOR_LAYOUT if chain.target == "cpu" else ttnn.TILE_LAYOUT
    shape = (chain.extent, chain.extent)
    x = ttnn.from_torch(torch.full(shape, 1e-3), dtype=ttnn.float32, layout=layout, device=device)
    function = getattr(ttnn, chain.operation)
    others = () if chain.operation == "exp" else (x,)

    def calls() -> Any:
        value = x
        for _ in range(LENGTH):
            value = function(value, *others)
        return value

    calls()
    trace = ttnn.begin_trace_capture(device, cq_id=0)
    _kept = calls()
    ttnn.end_trace_capture(device, trace, cq_id=0)
    replay = partial(ttnn.execute_trace, device, trace, cq_id=0, blocking=True)
    found = {"called": _least(calls, rounds), "replayed": _least(replay, rounds)}
    ttnn.close_device(device)
    return found


def _least(run: Callable[[], Any], rounds: int) -> float:
    """Nanoseconds per operation of the fastest round."""
    times = []
    for _ in range(rounds):
        begin = time.perf_counter_ns()
        run()
        times.append(time.perf_counter_ns() - begin)
    return min(times) / LENGTH


def report(results: Mapping[str, Any], _: Plots) -> str:
    """The page of the results."""
    return times(results)


def times(results: Mapping[str, Any]) -> str:
    """A row per chain."""
    rows = [["operation", "called, ns", "in a trace, ns", "called / in a trace"]]
    for name, found in results.items():
        ratio = found["called"] / found["replayed"]
        rows.append([name, f"{found['called']:.0f}", f"{found['replayed']:.0f}", f"{ratio:.1f}"])
    return table(rows)


BENCHMARK = Benchmark("traces", (__doc__ or "").splitlines()[0], steps, report)

if __name__ == "__main__":
    main(BENCHMARK)
