"""The loops of routines (ops/families/routine.py), compiled by numba."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from ttnn_jit.ops import Routine
from ttnn_jit.ops.declared import DECLARED


def compiled(name: str, *elements: Callable[..., Any]) -> Callable[..., Any]:
    """The loop of a routine, callable from numba code.

    Args:
        name: The name of the routine in TTIR.
        elements: The arguments of its `loop`: a function from an element to a number, and one from a number to an
            element, or one that writes a row of elements.
    """
    (loop,) = (each.loop for each in DECLARED if isinstance(each, Routine) and each.ttir_name == name)
    return _compiled_loop(loop, *elements)


@cache
def _compiled_loop(loop: Callable[..., Callable[..., None]], *elements: Callable[..., Any]) -> Callable[..., Any]:
    from ttnn_jit.kernels.numba import scalar_math

    dispatcher: Callable[..., Any] = scalar_math.loop(loop(*elements))
    return dispatcher


def written_in_rows(load: Callable[[Any], Any], store: Callable[[Any], Any]) -> Callable[..., None]:
    """``write`` of a routine that writes rows (ops/families/routine.py), element by element and uncompiled."""

    def write(result, matrix, row, down, along, source, first, step, width):  # type: ignore[no-untyped-def]  # noqa: PLR0913, PLR0917 - as numba calls it
        for i in range(width):
            result[matrix + row * down + i * along] = store(load(source[first + i * step]))

    return write
