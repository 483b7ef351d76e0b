"""ttnn's strategies of distributing shards; one is implemented."""

from __future__ import annotations

import enum

from ttnn_jit.diagnostics.errors import GridError
from ttnn_jit.specs.checks import check_kind


class ShardDistributionStrategy(enum.Enum):
    """How shards are assigned to cores; the numbers are ttnn's."""

    ROUND_ROBIN_1D = 0
    GRID_2D = 1


def require_round_robin(strategy: ShardDistributionStrategy) -> None:
    """Refuses strategies other than round robin.

    Raises:
        ArgumentError: It is no strategy.
        GridError: It is another strategy.
    """
    check_kind(strategy, ShardDistributionStrategy, "`shard_distribution_strategy`")
    if strategy is not ShardDistributionStrategy.ROUND_ROBIN_1D:
        raise GridError(
            f"ND shards are dealt to cores in turn, and not by {strategy}",
            help="leave `shard_distribution_strategy` out; shards of a BLOCK_SHARDED config lie in a grid",
        )


class ShardMode(enum.Enum):
    """Whether a shard's shape is a part of the stored or of the logical shape; ttnn's numbers.

    Later versions of ttnn have only PHYSICAL.
    """

    PHYSICAL = 0
    LOGICAL = 1


def require_physical(mode: ShardMode) -> None:
    """Refuses shards that are parts of the logical shape, each padded to whole tiles.

    Raises:
        ArgumentError: It is no mode.
        GridError: It is LOGICAL.
    """
    check_kind(mode, ShardMode, "`shard_mode`")
    if mode is not ShardMode.PHYSICAL:
        raise GridError(
            f"a shard is a part of the tensor as it is stored, padding included, and not {mode}",
            help="leave `shard_mode` out, and round the shard's shape up to whole tiles",
        )
