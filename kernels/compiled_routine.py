"""The loops of routines (ops/routine.py), as numba compiles them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ttnn_jit.ops import Routine
from ttnn_jit.ops.declared import DECLARED


def compiled(name: str, load: Callable[..., Any], store: Callable[..., Any]) -> Callable[..., Any]:
    """The loop of the routine of that name in TTIR, for numba's code to call.

    Args:
        name: The routine's.
        load: Makes a number of an element.
        store: Makes an element of a number.
    """
    from ttnn_jit.kernels import scalar_math

    (loop,) = (each.loop for each in DECLARED if isinstance(each, Routine) and each.ttir_name == name)
    dispatcher: Callable[..., Any] = scalar_math.loop(loop(load, store))
    return dispatcher
