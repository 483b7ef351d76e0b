"""Whole models in their full size: eager ttnn, one jitted function, torch eager and torch.compile, f32 and bf16.

The programs of docs/examples/models with random weights on the cpu target; those of ttnn compute in bfloat16, torch's
bf16 is its autocast, torch.compile freezes the weights. Every contender has a process of its own, and the contenders
of a model take turns. Least time of a warm call.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, partial
from types import ModuleType
from typing import Any

from benchmarks.harness import Benchmark, Plots, Step, main, table
from benchmarks.process import ROOT, Process
from benchmarks.timing import seconds

MODELS = ROOT / "docs" / "examples" / "models"
OURS = ("ttnn eager", "ttnn jit")
PEERS = ("torch f32", "torch bf16", "torch.compile f32", "torch.compile bf16")
TURNS = 3


def module_of(name: str) -> ModuleType:
    """The program of a model, which imports ttnn."""
    import ttnn_jit

    ttnn_jit.register_as_ttnn()
    spec = importlib.util.spec_from_file_location(name, MODELS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def names() -> list[str]:
    """Of the models."""
    return sorted(path.stem for path in MODELS.glob("*.py"))


@cache
def _call(name: str, contender: str, quick: bool) -> Callable[[], Any]:
    """What runs a model as a contender does."""
    import torch

    import ttnn_jit
    from ttnn_jit import ttnn

    module = module_of(name)
    device = ttnn.open_device(device_id=0, target="cpu")
    compiled = ttnn_jit.jit() if contender == "ttnn jit" else lambda function: function
    run, reference = module.build(module.SMALL if quick else module.FULL, device, compiled=compiled)
    if contender in OURS:
        return run  # type: ignore[no-any-return]
    half = contender.endswith("bf16")
    called = torch.compile(reference, options={"freezing": True}) if "compile" in contender else reference

    def in_torch() -> Any:
        with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16, enabled=half):
            return called()

    return in_torch


def turn(name: str, contender: str, quick: bool) -> float:
    """Least seconds of a warm call, in this process."""
    call = _call(name, contender, quick)
    call()
    return min(seconds(call) for _ in range(2 if quick else 5))


@contextmanager
def steps(quick: bool) -> Iterator[Sequence[Step]]:
    """One for each model."""
    yield [Step(name, 60, partial(_measure, name, quick)) for name in names()]


def _measure(name: str, quick: bool) -> dict[str, float]:
    processes = {contender: Process({}) for contender in (*OURS, *PEERS)}
    least = dict.fromkeys(processes, float("inf"))
    try:
        for _ in range(1 if quick else TURNS):
            for contender, process in processes.items():
                least[contender] = min(least[contender], process.call(turn, name, contender, quick))
    finally:
        for process in processes.values():
            process.__exit__()
    return least


def report(results: Mapping[str, Any], _: Plots) -> str:
    """The table."""
    return table([["model, ms", *OURS, *PEERS, "best of torch / ours"], *map(_row, results.items())])


def _row(result: tuple[str, Mapping[str, float]]) -> list[str]:
    name, least = result
    ratio = min(least[peer] for peer in PEERS) / min(least[ours] for ours in OURS)
    return [name, *(f"{least[contender] * 1e3:.2f}" for contender in (*OURS, *PEERS)), f"{ratio:.2f}"]


BENCHMARK = Benchmark("models", (__doc__ or "").splitlines()[0], steps, report)

if __name__ == "__main__":
    main(BENCHMARK)
