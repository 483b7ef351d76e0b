"""A stage that runs over a row, or over one element of it, and reduces what it computes."""

from __future__ import annotations

from ttnn_jit.codegen.schedules.nest_stage import NestStage
from ttnn_jit.process.dataclass import dataclass


@dataclass(frozen=True)
class Fold:
    """A reduction that a sweep computes.

    Attributes:
        tile_name: Of its operation.
        terms: The number of the stream or row buffer that is reduced, or of the buffer that holds a block of what is,
            or its result.
        result: The number of the buffer that gets the result.
        in_registers: Whether the sweep's loop reduces blocks.
    """

    tile_name: str
    terms: int
    result: int
    in_registers: bool = False


@dataclass(frozen=True)
class Sweep:
    """One loop over a row, or over the one element that a row's results are.

    Attributes:
        stage: What it computes.
        whole_row: Whether it runs over the row.
        folds: What it reduces.
    """

    stage: NestStage
    whole_row: bool
    folds: tuple[Fold, ...]
