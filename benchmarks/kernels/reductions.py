"""Reductions and norms against the better of eager torch and torch.compile.

The contenders take turns (benchmarks/harness/turns.py says how), with all threads and, where a goal is stated, with
one. Tensors are 2048 x 2048; of `group_norm` 8 images of 32 x 32 positions, 512 channels in 32 groups, which lie
channels last, as ttnn's do; torch's lie as it has them. GB/s are of the tensors read and written once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from benchmarks.harness.harness import Benchmark, Plots, Step, main, table
from benchmarks.harness.turns import (
    OURS,
    Call,
    by_threads,
    geometric_rows,
    least,
    ratio,
    ratio_of_medians,
    set_call,
    steps_of,
    thread_counts,
    turns,
)

EAGER, COMPILED = "torch", "torch.compile"
CONTENDERS = (OURS, EAGER, COMPILED)
SIZE = 2048
GROUPS = 32
IMAGES = (8, 512, 32, 32)
"""The shape of `group_norm` in torch."""
CHOSEN = 32
"""The k of `topk`."""


@dataclass(frozen=True)
class Work:
    """A computation on a matrix and, for some, a weight and a bias per column.

    Attributes:
        ours: Function of the ttnn namespace and the tensors.
        torch_function: Function of the torch module and the tensors.
        tensors: The number of its tensors: the matrix, the weight, the bias.
        goals: The goals of the best peer's time over ours, for f32 and bf16; 0 for none.
    """

    ours: Callable[..., Any]
    torch_function: Callable[..., Any]
    tensors: int = 1
    goals: tuple[float, float] = (0.0, 0.0)


def _normalised(torch: Any, name: str, *tensors: Any) -> Any:
    return getattr(torch.nn.functional, name)(tensors[0], tensors[0].shape[-1:], *tensors[1:], eps=1e-5)


def _grouped(torch: Any, *tensors: Any) -> Any:
    return torch.nn.functional.group_norm(tensors[0], GROUPS, *tensors[1:], eps=1e-5)


WORKS: dict[str, Work] = {
    "softmax": Work(lambda n, x: n.softmax(x, -1), lambda t, x: t.softmax(x, -1), goals=(1.5, 2.0)),
    "log_softmax": Work(lambda n, x: n.log_softmax(x, -1), lambda t, x: t.log_softmax(x, -1)),
    "layer_norm": Work(
        lambda n, x, w, b: n.layer_norm(x, weight=w, bias=b, epsilon=1e-5),
        lambda t, *tensors: _normalised(t, "layer_norm", *tensors), 3, (1.4, 2.0),
    ),
    "rms_norm": Work(
        lambda n, x, w: n.rms_norm(x, weight=w, epsilon=1e-5),
        lambda t, *tensors: _normalised(t, "rms_norm", *tensors), 2, (1.7, 1.7),
    ),
    "group_norm": Work(
        lambda n, x, w, b: n.group_norm(x, num_groups=GROUPS, weight=w, bias=b, epsilon=1e-5), _grouped, 3
    ),
    "sum of rows": Work(lambda n, x: n.sum(x, -1), lambda t, x: t.sum(x, -1), goals=(1.1, 1.1)),
    "sum of columns": Work(lambda n, x: n.sum(x, 0), lambda t, x: t.sum(x, 0), goals=(1.5, 1.5)),
    "sum of all": Work(lambda n, x: n.sum(x), lambda t, x: t.sum(x), goals=(1.0, 1.0)),
    "max of rows": Work(lambda n, x: n.max(x, -1), lambda t, x: t.amax(x, -1), goals=(1.1, 1.1)),
    "max of columns": Work(lambda n, x: n.max(x, 0), lambda t, x: t.amax(x, 0), goals=(1.5, 1.5)),
    "max of all": Work(lambda n, x: n.max(x), lambda t, x: t.amax(x), goals=(1.0, 1.0)),
    "argmax of rows": Work(lambda n, x: n.argmax(x, -1), lambda t, x: t.argmax(x, -1)),
    "cumsum of rows": Work(lambda n, x: n.cumsum(x, -1), lambda t, x: t.cumsum(x, -1)),
    "cumsum of columns": Work(lambda n, x: n.cumsum(x, 0), lambda t, x: t.cumsum(x, 0)),
    "topk of rows": Work(lambda n, x: n.topk(x, CHOSEN)[0], lambda t, x: t.topk(x, CHOSEN)[0]),
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A computation in one element type (f32 or bf16), with a number of threads."""

    work: str
    dtype: str
    threads: int

    @property
    def name(self) -> str:
        """The case in tables."""
        return f"{self.work} {self.dtype}, {self.threads} thread{'s' * (self.threads > 1)}"

    @property
    def goal(self) -> float:
        """The goal of the best peer's time over ours; 0 for none."""
        return WORKS[self.work].goals[self.dtype == "bf16"]


