"""The cosh of the ttnn.jit document: parsed, fused into one kernel, run, checked against torch, run from the cache."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import ttnn_jit
from ttnn_jit import ttnn

CALLS = 300  # per time, which is that of the fastest call


@ttnn_jit.jit()
def cosh(input_tensor: ttnn.Tensor) -> Any:
    """The composite of the document."""
    e_pos_x = ttnn.exp(input_tensor)
    e_neg_x = ttnn.exp(ttnn.neg(input_tensor))
    nr_term = ttnn.add(e_pos_x, e_neg_x)
    return ttnn.multiply(nr_term, 0.5)


def main(_: argparse.Namespace) -> int:
    """Prints the IR, the report of fusion, the largest error and times; exit status 1 if the numbers are wrong."""
    import torch

    torch.manual_seed(0)
    data = torch.randn(256, 256, dtype=torch.bfloat16)
    device = ttnn.open_device(device_id=0)
    x = ttnn.from_torch(data, layout=ttnn.TILE_LAYOUT, device=device)

    print("TTNN IR\n")
    print(cosh.ir(x))
    print(cosh.explain(x), "\n")

    compiles = ttnn_jit.cache_info().compiles
    start = time.perf_counter()
    result = cosh(x)
    first = time.perf_counter() - start
    how = "compiled" if ttnn_jit.cache_info().compiles > compiles else "found on disk, compiled by an earlier run"
    reference = torch.cosh(data.double())
    error = ((result.to_torch().double() - reference).abs() / reference).max().item()
    # Each of the five ops rounds to bfloat16 (relative error 2^-9). exp(x) and exp(-x) are positive: errors add up.
    bound = 4 * 2**-8
    print(f"largest relative error against torch in float64   {error:.2e}  (bound {bound:.2e}: a rounding per op)")
    print(f"first call   {first * 1e3:9.3f} ms  ({how})")
    print(f"warm call    {_fastest_us(lambda: cosh(x)):9.3f} us  (the fastest of {CALLS})")

    def eager() -> torch.Tensor:
        return torch.mul(torch.add(torch.exp(data), torch.exp(torch.neg(data))), 0.5)

    threads = f"{torch.get_num_threads()} threads; ours uses one"
    print(f"eager torch  {_fastest_us(eager):9.3f} us  (the fastest of {CALLS}; {threads})")
    ttnn.close_device(device)
    return 0 if error <= bound else 1


def _fastest_us(function: Callable[[], Any]) -> float:
    """The time of the fastest call, the one with the least interference by other processes."""
    times = []
    for _ in range(CALLS):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times) * 1e6
