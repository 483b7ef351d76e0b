"""What a text must be before it is parsed, seen in one pass that takes time in proportion to its length.

xDSL's lexer backtracks exponentially over a string that is not closed, takes letters and digits of any script, and its
parser calls itself once per bracket.
"""

from __future__ import annotations

import re
from collections.abc import Callable

MOST_NESTED = 64  # brackets: xDSL takes up to ten of Python's 1,000 frames for each
MOST_DIGITS = 400  # a float64 has up to 309 before the point; Python converts no more than 4,300

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
    """Has `refuse` raise at the first string that is not closed, character beyond ASCII, bracket or number too many."""
    depth = 0
    for mark in _MARK.finditer(text):
        match mark.lastgroup:
            case "quote":
                refuse(
                    "this string is not closed on its line, or holds an escape that MLIR does not know", mark.start()
                )
            case "other":
                refuse(f"outside strings and comments MLIR is ASCII, got {mark.group()!r}", mark.start())
            case "digits" if mark.end() - mark.start() > MOST_DIGITS:
                refuse(f"a number has at most {MOST_DIGITS} digits", mark.start())
            case "opened":
                depth += 1
                if depth > MOST_NESTED:
                    refuse(f"brackets are nested more than {MOST_NESTED} deep", mark.start())
            case "closed":
                depth = max(0, depth - 1)  # the > of a comparison closes nothing
