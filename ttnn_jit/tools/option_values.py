"""Values of options that are checked with the command line, before any file is read.

A check raises `ArgumentError`, whose message goes on behind the name of the option. `argument_type` makes a type of
argparse of it: the command then says its own usage and what is wrong, and exits with status 2.
"""

from __future__ import annotations

import argparse
import difflib
import math
import re
from collections.abc import Callable, Iterable
from typing import TypeVar

from ttnn_jit.diagnostics.errors import ArgumentError

Value = TypeVar("Value")
MAX_DEVICES = 64
"""A larger mesh is refused: every device is a part of one program."""
_MESH = re.compile(r"[1-9]\d{0,8}(x[1-9]\d{0,8})?")
_RENDEZVOUS = re.compile(r"[^:\s]+:\d{1,5}")


def argument_type(check: Callable[[str], Value]) -> Callable[[str], Value]:
    """The `type` of an argument of argparse whose values `check` reads."""

    def read(text: str) -> Value:
        try:
            return check(text)
        except ArgumentError as error:
            raise argparse.ArgumentTypeError(error.message + (f"; {error.help}" if error.help else "")) from None

    return read


def one_of(text: str, known: Iterable[str], what: str) -> str:
    """The value, which is one of a few.

    Raises:
        ArgumentError: It is not. The help names what is spelled alike, or all.
    """
    names = [*known]
    if text in names:
        return text
    near = difflib.get_close_matches(text, names, n=2) or [each for each in names if text and each.startswith(text)]
    hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(names)}"
    raise ArgumentError(f"names an unknown {what}, {text!r}", help=hint)


def target_name(text: str) -> str:
    """The name of a preset.

    Raises:
        ArgumentError: There is no such preset.
    """
    from ttnn_jit.specs.target import PRESETS, SYSTEMS

    return one_of(text, [*PRESETS, *SYSTEMS], "target")


def mesh_extents(text: str) -> tuple[int, ...]:
    """The extents of a mesh that a text such as ``2x4`` names.

    Raises:
        ArgumentError: It names none, or more devices than are run.
    """
    if not _MESH.fullmatch(text):
        raise ArgumentError(f"takes extents such as 2x4, got {text!r}", help="`--mesh 1x2` has two devices")
    extents = tuple(map(int, text.split("x")))
    return bounded_mesh(extents)


def mesh_text(text: str) -> str:
    """A text such as ``2x4``, when it names the extents of a mesh.

    Raises:
        ArgumentError: It does not.
    """
    mesh_extents(text)
    return text


def bounded_mesh(extents: tuple[int, ...]) -> tuple[int, ...]:
    """The extents, when they are positive and there are as many devices as can be run.

    Raises:
        ArgumentError: An extent is not positive, or there are more devices.
    """
    if min(extents, default=1) < 1:
        raise ArgumentError(f"a mesh has positive extents, and the text says {'x'.join(map(str, extents))}")
    if math.prod(extents) > MAX_DEVICES:
        raise ArgumentError(f"the mesh has {math.prod(extents)} devices, and at most {MAX_DEVICES} are run")
    return extents


def positive_number(text: str) -> int:
    """A whole number of at least 1.

    Raises:
        ArgumentError: The text is none.
    """
    if not re.fullmatch(r"0*[1-9]\d{0,8}", text):
        raise ArgumentError(f"takes a whole number of at least 1, got {text!r}", help="1 is the default")
    return int(text)


def rendezvous(text: str) -> str:
    """A text of the form ``HOST:PORT``, or an empty one, which names no place.

    Raises:
        ArgumentError: It has another form.
    """
    if text and not _RENDEZVOUS.fullmatch(text):
        raise ArgumentError(f"takes HOST:PORT, got {text!r}", help="such as 10.0.0.1:29500")
    return text


def emitted_stage(text: str) -> str:
    """The name of a stage behind the passes, whose text `--emit` writes.

    Raises:
        ArgumentError: There is no such stage.
    """
    from ttnn_jit.compiler import driver

    stages = driver.stages()
    return one_of(text, (*stages[stages.index(driver.HOST) :], *driver.CHIP_STAGES), "stage to emit")


def stage_name(text: str) -> str:
    """The name of a stage of a compile.

    Raises:
        ArgumentError: There is no such stage.
    """
    from ttnn_jit.compiler import driver

    return one_of(text, driver.stages(), "stage")
