"""Locations of operations, which a binary holds as texts."""

from __future__ import annotations

from functools import lru_cache

from xdsl.dialects.builtin import LocationAttr, UnknownLoc
from xdsl.utils.exceptions import ParseError, VerifyException

from ttnn_jit.dialects.text.parsing import SourceText
from ttnn_jit.dialects.upstream.context import UpstreamContext
from ttnn_jit.dialects.upstream.upstream_parser import UpstreamParser

MAX_CHARACTERS = 4096
MAX_DEPTH = 64
"""Locations that are longer or deeper are unknown ones: nothing is computed of them."""


@lru_cache(maxsize=4096)
def location_of_text(text: str) -> LocationAttr:
    """The location of a text such as ``loc("model.py":3:5)``; unknown if it is none."""
    if len(text) > MAX_CHARACTERS or text.count("(") > MAX_DEPTH:
        return UnknownLoc()
    try:
        parser = UpstreamParser(UpstreamContext.make(), SourceText(text, "<location>"), keep_bodies=False)
        return parser.parse_optional_location() or UnknownLoc()
    except (ParseError, ValueError, VerifyException):
        return UnknownLoc()
