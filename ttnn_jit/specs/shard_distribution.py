"""In which order the shards of a tensor that is cut in every dimension go to cores, as ttnn names it."""

from __future__ import annotations

import enum

from ttnn_jit.diagnostics.errors import GridError


class ShardDistributionStrategy(enum.Enum):
    """How shards are dealt to cores; the numbers are ttnn's."""

    ROUND_ROBIN_1D = 0
    GRID_2D = 1

    def require_in_turn(self) -> None:
        """Refuse what deals shards otherwise than in turn.

        Raises:
            GridError: It is another one.
        """
        if self is not ShardDistributionStrategy.ROUND_ROBIN_1D:
            raise GridError(
                f"ND shards are dealt to cores in turn, and not by {self}",
                help="leave `shard_distribution_strategy` out; shards of a BLOCK_SHARDED config lie in a grid",
            )
