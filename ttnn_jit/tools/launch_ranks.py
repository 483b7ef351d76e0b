"""``ttnn-jit launch``: starts the ranks of a script on this machine, by torch's elastic launcher."""

from __future__ import annotations

import argparse
import logging
import os
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.foreign.torch_tensor import require_torch
from ttnn_jit.runtime.ranks.flight_record import read_records
from ttnn_jit.ttnn.namespace.stand_in import ON_PYTHONPATH

if TYPE_CHECKING:
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError

SHOWN_ENTRIES = 5
"""The exchanges of each rank that are shown when one has failed."""


class Nodes(NamedTuple):
    """The machines of a run.

    Attributes:
        number: How many there are; the same command runs on each.
        rendezvous: ``host:port`` on one of them, where they meet; empty for one machine.
    """

    number: int = 1
    rendezvous: str = ""


def main(options: argparse.Namespace) -> int:
    """The command: the script runs in each rank as `python -m ttnn_jit` runs it."""
    if options.ranks < 1 or options.nodes < 1:
        raise ArgumentError("launch starts at least one rank on at least one machine")
    if (options.nodes > 1) != bool(options.rendezvous):
        raise ArgumentError("several machines need `--rendezvous HOST:PORT`, and one needs none")
    if not options.module and not Path(options.script).is_file():
        raise ArgumentError(f"{options.script} does not exist, or is no file", help="`-m` takes the name of a module")
    module = ["-m"] if options.module else []
    command = [sys.executable, "-m", "ttnn_jit", *module, options.script, *options.arguments]
    return launch(options.ranks, command, tag_output=options.tag_output, nodes=Nodes(options.nodes, options.rendezvous))


def launch(ranks: int, command: Sequence[str], *, tag_output: bool = False, nodes: Nodes | None = None) -> int:
    """Run a command in several ranks; returns 0, or the status of the first rank that failed.

    When a rank fails, the launcher ends the others, and prints the last exchanges of each.

    Args:
        ranks: The number of ranks on this machine.
        command: The program and its arguments.
        tag_output: Whether lines of output begin with the rank.
        nodes: The machines; None for this one alone.
    """
    require_torch("launching ranks", "start one process for each rank yourself")
    from torch.distributed.elastic.multiprocessing.api import DefaultLogsSpecs, SignalException
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
    from torch.distributed.launcher.api import LaunchConfig, elastic_launch

    logging.getLogger("torch.distributed.elastic").setLevel(logging.CRITICAL)  # `_report` says which rank failed
    nodes = nodes or Nodes()
    with TemporaryDirectory(prefix="ttnn_jit_ranks_") as folder:
        records = Path(folder) / "records"
        records.mkdir()
        _set_environment(ranks, records)
        config: dict[str, Any] = {
            "min_nodes": nodes.number,
            "max_nodes": nodes.number,
            "nproc_per_node": ranks,
            "run_id": f"ttnn_jit {nodes.rendezvous or uuid4()}",
            "rdzv_backend": "c10d",
            "rdzv_endpoint": nodes.rendezvous or "localhost:0",
            "local_addr": None if nodes.rendezvous else "localhost",
            "max_restarts": 0,
            "logs_specs": DefaultLogsSpecs(log_dir=folder),
            "log_line_prefix_template": "rank ${rank}: " if tag_output else None,
        }
        try:
            elastic_launch(LaunchConfig(**config), command[0])(*command[1:])
        except ChildFailedError as error:
            return _report(error, records)
        except SignalException as error:
            return 128 + int(error.sigval)
    return 0


def _set_environment(ranks: int, records: Path) -> None:
    """Set the variables that the ranks inherit."""
    os.environ["TTNN_JIT_RANKS_RECORDS"] = str(records)
    if not os.environ.get("OMP_NUM_THREADS"):
        os.environ["OMP_NUM_THREADS"] = str(max(1, (os.cpu_count() or 1) // ranks))
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if ON_PYTHONPATH not in paths:  # `import ttnn` in a program that is not run by `python -m ttnn_jit`
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [*paths, ON_PYTHONPATH]))


def _report(error: ChildFailedError, records: Path) -> int:
    """Print which rank failed first and the last exchanges of all; returns the exit status."""
    rank, failure = error.get_first_failure()
    code = failure.exitcode
    how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with status {code}"
    print(f"error: rank {rank} (process {failure.pid}) {how}; the other ranks were ended", file=sys.stderr)
    now = time.time()
    for number, entries in read_records(records):
        for entry in entries[-SHOWN_ENTRIES:]:
            ago = f"{now - entry.began:.3f} s ago"
            print(f"rank {number}: exchange {entry.number}, {ago}, {entry.state}: {entry.text}", file=sys.stderr)
        if not entries:
            print(f"rank {number}: no exchange", file=sys.stderr)
    return 128 - code if code < 0 else code
