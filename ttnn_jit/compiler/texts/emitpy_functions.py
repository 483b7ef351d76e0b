"""Functions of straight-line Python as functions of the dialect emitpy, which take and give one list of tensors."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, StringAttr, SymbolRefAttr
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ttnn_jit.diagnostics.errors import InternalError
from ttnn_jit.dialects.upstream.rewriting.made_attributes import integer, parsed_type
from ttnn_jit.dialects.upstream.rewriting.rewriter import operation_kind
from ttnn_jit.dialects.upstream.table_attributes import attribute_class

DEVICE = "utils.DeviceGetter.get_device"
_DEVICE_NAME = "device"
_NAME = "emitpy.name"


def tensor_type() -> Attribute:
    """The type of a tensor."""
    return parsed_type('!emitpy.opaque<"ttnn.Tensor">')


def list_type() -> Attribute:
    """The type of a list of tensors."""
    return parsed_type('!emitpy.opaque<"[ttnn.Tensor]">')


def emitpy_op(
    name: str,
    /,
    operands: Sequence[SSAValue] = (),
    results: Sequence[Attribute] = (),
    regions: Sequence[Region] = (),
    **properties: Attribute,
) -> Operation:
    """An operation of emitpy."""
    return operation_kind(f"emitpy.{name}").create(
        operands=[*operands], result_types=[*results], regions=[*regions], properties=properties
    )


def opaque(text: str) -> Attribute:
    """``#emitpy.opaque<"text">``, a constant that is written as it is."""
    kind: Any = attribute_class("emitpy.opaque", is_type=False)
    return kind((("value", text),))  # type: ignore[no-any-return]  # a class of the tables


