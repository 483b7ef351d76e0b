"""``ttcore.composite``: an operation by its name, and a private function that says it in others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from xdsl.dialects.builtin import (
    DictionaryAttr,
    FunctionType,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
    i1,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter, function_around
from ttnn_jit.dialects.upstream.rules.view import symbol_around
from ttnn_jit.dialects.writing.editing import erase, insert_before

COMPOSITE = "ttcore.composite"
_MARK = "tt.composite_decomposition"
_FALSE = IntegerAttr(0, i1)
EMPTY: Mapping[str, Attribute] = MappingProxyType({})

Body = Callable[[Sequence[SSAValue], Operation], SSAValue]
"""Writes the operations of a composite before another operation; the result."""


def is_decomposition(function: FuncOp) -> bool:
    """Whether a function says what a composite computes."""
    return _MARK in function.attributes


def composite(
    name: str,
    operands: Sequence[SSAValue],
    result: Attribute,
    body: Body,
    rewriter: Rewriter,
    at: Operation,
    attributes: Mapping[str, Attribute] = EMPTY,
) -> SSAValue:
    """A composite, whose function is written behind the others of the module.

    Args:
        name: Its name.
        operands: Its operands.
        result: The type of its result.
        body: Writes its operations.
        rewriter: Writes operations.
        at: The operation before which it stands.
        attributes: Those of the operation of TTNN that has its name.
    """
    around = function_around(at)
    inputs = [value.type for value in operands]
    block = Block(arg_types=inputs)
    last = ReturnOp(block.args[0])
    last.location = at.location
    block.add_op(last)
    last.operands[0] = body(block.args, last)
    function = FuncOp(
        _free_name(around, f"{name}_decomp_"),
        FunctionType.from_lists(inputs, [result]),
        Region(block),
        visibility=StringAttr("private"),
    )
    function.attributes[_MARK] = UnitAttr()
    function.location = at.location
    module = around.parent
    assert module is not None
    module.add_op(function)
    properties: dict[str, Attribute | None] = {
        "composite_name": StringAttr(name),
        "decomposition": SymbolRefAttr(function.sym_name),
        "composite_attributes": DictionaryAttr({**attributes}) if attributes else None,
    }
    return rewriter.value(COMPOSITE, {"inputs": operands}, properties, result, at)


def _free_name(around: FuncOp, stem: str) -> str:
    block = around.parent
    assert block is not None
    taken = {op.sym_name.data for op in block.ops if isinstance(op, FuncOp)}
    return next(name for number in range(len(taken) + 1) if (name := f"{stem}{number}") not in taken)


def promote(op: Operation, rewriter: Rewriter) -> bool:
    """A composite becomes the operation of TTNN with its name and operands in order; False if there is none.

    Optional operands are there unless an attribute ``has_NAME`` of the composite is false.
    """
    named, given = op.properties["composite_name"], op.properties.get("composite_attributes")
    assert isinstance(named, StringAttr)
    name = f"ttnn.{named.data}"
    row = rewriter.row(name)
    if row is None:
        return False
    stated = given.data if isinstance(given, DictionaryAttr) else {}
    present = [each.name for each in row.operands if stated.get(f"has_{each.name}") != _FALSE]
    if len(present) != len(op.operands) or len(op.results) != len(row.results):
        return False
    operands = dict(zip(present, op.operands, strict=True))
    known = {each.name for each in row.attributes}
    properties = {key: value for key, value in stated.items() if key in known or not key.startswith("has_")}
    made = rewriter.create(name, operands, properties, [each.type for each in op.results], op)
    rewriter.replace(op, made.results)
    return True


def inline(op: Operation, rewriter: Rewriter) -> None:
    """The operations of a composite's function replace it.

    Raises:
        CompileError: It names no function of one block.
    """
    _, results = write_out(op)
    rewriter.replace(op, results)


def write_out(op: Operation) -> tuple[list[Operation], list[SSAValue]]:
    """Copies the operations of a composite's function before it: the copies, and the values that replace its results.

    Raises:
        CompileError: It names no function of one block.
    """
    named = op.properties["decomposition"]
    function = symbol_around(op, named.root_reference.data) if isinstance(named, SymbolRefAttr) else None
    if not isinstance(function, FuncOp) or len(function.body.blocks) != 1:
        raise CompileError("the `decomposition` of a composite is a function of one block", location=location_of(op))
    block = function.body.block
    values: dict[SSAValue, SSAValue] = dict(zip(block.args, op.operands, strict=True))
    made: list[Operation] = []
    for each in block.ops:
        if isinstance(each, ReturnOp):
            return made, [values.get(value, value) for value in each.operands]
        made.append(each.clone(values))
        insert_before(made[-1], op)
    raise CompileError("the `decomposition` of a composite ends without a return", location=location_of(op))


def decomposition_names(module: ModuleOp) -> set[str]:
    """The functions that composites name."""
    named = {op.properties["decomposition"] for op in module.walk() if op.name == COMPOSITE}
    return {each.root_reference.data for each in named if isinstance(each, SymbolRefAttr)}


def erase_unnamed(module: ModuleOp, names: set[str]) -> None:
    """Erases the private functions of these names that no operation names any more."""
    functions = [op for op in module.walk() if isinstance(op, FuncOp) and op.sym_name.data in names]
    used = {
        each.root_reference.data
        for op in module.walk()
        for each in (*op.properties.values(), *op.attributes.values())
        if isinstance(each, SymbolRefAttr)
    }
    for function in functions:
        if function.sym_visibility == StringAttr("private") and function.sym_name.data not in used:
            erase(function)
