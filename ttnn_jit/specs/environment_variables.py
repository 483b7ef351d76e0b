"""The environment variables that this package reads, with their meanings."""

from __future__ import annotations

import os
from typing import NamedTuple

from ttnn_jit.diagnostics.tracebacks import warn_user
from ttnn_jit.process.memoized import memoized


class Variable(NamedTuple):
    """An environment variable that ttnn_jit reads.

    Attributes:
        name: Its name.
        meaning: The meaning of its value.
        default: The value if it is unset or empty.
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
        "1: errors keep all frames, a program for many sizes is compiled twice and compared, and a failing pass leaves "
        "its input and the command to repeat it in `generated/jit/reproducer`",
        "0",
    ),
    Variable("TTNN_JIT_NUM_THREADS", "the threads that a kernel may use, read once", "as torch, else one per CPU"),
    Variable(
        "TTNN_JIT_OUTPUT_LAYOUT",
        "where results lie for which no memory config is chosen: `first-operand` or `max-block-sharded`",
        "`first-operand`",
    ),
    Variable("TTNN_CONFIG_OVERRIDES", "settings of `ttnn.CONFIG` as a JSON object, read when ttnn is imported", ""),
    Variable(
        "TTMLIR_RUNTIME_LOGGER_LEVEL",
        "the level of the log of programs that are loaded and run: `TRACE`, `DEBUG`, `INFO`, `WARNING`, `ERROR`, "
        "`CRITICAL` or `FATAL`; read once",
        "no log",
    ),
    Variable("TTRT_LOGGER_LEVEL", "likewise; the more talkative of both counts; also of ttrt's own log", "no log"),
    Variable("LOGGER_LEVEL", "the level of ttrt's own log where `TTRT_LOGGER_LEVEL` is not set", "`INFO`"),
    Variable("TT_MLIR_HOME", "the folder in which ttrt has `ttrt-artifacts`", "the current folder"),
    Variable("RANK", "with those below, which rank of several this process is; torchrun sets them", ""),
    Variable("WORLD_SIZE", "the number of ranks", "1"),
    Variable("MASTER_ADDR", "where the ranks meet; torch.distributed reads it", ""),
    Variable("MASTER_PORT", "likewise", ""),
    Variable("TORCHELASTIC_RUN_ID", "set by torch's launcher: its SIGTERM says that another rank has failed", ""),
    Variable("TT_MESH_ID", "the mesh of this rank; ranks with one id share a mesh", "0"),
    Variable("TT_MESH_HOST_RANK", "its position among the ranks that share its mesh", "`RANK`, or 0 with `TT_MESH_ID`"),
    Variable(
        "OMP_NUM_THREADS", "the threads of torch; the launcher of ranks divides the CPUs among ranks", "set by torch"
    ),
    Variable("TTNN_JIT_RANKS_TIMEOUT", "seconds that a rank waits for another", "300"),
    Variable("TTNN_JIT_RANKS_RECORDS", "the folder of flight records; the launcher of ranks sets it", ""),
    Variable("SYSTEM_DESC_PATH", "the JSON of the system that devices without a target have", "wormhole_b0"),
)
"""Every environment variable that this package reads; `ttnn_jit.specs.options` reads most of them."""

OWN_PREFIX = "TTNN_JIT_"
"""The prefix of the names of this package's own variables."""


@memoized
def warn_of_unknown_variables() -> None:
    """Warns, once per process, of each variable with this package's prefix that it does not read."""
    own = [each.name.removeprefix(OWN_PREFIX) for each in VARIABLES if each.name.startswith(OWN_PREFIX)]
    for name in os.environ:
        last = name.removeprefix(OWN_PREFIX)
        if name.startswith(OWN_PREFIX) and last not in own:
            import difflib

            meant = difflib.get_close_matches(last, own, 1)
            guess = f"did you mean {OWN_PREFIX}{meant[0]}?" if meant else "`ttnn-jit env` lists those that there are"
            warn_user(f"{name} is no variable that ttnn_jit reads; {guess}")
