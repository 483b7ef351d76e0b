"""Operations that only move elements, against the better of eager torch and torch.compile, and a copy of their bytes.

The contenders take turns (benchmarks/harness/turns.py says how). Torch's results are contiguous, as ours are: views of
its are followed by `contiguous()`, and parts of `split` by `clone()`. The copy is the best of two
(benchmarks/harness/roofs.py), with ordinary and with non-temporal stores, by as many threads, measured before and after
a case; it moves the bytes that a case reads and writes, once each: of what is skipped within a line of the cache, all.
Tensors have 2^18 elements, which lie in a cache, or 2^24, which lie in memory; transposes also have 2^22, 2048 x 2048.
A figure that misses its goal has a star: as fast as the best of torch, 1.2 times in transposes, and 0.8 of a copy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

from benchmarks.harness.harness import Benchmark, Plots, Step, main, table
from benchmarks.harness.process import Process
from benchmarks.harness.roofs import Copy
from benchmarks.harness.turns import (
    OURS,
    SECONDS,
    Call,
    Turns,
    geometric_rows,
    least,
    ratio,
    set_call,
    thread_counts,
    turns,
)

EAGER, COMPILED, COPIED = "torch", "torch.compile", "copy"
CONTENDERS = (OURS, EAGER, COMPILED)
SHARE_GOAL = 0.8
"""The goal of the speed relative to a copy."""
TRIES = 7
SIZES = {"cache": 1 << 18, "2048": 1 << 22, "memory": 1 << 24}
"""Name of a size -> elements."""
ITEM_BYTES = {"f32": 4, "bf16": 2, "int32": 4}


@dataclass(frozen=True)
class Work:
    """A movement.

    Attributes:
        ours: Function of the ttnn namespace and the tensors.
        torch_function: Function of the torch module and the tensors; it returns one or several tensors.
        shape: Gives the shape of the first tensor from a size's exponent (18 for 2^18 elements).
        tensors: The number of tensors of this shape.
        index: Gives, from the shape, the shape of an index tensor, and the exclusive bound of its indices.
        group: Its row of a summary.
        goal: The goal of the best peer's time over ours.
        read: The share of the first tensor's bytes in cache lines that are read.
        in_tiles: For an eager operation on ttnn tensors, whether the first is in tile layout; None for torch tensors.
    """

    ours: Callable[..., Any]
    torch_function: Callable[..., Any]
    shape: Callable[[int], tuple[int, ...]]
    tensors: int = 1
    index: Callable[[tuple[int, ...]], tuple[tuple[int, ...], int]] | None = None
    group: str = "others"
    goal: float = 1.0
    read: float = 1.0
    in_tiles: bool | None = None


def _matrix(bits: int) -> tuple[int, ...]:
    return (1 << bits - bits // 2, 1 << bits // 2)


def _cube(bits: int) -> tuple[int, ...]:
    return (1 << bits - 2 * (bits // 3), 1 << bits // 3, 1 << bits // 3)


def _images(bits: int) -> tuple[int, ...]:
    """NHWC: 64 channels of images of 32 x 32 or 64 x 64."""
    side = 5 if bits < 20 else 6
    return (1 << bits - 2 * side - 6, 1 << side, 1 << side, 64)


def _channels_first(bits: int) -> tuple[int, ...]:
    images, height, width, channels = _images(bits)
    return (images, channels, height, width)


def _heads(bits: int) -> tuple[int, ...]:
    """16 heads of 64, of 256 positions or more."""
    return (1, 1 << bits - 10, 16, 64)


def _heads_apart(bits: int) -> tuple[int, ...]:
    return (1, 16, 1 << bits - 10, 64)


def _ragged(bits: int) -> tuple[int, ...]:
    height, width = _matrix(bits)
    return (height - 7, width - 12)


def _permute(*order: int, shape: Callable[[int], tuple[int, ...]]) -> Work:
    return Work(lambda n, x: n.permute(x, order), lambda _, x: x.permute(order).contiguous(), shape, group="permute")


def _padded_to_tiles(torch: Any, x: Any) -> Any:
    return torch.nn.functional.pad(x, (0, -x.shape[1] % 32, 0, -x.shape[0] % 32))


@cache
def _sharded(shape: tuple[int, ...]) -> Any:
    from ttnn_jit import ttnn

    return ttnn.create_sharded_memory_config(shape, ttnn.CoreGrid(x=8, y=8), ttnn.ShardStrategy.BLOCK)


WORKS: dict[str, Work] = {
    "transpose": Work(
        lambda n, x: n.transpose(x, 0, 1), lambda _, x: x.t().contiguous(), _matrix, group="transpose", goal=1.2
    ),
    **{
        f"permute {order}": _permute(*order, shape=_cube)
        for order in ((0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0))
    },
    "NHWC to NCHW": _permute(0, 3, 1, 2, shape=_images),
    "NCHW to NHWC": _permute(0, 2, 3, 1, shape=_channels_first),
    "split heads": _permute(0, 2, 1, 3, shape=_heads),
    "join heads": _permute(0, 2, 1, 3, shape=_heads_apart),
    "split heads, transposed": _permute(0, 2, 3, 1, shape=_heads),
    "permute (3, 2, 1, 0)": _permute(3, 2, 1, 0, shape=_images),
    "permute (2, 3, 0, 1)": _permute(2, 3, 0, 1, shape=_images),
    "every other row": Work(
        lambda _, x: x[::2], lambda _, x: x[::2].contiguous(), _matrix, group="slice", read=0.5
    ),
    "every other column": Work(lambda _, x: x[:, ::2], lambda _, x: x[:, ::2].contiguous(), _matrix, group="slice"),
    "inner half": Work(
        lambda _, x: x[:, 64:-64], lambda _, x: x[:, 64:-64].contiguous(), _matrix, group="slice"
    ),
    "without its first row and column": Work(
        lambda _, x: x[1:, 1:], lambda _, x: x[1:, 1:].contiguous(), _matrix, group="slice"
    ),
    **{
        f"concat of dim {dim}": Work(
            lambda n, x, y, dim=dim: n.concat([x, y], dim), lambda t, x, y, dim=dim: t.cat([x, y], dim), _cube, 2,
            group="concat, stack, split",
        )
        for dim in (0, 1, -1)
    },
    **{
        f"stack of dim {dim}": Work(
            lambda n, x, y, dim=dim: n.stack([x, y], dim), lambda t, x, y, dim=dim: t.stack([x, y], dim), _matrix, 2,
            group="concat, stack, split",
        )
        for dim in (0, -1)
    },
    **{
        f"split of dim {dim}": Work(
            lambda n, x, dim=dim: n.split(x, x.shape[dim] // 2, dim),
            lambda _, x, dim=dim: [part.clone() for part in x.split(x.shape[dim] // 2, dim)],
            _matrix, group="concat, stack, split",
        )
        for dim in (0, -1)
    },
    "repeat of rows": Work(lambda n, x: n.repeat(x, (2, 1)), lambda _, x: x.repeat(2, 1), _matrix, group="repeat"),
    "repeat of columns": Work(lambda n, x: n.repeat(x, (1, 2)), lambda _, x: x.repeat(1, 2), _matrix, group="repeat"),
    "repeat_interleave": Work(
        lambda n, x: n.repeat_interleave(x, 2, 1), lambda _, x: x.repeat_interleave(2, 1), _matrix, group="repeat"
    ),
    "roll of columns": Work(lambda n, x: n.roll(x, 5, 1), lambda _, x: x.roll(5, 1), _matrix, group="roll, flip"),
    "roll of rows": Work(lambda n, x: n.roll(x, 5, 0), lambda _, x: x.roll(5, 0), _matrix, group="roll, flip"),
    "flip of columns": Work(lambda n, x: n.flip(x, [1]), lambda _, x: x.flip(1), _matrix, group="roll, flip"),
    "flip of rows": Work(lambda n, x: n.flip(x, [0]), lambda _, x: x.flip(0), _matrix, group="roll, flip"),
    "pad": Work(
        lambda n, x: n.pad(x, [(1, 1), (1, 1)], 0.0), lambda t, x: t.nn.functional.pad(x, (1, 1, 1, 1)), _matrix,
        group="pad",
    ),
    "gather along rows": Work(
        lambda n, x, index: n.gather(x, 1, index), lambda t, x, index: t.gather(x, 1, index.long()), _matrix,
        index=lambda shape: (shape, shape[1]), group="gather, embedding",
    ),
    "embedding": Work(
        lambda n, x, index: n.embedding(index, x), lambda t, x, index: t.nn.functional.embedding(index, x), _matrix,
        index=lambda shape: (shape[:1], shape[0]), group="gather, embedding",
    ),
    "to tiles, padded": Work(
        lambda n, x: n.to_layout(x, n.TILE_LAYOUT), _padded_to_tiles, _ragged, group="layouts", in_tiles=False
    ),
    "from tiles, padded": Work(
        lambda n, x: n.to_layout(x, n.ROW_MAJOR_LAYOUT),
        lambda _, x: x[: x.shape[0] - 7, : x.shape[1] - 12].contiguous(), _ragged, group="layouts", in_tiles=True,
    ),
    "to a sharded layout": Work(
        lambda n, x: n.to_memory_config(x, _sharded(tuple(x.shape))), lambda _, x: x.clone(), _matrix, group="layouts",
        in_tiles=True,
    ),
}  # fmt: skip


REASONS = """## What stays below a copy, and why

