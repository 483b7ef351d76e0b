"""Op classes derived from the declarations in ttnn_jit.ops: one class per operation and dialect.

They are plain `Operation` classes: making them costs microseconds, and `Op.create` builds one in about one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self

from xdsl.dialects.builtin import FloatAttr, LocationAttr, TensorType, f32
from xdsl.ir import Attribute, Operation, OpTraits, SSAValue
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ttnn_jit import ops
from ttnn_jit.dialects.ttcore import DataTypeAttr

_operation_of: dict[type[Operation], ops.Operation] = {}


class ElementwiseOp(Operation):
    """Base of the derived op classes: operands, then one result; numbers are f32 properties."""

    operation: ClassVar[ops.Operation]
    traits: ClassVar[OpTraits] = OpTraits(lambda: (Pure(),))

    @property
    def result(self) -> SSAValue:
        """The one result."""
        return self.results[0]

    def verify_(self) -> None:
        """Checks operand and result counts and the attributes that the declaration lists."""
        if len(self.operands) != self.operation.arity or len(self.results) != 1:
            raise VerifyException(
                f"{self.name} takes {self.operation.arity} operands and has one result, "
                f"got {len(self.operands)} and {len(self.results)}"
            )
        for attribute in self.operation.attributes:
            value = self.properties.get(attribute.name)
            if not isinstance(value, FloatAttr) or value.type != f32:
                raise VerifyException(f"{self.name} needs the f32 property `{attribute.name}`")
        self.verify_types()

    def verify_types(self) -> None:
        """Checks operand and result types; each dialect says how."""
        raise NotImplementedError

    @property
    def numbers(self) -> tuple[float, ...]:
        """The attributes in the declaration's order."""
        return tuple(_number(self.properties[attribute.name]) for attribute in self.operation.attributes)

    @classmethod
    def number_properties(cls, numbers: Sequence[float]) -> dict[str, Attribute]:
        """The attributes as properties, in the declaration's order."""
        declared = cls.operation.attributes
        return {a.name: FloatAttr(value, f32) for a, value in zip(declared, numbers, strict=True)}

    @classmethod
    def make(
        cls,
        operands: Sequence[SSAValue],
        result_type: Attribute,
        *,
        properties: dict[str, Attribute] | None = None,
        attributes: dict[str, Attribute] | None = None,
        location: LocationAttr | None = None,
    ) -> Self:
        """An op of this class; nothing is checked before `verify`."""
        return cls.create(
            operands=operands,
            result_types=(result_type,),
            properties=properties or {},
            attributes=attributes or {},
            location=location,
        )


class TensorElementwiseOp(ElementwiseOp):
    """An elementwise op of tensors."""

    def verify_types(self) -> None:
        """Refuses operands and results that are not tensors, and a dtype property that the result contradicts."""
        for value in self.operands:
            if not isinstance(value.type, TensorType):
                raise VerifyException(f"{self.name} takes tensors, got {value.type}")
        result_type = self.results[0].type
        if not isinstance(result_type, TensorType):
            raise VerifyException(f"{self.name} results in a tensor, got {result_type}")
        dtype = self.properties.get("dtype")
        if isinstance(dtype, DataTypeAttr) and dtype.data != str(result_type.element_type):
            raise VerifyException(f"{self.name} says dtype {dtype.data} but results in {result_type.element_type}")


def _number(attribute: Attribute) -> float:
    if not isinstance(attribute, FloatAttr):
        raise VerifyException(f"expected a number, got {attribute}")
    return attribute.value.data


def derive(dialect: str, name_field: str, base: type[ElementwiseOp]) -> dict[ops.Operation, type[ElementwiseOp]]:
    """One class per declared operation, named ``dialect.<operation.name_field>``."""
    table: dict[ops.Operation, type[ElementwiseOp]] = {}
    for operation in ops.OPERATIONS:
        name = f"{dialect}.{getattr(operation, name_field)}"
        fields = {"name": name, "operation": operation, "__doc__": operation.summary, "__module__": base.__module__}
        table[operation] = type(f"{name.title().replace('.', '').replace('_', '')}Op", (base,), fields)
        _operation_of[table[operation]] = operation
    return table


def operation_of(op: Operation) -> ops.Operation | None:
    """The declaration that `op`'s class was derived from, in whichever dialect; None for every other op."""
    return _operation_of.get(type(op))
