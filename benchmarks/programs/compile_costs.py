"""What compiles cost that changing sizes and numbers need: templates, layers with own numbers, positions, chips.

A time is the calling thread's, so that other processes count less; the minimum of repetitions, of functions or sizes
that no earlier compile had. Every round runs in a process with an empty cache.
"""

from __future__ import annotations

import itertools
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from benchmarks.harness.harness import Benchmark, Plots, Step, main, table
from benchmarks.harness.process import Process
from benchmarks.programs.dynamic import PROGRAMS, TtnnOperations

TEMPLATES = ("elementwise", "softmax", "matmul + gelu", "attention block", "GPT of 2 layers")
LAYERS, POSITIONS, TILES, WIDTH = 200, 256, 64, 64


def _seconds(call: Callable[[], object]) -> float:
    start = time.thread_time()
    call()
    return time.thread_time() - start


def _jitted(function: Callable[..., Any], dynamic: bool | None = None) -> Any:
    import ttnn_jit

    return ttnn_jit.jit(enable_cache=False, dynamic=dynamic)(function)


def of_templates(name: str) -> dict[str, float]:
    """Seconds of the first calls of functions, which compile a program for one size, or a template."""
    import torch

    program = PROGRAMS[name]
    weights, sizes = program.made_weights(), iter(program.sizes())
    function, ops = program.function, TtnnOperations()
    found: dict[str, list[float]] = {"program": [], "template": []}
    with torch.inference_mode():
        for repetition, (kind, times) in itertools.product(range(8), found.items()):
            jitted = _jitted(lambda x, *others: function(ops, x, *others), kind == "template")
            inputs = program.tensors_of(next(sizes))
            seconds = _seconds(lambda jitted=jitted, inputs=inputs: jitted(*inputs, *weights))
            if repetition > 1:  # kernels and what a process loads once are made before
                times.append(seconds)
    return {kind: min(times) for kind, times in found.items()}


def added(ops: Any, x: Any, _: Any, step: float) -> Any:
    """A sum and a product per layer."""
    for layer in range(LAYERS):
        x = ops.add(ops.multiply(x, 0.5 + layer * step), 0.01)
    return x


def multiplied(ops: Any, x: Any, weight: Any, step: float) -> Any:
    """A matrix product, a sum and a gelu per layer."""
    for layer in range(LAYERS):
        x = ops.gelu(ops.add(ops.matmul(x, weight), 0.01 + layer * step))
    return x


LAYERED = {"multiply + add": added, "matmul + add + gelu": multiplied}


def of_layers(name: str) -> dict[str, float]:
    """Seconds of the compiles of layers with one number, and with a number each."""
    import torch

    x, weight, ops = torch.randn(WIDTH, WIDTH), torch.randn(WIDTH, WIDTH) / 8, TtnnOperations()
    found: dict[str, list[float]] = {"one": [], "each": []}
    for repetition, (kind, times) in itertools.product(range(1, 4), found.items()):
        step = 0.001 * repetition if kind == "each" else 0.0
        jitted = _jitted(lambda x, weight, step=step: LAYERED[name](ops, x, weight, step))
        times.append(_seconds(lambda jitted=jitted: jitted(x, weight)))
    return {kind: min(times) for kind, times in found.items()}


def decoded(ops: Any, query: Any, keys: Any, values: Any, position: int) -> Any:
    """The attention of one token to the part of a cache before a position."""
    scores = ops.matmul(query, ops.permute(keys[:, : position + 1], (0, 2, 1)))
    return ops.matmul(ops.softmax(scores, -1), values[:, : position + 1])


def of_positions() -> dict[str, float]:
    """Programs of a decode of every position of a cache, and the seconds of all its calls."""
    import torch

    import ttnn_jit

    ops = TtnnOperations()
    query, keys, values = (torch.randn(4, tokens, WIDTH) for tokens in (1, POSITIONS, POSITIONS))
    found = {}
    for kind, dynamic in (("by templates", None), ("by a program each", False)):
        jitted = _jitted(lambda query, keys, values, position: decoded(ops, query, keys, values, position), dynamic)
        before, seconds = ttnn_jit.cache_info().compiles, 0.0
        for position in range(POSITIONS):
            seconds += _seconds(lambda jitted=jitted, position=position: jitted(query, keys, values, position))
        found[f"{kind}, seconds"] = seconds
        found[f"{kind}, compiles"] = ttnn_jit.cache_info().compiles - before
    return found


def _interleaved(ttnn: Any, device: Any, tiles: int) -> Any:
    import torch

    return ttnn.from_torch(torch.randn(32 * tiles, 128), ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)


