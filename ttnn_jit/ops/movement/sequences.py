"""The operations that functions of the host API (ops/host_ops.py) become in a program."""

from __future__ import annotations

from typing import Any

from ttnn_jit.ops.families.decomposition import Ops, Value
from ttnn_jit.ops.families.movement import OPERAND, CanonicalCall, Extents, Movement
from ttnn_jit.ops.families.routine import NativeLoop, Routine, RoutineLoops
from ttnn_jit.ops.language.host_call import HostCall
from ttnn_jit.ops.language.parameter import DIMENSION, ELEMENT_TYPE, LAYOUT, Parameter
from ttnn_jit.specs.access.access import Access
from ttnn_jit.specs.access.interval import Interval
from ttnn_jit.specs.dtypes import COMPUTE_TYPE, DataType
from ttnn_jit.specs.tensor_spec import Layout, TensorSpec


def _arange_loop(_load: Any, store: Any) -> Any:
    def loop(result, rs, count, start, step):  # type: ignore[no-untyped-def]
        for i in range(count):
            result[i * rs] = store(start + i * step)

    return loop


def _arange_loops(start: int, end: int, step: int, *_: Any) -> RoutineLoops:
    extents = (Interval(start, end, step).count,)
    return RoutineLoops(extents, 1, (Access.identity(extents),))


def _arange_result(start: int, end: int, step: int, dtype: DataType, layout: Layout) -> tuple[TensorSpec, ...]:
    return (TensorSpec((Interval(start, end, step).count,), dtype, layout),)


ARANGE = Routine(
    name="arange",
    parameters=(
        Parameter("start", DIMENSION),
        Parameter("end", DIMENSION),
        Parameter("step", DIMENSION),
        Parameter("dtype", ELEMENT_TYPE),
        Parameter("layout", LAYOUT),
    ),
    summary="The integers from `start` to before `end`, `step` apart.",
    loop=_arange_loop,
    loops=_arange_loops,
    result=_arange_result,
    operand_dtypes=(),
    constants=lambda start, _end, step, *_: (start, step),
    native=NativeLoop.SEQUENCE,
    golden=lambda torch, start, end, step, *_: torch.arange(start, end, step),
    host_call=HostCall(takes_device=True),
)


def arange(ops: Ops, extent: int, like: Value, first: int = 0, step: int = 1, dtype: DataType = COMPUTE_TYPE) -> Value:
    """A tensor of `extent` numbers from `first` on, `step` apart, in the layout of `like`."""
    return ops.call(ARANGE, [], first, first + extent * step, step, dtype, like.spec.layout)


def _eye_loop(_load: Any, store: Any) -> Any:
    def loop(result, down, across, rows, columns):  # type: ignore[no-untyped-def]
        for i in range(rows):
            for j in range(columns):
                result[i * down + j * across] = store(1 if i == j else 0)

    return loop


def _eye_loops(rows: int, columns: int, *_: Any) -> RoutineLoops:
    return RoutineLoops((rows, columns), 2, (Access.identity((rows, columns)),))


EYE = Routine(
    name="eye",
    parameters=(
        Parameter("rows", DIMENSION),
        Parameter("columns", DIMENSION),
        Parameter("dtype", ELEMENT_TYPE),
        Parameter("layout", LAYOUT),
    ),
    summary="Ones where row and column are equal, zeros elsewhere.",
    source="torch.eye",
    loop=_eye_loop,
    loops=_eye_loops,
    result=lambda rows, columns, dtype, layout: (TensorSpec((rows, columns), dtype, layout),),
    operand_dtypes=(),
    golden=lambda torch, rows, columns, *_: torch.eye(rows, columns),
)


def _as_it_is(_: Extents) -> CanonicalCall:
    return RELAYOUT, ()


RELAYOUT: Movement = Movement(
    name="relayout",
    parameters=(OPERAND,),
    summary="The tensor in the layout of the result's type.",
    source="ttnn.to_layout, ttnn.to_memory_config",
    canonicalize=_as_it_is,
    access=Access.identity,
    golden=lambda _, x: x,
    aten="",
    examples=((((3, 40),), ()),),
)

OPERATIONS = (ARANGE, EYE, RELAYOUT)
