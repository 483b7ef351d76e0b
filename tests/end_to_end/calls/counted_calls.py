"""The program whose instructions test_warm_instructions.py counts: warm calls of every kind, between signals."""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import sys
from collections.abc import Callable, Iterator

import torch

from tests.programs import add_tree_8_to_1
from ttnn_jit import jit, ttnn

MARK = signal.SIGUSR1
"""Signals that the program sends itself before and after the counted part."""
REFUSED = 77
"""The exit status if the system does not let a process trace another."""
WARMING = 100
"""Calls until Python has specialised every bytecode on the path."""


def warm_calls() -> Iterator[Callable[[], object]]:
    """Calls whose programs are in memory, of 1 and 8 inputs, of ttnn and torch tensors; and eager operations.

    Of these, one has been in a jitted function, which looks at the operation's attributes, and one has not.
    """
    device = ttnn.open_device(device_id=0)
    for function, inputs in ((ttnn.abs, 1), (add_tree_8_to_1, 8)):
        given = [torch.ones(32, 32) for _ in range(inputs)]
        held = [ttnn.from_torch(tensor, layout=ttnn.TILE_LAYOUT, device=device) for tensor in given]
        for tensors in (held, given):
            compiled = jit(wrapped(function, inputs))
            yield lambda compiled=compiled, tensors=tensors: compiled(*tensors)  # type: ignore[misc]
    x = ttnn.from_torch(torch.ones(32, 32), layout=ttnn.TILE_LAYOUT, device=device)
    for operation, *numbers in ((ttnn.abs,), (ttnn.neg,), (ttnn.multiply, 0.5)):
        yield lambda operation=operation, numbers=numbers: operation(x, *numbers)  # type: ignore[misc]


def wrapped(function: Callable[..., object], inputs: int) -> Callable[..., object]:
    """A user function that calls `function`."""

    def of_one(x: object) -> object:
        return function(x)

    return of_one if inputs == 1 else function


def main() -> None:
    """Every kind of call between two marks, starting with an empty call."""
    calls = [lambda: None, *warm_calls()]
    own = os.getpid()
    gc.disable()
    if ctypes.CDLL(None).ptrace(0, 0, None, None) != 0:  # PTRACE_TRACEME
        sys.exit(REFUSED)
    for call in calls:
        for _ in range(WARMING):
            call()
        os.kill(own, MARK)
        call()
        os.kill(own, MARK)


if __name__ == "__main__":
    main()
