"""Damage to texts and modules, from a seeded generator: mistakes of an editor, a disk or a wrong pass."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from typing import Any

from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    FloatAttr,
    FunctionType,
    IntAttr,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    NoneAttr,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    UnitAttr,
    UnrealizedConversionCastOp,
    bf16,
    f32,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, ParametrizedAttribute, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

CHARACTERS = '"<>()[]{}#%!@:,=x0123456789-ad \n\\²٣é/\0\ufeff\r'


def damaged_text(draw: random.Random, text: str) -> str:
    """`text` with one character removed, inserted, or replaced."""
    index = draw.randrange(len(text))
    character = draw.choice(CHARACTERS if draw.random() < 0.7 else text)
    kind = draw.randrange(3)
    before, after = text[:index], text[index + (kind > 0) :]
    return before + ("" if kind == 1 else character) + after


_NUMBER = re.compile(r"(?<![A-Za-z_%#@.\d])\d+(?![\d.]|[A-Za-wyz_])|(?<=\dx)\d+(?=x|>)")
"""Whole numbers in a module's text, extents of tensors included; not the digits of names, types and fractions."""


def renumbered_text(draw: random.Random, text: str) -> str:
    """`text` with one of its numbers replaced, or, for more valid modules, all numbers equal to it."""
    chosen = draw.choice([*_NUMBER.finditer(text)])
    old = int(chosen.group())
    new = str(draw.choice([old + 1, old - 1, 2 * old, old // 2, 0, 1, -1, old + 32, 1 << 31]))
    if draw.random() < 0.5:
        return _NUMBER.sub(lambda each: new if int(each.group()) == old else each.group(), text)
    return text[: chosen.start()] + new + text[chosen.end() :]


ATTRIBUTES: tuple[Attribute, ...] = (
    UnitAttr(),
    NoneAttr(),
    StringAttr("x"),
    StringAttr("parallel"),
    IntAttr(3),
    IntegerAttr(0, i64),
    IntegerAttr(-1, i64),
    IntegerAttr(2**62, i64),
    IntegerAttr(1, i1),
    FloatAttr(float("nan"), f32),
    FloatAttr(1.5, bf16),
    SymbolRefAttr("nowhere"),
    ArrayAttr([]),
    ArrayAttr([UnitAttr(), StringAttr("x"), IntegerAttr(1, i64)]),
    ArrayAttr([ArrayAttr([])]),
    DictionaryAttr({}),
    DictionaryAttr({"a": UnitAttr()}),
    DenseArrayBase.from_list(i32, []),
    DenseArrayBase.from_list(i64, [-1, 5]),
    AffineMapAttr(AffineMap(0, 0, ())),
    AffineMapAttr(AffineMap(1, 0, (AffineExpr.dimension(0),))),
    AffineMapAttr(AffineMap(2, 1, (AffineExpr.symbol(0), AffineExpr.constant(7)))),
    i32,
    f32,
    TensorType(f32, [4]),
    TensorType(bf16, [-1, 32]),
    MemRefType(f32, []),
    FunctionType.from_lists([], [f32]),
)


def attributes_in(module: Operation) -> list[Attribute]:
    """Every attribute of the module, nested ones included, and some of kinds that it may lack."""
    found: dict[Attribute, None] = dict.fromkeys(ATTRIBUTES)
    for op in module.walk():
        for attribute in (*op.attributes.values(), *op.properties.values(), *op.result_types):
            found.update(dict.fromkeys(_nested(attribute)))
    return list(found)


def _nested(attribute: Attribute) -> list[Attribute]:
    return [attribute, *(inner for part in _parts(attribute) for inner in _nested(part))]


def _parts(attribute: Attribute) -> Sequence[Attribute]:
    match attribute:
        case ArrayAttr():
            return attribute.data
        case DictionaryAttr():
            return tuple(attribute.data.values())
        case ParametrizedAttribute():
            return attribute.parameters
        case _:
            return ()


def damaged_attribute(draw: random.Random, attribute: Attribute, others: Sequence[Attribute]) -> Attribute:
    """Another attribute, or `attribute` with a part replaced, removed or duplicated."""
    parts = _parts(attribute)
    if not parts or draw.random() < 0.4:
        return draw.choice(others)
    index = draw.randrange(len(parts))
    changed = damaged_attribute(draw, parts[index], others)
    match attribute:
        case ArrayAttr():
            insert: list[Attribute] = draw.choice([[changed], [], [parts[index], parts[index]]])
            return ArrayAttr([*parts[:index], *insert, *parts[index + 1 :]])
        case DictionaryAttr():
            name = list(attribute.data)[index]
            rest = {key: value for key, value in attribute.data.items() if key != name}
            return DictionaryAttr(rest if draw.random() < 0.3 else rest | {name: changed})
        case _:
            return type(attribute).new([*parts[:index], changed, *parts[index + 1 :]])  # type: ignore[attr-defined]


def damage_module(draw: random.Random, module: ModuleOp) -> str:
    """Changes one op in place; returns a description. A change that xDSL's constructors refuse is drawn anew."""
    ops = [op for op in module.walk() if op is not module] + [module]
    others = attributes_in(module)
    while True:
        op = draw.choice(ops)
        kind = draw.choice(list(DAMAGES))
        try:
            if DAMAGES[kind](draw, op, others):
                return f"{kind} of {op.name}"
        except Exception:  # noqa: BLE001 - an attribute that its own rule refuses cannot be in a module
            continue


def _attribute(draw: random.Random, op: Operation, others: Sequence[Attribute]) -> bool:
    table = draw.choice([table for table in (op.properties, op.attributes) if table] or [op.attributes])
    if not table:
        return False
    name = draw.choice(list(table))
    table[name] = damaged_attribute(draw, table[name], others)
    return True


def _no_attribute(draw: random.Random, op: Operation, _: Sequence[Attribute]) -> bool:
    table = draw.choice([op.properties, op.attributes])
    return bool(table) and table.pop(draw.choice(list(table))) is not None


def _operand_gone(draw: random.Random, op: Operation, _: Sequence[Attribute]) -> bool:
    if not op.operands:
        return False
    index = draw.randrange(len(op.operands))
    op.operands = [value for number, value in enumerate(op.operands) if number != index]
    return True


def _operand_twice(draw: random.Random, op: Operation, _: Sequence[Attribute]) -> bool:
    if not op.operands:
        return False
    op.operands = [*op.operands, draw.choice(op.operands)]
    return True


def _operand_other(draw: random.Random, op: Operation, _: Sequence[Attribute]) -> bool:
    top = op
    while top.parent_op() is not None:
        top = top.parent_op()
    values = [value for other in top.walk() for value in other.results]
    values += [value for other in top.walk() for region in other.regions for b in region.blocks for value in b.args]
    if not op.operands:
        return False
    op.operands[draw.randrange(len(op.operands))] = draw.choice(values)
    return True


def _types(draw: random.Random, op: Operation, others: Sequence[Attribute]) -> bool:
    values: list[SSAValue] = [*op.results, *(value for r in op.regions for b in r.blocks for value in b.args)]
    if not values:
        return False
    value = draw.choice(values)
    value._type = damaged_attribute(draw, value.type, others)
    return True


def _result_gone(_: random.Random, op: Operation, __: Sequence[Attribute]) -> bool:
    if not op.results or op.results[-1].first_use is not None:
        return False
    op.results = type(op.results)(op.results[:-1])
    return True


def _region_gone(draw: random.Random, op: Operation, _: Sequence[Attribute]) -> bool:
    if not op.regions:
        return False
    op.regions = op.regions[:-1] if draw.random() < 0.5 else [*op.regions, Region(Block())]
    return True


def _blocks(draw: random.Random, op: Operation, _: Sequence[Attribute]) -> bool:
    region = next((region for region in op.regions if region.blocks), None)
    if region is None:
        return False
    match draw.randrange(3):
        case 0:
            region.detach_block(region.blocks[0])
        case 1:
            region.add_block(Block())
        case 2:
            region.blocks[0]._args = region.blocks[0]._args[:-1]
    return True


def _gone(_: random.Random, op: Operation, __: Sequence[Attribute]) -> bool:
    if op.parent is None:
        return False
    op.parent.erase_op(op, safe_erase=False)
    return True


def _twice(_: random.Random, op: Operation, __: Sequence[Attribute]) -> bool:
    if op.parent is None:
        return False
    op.parent.insert_ops_after([op.clone()], op)
    return True


def _elsewhere(draw: random.Random, op: Operation, _: Sequence[Attribute]) -> bool:
    if op.parent is None:
        return False
    blocks = [block for other in op.parent_op().walk() for region in other.regions for block in region.blocks]
    op.detach()
    block = draw.choice(blocks)
    block.insert_ops_before([op], block.first_op) if block.first_op and draw.random() < 0.5 else block.add_op(op)
    return True


def _foreign(draw: random.Random, op: Operation, others: Sequence[Attribute]) -> bool:
    if op.parent is None:
        return False
    types = [attribute for attribute in others if hasattr(attribute, "get_shape")]
    op.parent.insert_ops_before([UnrealizedConversionCastOp.get([], [draw.choice(types)])], op)
    return True


DAMAGES: dict[str, Callable[[random.Random, Operation, Sequence[Attribute]], bool]] = {
    "an attribute": _attribute,
    "a part of an attribute": _attribute,
    "an attribute less": _no_attribute,
    "an operand less": _operand_gone,
    "an operand twice": _operand_twice,
    "another operand": _operand_other,
    "another type": _types,
    "a result less": _result_gone,
    "another number of regions": _region_gone,
    "other blocks": _blocks,
    "the loss": _gone,
    "a copy": _twice,
    "another position": _elsewhere,
    "a foreign op before": _foreign,
}
"""Kind of change -> the function that makes it in place; it returns False if it does not apply to the op."""


_NUMBERS = (0, 1, -1, 2, 7, 33, 1 << 20, 1 << 40, 1 << 62, 1 << 70, True, 1.5)
_VALUES = (None, "", "f32", "FLOAT32", "BFLOAT16", "TILE", "ROW_MAJOR", "DRAM", [], {}, [1, 2], {"a": 1}, *_NUMBERS)


def damaged_json(draw: random.Random, value: Any) -> Any:
    """JSON values with one of them replaced, removed, duplicated, or moved."""
    if not isinstance(value, (list, dict)) or not value or draw.random() < 0.05:
        if type(value) is int and draw.random() < 0.7:
            return draw.choice(
                [value + 1, value - 1, 2 * value, -value, value + draw.choice([8, 64, 4096]), value // 2]
            )
        return draw.choice(_VALUES)
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    key = draw.choice(keys)
    copy = value.copy()
    match draw.random():
        case chance if chance < 0.7:
            copy[key] = damaged_json(draw, value[key])
        case chance if chance < 0.8:
            del copy[key]
        case chance if chance < 0.9:
            copy[key] = value[draw.choice(keys)]
        case _ if isinstance(copy, list):
            copy.insert(key, value[key])
        case _:
            copy["more"] = value[key]
    return copy
