"""Whether torch's automatic mixed precision is on, which compiled functions ignore."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache, partial

CAST_HELP = (
    "a compiled function computes in the element types of its tensors: cast them before the call, "
    "`x.to(torch.bfloat16)`, or inside, `ttnn.typecast(x, ttnn.bfloat16)`"
)


@cache
def autocast_query() -> Callable[[], bool]:
    """A function that returns whether ``torch.autocast`` is on for the CPU; torch must be loaded."""
    import torch

    try:
        torch.is_autocast_enabled("cpu")
    except TypeError:  # torch before 2.4 has a function for each device
        return torch.is_autocast_cpu_enabled
    return partial(torch.is_autocast_enabled, "cpu")


def autocast_is_on() -> bool:
    """Whether ``torch.autocast`` is on for the CPU now."""
    return "torch" in sys.modules and autocast_query()()
