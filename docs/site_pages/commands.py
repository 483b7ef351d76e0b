"""A page for each command of `ttnn-jit`, generated from its parser."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

from ttnn_jit.tools import cli

COMMAND_LINE = Path(__file__).parents[1] / "command_line.md"
LINK_TO_A_PAGE = re.compile(r"\]\((?=[\w/]+\.md)")


def pages() -> Iterator[tuple[str, str]]:
    """The page of each command, by its name."""
    for name, parser in _commands(cli._parser()):
        yield name, "\n".join(_page(name, parser))


def _commands(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    groups = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    for group in groups:
        yield from group.choices.items()


def _page(name: str, parser: argparse.ArgumentParser) -> Iterator[str]:
    yield f"# ttnn-jit {name}\n"
    for command, meaning in rows():
        if command.split()[1] == name:
            yield f"`{command}`\n:   {meaning}\n"
    yield from _help(parser)
    for part, own in _commands(parser):
        yield f"## ttnn-jit {name} {part}\n"
        yield from _help(own)
    yield "[All commands, stages and environment variables](../../command_line.md)\n"


def _help(parser: argparse.ArgumentParser) -> Iterator[str]:
    yield f"```text\n{parser.format_help().rstrip()}\n```\n"


def rows() -> list[tuple[str, str]]:
    """Command and meaning, from the table on the page of all commands; links as they are from a generated page."""
    lines = (line for line in COMMAND_LINE.read_text(encoding="utf-8").splitlines() if line.startswith("| `ttnn-jit "))
    found = (line.strip("| ").split(" | ", 1) for line in lines)
    return [(command.strip("`"), LINK_TO_A_PAGE.sub("](../../", meaning)) for command, meaning in found]
