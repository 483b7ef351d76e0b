"""Sizes that change: 64 sizes of each function, compiles included and excluded, beside torch.compile.

Every contender runs in a process of its own with an empty cache; processes of different contenders alternate. The
sizes are drawn once, without repetition. Each is called twice in the first pass, which compiles, and once in the
second pass, which compiles nothing. Minima over the rounds.
"""

from __future__ import annotations

import itertools
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from benchmarks.harness.harness import Benchmark, Plots, Step, main, table
from benchmarks.harness.process import Process

OURS, STATIC, PEER, AUTOMATIC = "ttnn_jit", "ttnn_jit, dynamic=False", "torch.compile, dynamic=True", "torch.compile"
CONTENDERS = (OURS, STATIC, PEER, AUTOMATIC)
SIZES = 64
WIDTH, HEADS = 128, 4


def elementwise(ops: Any, x: Any, y: Any) -> Any:
    """Five elementwise operations."""
    return ops.multiply(ops.add(ops.exp(x), y), ops.tanh(ops.subtract(x, y)))


def softmax(ops: Any, x: Any) -> Any:
    """Of every row."""
    return ops.softmax(x, -1)


def product(ops: Any, x: Any, weight: Any) -> Any:
    """A product with a gelu."""
    return ops.gelu(ops.matmul(x, weight))


def mlp(ops: Any, x: Any, *weights: Any) -> Any:
    """Two products with a gelu in between, and a softmax."""
    wide, narrow = weights
    return ops.softmax(ops.matmul(ops.gelu(ops.matmul(x, wide)), narrow), -1)


