"""The effect of a target's numerics on exp(cosh(x)): the table of docs/numerics.md.

python -m benchmarks.kernels.numerics
"""

from __future__ import annotations

from typing import Any

import torch

import ttnn_jit
from benchmarks.harness.harness import command_line
from ttnn_jit import ttnn
from ttnn_jit.testing import ulp_distance


def exp_cosh(x: Any) -> Any:
    """exp(cosh(x)) as five calls."""
    return ttnn.exp(ttnn.multiply(ttnn.add(ttnn.exp(x), ttnn.exp(ttnn.neg(x))), 0.5))


def bfloat16_inputs() -> torch.Tensor:
    """Every bfloat16 of [-5, 5] that is a multiple of 2**-8, padded to whole tiles by repeating the last."""
    every = torch.arange(-5 * 256, 5 * 256 + 1).div(256).to(torch.bfloat16).unique()
    return torch.cat([every, every[-1:].expand(-len(every) % 1024)]).reshape(-1, 32)


def main() -> None:
    """Prints the table."""
    command_line("numerics").parse_args()
    x = bfloat16_inputs()
    exact = torch.exp(torch.cosh(x.double()))
    print(f"{x.unique().numel()} inputs, exp(cosh(x)) in bfloat16 against float64")
    print(
        "| target | `fp32_dest_acc` | largest relative error | largest error, ulp | mean error, ulp | equal to eager |"
    )
    print("|---|---|---|---|---|---|")
    for target in ("wormhole_b0", "cpu"):
        with_device = ttnn.open_device(device_id=0, target=target)
        tensor = ttnn.from_torch(x, layout=ttnn.TILE_LAYOUT, device=with_device)
        eager = exp_cosh(tensor).to_torch()
        for flag in (False, True):
            result = ttnn_jit.jit(fp32_dest_acc=flag)(exp_cosh)(tensor).to_torch()
            relative = ((result.double() - exact) / exact).abs().max().item()
            ulp = ulp_distance(result, exact)
            same = (result == eager).double().mean().item()
            print(f"| {target} | {flag} | {relative:.2%} | {ulp.max():.2f} | {ulp.mean():.2f} | {same:.1%} |")
        ttnn.close_device(with_device)


if __name__ == "__main__":
    main()
