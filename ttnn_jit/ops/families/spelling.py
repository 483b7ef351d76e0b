"""Ops of texts that are derived from the declaration of an operation with the same operands and attributes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from ttnn_jit.ops.families.decomposition import Ops, Value
from ttnn_jit.ops.families.elementwise import Elementwise
from ttnn_jit.ops.families.fitted_operands import fitted_in_torch, fitted_operand, of_one_width
from ttnn_jit.ops.families.movement import Movement
from ttnn_jit.ops.families.text_operation import OPTIONAL, VARIADIC, OpInText, TextCall, TextOperation
from ttnn_jit.ops.language.axes import axes_of
from ttnn_jit.ops.language.binding import BoundCall, bind
from ttnn_jit.ops.language.operation import Operation
from ttnn_jit.ops.language.parameter import REDUCED
from ttnn_jit.process.cached_property import cached_property
from ttnn_jit.specs.dtypes import COMPUTE_TYPE, DataType, dtypes_in_torch


class Spelling(TextOperation):
    """An op that says a call of a declared operation: operands in its order, attributes by names of its parameters.

    Args:
        name: The name in the text.
        overloads: Declarations of that name in a dialect; the first that fits is called.
    """

    overloads: tuple[Operation, ...]

    def __init__(self, name: str, overloads: Sequence[Operation]) -> None:
        first = overloads[0]
        operands = [each.name + (OPTIONAL if each.is_optional else "") for each in first.operands]
        if first.is_variadic:
            operands = [f"{each.name}{VARIADIC}" for each in first.operands]
        super().__init__(
            (name,),
            OpInText(tuple(operands)),
            self._written,
            self._in_torch,
            compared_elements=None if first.compared_elements is None else self._compared,
            rounds_intermediates=first.rounds_intermediates,
            takes_quantized=isinstance(first, Movement),
            moves=isinstance(first, Movement),
            is_elementwise=isinstance(first, Elementwise),
            reduced_axes=self._reduced if REDUCED[1] in first.attributes[:1] else None,
        )
        object.__setattr__(self, "overloads", tuple(overloads))

    @cached_property
    def parameters(self) -> Mapping[str, str]:
        """Name of an attribute in texts -> parameter."""
        return {
            spelling: each.name
            for operation in self.overloads
            for each in operation.attributes
            for spelling in (*each.aliases, each.name, each.property_name, *each.spellings)
        }

    @property
    def attribute_names(self) -> Collection[str]:
        """The attributes that a parameter has as one of its names."""
        return self.parameters.keys()

    def bound(
        self, operands: Sequence[Any], sizes: Sequence[int] | None, attributes: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Operands and attributes of an op by name."""
        known = self.parameters
        return super().bound(operands, sizes, attributes) | {
            name: value for name, value in attributes.items() if name in known
        }

    def keywords(self, call: TextCall) -> dict[str, Any]:
        """The attributes of the call by parameter."""
        names = self.parameters
        return {names[name]: value for name, value in vars(call).items() if name in names}

    def _bound(self, call: TextCall, dtype_of: Callable[[Any], DataType | None]) -> BoundCall:
        first = self.overloads[0]
        given = [getattr(call, each.name) for each in first.operands]
        by_name = dict(zip((each.name for each in first.operands), given, strict=True))
        return bind(self.overloads, (), {**by_name, **self.keywords(call)}, dtype_of)

    def _written(self, ops: Ops, call: TextCall) -> Any:
        bound = self._bound(call, lambda value: value.spec.dtype if isinstance(value, Value) else None)
        fitted = [fitted_operand(ops, bound.operation, each, call.result.dtype) for each in bound.operands]
        results = ops.results(bound.operation, of_one_width(ops, bound.operation, fitted), *bound.attributes)
        return results[0] if len(results) == 1 else results

    def bound_in_torch(self, torch: Any, call: TextCall) -> BoundCall:
        """The call of the declaration on tensors of torch."""
        return self._bound(call, lambda value: _dtype_in_torch(torch, value))

    def _in_torch(self, torch: Any, call: TextCall) -> Any:
        bound = self.bound_in_torch(torch, call)
        operands = [fitted_in_torch(bound.operation, each) for each in bound.operands]
        return bound.operation.golden(torch, *operands, *bound.attributes)

    def _reduced(self, torch: Any, call: TextCall) -> Sequence[int]:
        bound = self.bound_in_torch(torch, call)
        return axes_of(bound.attributes[0], bound.operands[0].dim())

    def _compared(self, torch: Any, call: TextCall, results: Sequence[Any]) -> Sequence[Any]:
        bound = self.bound_in_torch(torch, call)
        assert bound.operation.compared_elements is not None, "the first of the overloads has it"
        return bound.operation.compared_elements(torch, [*results], *bound.operands, *bound.attributes)

    def stated_ulp(self, call: TextCall) -> float | None:
        """The bound of the declaration."""
        operation = self.overloads[0]
        return operation.max_ulp(COMPUTE_TYPE, call.result.dtype)


def _dtype_in_torch(torch: Any, value: Any) -> DataType | None:
    """The dtype of a torch tensor, `COMPUTE_TYPE` of float64; None of other values."""
    return dtypes_in_torch().get(value.dtype, COMPUTE_TYPE) if isinstance(value, torch.Tensor) else None
