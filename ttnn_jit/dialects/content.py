"""What a module says, locations aside, for keys of caches: cheaper than its text, which it determines."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TypeAlias

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ttnn_jit.dialects.editing import ops_of
from ttnn_jit.dialects.naming import Names
from ttnn_jit.dialects.printer import MLIRPrinter

Content: TypeAlias = "str | int | list[Content]"


def content_of(op: Operation) -> Content:
    """Nested lists that are equal for two ops, with all that stands in them, exactly if their texts are equal.

    One visit per op; values are numbered in order.
    """
    return _operation(op, {})


def operation_names(module: ModuleOp) -> list[str]:
    """The TTNN operations of a module in order, by their names in the dialect."""
    functions = [op for op in module.body.block.ops if isinstance(op, FuncOp)]
    names = [op.name for function in functions for op in function.body.block.ops]
    return [name for name in names if name.startswith("ttnn.") and name != "ttnn.get_device"]


def _operation(op: Operation, numbers: dict[SSAValue, int]) -> Content:
    operands: list[Content] = [numbers.get(operand, -1) for operand in op.operands]
    results: list[Content] = [_numbered(result, numbers) for result in op.results]
    named = [_dictionary(op.properties), _dictionary(op.attributes)]
    blocks: list[Content] = [[_block(block, numbers) for block in region.blocks] for region in op.regions]
    return [op.name, operands, results, *named, blocks]


def _block(block: Block, numbers: dict[SSAValue, int]) -> Content:
    arguments: list[Content] = [_numbered(argument, numbers) for argument in block.args]
    return [arguments, [_operation(op, numbers) for op in ops_of(block)]]


def _numbered(value: SSAValue, numbers: dict[SSAValue, int]) -> str:
    numbers[value] = len(numbers)
    return _text(value.type)


def _dictionary(attributes: Mapping[str, Attribute]) -> Content:
    return [part for name in sorted(attributes) for part in (name, _text(attributes[name]))]


@lru_cache(maxsize=4096)
def _text(attribute: Attribute) -> str:
    printer = MLIRPrinter(Names(), {}, locations=False)
    printer.print_attribute(attribute)
    return printer.text()
