"""The constants of a loop's body as values that are made in front of it.

LLVM hoists them by itself where it optimises. Where it takes text as it stands, a value of another block is what it
keeps in a register, and a constant it loads wherever one is used.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_ELEMENT = "float|i32|i16|i8"
_CONSTANT = re.compile(rf"splat \((?P<splat>{_ELEMENT}) (?P<number>[^\s)]+)\)|<(?P<table>{_ELEMENT}) [^>x]*>")
_NEEDS_CONSTANTS = re.compile(r" = (shl|lshr|ashr|shufflevector) ")
"""Instructions whose constants belong to them: distances of shifts are cheaper so, masks of shuffles nothing else."""
_ZERO = {"0", "0x0000000000000000"}  # made without memory


def hoisted(lines: Sequence[str], most: int) -> tuple[list[str], list[str]] | None:
    """Definitions of the constants of `lines`, and the lines with their values; None if there are more than `most`."""
    names: dict[str, str] = {}  # type and constant -> name

    def named(line: str) -> str:
        def value(constant: re.Match[str]) -> str:
            vector = _type_of(constant, line)
            if vector is None or constant["number"] in _ZERO:
                return constant[0]
            return names.setdefault(f"{vector} {constant[0]}", f"%constant{len(names)}")

        return _CONSTANT.sub(value, line)

    inside = []
    for line in lines:
        inside.append(line if _NEEDS_CONSTANTS.search(line) else named(line))
        if len(names) > most:
            return None
    # Any other instruction would be folded into a constant again.
    return [f"  {name} = freeze {constant}" for constant, name in names.items()], inside


def calls_functions(lines: Iterable[str]) -> bool:
    """Whether some lines call more than intrinsics: only an optimiser saves registers around rare calls alone."""
    return any(" call " in line and "@llvm." not in line for line in lines)


def _type_of(constant: re.Match[str], line: str) -> str | None:
    """The vector type, which a splat does not spell; None if it cannot be told from the line."""
    if element := constant["table"]:
        return f"<{constant[0].count(element)} x {element}>"
    types = set(re.findall(rf"<\d+ x {constant['splat']}>", line))
    return types.pop() if len(types) == 1 else None
