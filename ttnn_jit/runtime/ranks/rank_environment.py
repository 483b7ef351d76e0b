"""Which rank this process is, from the environment of torchrun, of `ttnn-jit launch` or of `tt-run`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NamedTuple

from ttnn_jit.diagnostics.errors import ArgumentError

DEFAULT_TIMEOUT = 300.0  # seconds


class Binding(NamedTuple):
    """The mesh of a rank.

    Attributes:
        mesh_id: Ranks with one id share a mesh.
        mesh_host_rank: The position of the rank among those that share its mesh.
    """

    mesh_id: int
    mesh_host_rank: int


def there_are_ranks() -> bool:
    """Whether this process is one of several ranks: the environment says so, or torch.distributed is initialised."""
    is_addressed = os.environ.get("RANK") and os.environ.get("MASTER_ADDR") and os.environ.get("MASTER_PORT")
    if is_addressed and _whole_number("WORLD_SIZE", os.environ.get("WORLD_SIZE"), 1) > 1:
        return True
    distributed = sys.modules.get("torch.distributed")
    return distributed is not None and distributed.is_initialized() and distributed.get_world_size() > 1


def own_binding(rank: int) -> Binding:
    """The binding of this process: without a mesh id all ranks share one mesh, in the order of their numbers.

    Raises:
        ArgumentError: A variable is no whole number.
    """
    mesh_id, host_rank = os.environ.get("TT_MESH_ID"), os.environ.get("TT_MESH_HOST_RANK")
    return Binding(
        _whole_number("TT_MESH_ID", mesh_id, 0), _whole_number("TT_MESH_HOST_RANK", host_rank, 0 if mesh_id else rank)
    )


def timeout_seconds() -> float:
    """How long a rank waits for another.

    Raises:
        ArgumentError: The variable is no positive number.
    """
    text = os.environ.get("TTNN_JIT_RANKS_TIMEOUT")
    if not text:
        return DEFAULT_TIMEOUT
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not seconds > 0:
        raise ArgumentError(f"TTNN_JIT_RANKS_TIMEOUT is {text!r}", help="set it to a number of seconds above 0")
    return seconds


def is_launched() -> bool:
    """Whether torch's elastic agent started this process and ends it when another rank fails."""
    return bool(os.environ.get("TORCHELASTIC_RUN_ID"))


def record_folder() -> Path | None:
    """The folder of flight records that the launcher made; None without one."""
    folder = os.environ.get("TTNN_JIT_RANKS_RECORDS")
    return Path(folder) if folder else None


def _whole_number(name: str, text: str | None, default: int) -> int:
    if not text:
        return default
    if not text.isdecimal():
        raise ArgumentError(f"{name} is {text!r}", help="it is a whole number")
    return int(text)
