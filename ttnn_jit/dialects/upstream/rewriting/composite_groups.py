"""``stablehlo.composite``, written out and put together again: its operations remember which composite they were.

The attributes are tt-mlir's: ``reoutline.group`` names the composite on each operation, and the first has its name and
attributes (``reoutline.seed``).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from xdsl.dialects.builtin import DenseArrayBase, DictionaryAttr, FunctionType, StringAttr, SymbolRefAttr, UnitAttr, i64
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, OpResult, Region, SSAValue

from ttnn_jit.dialects.upstream.rewriting.composite_calls import write_out
from ttnn_jit.dialects.upstream.rewriting.made_attributes import integers_in
from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter
from ttnn_jit.dialects.writing.editing import erase

STABLEHLO_COMPOSITE = "stablehlo.composite"
_CALL = "stablehlo.custom_call"
_GROUP, _SEED = "reoutline.group", "reoutline.seed"
_NAME, _ATTRIBUTES = "reoutline.orig_name", "reoutline.comp_attrs"
_OPERANDS, _RESULTS = "reoutline.arg_operand_indices", "reoutline.result_pos"
_NOTES = (_GROUP, _SEED, _NAME, _ATTRIBUTES, _OPERANDS, _RESULTS)


def composite_name(op: Operation) -> str:
    """The name of a composite."""
    named = op.properties["name"]
    assert isinstance(named, StringAttr)
    return named.data


def call_composite(op: Operation, rewriter: Rewriter) -> None:
    """A custom call with its name, operands and attributes replaces a composite, to be cut by a rule of its own."""
    given = op.properties.get("composite_attributes")
    properties = {"call_target_name": op.properties["name"]}
    made = rewriter.create(_CALL, {"inputs": [*op.operands]}, properties, op.result_types, op)
    if given is not None:
        made.attributes["tt.composite_attributes"] = given
    made.attributes["tt.has_custom_sharding"] = UnitAttr()
    rewriter.replace(op, made.results)


def flatten_composite(op: Operation, rewriter: Rewriter) -> None:
    """The operations of its function replace a composite, and remember it.

    Raises:
        CompileError: It names no function of one block.
    """
    made, results = write_out(op)
    named = op.properties["decomposition"]
    assert isinstance(named, SymbolRefAttr), "it is written out"
    _note(made, StringAttr(f"composite_{named.root_reference.data}"), op)
    _note_results(made, results)
    rewriter.replace(op, results)


def _note(made: Sequence[Operation], group: StringAttr, op: Operation) -> None:
    places: dict[SSAValue, int] = {}
    for index, value in enumerate(op.operands):
        places.setdefault(value, index)
    for each in made:
        each.attributes[_GROUP] = group
        indices = [places.get(value, -1) for value in each.operands]
        if any(index >= 0 for index in indices):
            each.attributes[_OPERANDS] = DenseArrayBase.from_list(i64, indices)
    for first in made[:1]:
        first.attributes[_SEED] = UnitAttr()
        first.attributes[_NAME] = op.properties["name"]
        first.attributes[_ATTRIBUTES] = op.properties.get("composite_attributes") or DictionaryAttr({})


def _note_results(made: Sequence[Operation], results: Sequence[SSAValue]) -> None:
    places: dict[Operation, list[int]] = {}
    for position, value in enumerate(results):
        if isinstance(value, OpResult) and value.op in made:
            places.setdefault(value.op, [-1] * len(value.op.results))[value.index] = position
    for op, positions in places.items():
        op.attributes[_RESULTS] = DenseArrayBase.from_list(i64, positions)


# --- Put together again -----------------------------------------------------------------------------------------------


def outline_groups(function: FuncOp, rewriter: Rewriter) -> None:
    """Composites replace the operations of each group that still stands together, once, and with nothing in between.

    Their functions are written behind the others of the module.
    """
    groups: dict[StringAttr, list[Operation]] = {}
    for op in function.walk():
        group = op.attributes.get(_GROUP)
        if isinstance(group, StringAttr):
            groups.setdefault(group, []).append(op)
    for group, ops in groups.items():
        if _stands_together(ops):
            _outline(group.data, ops, function, rewriter)


def _stands_together(ops: Sequence[Operation]) -> bool:
    seeds = [op for op in ops if _SEED in op.attributes]
    return len(seeds) == 1 and all(before.next_op is after for before, after in pairwise(ops))


def _outline(group: str, ops: Sequence[Operation], around: FuncOp, rewriter: Rewriter) -> None:
    operands, results = _operands_of(ops), _results_of(ops)
    block = Block(arg_types=[value.type for value in operands])
    values: dict[SSAValue, SSAValue] = dict(zip(operands, block.args, strict=True))
    for each in ops:
        copied = each.clone(values)
        for note in _NOTES:
            copied.attributes.pop(note, None)
        block.add_op(copied)
    ending = ReturnOp(*(values[value] for value in results))
    ending.location = ops[0].location
    block.add_op(ending)
    module = around.parent
    assert module is not None
    types = FunctionType.from_lists([each.type for each in operands], [each.type for each in results])
    name = _unused(f"outlined_{group}", module)
    callee = FuncOp(name, types, Region(block), visibility=StringAttr("private"))
    callee.location = around.location
    module.add_op(callee)
    noted = next(op.attributes for op in ops if _SEED in op.attributes)
    properties = {
        "name": noted.get(_NAME, StringAttr(name)),
        "composite_attributes": noted.get(_ATTRIBUTES, DictionaryAttr({})),
        "decomposition": SymbolRefAttr(name),
    }
    made = rewriter.create(
        STABLEHLO_COMPOSITE, {"inputs": operands}, properties, [each.type for each in results], ops[0]
    )
    for old, new in zip(results, made.results, strict=True):
        old.replace_all_uses_with(new)
    for each in reversed(ops):
        erase(each)
    rewriter.changes += 1


def _unused(name: str, module: Block) -> str:
    taken = {op.sym_name.data for op in module.ops if isinstance(op, FuncOp)}
    return next(
        each for number in range(len(taken) + 1) if (each := f"{name}_{number}" if number else name) not in taken
    )


def _operands_of(ops: Sequence[Operation]) -> list[SSAValue]:
    """What a group reads of others, in the order of the composite's operands, as far as it is noted."""
    own = {result for op in ops for each in op.walk() for result in each.results}
    own |= {
        value for op in ops for each in op.walk() for region in each.regions for b in region.blocks for value in b.args
    }
    read = [value for op in ops for each in op.walk() for value in each.operands if value not in own]
    places: dict[SSAValue, int] = {}
    for op in ops:
        for value, index in zip(op.operands, integers_in(op.attributes.get(_OPERANDS)), strict=False):
            if index >= 0:
                places[value] = index
    return sorted(dict.fromkeys(read), key=lambda value: places.get(value, 2**16))


def _results_of(ops: Sequence[Operation]) -> list[SSAValue]:
    """What others read of a group, in the order of the composite's results, as far as it is noted."""
    inside = {each for op in ops for each in op.walk()}
    found: dict[SSAValue, int] = {}
    for op in ops:
        noted = integers_in(op.attributes.get(_RESULTS))
        for index, value in enumerate(op.results):
            if any(use.operation not in inside for use in value.uses):
                position = noted[index] if index < len(noted) else -1
                found[value] = position if position >= 0 else 2**16
    return sorted(found, key=lambda value: found[value])
