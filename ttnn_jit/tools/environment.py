"""``ttnn-jit env``: the environment variables, their current values and meanings."""

from __future__ import annotations

import argparse
import os

from ttnn_jit.specs.environment_variables import VARIABLES
from ttnn_jit.specs.options import Environment, requested_threads
from ttnn_jit.specs.target import resolve_target
from ttnn_jit.tools import markdown


def main(options: argparse.Namespace) -> int:
    """Prints every variable, or writes the table between the marks of a Markdown file.

    Raises:
        ArgumentError: A variable has an invalid value; the variables are printed before.
    """
    if options.write:
        return markdown.renew(options.write, with_table)
    values = [os.environ.get(variable.name) or "not set" for variable in VARIABLES]
    widths = [max(map(len, column)) for column in ([variable.name for variable in VARIABLES], values)]
    for variable, value in zip(VARIABLES, values, strict=True):
        print(f"{variable.name:{widths[0]}}  {value:{widths[1]}}  {variable.meaning}")
    Environment.read()  # this and the calls below refuse invalid values
    requested_threads()
    resolve_target(None)
    return 0


def with_table(document: str) -> str:
    """`document` with a new table between its marks.

    Raises:
        ArgumentError: It has no marks.
    """
    rows = ((f"`{variable.name}`", variable.meaning, variable.default) for variable in VARIABLES)
    return markdown.with_section(document, "env", markdown.table(("variable", "meaning", "not set"), rows))
