"""Op classes derived from the declarations in ttnn_jit.ops: one class per operation and dialect.

They are plain `Operation` classes: making them costs microseconds, and `Op.create` builds one in about one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation, OpTraits
from xdsl.utils.exceptions import VerifyException

from ttnn_jit import ops
from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.dialects.declared_ops import (
    CompositeOp,
    ContractionOp,
    DeclaredOp,
    ElementwiseOp,
    MovementOp,
    ReductionOp,
    RoutineOp,
    TensorElementwiseOp,
    TypecastOp,
)
from ttnn_jit.dialects.writing.creation import QuickOperation
from ttnn_jit.ops.declared import DECLARED
from ttnn_jit.ops.families import opaque, user_operation


class OpClasses(dict[ops.Operation, type[DeclaredOp]]):
    """Declared operation -> its op class in one dialect; all operations of users have one class, ``dialect.tile_op``.

    Attributes:
        of_users: That class.
    """

    def __init__(self, of_users: type[ElementwiseOp]) -> None:
        super().__init__()
        self.of_users = of_users

    def __missing__(self, operation: ops.Operation) -> type[DeclaredOp]:
        if not operation.body:
            raise KeyError(operation)
        return self.of_users

    def classes(self) -> tuple[type[DeclaredOp], ...]:
        """Every class."""
        return (*self.values(), self.of_users)


def derive(dialect: str, name_field: str, bases: Mapping[type[ops.Operation], type[DeclaredOp]]) -> OpClasses:
    """One class per declared operation of these families, ``dialect.<operation.name_field>``, and that of users'.

    Args:
        dialect: Its name.
        name_field: The field of declarations that names their op in it.
        bases: Operation family -> the base of its op classes; an elementwise one among them.
    """
    elementwise = bases[ops.Elementwise]
    fields: dict[str, Any] = {
        "name": f"{dialect}.tile_op",
        "__doc__": "A user's tile operation.",
        "__module__": elementwise.__module__,
    }
    table = OpClasses(type(f"{dialect.upper()}TileOp", (_UserOp, elementwise), fields))
    for operation in DECLARED:
        if (base := bases.get(type(operation))) is not None:
            table[operation] = _op_class(f"{dialect}.{getattr(operation, name_field)}", operation, base)
    return table


def derive_tensor_ops(dialect: str, name_field: str) -> OpClasses:
    """The op classes of a dialect of tensors, which has operations of every family."""
    bases = {
        ops.Elementwise: TensorElementwiseOp,
        ops.Typecast: TypecastOp,
        ops.Movement: MovementOp,
        ops.Reduction: ReductionOp,
        ops.Contraction: ContractionOp,
        ops.Composite: CompositeOp,
        ops.Routine: RoutineOp,
    }
    return derive(dialect, name_field, bases)


def derive_opaque(dialect: str) -> tuple[type[Operation], ...]:
    """One class per operation that this dialect only parses, prints and keeps."""
    return tuple(
        _op_class(f"{dialect}.{declared.name}", declared, _OpaqueOp)
        for declared in opaque.DECLARATIONS
        if dialect in declared.dialects
    )


def _op_class(name: str, declared: ops.Declaration, base: type[Any]) -> type[Any]:
    fields = {"name": name, "operation": declared, "__doc__": declared.summary, "__module__": base.__module__}
    return type(f"{name.title().replace('.', '').replace('_', '')}Op", (base,), fields)


class _OpaqueOp(QuickOperation):
    """Any operands, results and properties; nothing is known of what it does."""

    traits: ClassVar[OpTraits] = OpTraits(lambda: ())

    def verify_(self) -> None:
        """Refuses nothing."""


class _UserOp(ElementwiseOp):
    """``"ttnn.tile_op"(%x) <{body = "x -> t0 = exp(x); return t0", name = "f"}>``: the op says what it computes."""

    @property
    def operation(self) -> ops.Elementwise:  # type: ignore[override]  # never assigned
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
