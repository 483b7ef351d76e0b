"""The program that test_warm_instructions.py runs under callgrind: warm calls, the counts of each kind in a file."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterator

import torch

from tests.programs import add_tree_8_to_1
from ttnn_jit import jit, ttnn

CALLS = 200
ZEROED_BY, DUMPED_BY = "getpriority", "getsid"
"""Functions of libc before which callgrind forgets and writes its counts: no process of its own has to ask for that."""


def warm_calls() -> Iterator[Callable[[], object]]:
    """Calls whose programs are in memory, of 1 and 8 inputs, of ttnn tensors and of torch's; and eager operations.

    Of these, one has been in a jitted function, which looks at the operation's attributes, and one has not.
    """
    device = ttnn.open_device(device_id=0)
    for function, inputs in ((ttnn.abs, 1), (add_tree_8_to_1, 8)):
        given = [torch.ones(32, 32) for _ in range(inputs)]
        held = [ttnn.from_torch(tensor, layout=ttnn.TILE_LAYOUT, device=device) for tensor in given]
        for tensors in (held, given):
            compiled = jit(wrapped(function, inputs))
            for _ in range(5):
                compiled(*tensors)
            yield lambda compiled=compiled, tensors=tensors: compiled(*tensors)  # type: ignore[misc]
    x = ttnn.from_torch(torch.ones(32, 32), layout=ttnn.TILE_LAYOUT, device=device)
    for operation, *numbers in ((ttnn.abs,), (ttnn.neg,), (ttnn.multiply, 0.5)):
        for _ in range(5):
            operation(x, *numbers)
        yield lambda operation=operation, numbers=numbers: operation(x, *numbers)  # type: ignore[misc]


def wrapped(function: Callable[..., object], inputs: int) -> Callable[..., object]:
    """A function of the user's that calls `function`."""

    def of_one(x: object) -> object:
        return function(x)

    return of_one if inputs == 1 else function


def control(*arguments: str) -> None:
    """Have callgrind obey; it answers while this process runs."""
    command = subprocess.Popen(["callgrind_control", *arguments, str(os.getpid())], stdout=subprocess.DEVNULL)
    while command.poll() is None:
        time.sleep(0.01)
    assert command.returncode == 0


def main() -> None:
    calls = list(warm_calls())
    control("--instr=on")
    for call in (lambda: None, *calls):
        os.getpriority(os.PRIO_PROCESS, 0)  # ZEROED_BY
        for _ in range(CALLS):
            call()
        os.getsid(0)  # DUMPED_BY


if __name__ == "__main__":
    main()
