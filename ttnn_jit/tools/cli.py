"""Runs stages on a module, executes it, and shows targets, names, the environment and the programs on disk."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path

from ttnn_jit import __version__
from ttnn_jit.diagnostics.errors import TtnnJitError

INTERRUPTED = 130  # the exit status of shells for SIGINT


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit status: 0, 1 with the error on stderr, or 130 after an interrupt."""
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        return int(options.run(options))
    except TtnnJitError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        # The reader of the pipe has exited, as `| head` does; an error message would not be read.
        sys.stderr.close()
        return 1
    except OSError as error:
        reason = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        print(f"error: {reason}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED


@cache
def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="ttnn-jit", description=__doc__)
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    opt = commands.add_parser("opt", help="run stages on a module, as mlir-opt runs passes")
    _add_input(opt)
    opt.add_argument("-p", "--passes", default="", help="stages in order, `a,b{option=value},c`; `all` for every one")
    opt.add_argument(
        "--convert-ttnn-to-ttir", action="store_true", help="the first stage, under the name of its ttmlir-opt option"
    )
    opt.add_argument(
        "--ttir-to-ttmetal-pipeline",
        metavar="OPTIONS",
        help="all later stages, with the options of ttmlir-opt: 'system-desc-path=FILE ttnn-mode=true'",
    )
    opt.add_argument("--emit", metavar="STAGE", help="write the text of `host`, `codegen` or `assembly` instead")
    opt.add_argument("-o", "--output", type=Path, help="file for the result; standard output by default")
    opt.add_argument(
        "--print-ir-after-all",
        "--mlir-print-ir-after-all",
        action="store_true",
        help="print the module after every stage, on stderr",
    )
    opt.add_argument("--print-debuginfo", action="store_true", help="print locations")
    opt.add_argument("--verify-each", action="store_true", help="verify the module after every stage")
    _add_entry(opt)
    opt.add_argument("--load", action="append", type=Path, default=[], help="a Python file that registers passes")
    opt.add_argument("--list", action="store_true", help="list the stages, and the passes of `--load`, and exit")
    opt.add_argument("--write", type=Path, help="renew the list of stages in this Markdown file, and exit")
    opt.set_defaults(run=_command("opt"))

    run = commands.add_parser("run", help="execute a module from any stage, or a program (.ttjp), on random inputs")
    _add_input(run)
    run.add_argument("--seed", type=int, default=0, help="seed of the inputs")
    run.add_argument("--interpret", action="store_true", help="use the tile interpreter instead of native code")
    _add_entry(run)
    run.add_argument("--after", help="the stage that produced the module, if its text does not show it")
    run.add_argument(
        "--inputs",
        type=Path,
        help="a file that torch.save wrote, a list of tensors; for a text of another compiler an .npz file of arrays",
    )
    run.add_argument("--golden", action="store_true", help="compare every op with its golden on equal operands")
    _add_mesh(run)
    run.add_argument("--target", help="the target of a text of another compiler; by default the text's, or cpu")
    run.add_argument("--save", type=Path, help="write the results with torch.save")
    run.set_defaults(run=_command("run"))

    _add_commands_on_texts(commands)

    query = commands.add_parser("query", help="print a system description as JSON, for SYSTEM_DESC_PATH")
    query.add_argument("--target", help="a preset; otherwise the one that open_device() would choose")
    query.add_argument("--host", action="store_true", help="this processor instead: what native code is made for")
    query.set_defaults(run=_query)

    names = commands.add_parser("names", help="list ttnn's names: what is honoured, ignored and refused")
    names.add_argument("names", nargs="*", metavar="NAME", help="only the names that contain this, such as conv2d")
    names.add_argument("--write", type=Path, help="renew the table in this Markdown file")
    names.set_defaults(run=_command("names"))

    env = commands.add_parser("env", help="list the environment variables, their values now and what they mean")
    env.add_argument("--write", type=Path, help="renew the table in this Markdown file")
    env.set_defaults(run=_command("environment"))

    _add_cache(commands.add_parser("cache", help="look at the programs kept on disk, check them, remove them"))

    demo = commands.add_parser("demo", help="compile, run and check the cosh of the ttnn.jit document")
    demo.set_defaults(run=_command("demo"))
    return parser


def _add_entry(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--entry", metavar="NAME", help="the entry point of a module that has several")


def _add_commands_on_texts(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    compare = commands.add_parser("compare", help="run two texts of one program, and compare their results")
    for name in ("file", "other"):
        compare.add_argument(name, help="an .mlir file of ttir or ttnn")
    _add_text_options(compare)
    compare.set_defaults(run=_command("texts.compare"))

    bisect = commands.add_parser("bisect", help="find the first op of a text whose result is not that of its golden")
    _add_input(bisect)
    _add_text_options(bisect)
    bisect.add_argument("-o", "--output", type=Path, help="file for a module of that op; standard output by default")
    bisect.set_defaults(run=_command("texts.bisect"))


def _add_text_options(parser: argparse.ArgumentParser) -> None:
    _add_entry(parser)
    parser.add_argument("--seed", type=int, default=0, help="seed of the inputs")
    parser.add_argument("--inputs", type=Path, help="an .npz file of arrays")
    parser.add_argument("--target", help="the target; by default the text's, or cpu")
    _add_mesh(parser)


def _add_mesh(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--mesh", metavar="2x4", help="the mesh of virtual devices; by default the text's")


def _add_input(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", nargs="?", default="-", help="an .mlir file; `-` or nothing reads standard input")


def _add_cache(cache: argparse.ArgumentParser) -> None:
    commands = cache.add_subparsers(required=True, metavar="COMMAND")
    for name, command, text in (
        ("info", "info", "folder, state and size"),
        ("list", "list_programs", "every program: when it was stored, its size, function and tensors"),
        ("verify", "verify", "check every entry; the status is 1 if anything is damaged"),
        ("clear", "clear", "remove every entry"),
    ):
        parser = commands.add_parser(name, help=text, description=text)
        parser.add_argument("--json", action="store_true", help="print JSON")
        parser.set_defaults(run=_command("cache", command))


def _command(room: str, name: str = "main") -> Callable[[argparse.Namespace], int]:
    """The function `name` of a module of this folder, which is imported when the command runs."""

    def run(options: argparse.Namespace) -> int:
        return int(getattr(import_module(f"ttnn_jit.tools.{room}"), name)(options))

    return run


def _query(options: argparse.Namespace) -> int:
    if options.host:
        from ttnn_jit.runtime.native.native import host_cpu

        host = host_cpu()
        features = sorted(feature[1:] for feature in host.features.split(",") if feature.startswith("+"))
        print(json.dumps({"name": host.name, "triple": host.triple, "features": features}, indent=2))
        return 0
    from ttnn_jit.specs.target import resolve_target

    print(resolve_target(options.target).to_json())
    return 0