def cases(quick: bool) -> list[Case]:
    """The cases in the order of the table; quick ones, and those without a goal, only with all threads."""
    return [
        Case(name, dtype, count)
        for name, work in WORKS.items()
        for dtype in ("f32", "bf16")
        for count in thread_counts()[: 1 if quick or not any(work.goals) else None]
    ]


# The code up to `steps` runs in the contender's process.


def prepare(contender: str, fields: dict[str, Any]) -> float:
    """Makes the timed call; its largest error relative to the largest result."""
    import torch

    work = WORKS[fields["work"]]
    tensors = _tensors(fields)[: work.tensors]
    result = set_call(_ours(work, tensors) if contender == OURS else _torchs(work, tensors, contender == COMPILED))
    golden = work.torch_function(torch, *(each.double() for each in tensors))
    found = result.double().reshape(-1)
    if contender == OURS and fields["work"] == "group_norm":
        golden = golden.permute(0, 2, 3, 1)
    golden = golden.reshape(-1).double()
    return float((found - golden).abs().max() / golden.abs().max())


def _tensors(fields: Mapping[str, Any]) -> list[Any]:
    import torch

    generator = torch.Generator().manual_seed(0)
    dtype = torch.float32 if fields["dtype"] == "f32" else torch.bfloat16
    shape, columns = (IMAGES, IMAGES[1]) if fields["work"] == "group_norm" else ((SIZE, SIZE), SIZE)
    return [torch.randn(extents, generator=generator).to(dtype) for extents in (shape, columns, columns)]


def _ours(work: Work, tensors: Sequence[Any]) -> Call:
    import ttnn_jit
    from ttnn_jit import ttnn

    x, *others = tensors
    if x.ndim == len(IMAGES):
        images, channels, height, width = x.shape
        x = x.permute(0, 2, 3, 1).reshape(images, 1, height * width, channels).contiguous()
    given = (x, *others)
    function = ttnn_jit.jit()(_OF_TENSORS[len(given)](work, ttnn))
    return lambda: function(*given)


_OF_TENSORS: dict[int, Callable[..., Callable[..., Any]]] = {
    1: lambda work, ttnn: lambda x: work.ours(ttnn, x),
    2: lambda work, ttnn: lambda x, w: work.ours(ttnn, x, w),
    3: lambda work, ttnn: lambda x, w, b: work.ours(ttnn, x, w, b),
}
"""Functions with one parameter per tensor, as users write them, which take the fast path of calls."""


def _torchs(work: Work, tensors: Sequence[Any], compiled: bool) -> Call:
    import torch

    def function(*tensors: Any) -> Any:
        return work.torch_function(torch, *tensors)

    if compiled:
        torch._dynamo.reset()
        function = torch.compile(function, fullgraph=True, dynamic=False)
    return lambda: function(*tensors)


@contextmanager
def steps(quick: bool) -> Iterator[Sequence[Step]]:
    """A step per case."""
    with turns() as running:
        yield steps_of(running, cases(quick), CONTENDERS, prepare, 2 if quick else 4, 2)


def report(results: Mapping[str, Any], plots: Plots) -> str:  # noqa: ARG001 - a table says it all
    """A table per number of threads."""
    measured = [case for case in cases(quick=False) if case.name in results]
    return by_threads(measured, partial(_table, results))


def summary(results: Mapping[str, Any]) -> list[list[str]]:
    """Rows of the summary: computations, with all threads."""
    return geometric_rows(
        (case.work, case.dtype, results[case.name], CONTENDERS[1:])
        for case in cases(quick=False)
        if case.name in results and case.threads == thread_counts()[0]
    )


def _table(results: Mapping[str, Any], own: Sequence[Case]) -> str:
    head = ["work", *(f"{name}, us" for name in CONTENDERS), "GB/s", "best of torch / ours", "medians", "goal", "error"]
    rows = [head]
    for case in own:
        found = results[case.name]
        cells = [f"{least(found, name) * 1e6:,.0f}" for name in CONTENDERS]
        cells += [f"{_nbytes(case) / least(found, OURS) / 1e9:.1f}", f"{ratio(found, CONTENDERS[1:]):.2f}"]
        goal = f"{case.goal:.1f}" if case.goal else "-"
        cells += [ratio_of_medians(found, CONTENDERS[1:]), goal, f"{found[OURS]['error']:.1e}"]
        rows.append([f"{case.work} {case.dtype}", *cells])
    return table(rows)


_WHOLE = {"softmax", "log_softmax", "layer_norm", "rms_norm", "group_norm", "cumsum of rows", "cumsum of columns"}
"""Computations with as many results as elements; the others' results are too few to count."""


def _nbytes(case: Case) -> int:
    return SIZE * SIZE * (4 if case.dtype == "f32" else 2) * (2 if case.work in _WHOLE else 1)


BENCHMARK = Benchmark("reductions", (__doc__ or "").splitlines()[0], steps, report)

if __name__ == "__main__":
    main(BENCHMARK)
