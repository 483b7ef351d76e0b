"""The command ``ttrt``, which is also ``ttnn-jit ttrt``."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Sequence
from importlib import import_module

from ttnn_jit import __version__
from ttnn_jit.diagnostics.errors import TtnnJitError
from ttnn_jit.process.standard_output import complete_output, write_output
from ttnn_jit.tools.ttrt.option_declarations import COMMANDS
from ttnn_jit.tools.ttrt.option_parsing import OneLineParser, add_command, one_line

INTERRUPTED = 130
_GDB = "--gdb"
_MODULE = "ttnn_jit.tools.ttrt.ttrt_command"


def main(arguments: Sequence[str] | None = None, prog: str = "ttrt") -> int:
    """The command line.

    Returns:
        The exit status: 0; 42 if all ran and results are wrong; 1 for any other failure, with a line on stderr; 2, by
        `SystemExit`, for a wrong command line.
    """
    given = sys.argv[1:] if arguments is None else [*arguments]
    try:
        if _GDB in given:
            return _in_gdb([each for each in given if each != _GDB])
        options = parser_of(prog).parse_args(given)
        declaration = COMMANDS[options.command]
        command = import_module(f"ttnn_jit.tools.ttrt.{declaration.name}_command")
        instance = getattr(command, declaration.class_name)(options)
        try:
            code, _ = instance()
        finally:
            instance.logger.close()
        if shown := instance.shown():
            with complete_output():
                write_output(f"{shown}\n")
    except (TtnnJitError, OSError) as error:
        if isinstance(error, BrokenPipeError):
            # The reader of the pipe has exited, as `| head` does; an error message would not be read.
            sys.stderr.close()
        else:
            print(f"error: {one_line(error)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED
    return int(code) if instance.logger.is_complete else 1


def parser_of(prog: str = "ttrt") -> argparse.ArgumentParser:
    """The parser of the command line."""
    parser = OneLineParser(
        prog=prog,
        description="Reads, checks, runs and measures compiled binaries, on this processor: no chip is used.",
        allow_abbrev=False,
    )
    parser.add_argument("-V", "--version", action="version", version=f"ttrt {__version__}")
    parser.add_argument(_GDB, action="store_true", help="start again in gdb")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for declaration in COMMANDS.values():
        add_command(commands, declaration).set_defaults(command=declaration.name)
    return parser


def _in_gdb(arguments: Sequence[str]) -> int:
    gdb = shutil.which("gdb")
    if gdb is None:
        print("error: --gdb needs gdb, and there is none on PATH; install it, or leave --gdb out", file=sys.stderr)
        return 1
    os.execv(gdb, ["gdb", "-ex", "run", "--args", sys.executable, "-m", _MODULE, *arguments])
    raise AssertionError("execv does not return")


if __name__ == "__main__":
    sys.exit(main())
