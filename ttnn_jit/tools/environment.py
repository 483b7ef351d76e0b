"""``ttnn-jit env``: the environment variables, their values now and what they mean."""

from __future__ import annotations

import argparse
import os
from typing import NamedTuple

from ttnn_jit.specs.options import Environment, requested_threads
from ttnn_jit.specs.target import resolve_target
from ttnn_jit.tools import markdown


class Variable(NamedTuple):
    """An environment variable that ttnn_jit reads.

    Attributes:
        name: Its name.
        meaning: What its value says.
        default: What holds where it is not set, or empty.
    """

    name: str
    meaning: str
    default: str


VARIABLES = (
    Variable("TTNN_JIT_CACHE", "0: nothing is kept on disk, nor looked for there", "1"),
    Variable(
        "TTNN_JIT_CACHE_DIR",
        "the folder of programs on disk; `~` and `$NAME` in it are expanded",
        "`ttnn_jit` below `XDG_CACHE_HOME`",
    ),
    Variable("XDG_CACHE_HOME", "where caches lie, if it is an absolute path (XDG)", "`~/.cache`"),
    Variable(
        "TTNN_JIT_DEBUG",
        "1: errors keep all frames, and a failing pass leaves its input and the command to repeat it in "
        "`generated/jit/reproducer`",
        "0",
    ),
    Variable("TTNN_JIT_NUM_THREADS", "the threads that a kernel may use, read once", "as torch, else one per CPU"),
    Variable(
        "TTNN_JIT_OUTPUT_LAYOUT",
        "where results lie that nobody chose a place for: `first-operand` or `max-block-sharded`",
        "`first-operand`",
    ),
    Variable("TTNN_CONFIG_OVERRIDES", "settings of `ttnn.CONFIG` as a JSON object, read when ttnn is imported", ""),
    Variable(
        "TTMLIR_RUNTIME_LOGGER_LEVEL",
        "the level of the log of programs that are loaded and run: `TRACE`, `DEBUG`, `INFO`, `WARNING`, `ERROR`, "
        "`CRITICAL` or `FATAL`; read once",
        "no log",
    ),
    Variable("TTRT_LOGGER_LEVEL", "likewise; the more talkative of the two counts", "no log"),
    Variable("SYSTEM_DESC_PATH", "the JSON of the system that devices without a target have", "wormhole_b0"),
)
"""Every environment variable that this package reads; `ttnn_jit.specs.options` reads most of them."""


def main(options: argparse.Namespace) -> int:
    """Prints every variable, or writes the table between the marks of a Markdown file.

    Raises:
        ArgumentError: A variable has a value that it does not take; it is printed before.
    """
    if options.write:
        options.write.write_text(with_table(options.write.read_text(encoding="utf-8")), encoding="utf-8")
        return 0
    values = [os.environ.get(variable.name) or "not set" for variable in VARIABLES]
    widths = [max(map(len, column)) for column in ([variable.name for variable in VARIABLES], values)]
    for variable, value in zip(VARIABLES, values, strict=True):
        print(f"{variable.name:{widths[0]}}  {value:{widths[1]}}  {variable.meaning}")
    _refuse_wrong_values()
    return 0


def with_table(document: str) -> str:
    """`document` with the table between its marks renewed.

    Raises:
        ArgumentError: It has no marks.
    """
    rows = ((f"`{variable.name}`", variable.meaning, variable.default) for variable in VARIABLES)
    return markdown.with_section(document, "env", markdown.table(("variable", "meaning", "not set"), rows))


def _refuse_wrong_values() -> None:
    Environment.read()
    requested_threads()
    resolve_target(None)
