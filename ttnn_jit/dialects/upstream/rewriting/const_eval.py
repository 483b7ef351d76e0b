"""Functions that run once: hoisted out of a function, and inlined again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue
from xdsl.traits import IsTerminator

from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter
from ttnn_jit.dialects.upstream.rules.view import symbol_around
from ttnn_jit.dialects.writing.editing import erase, insert_before, replace_uses

CONST_EVAL = "const_eval"
CONV2D_WEIGHT = "ttcore.conv2d_weight"

_SHARED = {"ttnn.get_device"}
"""Operations that every function repeats."""

_NOT_CACHED = {"ttir.empty", "ttir.rand", "ttnn.empty", "ttnn.rand", "ttnn.mesh_shard", "ttcore.load_cached"}
"""Operations whose results are not kept from one run to the next."""

_WRITERS = ("update_cache", "fill_cache", "paged_update_cache", "paged_fill_cache", "deallocate")
"""Operations that write or free their first operand."""


def is_const_eval(function: FuncOp) -> bool:
    """Whether a function runs once."""
    return CONST_EVAL in function.attributes


def kept_value(value: SSAValue) -> SSAValue:
    """What a function that runs once returns for a value; the value itself if it is none of its results."""
    call = value.owner
    if not isinstance(call, Operation) or call.name != "ttcore.load_cached":
        return value
    callee = call.properties["callee"]
    assert isinstance(callee, SymbolRefAttr)
    function = symbol_around(call, callee.root_reference.data)
    last = function.body.block.last_op if isinstance(function, FuncOp) else None
    return last.operands[call.results.index(value)] if last is not None else value


def hoist(function: FuncOp, known: Iterable[int], rewriter: Rewriter) -> None:
    """Hoists what depends on the arguments `known` alone, each connected part into a function of its own."""
    block = function.body.block
    arguments: set[SSAValue] = {block.args[index] for index in known}
    shared = [op for op in block.ops if op.name in _SHARED]
    of_shared = {result for op in shared for result in op.results}
    groups = _groups(block, arguments, of_shared)
    for number, ops in enumerate(groups):
        _write_function(function, number, ops, shared, rewriter)
    rewriter.changes += len(groups)


def _groups(block: Block, arguments: set[SSAValue], of_shared: set[SSAValue]) -> list[list[Operation]]:
    """The operations to hoist, those that are connected together, in the order of their first one."""
    group_of: dict[SSAValue, list[Operation]] = {}
    groups: list[list[Operation]] = []
    for op in block.ops:
        if not _can_be_kept(op):
            continue
        if not all(value in arguments or value in of_shared or value in group_of for value in op.operands):
            continue
        joined = {id(group_of[value]): group_of[value] for value in op.operands if value in group_of}
        if joined:
            target, *others = sorted(joined.values(), key=lambda each: _index(groups, each))
            for other in others:
                target += other
                groups[:] = [each for each in groups if each is not other]
                for moved in other:
                    group_of.update(dict.fromkeys(moved.results, target))
        else:
            target = []
            groups.append(target)
        target.append(op)
        group_of.update(dict.fromkeys(op.results, target))
    order = {op: index for index, op in enumerate(block.ops)}
    return sorted((sorted(group, key=order.__getitem__) for group in groups), key=lambda group: order[group[0]])


def _index(groups: Sequence[Any], group: Any) -> int:
    return next(index for index, each in enumerate(groups) if each is group)


def _can_be_kept(op: Operation) -> bool:
    if op.has_trait(IsTerminator) or not op.results or op.regions or op.name in _NOT_CACHED | _SHARED:
        return False
    for result in op.results:
        for use in result.uses:
            if use.index == 0 and use.operation.name.partition(".")[2] in _WRITERS:
                return False
    return True


def _write_function(
    function: FuncOp,
    number: int,
    ops: Sequence[Operation],
    shared: Sequence[Operation],
    rewriter: Rewriter,
) -> None:
    inside = {*ops}
    inputs = sorted(
        {value for op in ops for value in op.operands if isinstance(value, BlockArgument)}, key=lambda each: each.index
    )
    outputs = [result for op in ops for result in op.results if any(use.operation not in inside for use in result.uses)]
    name = f"{function.sym_name.data}_const_eval_{number}"
    body = Block(arg_types=[value.type for value in inputs])
    values: dict[SSAValue, SSAValue] = dict(zip(inputs, body.args, strict=True))
    for op in (*shared, *ops):
        body.add_op(op.clone(values))
    body.add_op(ReturnOp(*[values[value] for value in outputs]))
    type_ = FunctionType.from_lists([value.type for value in inputs], [value.type for value in outputs])
    made = FuncOp(name, type_, Region(body), visibility=StringAttr("private"))
    made.attributes[CONST_EVAL] = UnitAttr()
    if function.arg_attrs is not None:
        given = [function.arg_attrs.data[value.index].data for value in inputs]
        kept = [{name: each for name, each in one.items() if name == CONV2D_WEIGHT} for one in given]
        if any(kept):
            made.arg_attrs = ArrayAttr(map(DictionaryAttr, kept))
    made.location = function.location
    insert_before(made, function)
    call = rewriter.create(
        "ttcore.load_cached",
        {"inputs": inputs},
        {"callee": SymbolRefAttr(name)},
        [value.type for value in outputs],
        _behind_calls(function),
    )
    for old, new in zip(outputs, call.results, strict=True):
        replace_uses(old, new)
    for op in reversed(ops):
        erase(op)


def _behind_calls(function: FuncOp) -> Operation:
    """The first operation of a function that is no call of a function that runs once."""
    found: Operation = next(op for op in function.body.block.ops if op.name != "ttcore.load_cached")
    return found


def undo(module: ModuleOp, rewriter: Rewriter) -> None:
    """Inlines the functions that run once where they are called, and erases them."""
    functions = {
        op.sym_name.data: op for op in module.walk() if isinstance(op, FuncOp) and is_const_eval(op) and op.body.blocks
    }
    changed: dict[FuncOp, None] = {}
    for call in [op for op in module.walk() if op.name == "ttcore.load_cached"]:
        callee = call.properties["callee"]
        assert isinstance(callee, SymbolRefAttr)
        function = functions.get(callee.root_reference.data)
        if function is None:
            continue
        around = call.parent_op()
        assert isinstance(around, FuncOp)
        changed[around] = None
        block = function.body.block
        values: dict[SSAValue, SSAValue] = dict(zip(block.args, call.operands, strict=True))
        for op in block.ops:
            if isinstance(op, ReturnOp):
                rewriter.replace(call, [values.get(each, each) for each in op.operands])
                break
            if op.name != "ttnn.deallocate":
                insert_before(op.clone(values), call)
    for function in changed:
        _merge_shared(function, rewriter)
    for function in functions.values():
        erase(function)


def _merge_shared(function: FuncOp, rewriter: Rewriter) -> None:
    """Keeps the first of equal operations that every function repeats, at the beginning."""
    block = function.body.block
    kept: dict[Any, Operation] = {}
    for op in [*block.ops]:
        if op.name not in _SHARED:
            continue
        key = (op.name, tuple(sorted((name, str(value)) for name, value in op.properties.items())))
        first = kept.setdefault(key, op)
        if first is not op:
            rewriter.replace(op, first.results)
