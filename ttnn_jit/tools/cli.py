"""Runs stages on a module, executes it, and shows targets, names, the environment and the programs on disk."""

from __future__ import annotations

import argparse
import json
import sys
import traceback
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path

from xdsl.utils.exceptions import VerifyException

from ttnn_jit import __version__
from ttnn_jit.diagnostics.debugging import debugging
from ttnn_jit.diagnostics.errors import ArgumentError, TtnnJitError
from ttnn_jit.process.standard_output import complete_output
from ttnn_jit.tools import opt_arguments, option_values

INTERRUPTED = 130  # the exit status of shells for SIGINT
_TARGET = option_values.argument_type(option_values.target_name)
_MESH = option_values.argument_type(option_values.mesh_text)
_STAGE = option_values.argument_type(option_values.stage_name)
_COUNT = option_values.argument_type(option_values.positive_number)
_RENDEZVOUS = option_values.argument_type(option_values.rendezvous)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit status: 0, 1 with the error on stderr, or 130 after an interrupt.

    A wrong command line exits with 2, as argparse does.
    """
    given = sys.argv[1:] if arguments is None else [*arguments]
    if given[:1] == ["opt"]:
        return opt_main(given[1:], "ttnn-jit opt")
    if given[:1] == ["ttrt"]:
        return ttrt_main(given[1:], "ttnn-jit ttrt")
    options = _parser().parse_args(given)
    return _guarded(lambda: int(options.run(options)))


def opt_main(arguments: Sequence[str] | None = None, prog: str = "ttmlir-opt") -> int:
    """The command ``ttmlir-opt``, which is ``ttnn-jit opt``; returns the exit status, 2 for a wrong command line."""

    def run() -> int:
        opt = import_module("ttnn_jit.tools.opt")
        return int(opt.run(sys.argv[1:] if arguments is None else arguments, prog))

    return _guarded(run)


def ttrt_main(arguments: Sequence[str] | None = None, prog: str = "ttrt") -> int:
    """The command ``ttrt``, which is ``ttnn-jit ttrt``; returns the exit status."""
    return int(import_module("ttnn_jit.tools.ttrt.ttrt_command").main(arguments, prog))


def _guarded(command: Callable[[], int]) -> int:
    """The exit status of a command, which prints what it raises; under ``TTNN_JIT_DEBUG=1`` with its causes."""
    try:
        with complete_output():
            return command()
    except opt_arguments.UsageError as error:
        print(error, file=sys.stderr)
        return opt_arguments.USAGE_STATUS
    except BrokenPipeError:
        # The reader of the pipe has exited, as `| head` does; an error message would not be read.
        sys.stderr.close()
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 - every other one is reported, and the command has failed
        if _shows_causes():
            traceback.print_exception(error)
        print(f"error: {_reason(error)}", file=sys.stderr)
        return 1


def _shows_causes() -> bool:
    """Whether ``TTNN_JIT_DEBUG`` asks for causes; one of another value asks for none, and `ttnn-jit env` refuses it."""
    try:
        return debugging()
    except ArgumentError:
        return False


_TORCH_HAS_NO_MEMORY = "DefaultCPUAllocator: can't allocate memory"
"""Of a RuntimeError."""


def _reason(error: Exception) -> str:
    """What an error says to the user of a command."""
    if isinstance(error, TtnnJitError | VerifyException):
        return str(error)
    if isinstance(error, OSError):
        return f"{error.filename}: {error.strerror}" if error.filename else str(error)
    said = f"{type(error).__name__}: {error}".splitlines()[0].removesuffix(": ")
    if isinstance(error, MemoryError) or _TORCH_HAS_NO_MEMORY in said:
        return f"this process gets no more memory ({said})"
    return f"internal error: {said}\nhelp: please report it, with what TTNN_JIT_DEBUG=1 prints"


def translate(arguments: Sequence[str] | None = None) -> int:
    """The command ``ttmlir-translate``, which is ``ttnn-jit translate``; returns the exit status."""
    parser = argparse.ArgumentParser(prog="ttmlir-translate", description=_TRANSLATE)
    _add_translate_options(parser)
    options = parser.parse_args(arguments)
    return _guarded(lambda: int(options.run(options)))


_TRANSLATE = "write a module, or a text, as a Python program or a binary"


@cache
def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="ttnn-jit", description=__doc__)
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    opt = commands.add_parser("opt", help="run stages on a module, as mlir-opt runs passes")
    opt_arguments.add_options(opt)
    opt.set_defaults(run=_command("opt"))
    _add_run(commands.add_parser("run", help="execute a module from any stage, a program (.ttjp) or a binary (.ttnn)"))
    _add_commands_on_texts(commands)
    _add_lists(commands)
    _add_cache(commands.add_parser("cache", help="look at the programs kept on disk, check them, remove them"))
    _add_launch(commands.add_parser("launch", help="start the ranks of a script, which share its meshes"))
    ttrt = commands.add_parser("ttrt", help="read, check, run and measure compiled binaries; also installed as `ttrt`")
    ttrt.add_argument(
        "arguments", nargs=argparse.REMAINDER, help="a command of ttrt: `ttnn-jit ttrt --help` lists them"
    )
    ttrt.set_defaults(run=lambda options: ttrt_main(options.arguments, "ttnn-jit ttrt"))
    demo = commands.add_parser("demo", help="compile, run and check the cosh of the ttnn.jit document")
    demo.set_defaults(run=_command("demo"))
    return parser


def _add_run(run: argparse.ArgumentParser) -> None:
    _add_input(run)
    run.add_argument("--seed", type=int, default=0, help="seed of the inputs")
    run.add_argument("--interpret", action="store_true", help="use the tile interpreter instead of native code")
    _add_entry(run)
    run.add_argument("--after", type=_STAGE, help="the stage that produced the module, if its text does not show it")
    run.add_argument(
        "--inputs",
        type=Path,
        help="a file that torch.save wrote, a list of tensors; for a text of another compiler an .npz file of arrays",
    )
    run.add_argument("--golden", action="store_true", help="compare every op with its golden on equal operands")
    run.add_argument(
        "--report",
        type=Path,
        metavar="FILE",
        help="with --golden, a file of JSON lines, and a page beside it: ops on equal operands and in a chain, results",
    )
    _add_mesh(run)
    run.add_argument(
        "--target", type=_TARGET, help="the target of a text of another compiler; by default the text's, or cpu"
    )
    run.add_argument("--save", type=Path, help="write the results with torch.save")
    run.add_argument("--from-text", action="store_true", help="of a binary, the text inside instead of its tables")
    run.add_argument("--ignore-version", action="store_true", help="read a binary of another version or schema")
    run.set_defaults(run=_command("run"))


def _add_lists(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """What the package knows: targets, names of ttnn, environment variables."""
    query = commands.add_parser("query", help="print a system description as JSON, for SYSTEM_DESC_PATH")
    query.add_argument("--target", type=_TARGET, help="a preset; otherwise the one that open_device() would choose")
    query.add_argument("--host", action="store_true", help="this processor instead: what native code is made for")
    query.add_argument(
        "-o",
        "--output",
        type=opt_arguments.output_file,
        help="write a file instead: a flatbuffer if its suffix is .ttsys, else JSON",
    )
    query.set_defaults(run=_query)

    names = commands.add_parser("names", help="list ttnn's names: what is honoured, ignored and refused")
    names.add_argument("names", nargs="*", metavar="NAME", help="only the names that contain this, such as conv2d")
    names.add_argument("--write", type=Path, help="renew the table in this Markdown file")
    names.set_defaults(run=_command("names"))

    env = commands.add_parser("env", help="list the environment variables, their values now and what they mean")
    env.add_argument("--write", type=Path, help="renew the table in this Markdown file")
    env.set_defaults(run=_command("environment"))


def _add_launch(launch: argparse.ArgumentParser) -> None:
    launch.add_argument("-n", "--ranks", type=_COUNT, default=1, help="the number of ranks on this machine")
    launch.add_argument("-m", "--module", action="store_true", help="the script is the name of a module")
    launch.add_argument("--tag-output", action="store_true", help="begin lines of output with the rank")
    launch.add_argument("--nodes", type=_COUNT, default=1, help="the number of machines; start this on each of them")
    launch.add_argument(
        "--rendezvous", type=_RENDEZVOUS, default="", metavar="HOST:PORT", help="where several machines meet"
    )
    launch.add_argument("script", help="a Python file")
    launch.add_argument("arguments", nargs=argparse.REMAINDER, help="its arguments")
    launch.set_defaults(run=_command("launch_ranks"))


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
    bisect.add_argument(
        "-o",
        "--output",
        type=opt_arguments.output_file,
        help="file for a module of that op; standard output by default",
    )
    bisect.set_defaults(run=_command("texts.bisect"))

    _add_translate_options(commands.add_parser("translate", help=_TRANSLATE))


def _add_translate_options(translate: argparse.ArgumentParser) -> None:
    _add_input(translate)
    _add_entry(translate)
    _add_mesh(translate)
    translate.add_argument(
        "--target", type=_TARGET, help="the target for which a text is read; by default the text's, or cpu"
    )
    form = translate.add_mutually_exclusive_group(required=True)
    form.add_argument("--mlir-to-python", "-mlir-to-python", action="store_true", help="a Python program of ttnn calls")
    form.add_argument(
        "--ttnn-to-flatbuffer", "-ttnn-to-flatbuffer", action="store_true", help="a binary of tt-mlir (.ttnn)"
    )
    for name in ("mlir-to-cpp", "ttmetal-to-flatbuffer", "ttkernel-to-cpp"):
        form.add_argument(
            f"--{name}", f"-{name}", dest="refused", action="store_const", const=name, help=argparse.SUPPRESS
        )
    translate.add_argument(
        "--allow-unregistered-dialect", "-allow-unregistered-dialect", action="store_true", help=argparse.SUPPRESS
    )
    translate.add_argument(
        "-o", "--output", type=opt_arguments.output_file, help="file for the result; standard output by default"
    )
    translate.set_defaults(run=_command("translate"))


def _add_text_options(parser: argparse.ArgumentParser) -> None:
    _add_entry(parser)
    parser.add_argument("--seed", type=int, default=0, help="seed of the inputs")
    parser.add_argument("--inputs", type=Path, help="an .npz file of arrays")
    parser.add_argument("--target", type=_TARGET, help="the target; by default the text's, or cpu")
    _add_mesh(parser)


def _add_mesh(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--mesh", type=_MESH, metavar="2x4", help="the mesh of virtual devices; by default the text's")


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

    target = resolve_target(options.target)
    if options.output is None:
        print(target.to_json())
    else:
        from ttnn_jit.binaries.system_trees import system_file
        from ttnn_jit.process.complete_file import write_complete

        is_flatbuffer = options.output.suffix == ".ttsys"
        write_complete(options.output, [system_file(target) if is_flatbuffer else target.to_json().encode()])
    return 0
