"""The tables of options in docs/ttrt.md: ``python -m ttnn_jit.tools.ttrt.option_tables docs/ttrt.md`` renews them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from ttnn_jit.tools import markdown
from ttnn_jit.tools.ttrt.option_declarations import ALL_PROGRAMS, COMMANDS, Option, ProgramNumber

_VALUES = {int: "N", float: "X", str: "TEXT", ProgramNumber: f"N|{ALL_PROGRAMS}"}


def with_tables(document: str) -> str:
    """`document` with new tables between its marks.

    Raises:
        ArgumentError: It has no marks.
    """
    rows = ((f"`ttrt {each.name}`", _summary(each.summary, each.refusal)) for each in COMMANDS.values())
    document = markdown.with_section(document, "commands", markdown.table(("command", "what it does"), rows))
    columns = ("option", "commands", "default", "meaning")
    return markdown.with_section(document, "options", markdown.table(columns, _rows()))


def _summary(summary: str, refusal: str) -> str:
    return f"refused: {refusal}" if refusal else summary


def _rows() -> Iterator[tuple[str, str, str, str]]:
    """A row for each option; one that several commands have alike is one row."""
    alike: dict[tuple[str, str, str], list[str]] = {}
    for command in COMMANDS.values():
        for option in () if command.refusal else command.options:
            default = option.default if option.default != f"{command.name}_results.json" else "COMMAND_results.json"
            key = (_name(option), "" if option.kind is bool or option.refusal else str(default), _meaning(option))
            alike.setdefault(key, []).append(command.name)
    for (name, default, meaning), commands in alike.items():
        yield name, ", ".join(commands), f"`{default}`" if default else "", meaning


def _name(option: Option) -> str:
    if option.is_argument:
        return "the argument"
    if option.kind is bool:
        return f"`{option.name}`"
    values = "|".join(option.choices) if option.choices else _VALUES[option.kind]
    return f"`{option.name} {values}`"


def _meaning(option: Option) -> str:
    if option.refusal:
        return f"refused: {option.refusal}"
    return option.meaning + (f"; no effect: {option.without_effect}" if option.without_effect else "")


if __name__ == "__main__":
    sys.exit(markdown.renew(Path(sys.argv[1]), with_tables))
