"""The command line of ``opt``: options of mlir-opt, and an option for each pass, in order."""

from __future__ import annotations

import argparse
import difflib
import re
import shlex
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import NoReturn

from ttnn_jit import __version__
from ttnn_jit.tools.option_values import argument_type, emitted_stage

USAGE_STATUS = 2

ALL_DIAGNOSTICS, EXPECTED_DIAGNOSTICS = "all", "only-expected"
"""Values of ``--verify-diagnostics``: which errors are compared."""


class UsageError(Exception):
    """The command line is wrong; the text shows the argument."""


class _Parser(argparse.ArgumentParser):
    """Raises instead of exiting."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(message)


def output_file(text: str) -> Path | None:
    """The file that ``-o`` names; None for ``-``, which is standard output."""
    return None if text == "-" else Path(text)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds every option but those of passes, which `parse` adds."""
    parser.add_argument("file", nargs="?", default="-", help="an .mlir file; `-` or nothing reads standard input")
    parser.add_argument(
        "-o", "--output", type=output_file, help="file for the result; `-` or nothing writes standard output"
    )
    _add_pipeline_options(parser)
    _add_printing_options(parser)
    parser.add_argument("--split-input-file", action="store_true", help="process the parts between `// -----` alone")
    parser.add_argument(
        "--verify-diagnostics",
        nargs="?",
        const=ALL_DIAGNOSTICS,
        choices=(ALL_DIAGNOSTICS, EXPECTED_DIAGNOSTICS),
        help="check `expected-error@line {{text}}`; =only-expected: other errors may be",
    )
    parser.add_argument(
        "--allow-unregistered-dialect", action="store_true", help="accept operations and attributes that are unknown"
    )
    parser.add_argument(
        "--keep-bodies", action="store_true", help="keep a body of an attribute that does not parse, and say so"
    )
    parser.add_argument(
        "--emit",
        type=argument_type(emitted_stage),
        metavar="STAGE",
        help="write the text of `host`, `codegen`, `assembly`, `ttkernel` or `ttmetal` instead",
    )
    parser.add_argument("--entry", metavar="NAME", help="the entry point of a module that has several")
    parser.add_argument("--load", action="append", type=Path, default=[], help="a Python file with passes")
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    parser.add_argument("--list", action="store_true", help="list the stages, and the passes of `--load`, and exit")
    parser.add_argument(
        "--show-dialects", action="store_true", help="list the dialects whose operations are read, and exit"
    )
    parser.add_argument("--write", type=Path, help="renew the list of stages in this Markdown file, and exit")


def _add_pipeline_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-p",
        "--passes",
        action="append",
        default=[],
        help="stages in order, `a,b{option=value},c`; `all` for every one; each is an option: `--a --b=option=value`",
    )
    parser.add_argument("--pass-pipeline", metavar="TEXT", help="`builtin.module(a,b{option=value})`, as in mlir-opt")
    parser.add_argument("--until", metavar="PASS", help="the last pass to run")
    parser.add_argument(
        "--ir-version",
        metavar="VERSION",
        choices=("2025-12", "2026-08"),
        help="the form in which passes over texts write: 2025-12 or 2026-08; by default that of the text",
    )
    parser.add_argument("--verify-each", action="store_true", help="verify the module after every stage; =false: not")


def _add_printing_options(parser: argparse.ArgumentParser) -> None:
    before, after = "--mlir-print-ir-before", "--mlir-print-ir-after"
    parser.add_argument(before, action="append", default=[], metavar="PASS", help="print the module before a pass")
    parser.add_argument(f"{before}-all", action="store_true", help="print the module before every stage, on stderr")
    parser.add_argument(after, action="append", default=[], metavar="PASS", help="print the module after a pass")
    parser.add_argument(
        "--print-ir-after-all",
        f"{after}-all",
        action="store_true",
        help="print the module after every stage, on stderr",
    )
    parser.add_argument("--print-debuginfo", "--mlir-print-debuginfo", action="store_true", help="print locations")
    parser.add_argument("--mlir-print-local-scope", action="store_true", help="print attributes without aliases")
    parser.add_argument("--mlir-print-op-generic", action="store_true", help="print every operation in generic form")
    parser.add_argument(
        "--mlir-disable-threading", action="store_true", help="accepted: passes run one after the other"
    )
    parser.add_argument("--mlir-timing", action="store_true", help="print the time of each pass, on stderr")
    parser.add_argument(
        "--mlir-pass-statistics", action="store_true", help="print the operations before and after each pass, on stderr"
    )