def _sharded(ttnn: Any, device: Any, tiles: int) -> Any:
    """A tensor cut over a column of cores, or over as many cores as it has tiles in two or more columns."""
    import torch

    rows = next(rows for rows in range(8, 0, -1) if tiles % rows == 0)
    grid = ttnn.CoreGrid(y=rows, x=max(columns for columns in range(1, 9) if tiles // rows % columns == 0))
    shape = 32 * tiles, 128
    config = ttnn.create_sharded_memory_config(shape, core_grid=grid, strategy=ttnn.ShardStrategy.HEIGHT)
    return ttnn.from_torch(
        torch.randn(shape), ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device, memory_config=config
    )


def _mlp_of(ttnn: Any, x: Any, wide: Any, narrow: Any) -> Any:
    return ttnn.matmul(ttnn.gelu(ttnn.matmul(x, wide)), narrow)


def _elementwise_of(ttnn: Any, x: Any, *_: Any) -> Any:
    return ttnn.multiply(ttnn.add(ttnn.exp(x), x), ttnn.tanh(x))


ON_CHIP: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "elementwise, interleaved": (_elementwise_of, _interleaved),
    "MLP, interleaved; its products are sharded": (_mlp_of, _interleaved),
    "elementwise, height-sharded over 1 to 64 cores": (_elementwise_of, _sharded),
}


def on_chip(name: str) -> dict[str, float]:
    """Programs for 1 to 64 tiles of rows on wormhole_b0; seconds of a first call above the third of its size."""
    import torch

    import ttnn_jit
    from ttnn_jit import ttnn

    function, tensor_of = ON_CHIP[name]
    device = ttnn.open_device(device_id=0, target="wormhole_b0")
    weights = [
        ttnn.from_torch(torch.randn(shape), ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
        for shape in ((128, 512), (512, 128))
    ]
    jitted = _jitted(lambda x, wide, narrow: function(ttnn, x, wide, narrow))
    compiling, evaluating = [], []
    start = ttnn_jit.cache_info()
    for tiles in range(1, TILES + 1):
        x, before = tensor_of(ttnn, device, tiles), ttnn_jit.cache_info().compiles
        first, _, third = (_seconds(lambda x=x: jitted(x, *weights)) for _ in range(3))
        (compiling if ttnn_jit.cache_info().compiles > before else evaluating).append(first - third)
    end = ttnn_jit.cache_info()
    return {
        "compiles": end.compiles - start.compiles,
        "templates": end.templates - start.templates,
        "a compile": statistics.median(compiling),
        "a new size": statistics.median(evaluating) if evaluating else 0.0,
    }


MEASURES: dict[str, Callable[[], dict[str, float]]] = {
    **{f"template of {name}": partial(of_templates, name) for name in TEMPLATES},
    **{f"layers of {name}": partial(of_layers, name) for name in LAYERED},
    "positions": of_positions,
    **{f"on a chip: {name}": partial(on_chip, name) for name in ON_CHIP},
}


def measure(name: str) -> dict[str, float]:
    """A measure, in this process."""
    return MEASURES[name]()


def one_round(name: str) -> dict[str, float]:
    """A measure in a process with an empty cache."""
    with tempfile.TemporaryDirectory() as cache, Process({"TTNN_JIT_CACHE_DIR": cache}) as process:
        return process.call(measure, name)


@contextmanager
def steps(quick: bool) -> Iterator[Sequence[Step]]:
    """A step per measure and round."""
    yield [
        Step(f"{name}, round {number}", 10, partial(one_round, name))
        for number in range(1 if quick else 3)
        for name in MEASURES
    ]


def report(results: Mapping[str, Any], _: Plots) -> str:
    """A table per kind of measure."""
    found = {name: minima for name in MEASURES if (minima := _minima(results, name))}

    def of(prefix: str) -> Iterator[tuple[str, dict[str, float]]]:
        return ((name.removeprefix(prefix), each) for name, each in found.items() if name.startswith(prefix))

    templates = [["function", "a program of one size", "a template", "ratio"]]
    templates += [[name, *_compared(each["program"], each["template"])] for name, each in of("template of ")]
    layers = [[f"{LAYERS} layers of", "one number", "a number each", "ratio"]]
    layers += [[name, *_compared(each["one"], each["each"])] for name, each in of("layers of ")]
    positions = [[f"decode of {POSITIONS} positions", "compiles", "all calls"]]
    for _, each in of("positions"):
        for kind in ("by templates", "by a program each"):
            positions.append([kind, f"{each[f'{kind}, compiles']:.0f}", _ms(each[f"{kind}, seconds"])])
    chip = [["1 to 64 tiles of rows on wormhole_b0", "compiles", "templates", "a compile", "another new size"]]
    for name, each in of("on a chip: "):
        new = _ms(each["a new size"]) if each["a new size"] else "-"
        chip.append([name, f"{each['compiles']:.0f}", f"{each['templates']:.0f}", _ms(each["a compile"]), new])
    return "\n\n".join(map(table, (templates, layers, positions, chip)))


def _ms(seconds: float) -> str:
    return f"{1e3 * seconds:.2f} ms"


def _compared(one: float, other: float) -> list[str]:
    return [_ms(one), _ms(other), f"{other / one:.2f}"]


def _minima(results: Mapping[str, Any], name: str) -> dict[str, float]:
    rounds = [result for step, result in results.items() if step.startswith(f"{name}, round")]
    return {figure: min(each[figure] for each in rounds) for figure in (rounds[0] if rounds else ())}


BENCHMARK = Benchmark("compile_costs", (__doc__ or "").splitlines()[0], steps, report)

if __name__ == "__main__":
    main(BENCHMARK)