def attention(ops: Any, x: Any, *weights: Any) -> Any:
    """Self-attention with its four products, over (batch, tokens, width)."""
    query, key, value, out = weights
    batch, tokens, width = x.shape
    split = [
        ops.permute(ops.reshape(ops.matmul(x, each), (batch, tokens, HEADS, width // HEADS)), (0, 2, 1, 3))
        for each in (query, key, value)
    ]
    scores = ops.multiply(ops.matmul(split[0], ops.permute(split[1], (0, 1, 3, 2))), (width // HEADS) ** -0.5)
    attended = ops.permute(ops.matmul(ops.softmax(scores, -1), split[2]), (0, 2, 1, 3))
    return ops.matmul(ops.reshape(attended, (batch, tokens, width)), out)


def transformer(ops: Any, x: Any, *weights: Any) -> Any:
    """Layers of a transformer without masks, eight weights each, over (batch, tokens, width)."""
    for first in range(0, len(weights), 8):
        query, key, value, out, wide, narrow, scale, shift = weights[first : first + 8]
        x = ops.add(x, attention(ops, ops.layer_norm(x, scale, shift), query, key, value, out))
        x = ops.add(x, ops.matmul(ops.gelu(ops.matmul(ops.layer_norm(x, scale, shift), wide)), narrow))
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


@dataclass(frozen=True)
class Program:
    """A function and its arguments.

    Attributes:
        function: The function, over a namespace of operations.
        weights: The shapes of its weights; of one extent, ones and zeros in turn.
        shape: The shape of its inputs, with 0 for the size.
        inputs: The number of its inputs.
        most: The bound of the sizes: rows of a batch, or tokens of a sequence.
        contenders: Which are measured.
    """

    function: Callable[..., Any]
    weights: tuple[tuple[int, ...], ...] = ()
    shape: tuple[int, ...] = (0, WIDTH)
    inputs: int = 1
    most: int = 2000
    contenders: Sequence[str] = (OURS,)

    def sizes(self) -> list[int]:
        """The sizes, drawn without repetition."""
        return random.Random(7).sample(range(2, self.most), SIZES)

    def tensors_of(self, size: int) -> list[Any]:
        """The inputs of a size."""
        import torch

        generator = torch.Generator().manual_seed(size)
        shape = [extent or size for extent in self.shape]
        return [torch.randn(shape, generator=generator) for _ in range(self.inputs)]

    def made_weights(self) -> list[Any]:
        """The weights."""
        import torch

        generator = torch.Generator().manual_seed(0)
        vectors = itertools.cycle((torch.ones, torch.zeros))
        return [
            next(vectors)(shape) if len(shape) == 1 else torch.randn(shape, generator=generator) * shape[0] ** -0.5
            for shape in self.weights
        ]


_SQUARES = ((WIDTH, WIDTH),) * 4
_WIDE, _NARROW = (WIDTH, 4 * WIDTH), (4 * WIDTH, WIDTH)
_LAYER = (*_SQUARES, _WIDE, _NARROW, (WIDTH,), (WIDTH,))
_TOKENS = (2, 0, WIDTH)

PROGRAMS: dict[str, Program] = {
    "elementwise": Program(elementwise, inputs=2, contenders=CONTENDERS),
    "MLP": Program(mlp, (_WIDE, _NARROW), contenders=CONTENDERS),
    "GPT of 2 layers": Program(transformer, _LAYER * 2, _TOKENS, most=160, contenders=CONTENDERS),
    "softmax": Program(softmax),
    "matmul + gelu": Program(product, (_WIDE,)),
    "attention block": Program(attention, _SQUARES, _TOKENS, most=160),
    "BERT of 12 layers": Program(transformer, _LAYER * 12, _TOKENS, most=160),
}


def measure(contender: str, name: str) -> dict[str, float]:
    """All figures of one contender and function, in this process."""
    import torch

    program = PROGRAMS[name]
    function, weights, sizes = program.function, program.made_weights(), program.sizes()
    inputs = {size: program.tensors_of(size) for size in sizes}
    with torch.inference_mode():
        compiled, compiles = _compiled(contender, function)
        first, second, third, pass_ = [], [], [], 0.0
        for size in sizes:
            for times in (first, second, third):
                start, start_of_thread = time.perf_counter(), time.thread_time()
                result = compiled(*inputs[size], *weights)
                times.append(time.thread_time() - start_of_thread)
                pass_ += time.perf_counter() - start if times is not third else 0.0
            expected = function(TorchOperations(), *inputs[size], *weights)
            assert torch.allclose(result, expected, atol=1e-3), f"{name} of size {size}"
        count = compiles()
        start = time.perf_counter()
        for size in sizes:
            compiled(*inputs[size], *weights)
        again = time.perf_counter() - start
        found = {"first pass": pass_, "second pass": again, "compiles": count}
        if contender == OURS:
            found["first call of a size"] = _above(first, third)
            found["second call of a size"] = _above(second, third)
        return found


def _above(calls: Sequence[float], runs: Sequence[float]) -> float:
    """The time of a call above the run of its size, the median of all sizes; most sizes compile nothing.

    It is the calling thread's time: other processes, which lengthen a run by more, do not count. The run is the third
    call of a size, which finds the memory as the first two do: the results of the call before are alive, and the
    inputs are not in the nearest cache.
    """
    return statistics.median(call - run for call, run in zip(calls, runs, strict=True))


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
    """The function without its first parameter."""
    if function is elementwise:
        return lambda x, y: elementwise(ops, x, y)
    return lambda x, *weights: function(ops, x, *weights)


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
        for name, program in PROGRAMS.items()
        for contender in program.contenders
    ]


def report(results: Mapping[str, Any], _: Plots) -> str:
    """A table of the passes, and one of new sizes."""
    rows = [["function", "contender", "compiles", "first pass", "second pass", "first / ours", "second / ours"]]
    new = [["function", "first call of a new size", "second call"]]
    for name, program in PROGRAMS.items():
        ours = _minima(results, name, OURS)
        if not ours:
            continue
        new.append([name, *(f"{1e3 * ours[f'{which} call of a size']:.3f} ms" for which in ("first", "second"))])
        for contender in program.contenders if len(program.contenders) > 1 else ():
            found = _minima(results, name, contender)
            if found:
                passes = [f"{1e3 * found[each]:.1f} ms" for each in ("first pass", "second pass")]
                ratios = [f"{found[each] / ours[each]:.2f}" for each in ("first pass", "second pass")]
                rows.append([name, contender, f"{found['compiles']:.0f}", *passes, *ratios])
    return (
        f"{SIZES} sizes. The first pass calls each size twice and includes all compiles, the second pass calls each "
        f"once.\n\n{table(rows)}\n\nThe calling thread's time above the run of a call with a new size that compiles "
        f"nothing, the median of {SIZES} sizes:\n\n{table(new)}"
    )


def _minima(results: Mapping[str, Any], name: str, contender: str) -> dict[str, float]:
    rounds = [result for step, result in results.items() if step.startswith(f"{name}, {contender}, round")]
    return {figure: min(each[figure] for each in rounds) for figure in (rounds[0] if rounds else ())}


BENCHMARK = Benchmark("dynamic", (__doc__ or "").splitlines()[0], steps, report)

if __name__ == "__main__":
    main(BENCHMARK)
