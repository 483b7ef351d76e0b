"""In which order the shards of a tensor that is cut in every dimension go to cores, as ttnn names it."""

from __future__ import annotations

import enum

from ttnn_jit.diagnostics.errors import GridError
from ttnn_jit.specs.checks import check_kind


class ShardDistributionStrategy(enum.Enum):
    """How shards are dealt to cores; the numbers are ttnn's."""

    ROUND_ROBIN_1D = 0
    GRID_2D = 1


def require_in_turn(strategy: ShardDistributionStrategy) -> None:
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
