"""The cast to another element type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ttnn_jit.ops.families.elementwise import Elementwise
from ttnn_jit.ops.language.operation import OperandSpec
from ttnn_jit.ops.language.parameter import ELEMENT_TYPE, TENSOR, Parameter
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.dtypes import ALL_DTYPES
from ttnn_jit.specs.tensor_spec import DataType, TensorSpec


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Typecast(Elementwise):
    """An operation whose result has the element type of its attribute; conversions.py computes it."""

    @property
    def dtypes(self) -> frozenset[DataType]:
        """All element types."""
        return frozenset(ALL_DTYPES)

    @property
    def wide_in_texts(self) -> bool:
        """No: programs of ttnn cast elements of 64 bits."""
        return False

    @property
    def rules(self) -> str:
        """The rule of the result's dtype."""
        return "The result has the element type `dtype`."

    def results(self, specs: Sequence[OperandSpec], statics: Sequence[Any]) -> tuple[TensorSpec, ...]:
        """The result has the operand's layout and shape, and the requested element type."""
        (spec,) = super().results(specs, statics)
        return (spec.with_(dtype=statics[0]),)


def _cast(torch: Any, x: Any, dtype: DataType) -> Any:
    if dtype.compute.is_bool:
        return x != 0
    if dtype.is_integer and x.is_floating_point():
        limits = dtype.values
        x = x.double().nan_to_num(0.0).clamp(limits[0], limits[-1])
    return x.to(torch.int64).to(dtype.torch) if dtype.is_integer else x.to(dtype.torch)


TYPECAST = Typecast(
    name="typecast",
    parameters=(Parameter("input_tensor", TENSOR), Parameter("dtype", ELEMENT_TYPE)),
    summary="x in another type: floats become truncated, saturated integers, NaN 0; integers keep their low bits.",
    aten="",
    emit=lambda _, x, __: x,
    golden=_cast,
)

OPERATIONS = (TYPECAST,)
