"""Op classes derived from the declarations in ttnn_jit.ops: one class per operation and dialect.

They are plain `Operation` classes: defining one takes microseconds, and `Op.create` takes about one.
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
    CollectiveOp,
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
    """Declared operation -> its op class in one dialect; all user-defined operations share ``dialect.tile_op``.

    Attributes:
        user_op_class: The class of user-defined operations.
    """

    def __init__(self, user_op_class: type[ElementwiseOp]) -> None:
        super().__init__()
        self.user_op_class = user_op_class

    def __missing__(self, operation: ops.Operation) -> type[DeclaredOp]:
        if not operation.body:
            raise KeyError(operation)
        return self.user_op_class

    def classes(self) -> tuple[type[DeclaredOp], ...]:
        """Every class."""
        return (*self.values(), self.user_op_class)


def derive(dialect: str, name_field: str, bases: Mapping[type[ops.Operation], type[DeclaredOp]]) -> OpClasses:
    """One class per declared operation of these families, ``dialect.<operation.name_field>``, and the user op class.

    Args:
        dialect: Its name.
        name_field: The field of declarations that holds the op's name in this dialect.
        bases: Operation family -> the base of its op classes; the elementwise family is required.
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
    """The op classes of a tensor dialect, for the operations of all families."""
    bases = {
        ops.Elementwise: TensorElementwiseOp,
        ops.Typecast: TypecastOp,
        ops.Movement: MovementOp,
        ops.Reduction: ReductionOp,
        ops.Contraction: ContractionOp,
        ops.Composite: CompositeOp,
        ops.Routine: RoutineOp,
        ops.Collective: CollectiveOp,
    }
    return derive(dialect, name_field, bases)


def derive_opaque(dialect: str) -> tuple[type[Operation], ...]:
    """One class per operation that this dialect only parses and prints."""
    return tuple(
        _op_class(f"{dialect}.{declared.name}", declared, _OpaqueOp)
        for declared in opaque.DECLARATIONS
        if dialect in declared.dialects
    )


def _op_class(name: str, declared: ops.Declaration, base: type[Any]) -> type[Any]:
    fields = {"name": name, "operation": declared, "__doc__": declared.summary, "__module__": base.__module__}
    return type(f"{name.title().replace('.', '').replace('_', '')}Op", (base,), fields)


class _OpaqueOp(QuickOperation):
    """An op with any operands, results and properties, and unknown semantics."""

    traits: ClassVar[OpTraits] = OpTraits(lambda: ())

    def verify_(self) -> None:
        """Accepts everything."""


class _UserOp(ElementwiseOp):
    """``"ttnn.tile_op"(%x) <{body = "x -> t0 = exp(x); return t0", name = "f"}>``: an op that holds its definition."""

    @property
    def operation(self) -> ops.Elementwise:  # type: ignore[override]  # never assigned
        """The declaration of the properties.

        Raises:
            VerifyException: The properties are missing or invalid.
        """
        name, body = self.properties.get("name"), self.properties.get("body")
        if not isinstance(name, StringAttr) or not isinstance(body, StringAttr):
            raise VerifyException(f"{self.name} needs the string properties `name` and `body`")
        try:
            return user_operation.declared(name.data, body.data)
        except ArgumentError as error:
            raise VerifyException(f"{self.name}: {error}") from error