def parse(arguments: Sequence[str], prog: str, passes: Sequence[str]) -> argparse.Namespace:
    """The options of a command line.

    Args:
        arguments: The words after the command's name.
        prog: The command's name, for messages.
        passes: The names of passes, each of which is an option.

    Raises:
        UsageError: An option is unknown, or lacks its value.
    """
    parser = _Parser(prog=prog, description="runs passes on a module, as mlir-opt does", allow_abbrev=False)
    add_options(parser)
    known = {option for action in parser._actions for option in action.option_strings}
    words = [new for word in arguments for new in _normalized(word, known, passes)]
    try:
        options, rest = parser.parse_known_args(words)
    except UsageError as error:
        raise UsageError(_shown(str(error), prog, arguments, _culprit(str(error), arguments))) from None
    if rest:
        raise UsageError(_unknown(rest[0], prog, arguments, [*known, *(f"--{name}" for name in passes)]))
    return options


def loaded_files(arguments: Sequence[str]) -> list[Path]:
    """The files of ``--load``, whose passes are options too."""
    found = [word.partition("=")[2] for word in arguments if word.startswith(("--load=", "-load="))]
    found += [after for word, after in pairwise(arguments) if word in {"--load", "-load"}]
    return [Path(file) for file in found]


def _normalized(word: str, known: set[str], passes: Sequence[str]) -> list[str]:
    """One word with two dashes before long names, a pass as a value of ``--passes``, and a switch without its value."""
    name, equals, value = word.lstrip("-").partition("=")
    if not word.startswith("-") or word == "-" or (word in known and name not in _SWITCHES):
        return [word]
    if f"--{name}" in known:
        if name in _SWITCHES and value.lower() in {"", "true", "false", "1", "0"}:
            # A switch with a value of its own takes it behind `=`, and not the next word.
            on = f"--{name}={ALL_DIAGNOSTICS}" if name == "verify-diagnostics" else f"--{name}"
            return [on] if value.lower() in {"", "true", "1"} else []
        return [f"--{name}{equals}{value}"]
    if name in passes:
        return [f"--passes={name}{{{value}}}" if value else f"--passes={name}"]
    return [word]


_SWITCHES = {
    "allow-unregistered-dialect",
    "mlir-disable-threading",
    "mlir-pass-statistics",
    "mlir-print-debuginfo",
    "mlir-print-ir-after-all",
    "mlir-print-ir-before-all",
    "mlir-print-local-scope",
    "mlir-print-op-generic",
    "mlir-timing",
    "split-input-file",
    "verify-diagnostics",
    "verify-each",
}
"""Options that mlir-opt takes with ``=true`` and ``=false`` too."""


def _culprit(message: str, arguments: Sequence[str]) -> str:
    """The argument that argparse's message names."""
    names = [part.strip() for part in message.removeprefix("argument ").partition(":")[0].split("/")]
    return next((word for word in arguments if f"--{word.lstrip('-').partition('=')[0]}" in names or word in names), "")


def _unknown(word: str, prog: str, arguments: Sequence[str], known: Sequence[str]) -> str:
    name = f"--{word.lstrip('-').partition('=')[0]}"
    is_option = word.startswith("-")
    near = difflib.get_close_matches(name, known, n=2) if is_option else []
    message = f"unknown option `{word.partition('=')[0]}`" if is_option else f"one file at a time, got `{word}` too"
    given = next((each for each in arguments if each.lstrip("-") == word.lstrip("-")), word)
    hint = f"did you mean {' or '.join(f'`{each}`' for each in near)}? " if near else ""
    return _shown(message, prog, arguments, given) + f"\nhelp: {hint}`{prog} --help` lists options, `--list` passes"


def shown_error(message: str, prog: str, arguments: Sequence[str]) -> str:
    """An error of the command line with carets under the argument that it quotes.

    Args:
        message: The error, which names what is wrong as `name`, and may have further lines of help.
        prog: The command.
        arguments: Its words.
    """
    first, _, rest = message.partition("\n")
    quoted = re.findall(r"`([^`]+)`", first)
    culprit = next((word for name in reversed(quoted) for word in arguments if name in word), "")
    return _shown(first, prog, arguments, culprit) + (f"\n{rest}" if rest else "")


def _shown(message: str, prog: str, arguments: Sequence[str], culprit: str) -> str:
    """``prog: error: message``, the command line, and carets under the culprit."""
    line = f"    {prog}"
    carets = ""
    for word in arguments:
        quoted = shlex.quote(word)
        if word == culprit and culprit and not carets:
            carets = " " * (len(line) + 1) + "^" * len(quoted)
        line += f" {quoted}"
    return f"{prog}: error: {message}\n{line}" + (f"\n{carets}" if carets else "")
