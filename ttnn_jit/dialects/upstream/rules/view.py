"""An operation as rules see it: shapes by the names of operands and results, numbers by the names of attributes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, IntegerAttr, StringAttr, TensorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from ttnn_jit.dialects.upstream.table_operations import named_operands, named_results


class View:
    """What a rule asks of one operation."""

    def __init__(self, op: Operation) -> None:
        self.op = op
        self.values: dict[str, tuple[SSAValue, ...]] = {**named_results(op), **named_operands(op)}
        self.results = named_results(op)

    def has(self, name: str) -> bool:
        """Whether an optional operand is there."""
        return bool(self.values.get(name))

    def type(self, name: str) -> TensorType[Any]:
        """The type of an operand or result."""
        found = self.values[name][0].type
        assert isinstance(found, TensorType)
        return found

    def types(self, name: str) -> list[TensorType[Any]]:
        """The types of a variadic operand."""
        return [value.type for value in self.values[name] if isinstance(value.type, TensorType)]

    def shape(self, name: str) -> list[int]:
        """The shape of an operand or result."""
        return [*self.type(name).get_shape()]

    def result(self) -> TensorType[Any]:
        """The type of the first result."""
        found = self.op.results[0].type
        assert isinstance(found, TensorType)
        return found

    def attribute(self, name: str) -> Attribute | None:
        """An inherent attribute; None if it is absent."""
        return self.op.properties.get(name)

    def integer(self, name: str, default: int = 0) -> int:
        """An integer attribute, or its default."""
        found = self.attribute(name)
        return int(found.value.data) if isinstance(found, IntegerAttr) else default

    def integers(self, name: str) -> list[int]:
        """An attribute of one or several integers; empty if it is absent."""
        return integers_in(self.attribute(name))

    def several(self, name: str, counts: Sequence[int], what: str, said: str) -> list[int]:
        """An attribute of integers of which there may be `counts`; one stands for all.

        Args:
            name: Its name.
            counts: How many integers there may be, the most last.
            what: What the message calls them.
            said: What the message adds to it.
        """
        found = self.integers(name)
        if len(found) not in counts:
            fail(f"{what}, {'got' if counts[-1] == 2 else 'but got'} tuple of size {len(found)}{said}")
        most = counts[-1]
        return found * (most // len(found)) if found else [0] * most

    def pair(self, name: str, said: str = "") -> list[int]:
        """Two integers, or one for both."""
        return self.several(name, (1, 2), "Expected integer or pair of integers", said)

    def quadruple(self, name: str, said: str = "") -> list[int]:
        """Top, left, bottom and right; of two, the first is top and bottom."""
        return self.several(name, (1, 2, 4), "Expected integer, pair, or tuple of size 4", said)


def symbol_around(op: Operation, name: str) -> Operation | None:
    """The operation of that symbol in the symbol tables around `op`; None if there is none."""
    around = op.parent_op()
    while around is not None:
        inside: Iterator[Operation] = (
            each for region in around.regions for block in region.blocks for each in block.ops
        )
        for each in inside:
            symbol = each.properties.get("sym_name")
            if isinstance(symbol, StringAttr) and symbol.data == name:
                return each
        around = around.parent_op()
    return None


def integers_in(attribute: Attribute | None) -> list[int]:
    """The integers of an attribute: one, an array or a dense array; empty if it is absent."""
    match attribute:
        case IntegerAttr():
            return [int(attribute.value.data)]
        case ArrayAttr():
            return [int(each.value.data) for each in attribute if isinstance(each, IntegerAttr)]
        case DenseArrayBase():
            return [int(value) for value in attribute.get_values()]
        case _:
            return []


def fail(message: str) -> NoReturn:
    """Raises what is wrong."""
    raise VerifyException(message)


def require(condition: bool, message: str) -> None:
    """Raises `message` unless `condition` holds."""
    if not condition:
        raise VerifyException(message)


def joined(numbers: Sequence[int], separator: str = ",") -> str:
    """``1,2,3``."""
    return separator.join(map(str, numbers))


def broadcast(first: Sequence[int], second: Sequence[int]) -> list[int] | None:
    """The shape to which two shapes broadcast; None if they do not."""
    count = max(len(first), len(second))
    one = [1] * (count - len(first)) + [*first]
    other = [1] * (count - len(second)) + [*second]
    if any(a != b and 1 not in (a, b) for a, b in zip(one, other, strict=True)):
        return None
    return [max(a, b) if 0 not in (a, b) else 0 for a, b in zip(one, other, strict=True)]
