"""The ranks of a run, under ttnn's names; opening a mesh joins them too."""

from __future__ import annotations

from ttnn_jit.diagnostics.errors import DistributedError
from ttnn_jit.runtime.ranks.world import World, current_world, join_world
from ttnn_jit.ttnn.calling.host_function import host_function


@host_function(observed=False)
def init_distributed_context() -> None:
    """Join the ranks that the environment names (ttnn.init_distributed_context); a process alone is one rank.

    torchrun, `ttnn-jit launch` and `tt-run` set the environment. Opening a mesh calls this.

    Raises:
        DistributedError: The ranks have one position in a mesh, or different versions.
    """
    join_world()


@host_function(observed=False)
def distributed_context_is_initialized() -> bool:
    """Whether this process has joined its ranks."""
    return current_world() is not None


@host_function(observed=False)
def distributed_context_get_rank() -> int:
    """The number of this rank, from 0.

    Raises:
        DistributedError: It has not joined its ranks.
    """
    return _joined("distributed_context_get_rank").rank


@host_function(observed=False)
def distributed_context_get_size() -> int:
    """The number of ranks.

    Raises:
        DistributedError: This process has not joined its ranks.
    """
    return len(_joined("distributed_context_get_size").members)


@host_function(observed=False)
def distributed_context_barrier() -> None:
    """Wait until every rank has called this, and has received what this rank has sent.

    Raises:
        DistributedError: This process has not joined its ranks, or one of them is lost or late.
    """
    _joined("distributed_context_barrier").barrier()


def _joined(name: str) -> World:
    world = current_world()
    if world is None:
        raise DistributedError(
            f"{name}: this process has not joined its ranks",
            help="open a mesh, or call `ttnn.init_distributed_context()`",
        )
    return world
