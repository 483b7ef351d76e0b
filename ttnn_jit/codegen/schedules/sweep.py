"""A stage that runs over a row, or over one element of a row's results, and reduces values."""

from __future__ import annotations

from ttnn_jit.codegen.schedules.nest_stage import NestStage
from ttnn_jit.process.dataclass import dataclass


@dataclass(frozen=True)
class Fold:
    """A reduction that a sweep computes.

    Attributes:
        tile_name: The tile operation of the reduction.
        terms: The number of the stream or row buffer that is reduced, or of the buffer with a block of terms or a
            block's result.
        result: The number of the result's buffer.
        in_registers: Whether the sweep's loop reduces blocks.
    """

    tile_name: str
    terms: int
    result: int
    in_registers: bool = False


@dataclass(frozen=True)
class Sweep:
    """One loop over a row, or over the one element of a row's results.

    Attributes:
        stage: The steps.
        whole_row: Whether it runs over the row.
        folds: Its reductions.
    """

    stage: NestStage
    whole_row: bool
    folds: tuple[Fold, ...]
