"""Text to module: everything that the printer writes, and what mlir-opt writes beside it."""

from __future__ import annotations

import re

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError, VerifyException

from ttnn_jit.dialects.verifier import InvalidModule
from ttnn_jit.source import Location

# mlir-opt defines the aliases of op locations after the module that uses them; xDSL wants them before.
_LOCATION_ALIAS = re.compile(r"^#[A-Za-z_][\w$.-]*[ \t]*=[ \t]*loc\(.*\)[ \t]*$", re.MULTILINE)


def hoist_location_aliases(text: str) -> str:
    """`text` with the definitions of location aliases in front, on its first line: other line numbers stay."""
    aliases = " ".join(match.group().strip() for match in _LOCATION_ALIAS.finditer(text))
    return f"{aliases} {_LOCATION_ALIAS.sub('', text)}" if aliases else text


class _TextParser(Parser):
    """xDSL's parser, but a string may hold more than ASCII: mlir-opt writes such letters as escaped UTF-8."""

    def parse_optional_str_literal(self) -> str | None:
        """The string at the parser's place, if there is one."""
        text = super().parse_optional_str_literal()
        if text is not None:
            return text
        position = self.pos
        raw = self.parse_optional_bytes_literal()
        if raw is None:
            return None
        try:
            return raw.decode()
        except UnicodeDecodeError:
            self.raise_error("a string is UTF-8", position)


def parse_module_text(text: str, name: str, context: Context) -> ModuleOp:
    """The module that `text` spells.

    Raises:
        InvalidModule: The text is not MLIR of the context's dialects.
    """
    try:
        return _TextParser(context, hoist_location_aliases(text), name).parse_module()
    except ParseError as error:
        place = error.span.get_location()
        raise InvalidModule(error.msg, location=Location(name, place.line, place.col)) from error
    except VerifyException as error:
        raise InvalidModule(str(error), location=Location(name, 1)) from error
