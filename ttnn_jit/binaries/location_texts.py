"""Locations of operations in binaries, which are texts."""

from __future__ import annotations

from functools import cache

from xdsl.dialects.builtin import LocationAttr, NameLoc, StringAttr
from xdsl.utils.exceptions import ParseError

from ttnn_jit.diagnostics.errors import TtnnJitError
from ttnn_jit.dialects.locations import UNKNOWN
from ttnn_jit.dialects.text.parsing import SourceText
from ttnn_jit.dialects.upstream.context import UpstreamContext
from ttnn_jit.dialects.upstream.upstream_parser import UpstreamParser


@cache
def location_of_text(text: str) -> LocationAttr:
    """The location of ``loc("...")``; a text that is no location is the name of one."""
    if not text:
        return UNKNOWN
    parser = UpstreamParser(UpstreamContext.make(), SourceText(text, "<location>"), keep_bodies=False)
    try:
        found = parser.parse_optional_location()
    except (ParseError, TtnnJitError, ValueError):
        found = None
    return NameLoc(StringAttr(text), UNKNOWN) if found is None else found
