"""How shards are cut and dealt to cores, as ttnn names it, beside the one way that there is here."""

from __future__ import annotations

import enum

from ttnn_jit.diagnostics.errors import GridError
from ttnn_jit.specs.checks import check_kind


class ShardDistributionStrategy(enum.Enum):
    """How shards are dealt to cores; the numbers are ttnn's."""

    ROUND_ROBIN_1D = 0
    GRID_2D = 1


def require_round_robin(strategy: ShardDistributionStrategy) -> None:
    """Refuse what deals shards otherwise than in turn.

    Raises:
        ArgumentError: It is no strategy.
        GridError: It is another one.
    """
    check_kind(strategy, ShardDistributionStrategy, "`shard_distribution_strategy`")
    if strategy is not ShardDistributionStrategy.ROUND_ROBIN_1D:
        raise GridError(
            f"ND shards are dealt to cores in turn, and not by {strategy}",
            help="leave `shard_distribution_strategy` out; shards of a BLOCK_SHARDED config lie in a grid",
        )


class ShardMode(enum.Enum):
    """What the shape of a shard is part of; the numbers are ttnn's, whose later versions know PHYSICAL alone."""

    PHYSICAL = 0
    LOGICAL = 1


def require_physical(mode: ShardMode) -> None:
    """Refuse shards that are parts of the logical shape, and filled up to whole tiles one by one.

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
