"""Op classes derived from the declarations in ttnn_jit.ops: one class per operation and dialect.

They are plain `Operation` classes: making them costs microseconds, and `Op.create` builds one in about one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

from xdsl.dialects.builtin import FloatAttr, LocationAttr, StringAttr, TensorType, f32
from xdsl.ir import Attribute, Operation, OpTraits, SSAValue
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ttnn_jit import ops
from ttnn_jit.dialects.builders import f32_attr
from ttnn_jit.dialects.creation import QuickOperation
from ttnn_jit.dialects.ttcore import DataTypeAttr
from ttnn_jit.errors import ArgumentError
from ttnn_jit.ops import user_operation


class ElementwiseOp(QuickOperation):
    """Base of the derived op classes: operands, then one result; numbers are f32 properties."""

    declared: ClassVar[ops.Operation]
    traits: ClassVar[OpTraits] = OpTraits(lambda: (Pure(),))

    @property
    def operation(self) -> ops.Operation:
        """The declaration of what it computes."""
        return self.declared

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


def properties_of(operation: ops.Operation, numbers: Sequence[float]) -> dict[str, Attribute]:
    """The properties of any dialect's op of `operation`: its numbers, in the declaration's order, and a user's body."""
    properties: dict[str, Attribute] = {
        attribute.name: f32_attr(value) for attribute, value in zip(operation.attributes, numbers, strict=True)
    }
    if operation.body:
        properties |= {"body": StringAttr(operation.body), "name": StringAttr(operation.name)}
    return properties


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


class OpClasses(dict[ops.Operation, type[ElementwiseOp]]):
    """Declared operation -> its op class in one dialect; all operations of users have one class, ``dialect.tile_op``.

    Attributes:
        of_users: That class.
    """

    def __init__(self, of_users: type[ElementwiseOp]) -> None:
        super().__init__()
        self.of_users = of_users

    def __missing__(self, operation: ops.Operation) -> type[ElementwiseOp]:
        if not operation.body:
            raise KeyError(operation)
        return self.of_users

    def classes(self) -> tuple[type[ElementwiseOp], ...]:
        """Every class."""
        return (*self.values(), self.of_users)


def derive(dialect: str, name_field: str, base: type[ElementwiseOp]) -> OpClasses:
    """One class per declared operation, named ``dialect.<operation.name_field>``, and one for those of users."""
    fields: dict[str, Any] = {
        "name": f"{dialect}.tile_op",
        "__doc__": "A user's tile operation.",
        "__module__": base.__module__,
    }
    table = OpClasses(type(f"{dialect.upper()}TileOp", (_UserOp, base), fields))
    for operation in ops.OPERATIONS:
        name = f"{dialect}.{getattr(operation, name_field)}"
        fields = {"name": name, "declared": operation, "__doc__": operation.summary, "__module__": base.__module__}
        table[operation] = type(f"{name.title().replace('.', '').replace('_', '')}Op", (base,), fields)
    return table


class _UserOp(ElementwiseOp):
    """``"ttnn.tile_op"(%x) <{body = "x -> t0 = exp(x); return t0", name = "f"}>``: the op says what it computes."""

    @property
    def operation(self) -> ops.Operation:
        """The declaration that the properties spell.

        Raises:
            VerifyException: They spell none.
        """
        name, body = self.properties.get("name"), self.properties.get("body")
        if not isinstance(name, StringAttr) or not isinstance(body, StringAttr):
            raise VerifyException(f"{self.name} needs the string properties `name` and `body`")
        try:
            return user_operation.declared(name.data, body.data)
        except ArgumentError as error:
            raise VerifyException(f"{self.name}: {error}") from error


def operation_of(op: Operation) -> ops.Operation | None:
    """The declaration of what `op` computes, in whichever dialect; None for every op that is not elementwise."""
    return op.operation if isinstance(op, ElementwiseOp) else None
