"""Every option of every command that takes a few values refuses others with its own usage, before a file is read."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ttnn_jit.tools import cli, opt_arguments, tt_run
from ttnn_jit.tools.ttrt.option_declarations import COMMANDS

BAD = "no such value"
FREE = {None, str, Path, opt_arguments.output_file}
"""Types of options that take any text: names, files, texts of pipelines."""
CHECKED_LATER = "PASS"
"""The metavar of options whose values are names of passes, which a file of `--load` may add to."""


def _options_of(parser: argparse.ArgumentParser, words: list[str]) -> Iterator[tuple[list[str], str]]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, inner in action.choices.items():
                yield from _options_of(inner, [*words, name])
        elif action.option_strings and action.nargs != 0:
            is_checked = action.type not in FREE or action.choices is not None or action.metavar == CHECKED_LATER
            if is_checked:
                yield words, action.option_strings[-1]


def _of_opt(words: list[str]) -> Iterator[tuple[list[str], str]]:
    parser = argparse.ArgumentParser()
    opt_arguments.add_options(parser)
    return _options_of(parser, words)


def _of_translate() -> Iterator[tuple[list[str], str]]:
    parser = argparse.ArgumentParser()
    cli._add_translate_options(parser)
    return _options_of(parser, ["--ttnn-to-flatbuffer"])


def _of_ttrt(words: list[str]) -> Iterator[tuple[list[str], str]]:
    for command in COMMANDS.values():
        for option in command.options:
            is_free = option.kind is bool or (option.kind is str and option.choices is None and option.check is None)
            if not option.is_argument and not is_free:
                yield [*words, command.name, *(["x.ttnn"] if command.options[0].is_argument else [])], option.name


TOOLS: dict[str, tuple[Callable[[list[str]], int], list[tuple[list[str], str]]]] = {
    "ttnn-jit": (cli.main, [*_options_of(cli._parser(), []), *_of_ttrt(["ttrt"])]),
    "ttmlir-opt": (cli.opt_main, [*_of_opt([])]),
    "ttmlir-translate": (cli.translate, [*_of_translate()]),
    "ttrt": (cli.ttrt_main, [*_of_ttrt([])]),
    "tt-run": (tt_run.main, [*_options_of(tt_run._parser(), [])]),
}


@pytest.mark.parametrize("tool", TOOLS)
def test_a_bad_value_of_an_option_is_a_usage_error_that_says_what_the_option_takes(
    tool: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    command, options = TOOLS[tool]
    for words, option in options:
        with_value = [*words, f"{option}={BAD}"] if option.startswith("--") else [*words, option, BAD]
        try:
            status = command(with_value)
        except SystemExit as exit_:
            status = int(str(exit_.code))
        said = capsys.readouterr().err
        assert status == 2, (with_value, said)
        assert BAD in said, (with_value, said)
        assert f"{tool} {words[0] if tool == 'ttnn-jit' else ''}".strip() in said, (with_value, said)
        assert "usage:" in said or "lists" in said or "\n    " in said, (with_value, said)
    assert not [*tmp_path.iterdir()], "nothing is written"


def test_options_of_all_tools_are_found() -> None:
    found = {tool: len(options) for tool, (_, options) in TOOLS.items() if options}
    assert found.keys() == TOOLS.keys() - {"tt-run"}
    assert min(found.values()) >= 2


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["run", "x.mlir", "--target", "n15"], "did you mean n150"),
        (["bisect", "x.mlir", "--target", "worm"], "did you mean wormhole_b0?"),
        (["run", "x.mlir", "--mesh", "8x1000"], "at most 64"),
        (["query", "--target", "zzz"], "there are wormhole_b0"),
        (["ttrt", "query", "--target", "wormhole"], "did you mean wormhole_b0?"),
        (["ttrt", "run", "x.ttnn", "--init", "rand"], "did you mean randn?"),
        (["opt", "--emit", "hst"], "did you mean host?"),
    ],
)
def test_a_bad_value_is_answered_with_what_is_spelled_alike(
    words: list[str], hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        status = cli.main(words)
    except SystemExit as exit_:
        status = int(str(exit_.code))
    assert status == 2
    assert hint in capsys.readouterr().err
