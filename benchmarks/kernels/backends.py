"""Both backends, and tile operations beside built-in ones, in one run: the table of docs/backends.md.

python -m benchmarks.kernels.backends
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch

import ttnn_jit
from benchmarks.harness.harness import command_line
from ttnn_jit import ttnn

ELEMENTS = 1 << 16  # in the second-level cache
ROUNDS = 7


@ttnn_jit.tile_op
def own_tanh(x: float) -> float:
    """The built-in, as a user writes it."""
    return math.tanh(x)


@ttnn_jit.tile_op
def scalar_tanh(x: float) -> float:
    """The same function with code that cannot be traced."""
    return math.tanh(x) + 0.0 * int(x)


def cosh(x: Any) -> Any:
    """The program of the ttnn.jit document."""
    return ttnn.multiply(ttnn.add(ttnn.exp(x), ttnn.exp(ttnn.neg(x))), 0.5)


def nanoseconds_per_element(functions: list[Callable[[Any], Any]], x: torch.Tensor) -> list[float]:
    """Median over rounds in which the functions take turns."""
    for function in functions:
        function(x)
    rounds: list[list[float]] = [[] for _ in functions]
    for _ in range(ROUNDS):
        for function, times in zip(functions, rounds, strict=True):
            start = time.perf_counter()
            for _ in range(20):
                function(x)
            times.append((time.perf_counter() - start) / 20 / x.numel() * 1e9)
    return [statistics.median(times) for times in rounds]


def main() -> None:
    """Prints the table."""
    command_line("backends").parse_args()
    torch.set_num_threads(1)
    print("ns per element, medians, one thread")
    print("| program | dtype | backend ttnn | backend numba | numba / ttnn |")
    print("|---|---|---|---|---|")
    programs = {
        "add": lambda x: ttnn.add(x, x),
        "tanh": lambda x: ttnn.tanh(x),  # noqa: PLW0108 - jit takes a Python function
        "tile_op tanh, traced": lambda x: own_tanh(x),  # noqa: PLW0108 - jit takes a Python function
        "tile_op tanh, not traced": lambda x: scalar_tanh(x),  # noqa: PLW0108 - jit takes a Python function
        "cosh": cosh,
    }
    for dtype in (torch.float32, torch.bfloat16):
        x = torch.randn(ELEMENTS).to(dtype)
        for name, program in programs.items():
            pair = [ttnn_jit.jit(backend=backend)(program) for backend in ("ttnn", "numba")]
            ours, theirs = nanoseconds_per_element(pair, x)
            print(f"| {name} | {str(dtype)[6:]} | {ours:.3f} | {theirs:.3f} | {theirs / ours:.1f} |")


if __name__ == "__main__":
    main()
