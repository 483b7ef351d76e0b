"""A linear scan of a text before xDSL parses it.

xDSL's lexer backtracks exponentially over an unterminated string and accepts letters and digits of any script. Its
parser recurses once per bracket.
"""

from __future__ import annotations

import re
from collections.abc import Callable

MAX_NESTING = 64  # brackets: xDSL takes up to ten of Python's 1,000 frames for each
MAX_DIGITS = 400  # a float64 has up to 309 before the point; Python converts no more than 4,300

_MARK = re.compile(
    r"""
    (?P<passed> "(?:[^"\\\n\v\f]|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*+" | //[^\n]* | -> )
    | (?P<quote> ")
    | (?P<opened> [(\[{<])
    | (?P<closed> [)\]}>])
    | (?P<digits> [0-9]+)
    | (?P<other> [^\x00-\x7f])
    """,
    re.VERBOSE,
)

Refuse = Callable[[str, int], None]
"""Raises an error of this message for the text from this offset on."""


def scan(text: str, refuse: Refuse) -> None:
    """Calls `refuse` at the first unterminated string, non-ASCII character, too deep bracket or too long number."""
    depth = 0
    for mark in _MARK.finditer(text):
        match mark.lastgroup:
            case "quote":
                refuse(
                    "this string is not closed on its line, or holds an escape that MLIR does not know", mark.start()
                )
            case "other":
                refuse(f"outside strings and comments MLIR is ASCII, got {mark.group()!r}", mark.start())
            case "digits" if mark.end() - mark.start() > MAX_DIGITS:
                refuse(f"a number has at most {MAX_DIGITS} digits", mark.start())
            case "opened":
                depth += 1
                if depth > MAX_NESTING:
                    refuse(f"brackets are nested more than {MAX_NESTING} deep", mark.start())
            case "closed":
                depth = max(0, depth - 1)  # the > of a comparison closes nothing
