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
    from numba import njit

    (loop,) = (each.loop for each in DECLARED if isinstance(each, Routine) and each.ttir_name == name)
    dispatcher: Callable[..., Any] = njit(error_model="numpy", boundscheck=False)(loop(load, store))
    return dispatcher
