"""``tt-run``: starts the ranks that a file of rank bindings lists, under tt-metal's command line."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError, MissingLibraryError, TtnnJitError
from ttnn_jit.tools.launch_ranks import launch

TAG_OUTPUT = "--tag-output"
_WITHOUT_EFFECT = {"--allow-run-as-root": 0, "--oversubscribe": 0, "--bind-to": 1, "--map-by": 1, "--mca": 2}
"""Arguments of mpirun that choose nothing here, and how many values follow them."""


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns the exit status."""
    options = _parser().parse_args([*_joined(sys.argv[1:] if arguments is None else arguments)])
    try:
        return _run(options)
    except TtnnJitError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"error: {error.filename}: {error.strerror}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="tt-run", description=__doc__, allow_abbrev=False)
    parser.add_argument("--rank-binding", type=Path, required=True, metavar="FILE", help="YAML: the mesh of each rank")
    parser.add_argument("--dry-run", action="store_true", help="print the environment and command of each rank")
    parser.add_argument("-v", "--verbose", action="store_true", help="print them, and run")
    parser.add_argument(
        "--mpi-args", default="", metavar="ARGUMENTS", help=f"arguments of mpirun, such as {TAG_OUTPUT}"
    )
    parser.add_argument("--skip-executable-check", action="store_true", help="do not look for the program first")
    parser.add_argument("program", nargs=argparse.REMAINDER, help="the program of every rank, and its arguments")
    return parser


def _joined(arguments: Sequence[str]) -> Iterator[str]:
    """The arguments, with the value of `--mpi-args` in one word: it begins with a dash."""
    given = iter(arguments)
    for argument in given:
        yield f"{argument}={next(given, '')}" if argument == "--mpi-args" else argument


def _run(options: argparse.Namespace) -> int:
    if not options.program:
        raise ArgumentError("tt-run needs a program", help="tt-run --rank-binding FILE python3 script.py")
    if not options.skip_executable_check and shutil.which(options.program[0]) is None:
        raise ArgumentError(f"there is no program {options.program[0]!r}")
    environments = rank_environments(_read(options.rank_binding), str(options.rank_binding))
    is_tagged = _tags_output(shlex.split(options.mpi_args))
    if options.dry_run or options.verbose:
        for rank, environment in enumerate(environments):
            shown = " ".join(f"{name}={shlex.quote(value)}" for name, value in environment.items())
            print(f"rank {rank}: {shown} {shlex.join(options.program)}")
    if options.dry_run:
        return 0
    command = [sys.executable, "-m", "ttnn_jit.tools.bound_rank", json.dumps(environments), *options.program]
    return launch(len(environments), command, tag_output=is_tagged)


def _read(file: Path) -> Any:
    try:
        import yaml
    except ImportError:
        raise MissingLibraryError("tt-run reads YAML", help="pip install pyyaml, or 'ttnn_jit[ttnn]'") from None
    try:
        return yaml.safe_load(file.read_text())
    except yaml.YAMLError as error:
        raise ArgumentError(f"{file} is no YAML: {error}") from None


def rank_environments(config: Any, file: str) -> list[dict[str, str]]:
    """The variables of each rank: `global_env`, its mesh, and its `env_overrides`, which count most.

    Args:
        config: The contents of a file of rank bindings.
        file: Its name, for errors.

    Raises:
        ArgumentError: A field is missing or has another form, or the ranks are not 0, 1, 2 and so on.
    """
    fields = _mapping(config, file)
    bindings = fields.get("rank_bindings")
    if not isinstance(bindings, list) or not bindings:
        raise ArgumentError(f"{file} lists no `rank_bindings`")
    by_rank = {}
    for binding in bindings:
        own = _mapping(binding, f"{file}: a rank binding")
        made = {name: os.path.expandvars(value) for name, value in _texts(fields, "global_env", file).items()}
        if "mesh_graph_desc_path" in fields:
            made["TT_MESH_GRAPH_DESC_PATH"] = str(fields["mesh_graph_desc_path"])
        made["TT_MESH_ID"] = str(_number(own, "mesh_id", file))
        if own.get("mesh_host_rank") is not None:
            made["TT_MESH_HOST_RANK"] = str(_number(own, "mesh_host_rank", file))
        made |= {name: os.path.expandvars(value) for name, value in _texts(own, "env_overrides", file).items()}
        by_rank[_number(own, "rank", file)] = made
    if len(by_rank) != len(bindings) or sorted(by_rank) != [*range(len(bindings))]:
        raise ArgumentError(
            f"{file}: the ranks are {[each.get('rank') for each in bindings]}, and not 0, 1, 2 and so on"
        )
    return [by_rank[rank] for rank in range(len(bindings))]


def _mapping(value: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ArgumentError(f"{what} has no fields")
    return value


def _number(fields: Mapping[str, Any], name: str, file: str) -> int:
    value = fields.get(name)
    if type(value) is not int or value < 0:
        raise ArgumentError(f"{file}: `{name}` of a rank binding is {value!r}, and not a whole number of at least 0")
    return value


def _texts(fields: Mapping[str, Any], name: str, file: str) -> dict[str, str]:
    return {str(key): str(value) for key, value in _mapping(fields.get(name) or {}, f"{file}: `{name}`").items()}


def _tags_output(arguments: Sequence[str]) -> bool:
    """Whether arguments of mpirun ask for the rank in every line of output; refuses those that would matter."""
    given = iter(arguments)
    is_tagged = False
    for argument in given:
        if argument == TAG_OUTPUT:
            is_tagged = True
        elif argument in _WITHOUT_EFFECT:
            for _ in range(_WITHOUT_EFFECT[argument]):
                next(given, None)
        else:
            raise ArgumentError(
                f"tt-run starts the ranks of one machine, and does not honour {argument!r} of `--mpi-args`",
                help="on several machines, `ttnn-jit launch --nodes N --rendezvous HOST:PORT` starts the ranks of each",
            )
    return is_tagged


if __name__ == "__main__":
    sys.exit(main())
