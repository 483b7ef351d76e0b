"""Values of options, and the parsers that take them."""

from __future__ import annotations

import argparse
import difflib
import math
from typing import Any, NoReturn

from ttnn_jit.diagnostics.errors import ArgumentError, TtnnJitError
from ttnn_jit.tools.option_values import argument_type
from ttnn_jit.tools.ttrt.option_declarations import ALL_PROGRAMS, CommandDeclaration, Option, ProgramNumber


class OneLineParser(argparse.ArgumentParser):
    """A parser that says in one line what is wrong with a command line, and exits with status 2."""

    def error(self, message: str) -> NoReturn:
        """Exits."""
        self.exit(2, f"{self.prog}: error: {message}; `{self.prog} --help` lists what there is\n")


def add_command(commands: Any, declaration: CommandDeclaration) -> argparse.ArgumentParser:
    """Gives the subparsers of argparse a command; returns its parser."""
    parser: argparse.ArgumentParser = commands.add_parser(
        declaration.name, help=declaration.summary, description=declaration.summary, allow_abbrev=False
    )
    for option in declaration.options:
        _add_option(parser, option)
    return parser


def value_of(option: Option, given: Any) -> Any:
    """The value of an option of the Python API or of the command line.

    Raises:
        ArgumentError: It takes no such value.
    """
    if option.kind is bool:
        if not isinstance(given, bool):
            raise ArgumentError(f"{option.name} is a switch, and takes True or False, got {given!r}")
        return given
    try:
        value = option.kind(str(given))
    except ValueError:
        kinds = {
            int: "a whole number",
            float: "a number",
            ProgramNumber: f"the number of a program, or {ALL_PROGRAMS}",
        }
        raise ArgumentError(f"{option.name} takes {kinds[option.kind]}, got {given!r}") from None
    if option.kind is float and math.isnan(value):
        raise ArgumentError(f"{option.name} takes a number, got {given!r}")
    if option.check is not None:
        try:
            option.check(value)
        except ArgumentError as error:
            raise ArgumentError(f"{option.name} {error.message}", help=error.help) from None
    if option.choices is None:
        return value
    chosen = value.strip().lower()
    if chosen not in option.choices:
        near = difflib.get_close_matches(chosen, option.choices, n=1)
        hint = f"did you mean {near[0]}?" if near else None
        raise ArgumentError(f"{option.name} takes one of {', '.join(option.choices)}, got {given!r}", help=hint)
    return chosen


def meaning_of(option: Option) -> str:
    """The help of an option: what it does, its default, and whether it does it here."""
    notes = []
    if option.without_effect:
        notes.append(f"no effect: {option.without_effect}")
    if option.refusal:
        notes.append(f"refused: {option.refusal}")
    if option.kind is not bool and option.default not in {"", None} and not option.refusal:
        notes.append(f"default: {option.default}")
    return option.meaning + "".join(f" ({note})" for note in notes)


def _add_option(parser: argparse.ArgumentParser, option: Option) -> None:
    text = meaning_of(option).replace("%", "%%")
    if option.kind is bool:
        parser.add_argument(option.name, action="store_const", const=True, help=text)
        return

    metavar = None if option.choices is None else "{" + ",".join(option.choices) + "}"
    read = argument_type(lambda given: value_of(option, given))
    parser.add_argument(option.name, type=read, metavar=metavar, help=text)


def one_line(error: BaseException) -> str:
    """The text of an error in one line, with what to do instead."""
    if isinstance(error, TtnnJitError):
        where = f"{error.location}: " if error.location else ""
        text = f"{where}{error.message}" + (f"; {error.help}" if error.help else "")
    elif isinstance(error, OSError):
        text = f"{error.filename}: {error.strerror}" if error.filename else str(error)
    else:
        text = f"{type(error).__name__}: {error}"
    return " ".join(text.split())
