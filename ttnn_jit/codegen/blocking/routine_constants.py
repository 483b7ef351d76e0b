"""Constants of routines that are numbers of a trace become operands, so that programs for other numbers share a loop.

Bound: a load for each iteration of the loops around a routine.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence

from ttnn_jit.codegen.bodies.steps import Constant, SymbolicConstant
from ttnn_jit.codegen.schedules.bound_kernel import BoundKernel, Operand
from ttnn_jit.codegen.schedules.kernel import Routine
from ttnn_jit.codegen.schedules.launch import View
from ttnn_jit.codegen.schedules.plan_value import PlanValue
from ttnn_jit.nest.streams import InnerAccess, Stream
from ttnn_jit.process.dataclass import replace
from ttnn_jit.specs.dtypes import COMPUTE_TYPE
from ttnn_jit.specs.tensor_spec import DataType, TensorSpec


def without_symbolic_constants(
    bound: BoundKernel, values: MutableMapping[tuple[DataType, Constant], PlanValue]
) -> BoundKernel:
    """The launch of a routine with operands for constants that are numbers of a trace; any other launch unchanged.

    Args:
        bound: The launch.
        values: The tensors of constants so far.
    """
    routine = bound.kernel
    if not isinstance(routine, Routine):
        return bound
    open_constants = dict.fromkeys(each for each in routine.constants if isinstance(each, SymbolicConstant))
    if not open_constants:
        return bound
    first, operands, stream_of = len(bound.inputs), list[Operand](), dict[Constant, int]()
    for constant in open_constants:
        dtype = DataType.INT32 if constant.number is None else COMPUTE_TYPE
        value = values.setdefault((dtype, constant), PlanValue(TensorSpec((1,), dtype)))
        stream_of[constant] = first + len(operands)
        operands.append(Operand(value, View(value.spec)))
    return replace(
        bound,
        kernel=_loading(routine, stream_of, [operand.value.spec.dtype for operand in operands]),
        inputs=(*bound.inputs, *operands),
        loops=bound.loops.with_scalars(first, len(operands)),
    )


def _loading(routine: Routine, stream_of: Mapping[Constant, int], dtypes: Sequence[DataType]) -> Routine:
    first = min(stream_of.values())
    streams, moves = [*routine.streams], [*routine.moves]
    streams[first:first] = [Stream(dtype, InnerAccess.SCALAR) for dtype in dtypes]
    moves[first:first] = [()] * len(dtypes)
    return replace(
        routine,
        streams=tuple(streams),
        moves=tuple(moves),
        constants=tuple(stream_of[each] if isinstance(each, Constant) else each for each in routine.constants),
        loaded=routine.loaded + len(dtypes) if routine.loaded >= first else routine.loaded,
    )
