"""Functions, calls and returns, and the decorator that makes a function of one of Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xdsl import ir
from xdsl.dialects import builtin
from xdsl.dialects import func as held_func

from ttnn_jit.ttmlir.mlir_attributes import ArrayAttr, DictAttr, StringAttr, TypeAttr
from ttnn_jit.ttmlir.mlir_locations import Location
from ttnn_jit.ttmlir.mlir_operations import InsertionPoint, Operation, OpView
from ttnn_jit.ttmlir.mlir_types import FunctionType, Type
from ttnn_jit.ttmlir.mlir_values import Block, Region, Value
from ttnn_jit.ttmlir.mlir_views import register_view
from ttnn_jit.ttmlir.op_views import held_value
from ttnn_jit.ttmlir.wrapping import wrapped


@register_view
class FuncOp(OpView):
    """A function.

    Args:
        name: Its name.
        type: Its type, or the types of arguments and results.
        visibility: ``"private"`` or ``"public"``, if it is said.
        body_builder: Fills its first block; it is given the operation.
        loc: Where it comes from.
        ip: Where it is made.
    """

    OPERATION_NAME = "func.func"

    def __init__(
        self,
        name: str | StringAttr,
        type: FunctionType | TypeAttr | tuple[Sequence[Type], Sequence[Type]],  # noqa: A002 - MLIR's name
        *,
        visibility: str | None = None,
        body_builder: Callable[[FuncOp], Any] | None = None,
        loc: Location | None = None,
        ip: InsertionPoint | None = None,
    ) -> None:
        kind = FunctionType.get(*type) if isinstance(type, tuple) else type
        text = name.value if isinstance(name, StringAttr) else name
        made = held_func.FuncOp(text, kind.held, ir.Region(), visibility=visibility)
        made.location = (loc or Location.current_or_unknown()).held
        InsertionPoint.insert_there(made, ip)
        super().__init__(made)
        if body_builder is not None:
            with InsertionPoint(self.add_entry_block()):
                body_builder(self)

    @property
    def operation(self) -> Operation:
        """Itself, without what its declaration says."""
        return Operation(self.held)

    @property
    def name(self) -> Any:
        """Its name."""
        return wrapped(self.held.sym_name)

    @property
    def sym_name(self) -> Any:
        """Its name."""
        return wrapped(self.held.sym_name)

    @property
    def visibility(self) -> Any:
        """What is said of its visibility."""
        found = self.held.sym_visibility
        return None if found is None else wrapped(found)

    @property
    def sym_visibility(self) -> Any:
        """What is said of its visibility."""
        return self.visibility

    @sym_visibility.setter
    def sym_visibility(self, visibility: StringAttr) -> None:
        self.held.sym_visibility = visibility.held

    @property
    def is_external(self) -> bool:
        """Whether it has no body."""
        return not self.held.body.blocks

    @property
    def body(self) -> Region:
        """Its region."""
        return Region(self.held.body)

    @property
    def type(self) -> Any:
        """Its type."""
        return wrapped(self.held.function_type)

    @property
    def function_type(self) -> Any:
        """Its type, as an attribute."""
        return TypeAttr(self.held.function_type)

    @function_type.setter
    def function_type(self, kind: TypeAttr | FunctionType) -> None:
        self.held.function_type = kind.held

    @property
    def entry_block(self) -> Block:
        """Its first block.

        Raises:
            IndexError: It has no body.
        """
        if self.is_external:
            raise IndexError("External function does not have a body")
        return self.body[0]

    @property
    def arguments(self) -> Any:
        """The arguments of its first block."""
        return self.entry_block.arguments

    def add_entry_block(self, arg_locs: Sequence[Location] | None = None) -> Block:  # noqa: ARG002
        """A first block with the arguments of its type.

        Raises:
            IndexError: It has one.
        """
        if not self.is_external:
            raise IndexError("The function already has an entry block!")
        self.held.body.add_block(ir.Block(arg_types=[*self.held.function_type.inputs]))
        return self.entry_block

    @property
    def arg_attrs(self) -> Any:
        """The attributes of each argument."""
        found = self.held.arg_attrs
        if found is None:
            return ArrayAttr.get([DictAttr.get({}) for _ in self.held.function_type.inputs])
        return wrapped(found)

    @arg_attrs.setter
    def arg_attrs(self, attributes: Any) -> None:
        self.held.arg_attrs = _array(attributes).held

    @property
    def result_attrs(self) -> Any:
        """The attributes of each result.

        Raises:
            KeyError: None has any.
        """
        if self.held.res_attrs is None:
            raise KeyError("attempt to access a non-existent attribute")
        return wrapped(self.held.res_attrs)

    @result_attrs.setter
    def result_attrs(self, attributes: Any) -> None:
        self.held.res_attrs = _array(attributes).held


def _array(attributes: Any) -> ArrayAttr:
    return attributes if isinstance(attributes, ArrayAttr) else ArrayAttr.get(attributes)


@register_view
class ReturnOp(OpView):
    """The end of a function, with its results."""

    OPERATION_NAME = "func.return"

    def __init__(self, operands_: Sequence[Any], *, loc: Location | None = None, ip: Any = None) -> None:
        made = held_func.ReturnOp(*[held_value(each) for each in operands_])
        made.location = (loc or Location.current_or_unknown()).held
        InsertionPoint.insert_there(made, ip)
        super().__init__(made)


@register_view
class CallOp(OpView):
    """A call of a function: ``CallOp(function, arguments)``, or ``CallOp(results, name, arguments)``."""

    OPERATION_NAME = "func.call"

    def __init__(
        self, callee_or_results: Any, argument_or_callee: Any, arguments: Any = None, *, loc: Any = None, ip: Any = None
    ) -> None:
        if isinstance(callee_or_results, FuncOp):
            types, name, operands = callee_or_results.type.results, callee_or_results.name.value, argument_or_callee
        else:
            types, operands = callee_or_results, arguments or []
            name = argument_or_callee if isinstance(argument_or_callee, str) else argument_or_callee.value
        made = held_func.CallOp(name, [held_value(each) for each in operands], [each.held for each in types])
        made.location = (loc or Location.current_or_unknown()).held
        InsertionPoint.insert_there(made, ip)
        super().__init__(made)

    @property
    def callee(self) -> Any:
        """The name of the function."""
        return wrapped(self.held.callee)


def func(*inputs: Type, results: Sequence[Type] | None = None, name: str | None = None) -> Any:
    """Makes a function of one of Python, which is called once with the arguments.

    Args:
        inputs: The types of its arguments.
        results: The types of its results; by default those of what is returned.
        name: Its name; by default Python's.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        made = FuncOp(name or function.__name__, (list(inputs), list(results or ())))
        with InsertionPoint(made.add_entry_block()):
            returned = returned_values(function(*made.arguments))
            if not _ends(made):
                ReturnOp(returned)
        if results is None:
            types = [each.held for each in inputs], [each.type for each in made.held.body.block.last_op.operands]
            made.held.function_type = builtin.FunctionType.from_lists(*types)

        def call(*arguments: Any) -> CallOp:
            return CallOp(made, arguments)

        call.func_op = made  # type: ignore[attr-defined]
        call.__wrapped__ = function  # type: ignore[attr-defined]
        call.__name__ = function.__name__
        return call

    return decorate


def _ends(function: FuncOp) -> bool:
    last = function.held.body.block.last_op
    return last is not None and last.name == "func.return"


def returned_values(returned: Any) -> list[Value]:
    """What a function of Python returned, as values: none, a value, the results of an operation, or sequences of these.

    Raises:
        TypeError: It returned something else, as a tensor of torch.
    """
    match returned:
        case None:
            return []
        case Value():
            return [returned]
        case Operation():
            return [*returned.results]
        case Sequence() if not isinstance(returned, str):
            return [value for each in returned for value in returned_values(each)]
        case _:
            found = type(returned).__name__
            raise TypeError(f"a function of a module returns values of the module, and no {found}")