class BodyWriter:
    """Writes the body of a function of one list of tensors.

    Args:
        functions: Number of results of each function of the module by name.
        mesh: The extents of the mesh.
        argument: The name that the list has in Python; None: there is none.

    Attributes:
        block: The body.
    """

    def __init__(self, functions: Mapping[str, int], mesh: Sequence[int], argument: str | None = "inputs") -> None:
        self._functions = functions
        self._mesh = mesh
        self._values: dict[str, SSAValue] = {}
        self._argument = argument
        self.block = Block(arg_types=[list_type()] if argument else [])

    def add(self, op: Operation) -> Operation:
        """Adds an operation."""
        self.block.add_op(op)
        return op

    def bind(self, names: Sequence[str], listed: SSAValue) -> None:
        """Names the elements of a list."""
        for index, name in enumerate(names):
            self._values[name] = self._element(listed, index, name)

    def _element(self, listed: SSAValue, index: int, name: str) -> SSAValue:
        number = self.add(emitpy_op("literal", results=[parsed_type("index")], value=StringAttr(str(index))))
        found = self.add(emitpy_op("subscript", [listed, number.results[0]], [tensor_type()]))
        return _named(found, name)

    def statements(self, body: Sequence[ast.stmt]) -> None:
        """Writes assignments, calls and the return of a function."""
        for each in body:
            self._statement(each)

    def _statement(self, statement: ast.stmt) -> None:
        match statement:
            case ast.Expr(ast.Constant()) | ast.Pass():
                return  # a docstring, or no statement
            case ast.Assign([ast.Name("device")]):
                return  # the device is opened where it is read
            case ast.Assign([ast.Name(name)], value):
                self._values[name] = self.value(value, name)
            case ast.Assign([ast.Tuple(targets)], ast.Call() as call):
                found = self._results(call, len(targets))
                names = [each.id for each in targets if isinstance(each, ast.Name)]
                self._values.update(zip(names, found, strict=True))
            case ast.Expr(ast.Call() as call):
                self._results(call, 0)
            case ast.Return(value):
                parts = [] if value is None else value.elts if isinstance(value, ast.Tuple | ast.List) else [value]
                self.returned([self.value(each) for each in parts])
            case _:
                _unknown(statement)

    def finish(self) -> None:
        """Returns an empty list, if nothing was returned."""
        if not isinstance(self.block.last_op, ReturnOp):
            self.returned([])

    def returned(self, values: Sequence[SSAValue]) -> None:
        """Returns values as a list."""
        listed = self.add(self._call_opaque("util_create_list", values, [list_type()]))
        self.add(ReturnOp(listed.results[0]))

    def value(self, expression: ast.expr, name: str = "") -> SSAValue:
        """The value of an expression; a variable of that name if it is a call or a part of a list."""
        match expression:
            case ast.Name("device") | ast.Call(ast.Attribute(ast.Name(), "device")):
                found = self.device()
            case ast.Name(known):
                found = self._values[known]
            case ast.List(parts) | ast.Tuple(parts):
                listed = self._call_opaque("util_create_list", [self.value(each) for each in parts], [list_type()])
                found = _named(self.add(listed), name)
            case ast.Call() as call:
                found = self._results(call, 1, name)[0]
            case ast.Subscript(container, ast.Constant(index)) if isinstance(index, int):
                found = self._element(self.value(container), index, name)
            case _:
                if self._reads(expression):
                    _unknown(expression)
                text = StringAttr(ast.unparse(expression))
                found = self.add(emitpy_op("literal", results=[parsed_type("index")], value=text)).results[0]
        return found

    def device(self) -> SSAValue:
        """The device, which the first reader opens."""
        if _DEVICE_NAME not in self._values:
            kind = parsed_type('!emitpy.opaque<"ttnn.distributed.MeshDevice">')
            rows = [1] * (2 - len(self._mesh)) + [*self._mesh]
            call = emitpy_op(
                "call_opaque", results=[kind], callee=StringAttr(DEVICE), **_arguments([opaque(str((*rows,)))], [""])
            )
            self._values[_DEVICE_NAME] = _named(self.add(call), _DEVICE_NAME)
        return self._values[_DEVICE_NAME]

    def _results(self, call: ast.Call, count: int, name: str = "") -> list[SSAValue]:
        callee = ast.unparse(call.func)
        if callee in self._functions:
            return self._call_of_function(callee, call, max(count, 1), name)
        operands: list[SSAValue] = []
        given, words = [], []
        for word, each in [("", each) for each in call.args] + [(each.arg or "", each.value) for each in call.keywords]:
            words.append(word)
            if self._reads(each):
                operands.append(self.value(each))
                given.append(integer_index(len(operands) - 1))
            else:
                given.append(opaque(ast.unparse(each)))
        made = self._call_opaque(callee, operands, [tensor_type()] * count, **_arguments(given, words))
        self.add(made)
        if count == 1:
            return [_named(made, name)]
        return [*made.results]

    def _call_of_function(self, callee: str, call: ast.Call, count: int, name: str) -> list[SSAValue]:
        """The results of a function of the module, whose one argument and result are lists."""
        passed = [each for each in call.args if not isinstance(each, ast.Name) or each.id != _DEVICE_NAME]
        listed = self.add(self._call_opaque("util_create_list", [self.value(each) for each in passed], [list_type()]))
        made = self.add(CallOp(callee, [listed.results[0]], [list_type()]))
        if self._functions[callee] > 1 and count == 1:
            return [_named(made, name)]  # its elements are read one by one
        return [self._element(made.results[0], index, name) for index in range(count)]

    def _call_opaque(
        self, callee: str, operands: Sequence[SSAValue], results: Sequence[Attribute], **more: Any
    ) -> Operation:
        return emitpy_op("call_opaque", operands, results, callee=StringAttr(callee), **more)

    def _reads(self, expression: ast.expr) -> bool:
        """Whether an expression reads a variable of the function."""
        known = {*self._values, _DEVICE_NAME, *self._functions}
        return any(isinstance(each, ast.Name) and each.id in known for each in ast.walk(expression))

    def function(self, name: str, results: Sequence[Attribute] | None = None, *, private: bool = False) -> FuncOp:
        """The function whose body was written."""
        self.finish()
        types = [each.type for each in self.block.args]
        type_ = FunctionType.from_lists(types, [list_type()] if results is None else [*results])
        notes = [DictionaryAttr({_NAME: StringAttr(self._argument)})] if self._argument else None
        return FuncOp(
            name,
            type_,
            Region(self.block),
            visibility=StringAttr("private") if private else None,
            arg_attrs=None if notes is None else ArrayAttr(notes),
        )


def integer_index(value: int) -> Attribute:
    """An index: the number of an operand among the arguments of a call."""
    return integer(value, parsed_type("index"))


def symbol(name: str) -> SymbolRefAttr:
    """``@name``."""
    return SymbolRefAttr(name)


def _arguments(given: Sequence[Attribute], words: Sequence[str]) -> dict[str, Any]:
    return {"args": ArrayAttr(given), "keyword_args": ArrayAttr([StringAttr(each) for each in words])}


def _named(op: Operation, name: str) -> SSAValue:
    """The result of an operation, with the name that it has in Python."""
    if name:
        op.attributes[_NAME] = StringAttr(name)
    return op.results[0]


def _unknown(node: ast.AST) -> NoReturn:
    raise InternalError(f"a translated program has `{ast.unparse(node)}`, which emitpy is not written for")
