"""SSA and block names as mlir-opt assigns them (AsmPrinter's SSANameState).

A region's arguments and results are numbered before those of nested regions; each nested region continues the counters
of its parent. Names are derived from the ops: the names of a parsed text are not kept.
"""

from __future__ import annotations

from dataclasses import field

from xdsl.dialects import arith, func, memref
from xdsl.dialects.builtin import IntegerAttr, IntegerType, i1
from xdsl.dialects.linalg.ops import GenericOp as LinalgGenericOp
from xdsl.ir import Block, Operation, Region, SSAValue

from ttnn_jit.process.dataclass import dataclass

_RESULT_STEMS: dict[type[Operation], str] = {
    memref.AllocOp: "alloc",
    memref.AllocaOp: "alloca",
    memref.SubviewOp: "subview",
}


@dataclass
class Names:
    """Names of values (without the ``%``) and blocks (without the ``^``)."""

    values: dict[SSAValue, str] = field(default_factory=dict)
    blocks: dict[Block, str] = field(default_factory=dict)


@dataclass
class _Counters:
    """The state of numbering; each nested region gets a copy."""

    value: int = 0
    argument: int = 0
    conflict: int = 0
    used: set[str] = field(default_factory=set)

    def copy(self) -> _Counters:
        return _Counters(self.value, self.argument, self.conflict, set(self.used))

    def unique(self, stem: str) -> str:
        name = stem
        while name in self.used:
            name = f"{stem}_{self.conflict}"
            self.conflict += 1
        self.used.add(name)
        return name

    def next_number(self) -> str:
        self.value += 1
        return str(self.value - 1)


def names_around(op: Operation) -> Names:
    """Names for every value and block of the function that `op` stands in; of `op` itself outside of any."""
    while not isinstance(op, func.FuncOp) and (parent := op.parent_op()) is not None:
        op = parent
    return names_of(op)


def names_of(op: Operation) -> Names:
    """Names for every value and block in `op`."""
    names = Names()
    counters = _Counters()
    _name_results(op, counters, names)
    _name_nested(op, counters, names)
    return names


def _name_nested(op: Operation, counters: _Counters, names: Names) -> None:
    for region in op.regions:
        _name_region(region, op, counters.copy(), names)


def _name_region(region: Region, parent: Operation, counters: _Counters, names: Names) -> None:
    nested = []
    for index, block in enumerate(region.blocks):
        names.blocks[block] = _block_label(parent, index)
        _name_arguments(block, parent if index == 0 else None, counters, names)
        for op in block.ops:
            _name_results(op, counters, names)
            if op.regions:
                nested.append(op)
    for op in nested:
        _name_nested(op, counters, names)


def _name_arguments(block: Block, parent_of_entry: Operation | None, counters: _Counters, names: Names) -> None:
    for position, argument in enumerate(block.args):
        if parent_of_entry is None:
            names.values[argument] = counters.next_number()
            continue
        stem = _argument_stem(parent_of_entry, position)
        if not stem:
            stem = f"arg{counters.argument}"
            counters.argument += 1
        names.values[argument] = counters.unique(stem)


def _name_results(op: Operation, counters: _Counters, names: Names) -> None:
    if not op.results:
        return
    begin = 0
    for stem, size in _result_groups(op):
        name = counters.unique(stem) if stem else counters.next_number()
        group = op.results[begin : begin + size]
        for index, result in enumerate(group):
            names.values[result] = f"{name}#{index}" if size > 1 else name
        begin += size


def _result_groups(op: Operation) -> list[tuple[str, int]]:
    """The results that share a name, with its stem ("" of a number), and how many they are.

    MLIR names each declared result of an operation that declares several; a variadic one is a group.
    """
    named: list[tuple[str, int]] = getattr(op, "result_groups", list)()
    return named or [(_result_stem(op), len(op.results))]


def _result_stem(op: Operation) -> str:
    if isinstance(op, arith.ConstantOp):
        return _constant_stem(op)
    own_stem = getattr(op, "result_stem", None)
    return own_stem() if own_stem is not None else _RESULT_STEMS.get(type(op), "")


def _constant_stem(op: arith.ConstantOp) -> str:
    value = op.value
    if not isinstance(value, IntegerAttr):
        return "cst"
    if value.type == i1:
        return "true" if value.value.data else "false"
    suffix = f"_{value.type}" if isinstance(value.type, IntegerType) else ""
    return f"c{value.value.data}{suffix}"


def _argument_stem(parent: Operation, position: int) -> str:
    if isinstance(parent, LinalgGenericOp):
        return "in" if position < len(parent.inputs) else "out"
    own_stem = getattr(parent, "argument_stem", None)
    return f"{own_stem()}{position}" if own_stem is not None else ""


def _block_label(parent: Operation, index: int) -> str:
    own_label = getattr(parent, "block_label", None)
    return own_label() if own_label is not None and index == 0 else f"bb{index}"
