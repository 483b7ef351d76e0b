"""Files of one or several modules."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ttnn_jit.dialects import context
from ttnn_jit.dialects.text.parsing import parse_module_text

MAX_TEXT_BYTES = 2**28
"""A larger text is refused before it is parsed."""

_SEPARATOR = re.compile(r"^// -----.*$", re.MULTILINE)
"""Between the modules of a file, as ``-split-input-file`` splits it."""


def parse_texts(text: str, name: str) -> list[ModuleOp]:
    """The modules of a file, in order; errors give `name` as the file.

    Raises:
        InvalidModule: The text is no MLIR.
    """
    return [
        module
        for piece in _pieces(text)
        for module in _modules_in(parse_module_text(piece, name, _context()))
        if piece.strip()
    ]


def _pieces(text: str) -> Iterator[str]:
    """The text of each module, after as many empty lines as there are lines before it."""
    begin = 0
    for match in [*_SEPARATOR.finditer(text), None]:
        piece = text[begin : match.start() if match else len(text)]
        if re.sub(r"//.*", "", piece).strip():
            yield "\n" * text.count("\n", 0, begin) + piece
        if match:
            begin = match.end()


@cache
def _context() -> Context:
    """The dialects of this package, and every other operation, attribute and type as they are written."""
    shared = context()
    accepting = type(shared)(allow_unregistered=True)
    for dialect in shared.loaded_dialects:
        accepting.load_dialect(dialect)
    return accepting


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
