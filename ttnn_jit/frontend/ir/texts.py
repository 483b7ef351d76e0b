"""Files of one or several modules."""

from __future__ import annotations

import re
from collections.abc import Iterator

from xdsl.dialects.builtin import ModuleOp

from ttnn_jit.dialects.upstream.reading import parse_upstream, pieces_of
from ttnn_jit.dialects.verifier import InvalidModule

_COMMENT = re.compile(r"//.*")

MAX_TEXT_BYTES = 2**28
"""A larger text is refused before it is parsed."""


def parse_texts(text: str, name: str) -> list[ModuleOp]:
    """The modules with functions of a file, in order; errors give `name` as the file.

    Raises:
        InvalidModule: The text is no MLIR of tt-mlir's dialects.
    """
    if len(text) > MAX_TEXT_BYTES:
        raise InvalidModule(f"{name} has {len(text):,} characters, and at most {MAX_TEXT_BYTES:,} are read")
    return [
        module
        for lines, piece in pieces_of(text)
        if _COMMENT.sub("", piece).strip()
        for module in _modules_in(parse_upstream("\n" * lines + piece, name))
    ]


def _modules_in(module: ModuleOp) -> Iterator[ModuleOp]:
    """The innermost modules with functions."""
    nested = [op for op in module.body.block.ops if isinstance(op, ModuleOp)]
    inner = [
        each
        for op in module.body.block.ops
        for region in op.regions
        for block in region.blocks
        for each in block.ops
        if isinstance(each, ModuleOp)
    ]
    if not nested and not inner:
        yield module
    for each in (*nested, *inner):
        yield from _modules_in(each)