- In a cache a copy moves a vector in a cycle or two, and all else shows: the loop around rows that are a few lines long
  (permute (1, 0, 2), heads, every other row), half a shuffle a vector for each bit of an element's index (transposes,
  most of all of bf16), and rows a power of two apart, which share few sets of the first caches (permute (2, 0, 1),
  (2, 1, 0), NHWC to NCHW). Copies in two layouts are eager calls, whose checks are part of them.
- `stack` of the last dimension, gathers along rows, and permutes whose innermost dimension is
  shorter than a vector move element by element, or a few at a time.
- In memory, rows of a result that do not begin lines of the cache are not stored past it: each line is read first.
"""
"""Explanations of the tables, without figures of a machine."""


@dataclass(frozen=True)
class Case:
    """A movement of one element type and size, with a number of threads."""

    work: str
    dtype: str
    size: str
    threads: int

    @property
    def name(self) -> str:
        """The case in tables."""
        return f"{self.work}, {self.title}"

    @property
    def title(self) -> str:
        """The case without its movement."""
        return f"{self.dtype}, {self.size}, {self.threads} thread{'s' * (self.threads > 1)}"

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the first tensor."""
        return WORKS[self.work].shape(SIZES[self.size].bit_length() - 1)


def cases(quick: bool) -> list[Case]:
    """The cases in the order of the table: in cache with one thread, in memory with all; transposes with both."""
    every, *one = thread_counts()
    settings = [("cache", 1), ("memory", every)]
    both = [(size, count) for size in SIZES for count in (every, *one)]
    return [
        Case(name, dtype, size, count)
        for size, count in (settings if quick else both)
        for dtype in (("f32",) if quick else ITEM_BYTES)
        for name, work in WORKS.items()
        if name == "transpose" or ((size, count) in settings and dtype != "int32" and work.group)
    ]


