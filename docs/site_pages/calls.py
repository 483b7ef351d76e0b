"""A call through the rooms: which room calls which, recorded by Python's profiler for the example of the README."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import torch

import ttnn_jit
from docs.site_pages import pictures, rooms
from ttnn_jit import ttnn

PACKAGE = Path(ttnn_jit.__file__).parent
WARM_UP = 3
"""Calls until a function is called by its fast path."""
USER, NATIVE = "your code", "native functions"


@dataclass
class Entry:
    """A function call from one room into another.

    Attributes:
        caller: The room that calls.
        room: The room that is called.
        function: Its file and name.
        begin: The number of the call in the order of all calls.
        calls: The number of calls within it, of functions of the package.
    """

    caller: str
    room: str
    function: str
    begin: int
    calls: int = 0


def cosh(x: Any) -> Any:
    """The example of the README."""
    return ttnn.multiply(ttnn.add(ttnn.exp(x), ttnn.exp(ttnn.neg(x))), 0.5)


def sinh(x: Any) -> Any:
    """Another program, whose compile does all imports of a compile."""
    return ttnn.multiply(ttnn.subtract(ttnn.exp(x), ttnn.exp(ttnn.neg(x))), 0.5)


def entries_of(call: Callable[[], object]) -> list[Entry]:
    """The call with the most work into every room from another one, in the order of the calls."""
    found: dict[str, Entry] = {}
    open_calls: list[Entry | None] = []
    count = 0

    def see(frame: FrameType, event: str, _: object) -> None:
        nonlocal count
        if event == "call":
            count += 1
            room = _room_of(frame)
            caller = _caller_of(frame) if room else ""
            is_entry = room and caller != room and frame.f_code.co_name != "<module>"
            open_calls.append(Entry(caller, str(room), _name_of(frame), count) if is_entry else None)
        elif event == "return" and open_calls and (entry := open_calls.pop()):
            entry.calls = count - entry.begin
            if entry.room not in found or found[entry.room].calls < entry.calls:
                found[entry.room] = entry

    sys.setprofile(see)
    try:
        call()
    finally:
        sys.setprofile(None)
    return sorted(found.values(), key=lambda entry: entry.begin)


def warm_steps_of(call: Callable[[], object]) -> list[tuple[str, str, str]]:
    """Every call within a warm call: caller, callee, and function; each piece of generated code is a file."""
    found: list[tuple[str, str, str]] = []

    def see(frame: FrameType, event: str, function: Any) -> None:
        file = frame.f_code.co_filename
        own = file.removeprefix("<ttnn_jit ").removesuffix(">")
        if own == file:
            return  # the caller's own
        if event == "call":
            above = frame.f_back.f_code.co_filename if frame.f_back else ""
            caller = above.removeprefix("<ttnn_jit ").removesuffix(">")
            found.append((caller if caller != above else USER, own, frame.f_code.co_name))
        elif event == "c_call":
            found.append((own, NATIVE, function.__name__))

    sys.setprofile(see)
    try:
        call()
    finally:
        sys.setprofile(None)
    return found


def _room_of(frame: FrameType) -> str | None:
    path = Path(frame.f_code.co_filename)
    if not path.is_relative_to(PACKAGE):
        return None
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def _caller_of(frame: FrameType) -> str:
    above = frame.f_back
    while above is not None:
        if room := _room_of(above):
            return room
        above = above.f_back
    return USER


def _name_of(frame: FrameType) -> str:
    path = Path(frame.f_code.co_filename)
    file = path.parent.name if path.stem == "__init__" else path.stem
    return f"{file}.{frame.f_code.co_qualname}".replace(".<locals>", "")


def page() -> str:
    """A first call and a warm one."""
    return "\n".join(_page(*first_and_warm()))


def first_and_warm() -> tuple[list[Entry], list[tuple[str, str, str]]]:
    """The entries of a first call, and the calls of a warm one.

    Raises:
        RuntimeError: The warm call enters a room.
    """
    x = torch.randn(64, 64)
    ttnn_jit.jit()(sinh)(x)
    jitted = ttnn_jit.jit()(cosh)
    first = entries_of(lambda: jitted(x))
    for _ in range(WARM_UP):
        jitted(x)
    if entered := entries_of(lambda: jitted(x)):
        raise RuntimeError(f"a warm call enters {entered[0].room}")
    return first, warm_steps_of(lambda: jitted(x))


def _page(first: list[Entry], warm: list[tuple[str, str, str]]) -> Iterator[str]:
    yield "# A call through the rooms\n"
    yield (
        "Two calls of one function with torch tensors, recorded by Python's profiler when this page was built.\n\n"
        "## The first call compiles\n\n"
        "Each arrow is the call with the most work into a room from another one, with the file and the name of the "
        "function. Rooms are ordered from the top of the [order of imports](../architecture.md), on the left, to its "
        "bottom, on the right.\n"
    )
    entered = {name for entry in first for name in (entry.caller, entry.room)}
    columns = [name for name in (USER, *(room for row in rooms.layers() for room in row)) if name in entered]
    yield _shown(columns, [(entry.caller, entry.room, entry.function) for entry in first], "the first call")
    yield (
        "## A warm call\n\n"
        "It enters no room: only functions that were generated for the program, and native functions, run. "
        "`TensorGuards.check` compares metadata, as `torch.compile` does, and `ttnn_jit_call` is the program with all "
        "its kernels. "
        "[Architecture](../architecture.md) names the files that generate these functions.\n"
    )
    yield _shown(
        [*dict.fromkeys(name for step in warm for name in step[:2] if name != NATIVE), NATIVE], warm, "a warm call"
    )


def _shown(columns: list[str], steps: list[tuple[str, str, str]], title: str) -> str:
    return f"```{{raw}} html\n{pictures.sequence(columns, steps, title)}\n```\n"
