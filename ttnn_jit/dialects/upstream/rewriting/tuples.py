"""Tuples of StableHLO, taken apart: every value of a tuple's type becomes the values that the tuple holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from xdsl.dialects.builtin import FunctionType, IntegerAttr, ModuleOp, TupleType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue

from ttnn_jit.dialects.writing.editing import erase, insert_before, replace_uses

_MAKES, _READS = "stablehlo.tuple", "stablehlo.get_tuple_element"

Parts: TypeAlias = "SSAValue | list[Parts]"
"""A value, or the parts of a tuple."""


def take_apart(module: ModuleOp) -> int:
    """Replaces tuples by what they hold, in the order of their elements; how many ops changed.

    A tuple may be made by ``stablehlo.tuple``, returned by a function or by a custom call, and given to either.
    """
    found = [op for op in module.walk() if _has_tuple(op)]
    if found:
        apart = _Apart()
        for op in found:
            apart.change(op)
        apart.erase()
    return len(found)


def _has_tuple(op: Operation) -> bool:
    types = [each.type for each in (*op.results, *op.operands)]
    if isinstance(op, FuncOp):
        types = [*op.function_type.inputs, *op.function_type.outputs]
    return any(isinstance(each, TupleType) for each in types)


class _Apart:
    """The parts of the tuples so far; ops and arguments of a tuple's type are erased in the end."""

    def __init__(self) -> None:
        self._known: dict[SSAValue, Parts] = {}
        self._replaced: list[Operation] = []
        self._arguments: list[BlockArgument] = []

    def change(self, op: Operation) -> None:
        """Gives an op the parts of tuples for the tuples; ops come in the order of the text."""
        if isinstance(op, FuncOp):
            self._change_function(op)
        elif op.name == _MAKES:
            self._known[op.results[0]] = [self._parts(each) for each in op.operands]
            self._replaced.append(op)
        elif op.name == _READS:
            self._read(op)
            self._replaced.append(op)
        else:
            self._rebuild(op)

    def erase(self) -> None:
        """Erases what no longer has a use."""
        for op in reversed(self._replaced):
            erase(op)
        for argument in self._arguments:
            argument.block.erase_arg(argument)

    def _parts(self, value: SSAValue) -> Parts:
        return self._known.get(value, value)

    def _set(self, value: SSAValue, parts: Parts) -> None:
        if isinstance(parts, list):
            self._known[value] = parts
        else:
            replace_uses(value, parts)

    def _read(self, op: Operation) -> None:
        """The part of a tuple in the place of the op that reads it."""
        parts, index = self._parts(op.operands[0]), op.properties["index"]
        assert isinstance(parts, list), "only tuples are read"
        assert isinstance(index, IntegerAttr), "the place of an element is a number"
        self._set(op.results[0], parts[index.value.data])

    def _rebuild(self, op: Operation) -> None:
        """An op with the parts of tuples as operands and results of their own."""
        for region in op.regions:
            for block in region.blocks:
                self._change_arguments(block)
        made = type(op).create(
            operands=[part for each in op.operands for part in _leaves(self._parts(each))],
            result_types=[*_flat(each.type for each in op.results)],
            properties=op.properties,
            attributes=op.attributes,
            successors=op.successors,
            regions=[op.detach_region(each) for each in [*op.regions]],
            location=op.location,
        )
        insert_before(made, op)
        results = iter(made.results)
        for each in op.results:
            self._set(each, _built(each.type, results))
        self._replaced.append(op)

    def _change_function(self, function: FuncOp) -> None:
        kind = function.function_type
        inputs, outputs = [*_flat(kind.inputs)], [*_flat(kind.outputs)]
        if len(inputs) != len(kind.inputs):
            function.properties.pop("arg_attrs", None)
        if len(outputs) != len(kind.outputs):
            function.properties.pop("res_attrs", None)
        function.properties["function_type"] = FunctionType.from_lists(inputs, outputs)
        if function.body.first_block is not None:
            self._change_arguments(function.body.block)

    def _change_arguments(self, block: Block) -> None:
        """Arguments for the parts of each that is a tuple, in its place."""
        for argument in [each for each in block.args if isinstance(each.type, TupleType)]:
            place = argument.index
            made = [block.insert_arg(each, place + offset) for offset, each in enumerate(_flat([argument.type]), 1)]
            self._known[argument] = _built(argument.type, iter(made))
            self._arguments.append(argument)


def _flat(types: Iterable[Attribute]) -> Iterator[Attribute]:
    """The types of the values that values of these types hold."""
    for each in types:
        if isinstance(each, TupleType):
            yield from _flat(each.types)
        else:
            yield each


def _built(kind: Attribute, values: Iterator[SSAValue]) -> Parts:
    """The next values as the parts of a value of a type."""
    if isinstance(kind, TupleType):
        return [_built(each, values) for each in kind.types]
    return next(values)


def _leaves(parts: Parts) -> Iterator[SSAValue]:
    if isinstance(parts, list):
        for each in parts:
            yield from _leaves(each)
    else:
        yield parts