# The code up to `measured` runs in the contender's process.


def prepare(contender: str, fields: dict[str, Any]) -> float:
    """Makes the timed call; the number of elements of its result that differ from torch's."""
    import torch

    work, tensors = WORKS[fields["work"]], _tensors(fields)
    golden = _all(work.torch_function(torch, *_in_tiles(work, tensors)))
    call = _ours(work, tensors) if contender == OURS else _torchs(work, tensors, contender == COMPILED)
    found = [each if torch.is_tensor(each) else each.to_torch() for each in _all(set_call(call))]
    if work.in_tiles is not None:
        golden = [each[tuple(map(slice, own.shape))] for each, own in zip(golden, found, strict=True)]
    return float(sum(int((each != own).sum()) for each, own in zip(found, golden, strict=True)))


def _all(result: Any) -> list[Any]:
    return list(result) if isinstance(result, list | tuple) else [result]


def _tensors(fields: Mapping[str, Any]) -> list[Any]:
    import torch

    case = Case(**fields)
    work = WORKS[case.work]
    generator = torch.Generator().manual_seed(0)
    dtype = {"f32": torch.float32, "bf16": torch.bfloat16, "int32": torch.int32}[case.dtype]
    tensors = [torch.randint(-99, 99, case.shape, generator=generator).to(dtype) for _ in range(work.tensors)]
    if work.index is None:
        return tensors
    shape, below = work.index(case.shape)
    return [*tensors, torch.randint(below, shape, generator=generator, dtype=torch.int32)]


def _in_tiles(work: Work, tensors: Sequence[Any]) -> list[Any]:
    """The tensors for torch: padded if ours are in tile layout."""
    import torch

    return [_padded_to_tiles(torch, each) for each in tensors] if work.in_tiles else list(tensors)


def _ours(work: Work, tensors: Sequence[Any]) -> Call:
    import ttnn_jit
    from ttnn_jit import ttnn

    if work.in_tiles is not None:
        device = ttnn.open_device(device_id=0, target="cpu")
        layout = ttnn.TILE_LAYOUT if work.in_tiles else ttnn.ROW_MAJOR_LAYOUT
        (given,) = (ttnn.from_torch(each, layout=layout, device=device) for each in tensors)
        return lambda: work.ours(ttnn, given)
    function = ttnn_jit.jit()(_OF_TENSORS[len(tensors)](work, ttnn))
    return lambda: function(*tensors)


_OF_TENSORS: dict[int, Callable[..., Callable[..., Any]]] = {
    1: lambda work, ttnn: lambda x: work.ours(ttnn, x),
    2: lambda work, ttnn: lambda x, y: work.ours(ttnn, x, y),
}
"""Functions with one parameter per tensor, as users write them, which take the fast path of calls."""


