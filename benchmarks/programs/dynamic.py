"""Sizes that change: 64 sizes of each function, compiles included and excluded, beside torch.compile.

Every contender runs in a process of its own with an empty cache; processes of different contenders alternate. The
sizes are drawn once, without repetition. Each is called twice in the first pass, which compiles, and once in the
second pass, which compiles nothing. Minima over the rounds.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from benchmarks.harness.harness import Benchmark, Plots, Step, main, table
from benchmarks.harness.process import Process

OURS, STATIC, PEER, AUTOMATIC = "ttnn_jit", "ttnn_jit, dynamic=False", "torch.compile, dynamic=True", "torch.compile"
CONTENDERS = (OURS, STATIC, PEER, AUTOMATIC)
SIZES = 64
WIDTH, HEADS, LAYERS = 128, 4, 2


def elementwise(ops: Any, x: Any, y: Any) -> Any:
    """Five elementwise operations."""
    return ops.multiply(ops.add(ops.exp(x), y), ops.tanh(ops.subtract(x, y)))


def mlp(ops: Any, x: Any, *weights: Any) -> Any:
    """Two products with a gelu in between, and a softmax."""
    wide, narrow = weights
    return ops.softmax(ops.matmul(ops.gelu(ops.matmul(x, wide)), narrow), -1)


def gpt(ops: Any, x: Any, *weights: Any) -> Any:
    """Layers of a small GPT without masks, over (batch, tokens, width)."""
    batch, tokens, width = x.shape
    for layer in range(LAYERS):
        query, key, value, out, wide, narrow, scale, shift = weights[8 * layer : 8 * layer + 8]
        normal = ops.layer_norm(x, scale, shift)
        split = [
            ops.permute(ops.reshape(ops.matmul(normal, each), (batch, tokens, HEADS, width // HEADS)), (0, 2, 1, 3))
            for each in (query, key, value)
        ]
        scores = ops.multiply(ops.matmul(split[0], ops.permute(split[1], (0, 1, 3, 2))), (width // HEADS) ** -0.5)
        attended = ops.permute(ops.matmul(ops.softmax(scores, -1), split[2]), (0, 2, 1, 3))
        x = ops.add(x, ops.matmul(ops.reshape(attended, (batch, tokens, width)), out))
        normal = ops.layer_norm(x, scale, shift)
        x = ops.add(x, ops.matmul(ops.gelu(ops.matmul(normal, wide)), narrow))
    return x


class TorchOperations:
    """The operations of the functions in torch."""

    def __init__(self) -> None:
        import torch

        self.add, self.subtract, self.multiply = torch.add, torch.subtract, torch.multiply
        self.exp, self.tanh, self.matmul, self.softmax = torch.exp, torch.tanh, torch.matmul, torch.softmax
        self.gelu, self.permute, self.reshape = torch.nn.functional.gelu, torch.permute, torch.reshape
        self._layer_norm = torch.nn.functional.layer_norm

    def layer_norm(self, x: Any, scale: Any, shift: Any) -> Any:
        """Over the last dimension."""
        return self._layer_norm(x, (x.shape[-1],), scale, shift, 1e-5)


class TtnnOperations:
    """The operations of the functions in ttnn."""

    def __init__(self) -> None:
        from ttnn_jit import ttnn

        self.add, self.subtract, self.multiply = ttnn.add, ttnn.subtract, ttnn.multiply
        self.exp, self.tanh, self.matmul, self.softmax = ttnn.exp, ttnn.tanh, ttnn.matmul, ttnn.softmax
        self.gelu, self.permute, self.reshape = ttnn.gelu, ttnn.permute, ttnn.reshape
        self._layer_norm = ttnn.layer_norm

    def layer_norm(self, x: Any, scale: Any, shift: Any) -> Any:
        """Over the last dimension."""
        return self._layer_norm(x, weight=scale, bias=shift, epsilon=1e-5)


def _weights(name: str) -> list[Any]:
    import torch

    generator = torch.Generator().manual_seed(0)

    def random_(*shape: int) -> Any:
        return torch.randn(shape, generator=generator) * shape[0] ** -0.5

    if name == "elementwise":
        return []
    if name == "MLP":
        return [random_(WIDTH, 4 * WIDTH), random_(4 * WIDTH, WIDTH)]
    layer: list[Any] = []
    for _ in range(LAYERS):
        layer += [*(random_(WIDTH, WIDTH) for _ in range(4)), random_(WIDTH, 4 * WIDTH), random_(4 * WIDTH, WIDTH)]
        layer += [torch.ones(WIDTH), torch.zeros(WIDTH)]
    return layer


def _inputs(name: str, size: int) -> list[Any]:
    import torch

    generator = torch.Generator().manual_seed(size)
    if name == "elementwise":
        return [torch.randn(size, WIDTH, generator=generator) for _ in range(2)]
    if name == "MLP":
        return [torch.randn(size, WIDTH, generator=generator)]
    return [torch.randn(2, size, WIDTH, generator=generator)]


FUNCTIONS: dict[str, Callable[..., Any]] = {"elementwise": elementwise, "MLP": mlp, "GPT of 2 layers": gpt}


def sizes_of(name: str) -> list[int]:
    """The sizes of a function: rows of a batch, or tokens of a sequence."""
    most = 160 if name.startswith("GPT") else 2000
    return random.Random(7).sample(range(2, most), SIZES)


def measure(contender: str, name: str) -> dict[str, float]:
    """All figures of one contender and function, in this process."""
    import torch

    function, weights, sizes = FUNCTIONS[name], _weights(name), sizes_of(name)
    inputs = {size: _inputs(name, size) for size in sizes}
    with torch.inference_mode():
        compiled, compiles = _compiled(contender, function)
        first, second = [], []
        for size in sizes:
            for times in (first, second):
                start = time.perf_counter()
                result = compiled(*inputs[size], *weights)
                times.append(time.perf_counter() - start)
            expected = function(TorchOperations(), *inputs[size], *weights)
            assert torch.allclose(result, expected, atol=1e-3), f"{name} of size {size}"
        count = compiles()
        start = time.perf_counter()
        for size in sizes:
            compiled(*inputs[size], *weights)
        again = time.perf_counter() - start
        found = {"first pass": sum(first) + sum(second), "second pass": again, "compiles": count}
        if contender == OURS:
            found |= _of_new_sizes(compiled, inputs, weights, sizes, first, second)
        return found


def _of_new_sizes(
    compiled: Callable[..., Any],
    inputs: Mapping[int, Sequence[Any]],
    weights: Sequence[Any],
    sizes: Sequence[int],
    first: Sequence[float],
    second: Sequence[float],
) -> dict[str, float]:
    """The time above the run of the first and the second call of a size that compiled nothing, the median of all."""
    warm = []
    for size in sizes:
        own = []
        for _ in range(5):
            start = time.perf_counter()
            compiled(*inputs[size], *weights)
            own.append(time.perf_counter() - start)
        warm.append(min(own))
    above = sorted(one - run for one, run in zip(first, warm, strict=True))
    again = sorted(one - run for one, run in zip(second, warm, strict=True))
    return {"first call of a size": above[SIZES // 2], "second call of a size": again[SIZES // 2]}


def _compiled(contender: str, function: Callable[..., Any]) -> tuple[Callable[..., Any], Callable[[], int]]:
    """The compiled function without its first parameter, and the function that counts compiles."""
    import torch

    if contender in {OURS, STATIC}:
        import ttnn_jit

        dynamic = None if contender == OURS else False
        jitted = ttnn_jit.jit(dynamic=dynamic, enable_cache=False)(_over(function, TtnnOperations()))
        return jitted, lambda: ttnn_jit.cache_info().compiles
    import torch._dynamo

    torch._dynamo.config.recompile_limit = 2 * SIZES
    counters = torch._dynamo.utils.counters
    compiled = torch.compile(
        partial(function, TorchOperations()), fullgraph=True, dynamic=True if contender == PEER else None
    )
    return compiled, lambda: counters["stats"]["unique_graphs"]


def _over(function: Callable[..., Any], ops: Any) -> Callable[..., Any]:
    if function is elementwise:
        return lambda x, y: elementwise(ops, x, y)
    if function is mlp:
        return lambda x, *weights: mlp(ops, x, *weights)
    return lambda x, *weights: gpt(ops, x, *weights)


def one_round(contender: str, name: str) -> dict[str, float]:
    """The figures of a process with empty caches."""
    with tempfile.TemporaryDirectory() as cache:
        variables = {"TTNN_JIT_CACHE_DIR": f"{cache}/ttnn", "TORCHINDUCTOR_CACHE_DIR": f"{cache}/inductor"}
        with Process(variables) as process:
            return process.call(measure, contender, name)


@contextmanager
def steps(quick: bool) -> Iterator[Sequence[Step]]:
    """A step per function, contender and round."""
    yield [
        Step(
            f"{name}, {contender}, round {number}",
            60 if contender in {PEER, AUTOMATIC} else 10,
            partial(one_round, contender, name),
        )
        for number in range(1 if quick else 3)
        for name in FUNCTIONS
        for contender in CONTENDERS
    ]


def report(results: Mapping[str, Any], _: Plots) -> str:
    """A table of the passes, and one of new sizes."""
    rows = [["function", "contender", "compiles", "first pass", "second pass", "first / ours", "second / ours"]]
    new = [["function", "first call of a new size", "second call"]]
    for name in FUNCTIONS:
        ours = _minima(results, name, OURS)
        if not ours:
            continue
        new.append([name, *(f"{1e3 * ours[f'{which} call of a size']:.3f} ms" for which in ("first", "second"))])
        for contender in CONTENDERS:
            found = _minima(results, name, contender)
            if found:
                passes = [f"{1e3 * found[each]:.1f} ms" for each in ("first pass", "second pass")]
                ratios = [f"{found[each] / ours[each]:.2f}" for each in ("first pass", "second pass")]
                rows.append([name, contender, f"{found['compiles']:.0f}", *passes, *ratios])
    return (
        f"{SIZES} sizes. The first pass calls each size twice and includes all compiles, the second pass calls each "
        f"once.\n\n{table(rows)}\n\nTime above the run of a call with a new size that compiles nothing, the median of "
        f"{SIZES} sizes:\n\n{table(new)}"
    )


def _minima(results: Mapping[str, Any], name: str, contender: str) -> dict[str, float]:
    rounds = [result for step, result in results.items() if step.startswith(f"{name}, {contender}, round")]
    return {figure: min(each[figure] for each in rounds) for figure in (rounds[0] if rounds else ())}


BENCHMARK = Benchmark("dynamic", (__doc__ or "").splitlines()[0], steps, report)

if __name__ == "__main__":
    main(BENCHMARK)
