"""Operations of two integer tensors of one shape as scalar loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ttnn_jit.ops.families.routine import Routine, RoutineLoops
from ttnn_jit.ops.language.parameter import TENSOR, Parameter
from ttnn_jit.specs.access.access import Access
from ttnn_jit.specs.tensor_spec import DataType

Extents = tuple[int, ...]


def _rows(shape: Extents, _: Extents) -> RoutineLoops:
    return RoutineLoops(shape, 1, (Access.identity(shape),) * 3)


def routine_of_pairs(
    kind: str,
    name: str,
    numbers: str,
    dtypes: frozenset[DataType],
    loop: Callable[..., Any],
    golden: Callable[..., Any],
    *constants: int,
) -> Routine:
    """The routine ``KIND_NAME``: a loop over two tensors of one shape and element type, which its result has too.

    Args:
        kind: The first part of its name.
        name: The name of the operation in ttnn.
        numbers: What its elements are, for its summary.
        dtypes: Their element types.
        loop: The loop, of the elements along one dimension.
        golden: What it computes, in torch.
        constants: The last arguments of the loop.
    """
    return Routine(
        name=f"{kind}_{name}",
        parameters=(Parameter("input_tensor_a", TENSOR), Parameter("input_tensor_b", TENSOR)),
        summary=f"`{name}` of {numbers} of one shape.",
        source=f"ttnn.{name}",
        loop=loop,
        loops=_rows,
        result=lambda a, _: (a.with_(),),
        operand_dtypes=(dtypes, dtypes),
        same_dtype=(0, 1),
        constants=lambda *_: constants,
        golden=golden,
        examples=((((3, 40), (3, 40)), ()),),
    )