def _torchs(work: Work, tensors: Sequence[Any], compiled: bool) -> Call:
    import torch

    given = _in_tiles(work, tensors)

    def function(*tensors: Any) -> Any:
        return work.torch_function(torch, *tensors)

    if compiled:
        torch._dynamo.reset()
        function = torch.compile(function, fullgraph=True, dynamic=False)
    return lambda: function(*given)


def seconds_of_copies(nbytes: int, threads: int) -> list[float]:
    """In a separate process: the best seconds of each kind of copy of `nbytes` bytes, read and written."""
    copies = [Copy(nbytes, threads, around_caches=around) for around in (False, True)]
    return [nbytes / copy.gigabytes_per_second(TRIES) / 1e9 for copy in copies]


def nbytes_of(case: Case) -> int:
    """The bytes that are read and written, once each."""
    import torch

    work, itemsize = WORKS[case.work], ITEM_BYTES[case.dtype]
    shape = tuple(-(-extent // 32) * 32 for extent in case.shape) if work.in_tiles else case.shape
    given = [torch.empty(shape, device="meta") for _ in range(work.tensors)]
    read = math.prod(shape) * work.tensors * work.read * itemsize
    if work.index is not None:
        extents, _ = work.index(case.shape)
        given.append(torch.empty(extents, dtype=torch.int64, device="meta"))
        read += math.prod(extents) * 4
    written = sum(each.numel() for each in _all(work.torch_function(torch, *given)))
    return int(read) + written * itemsize


def measured(running: Turns, copying: Process, case: Case, rounds: int) -> dict[str, Any]:
    """Figures of the contenders, and of the copy."""
    arguments = (seconds_of_copies, nbytes_of(case), case.threads)
    before = copying.call(*arguments)
    found = running.measured(CONTENDERS, prepare, asdict(case), rounds, case.threads)
    wrong = {name: figures["error"] for name, figures in found.items() if figures["error"]}
    assert not wrong, f"{case.name}: elements that are not torch's: {wrong}"
    copied = [*before, *copying.call(*arguments)]
    return {**found, COPIED: {"error": 0.0, "seconds": copied, "least": copied}}


@contextmanager
def steps(quick: bool) -> Iterator[Sequence[Step]]:
    """A step per case."""
    rounds = 2 if quick else 3
    with turns() as running, Process({}) as copying:
        yield [
            Step(
                case.name,
                2 * SECONDS * rounds * len(CONTENDERS),
                lambda case=case: measured(running, copying, case, rounds),
            )
            for case in cases(quick)
        ]


def share(found: Mapping[str, Any]) -> float:
    """Our speed over that of the copy, by the fastest runs."""
    return least(found, COPIED) / least(found, OURS)


def report(results: Mapping[str, Any], plots: Plots) -> str:  # noqa: ARG001 - a table says it all
    """A table per size, type and number of threads."""
    found = [case for case in cases(quick=False) if case.name in results]
    titles = dict.fromkeys(case.title for case in found)
    tables = (f"## {title}\n\n{_table(results, [c for c in found if c.title == title])}" for title in titles)
    return "\n".join([*tables, REASONS])


def summary(results: Mapping[str, Any]) -> list[list[str]]:
    """Rows of the summary: groups of movements, in memory, with all threads."""
    return geometric_rows(
        (WORKS[case.work].group, case.dtype, results[case.name], CONTENDERS[1:])
        for case in cases(quick=False)
        if case.name in results and (case.size, case.threads) == ("memory", thread_counts()[0])
    )


def _table(results: Mapping[str, Any], own: Sequence[Case]) -> str:
    rows = [
        [
            "work",
            "shape",
            *(f"{name}, us" for name in (*CONTENDERS, COPIED)),
            "GB/s",
            "best of torch / ours",
            "of a copy",
        ]
    ]
    for case in own:
        found = results[case.name]
        times = [f"{least(found, name) * 1e6:,.0f}" for name in (*CONTENDERS, COPIED)]
        speed = nbytes_of(case) / least(found, OURS) / 1e9
        against, of_copy = ratio(found, CONTENDERS[1:]), share(found)
        cells = [_marked(against, WORKS[case.work].goal), _marked(of_copy, SHARE_GOAL)]
        rows.append([case.work, "x".join(map(str, case.shape)), *times, f"{speed:.1f}", *cells])
    return table(rows, text_columns=2)


def _marked(figure: float, goal: float) -> str:
    """The figure, with a mark if it misses its goal."""
    return f"{figure:.2f}{' *' * (figure < goal)}"


BENCHMARK = Benchmark("movement", (__doc__ or "").splitlines()[0], steps, report)

if __name__ == "__main__":
    main(BENCHMARK)
