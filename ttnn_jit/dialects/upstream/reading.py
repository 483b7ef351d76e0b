"""Reads upstream texts: the entry of this folder."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NoReturn

from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import ParseError

from ttnn_jit.dialects.spelling.text_scan import scan
from ttnn_jit.dialects.text.parsing import SourceText, UnknownOperationError
from ttnn_jit.dialects.upstream.context import UpstreamContext
from ttnn_jit.dialects.upstream.upstream_parser import UpstreamParser
from ttnn_jit.dialects.verifier import InvalidModule
from ttnn_jit.process.compile_lock import alone
from ttnn_jit.process.dataclass import dataclass

_SPLIT = re.compile(r"^[ \t]*// -----[ \t]*$", re.MULTILINE)


@dataclass(frozen=True)
class Reading:
    """A module that was read.

    Attributes:
        module: The module.
        kept: Names of attributes and types whose body could not be parsed and was kept as it is, in order.
        resources: Dialect and name -> the hexadecimal text of a resource, as ``dense_resource<name>`` refers to it.
    """

    module: ModuleOp
    kept: tuple[str, ...]
    resources: Mapping[tuple[str, str], str]


def parse_upstream(text: str, name: str = "<string>", *, allow_unregistered: bool = False) -> ModuleOp:
    """The module of a text in the syntax of tt-mlir, StableHLO or Shardy, of December 2025 or August 2026.

    Operations that this compiler declares have their declared class (`ttir.add` is the class of `dialects/ttir.py`);
    all others have a class of `table_operations.py`, whose `named_operands` and `named_results` give operands and
    results by name. An attribute or type is likewise of the declared class if that takes its text, else of a class of
    `table_attributes.py`, whose `value("parameter")` gives its parameters. ``dense<1.0> : tensor<...>`` is an
    `upstream_parser.SplatElementsAttr`: it holds one element. Nothing is verified; properties are as the text gives
    them, and a property that has a default may be absent.

    Args:
        text: One module, or operations without a module around them. `pieces_of` splits a file of several.
        name: The file that error messages name.
        allow_unregistered: Whether operations, attributes and types that no dialect here has are accepted.

    Raises:
        InvalidModule: The text is not MLIR, or an operation, an attribute or a type is unknown or has another syntax.
    """
    return read_upstream(text, name, allow_unregistered=allow_unregistered).module


@alone
def read_upstream(
    text: str, name: str = "<string>", *, allow_unregistered: bool = False, keep_bodies: bool = False
) -> Reading:
    """The module of a text, as `parse_upstream` gives it, and what was kept.

    Args:
        text: The text of a module.
        name: The file that error messages name.
        allow_unregistered: Whether unknown operations, attributes and types are accepted.
        keep_bodies: Whether an attribute or type of a known name whose body cannot be parsed is kept as it is.

    Raises:
        InvalidModule: As `parse_upstream` does.
    """
    source = SourceText(text, name)

    def refuse(reason: str, offset: int) -> NoReturn:
        raise InvalidModule(reason, location=source.location_in_text(offset))

    scan(text, refuse)
    context = UpstreamContext.make(allow_unregistered=allow_unregistered)
    try:
        parser = UpstreamParser(context, source, keep_bodies=keep_bodies)
        return Reading(parser.module(), tuple(parser.kept), parser.resources)
    except ParseError as error:
        help_text = error.help if isinstance(error, UnknownOperationError) else None
        location = source.span(error.span.start, error.span.end)
        if (portable := _PORTABLE.search(text)) is not None:
            location = source.span(portable.start(1), portable.end(1))
            raise InvalidModule(OF_VHLO.format(portable[1]), location=location, help=VHLO_HELP) from error
        raise InvalidModule(_in_words_of_mlir(error.msg), location=location, help=help_text) from error


_PORTABLE = re.compile(r'^\s*(?:%[\w, :%]+= )?"?(vhlo\.\w+)', re.MULTILINE)
OF_VHLO = "`{}` is of VHLO, the portable form of StableHLO"
VHLO_HELP = "`stablehlo-opt --vhlo-legalize-to-stablehlo` writes it as StableHLO"


def _in_words_of_mlir(message: str) -> str:
    """A message of xDSL's parser as MLIR's says it: ``expected '='``."""
    message = re.sub(r"^('[^']+') expected\b", r"expected \1", message.strip())
    message = re.sub(r"^in block definition$", "expected an operation or '}'", message)
    return re.sub(r"^Expected (?=')", "expected ", message)


def pieces_of(text: str) -> Iterator[tuple[int, str]]:
    """The parts of a file between lines ``// -----``, each with the number of lines before it."""
    start = lines = 0
    for mark in _SPLIT.finditer(text):
        piece = text[start : mark.start()]
        yield lines, piece
        lines += piece.count("\n")
        start = mark.start()
    yield lines, text[start:]
