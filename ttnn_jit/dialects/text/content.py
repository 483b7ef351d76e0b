"""The content of a module without locations, for cache keys: equivalent to its text and faster to make."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TypeAlias

from xdsl.dialects.builtin import FunctionType, ModuleOp, TensorType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ttnn_jit.diagnostics.errors import LayoutError
from ttnn_jit.dialects.functions import functions_of
from ttnn_jit.dialects.layout import spec_of
from ttnn_jit.dialects.spelling.naming import Names
from ttnn_jit.dialects.text.printer import MLIRPrinter
from ttnn_jit.dialects.writing.editing import ops_of

Content: TypeAlias = "str | int | list[Content]"


def content_of(op: Operation) -> Content:
    """Nested lists that are equal for two ops, nested ops included, exactly if their texts are equal.

    Values are numbered in order of definition.
    """
    return _Reader().operation(op)


def operation_names(module: ModuleOp) -> list[str]:
    """The TTNN operations of a module in order, by their names in the dialect."""
    names = [op.name for function in functions_of(module) for op in function.body.block.ops]
    return [name for name in names if name.startswith("ttnn.") and name != "ttnn.get_device"]


class _Reader:
    """The state of one `content_of`: numbers of values, and texts of attribute objects, many of which ops share."""

    def __init__(self) -> None:
        self._numbers: dict[SSAValue, int] = {}
        self._texts: dict[int, str] = {}  # by id: attributes are slow to hash, and the module keeps them alive

    def operation(self, op: Operation) -> Content:
        numbers = self._numbers
        operands: list[Content] = [numbers.get(operand, -1) for operand in op.operands]
        results: list[Content] = [self._numbered(result) for result in op.results]
        named = [self._dictionary(op.properties), self._dictionary(op.attributes)]
        blocks: list[Content] = [[self._block(block) for block in region.blocks] for region in op.regions]
        return [op.name, operands, results, *named, blocks]

    def _block(self, block: Block) -> Content:
        arguments: list[Content] = [self._numbered(argument) for argument in block.args]
        return [arguments, [self.operation(op) for op in ops_of(block)]]

    def _numbered(self, value: SSAValue) -> str:
        self._numbers[value] = len(self._numbers)
        return self._text(value.type)

    def _dictionary(self, attributes: Mapping[str, Attribute]) -> Content:
        return [part for name in sorted(attributes) for part in (name, self._text(attributes[name]))]

    def _text(self, attribute: Attribute) -> str:
        text = self._texts.get(id(attribute))
        if text is None:
            text = self._texts[id(attribute)] = self._made(attribute)
        return text

    def _made(self, attribute: Attribute) -> str:
        if isinstance(attribute, TensorType):
            return _text_of_tensors(attribute)
        if isinstance(attribute, FunctionType):
            return " -> ".join(", ".join(map(self._text, each)) for each in (attribute.inputs, attribute.outputs))
        return _text(attribute)


def _text_of_tensors(type_: TensorType[Attribute]) -> str:
    """The spec of the tensors of a type, which takes a tenth of the time of its text; if there is none, the text."""
    try:
        return repr(spec_of(type_))
    except LayoutError:
        return _text(type_)


@lru_cache(maxsize=4096)
def _text(attribute: Attribute) -> str:
    printer = MLIRPrinter(Names(), {}, locations=False)
    printer.print_attribute(attribute)
    return printer.text()
