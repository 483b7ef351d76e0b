"""Writes one kernel function: ops of ttkernel, arithmetic on indices, loops."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import FloatAttr, FunctionType, IndexType, IntegerAttr, LocationAttr, StringAttr, f32, i32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ttnn_jit.dialects.upstream.rewriting.made_attributes import parsed
from ttnn_jit.dialects.upstream.rewriting.rewriter import AUGUST, Given, Rewriter
from ttnn_jit.dialects.upstream.tables import OperationRow
from ttnn_jit.dialects.writing.editing import insert_before

Index: TypeAlias = int | SSAValue
"""An index: a number that is known, or a value."""

INDEX = IndexType()


class KernelWriter:
    """Writes the ops of a function in order, each with a location of its source.

    Args:
        name: The name of the function.
        thread: The thread that runs it: ``noc`` or ``compute``.
        location: The location of ops until `at` gives another.

    Attributes:
        function: The function.
        arguments: The runtime arguments, then the compile-time arguments: texts of ``#ttkernel.arg``.
    """

    def __init__(self, name: str, thread: str, location: LocationAttr) -> None:
        block = Block()
        end = ReturnOp()
        end.location = location
        block.add_op(end)
        self.function = FuncOp(name, FunctionType.from_lists([], []), Region(block), visibility=StringAttr("private"))
        self.function.location = location
        self.function.attributes["tt.function_type"] = StringAttr("kernel")
        self.function.attributes["ttkernel.thread"] = parsed(f"#ttkernel.thread<{thread}>")
        self.arguments: tuple[list[str], list[str]] = [], []
        self._location = location
        self._before: Operation = end
        self._last_constant: Operation | None = None
        self._constants: dict[tuple[str, object], SSAValue] = {}
        self._rewriter = Rewriter(AUGUST)

    def finish(self) -> FuncOp:
        """The function, with the specification of its arguments."""
        kinds = zip(("rt_args", "ct_args"), self.arguments, strict=True)
        listed = [f"{kind} = [{', '.join(own)}]" for kind, own in kinds if own]
        self.function.attributes["ttkernel.arg_spec"] = parsed(f"#ttkernel.arg_spec<{' '.join(listed)}>")
        return self.function

    @contextmanager
    def at(self, location: LocationAttr) -> Iterator[None]:
        """Gives ops another location."""
        previous, self._location = self._location, location
        yield
        self._location = previous

    # Ops

    def op(
        self,
        name: str,
        operands: Mapping[str, Given | int] = {},
        properties: Mapping[str, Attribute | None] = {},
        results: Sequence[Attribute] = (),
    ) -> Operation:
        """An op of ttkernel; a number among its operands becomes a constant index."""
        values = {key: self.value(each) if isinstance(each, int) else each for key, each in operands.items()}
        made = self._rewriter.create(f"ttkernel.{name}", values, properties, results, self._before)
        made.location = self._location
        return made

    def result(
        self, name: str, operands: Mapping[str, Given | int], result: Attribute, **properties: Attribute
    ) -> SSAValue:
        """The result of an op that has one."""
        value: SSAValue = self.op(name, operands, properties, [result]).results[0]
        return value

    def row(self, name: str) -> OperationRow:
        """What the tables know of an op of ttkernel."""
        row = self._rewriter.row(f"ttkernel.{name}")
        assert row is not None, f"the tables have {name}"
        return row

    def add_argument(self, kind: str, operand: int, *, is_compile_time: bool) -> int:
        """Adds an argument of a kind that the host resolves from one of its operands; its index among its kind."""
        own = self.arguments[is_compile_time]
        own.append(f"<arg_type = {kind}, operand_index = {operand}>")
        return len(own) - 1

    # Numbers

    def value(self, index: Index) -> SSAValue:
        """An index as a value."""
        if isinstance(index, SSAValue):
            return index
        return self._constant("index", index, IntegerAttr(index, INDEX))

    def i32(self, number: int) -> SSAValue:
        """A constant of i32."""
        return self._constant("i32", number, IntegerAttr(number, i32))

    def f32(self, number: float) -> SSAValue:
        """A constant of f32."""
        return self._constant("f32", struct.pack("f", number), FloatAttr(number, f32))

    def as_i32(self, index: Index) -> SSAValue:
        """An index as an i32."""
        if isinstance(index, int):
            return self.i32(index)
        return self._add(arith.IndexCastOp(index, i32)).results[0]

    def add(self, first: Index, second: Index) -> Index:
        """The sum of two indices."""
        if isinstance(first, int) and isinstance(second, int):
            return first + second
        if first == 0 or second == 0:
            return second if first == 0 else first
        return self._add(arith.AddiOp(self.value(first), self.value(second))).results[0]

    def multiply(self, first: Index, factor: int) -> Index:
        """An index times a number."""
        if isinstance(first, int):
            return first * factor
        if factor in {0, 1}:
            return first if factor else 0
        return self._add(arith.MuliOp(first, self.value(factor))).results[0]

    def quotient(self, first: SSAValue, divisor: int) -> SSAValue:
        """An index divided by a number."""
        if divisor == 1:
            return first
        return self._add(arith.DivUIOp(first, self.value(divisor))).results[0]

    def remainder(self, first: SSAValue, divisor: int) -> Index:
        """The remainder of an index divided by a number."""
        return self._add(arith.RemUIOp(first, self.value(divisor))).results[0] if divisor > 1 else 0

    def linear(self, indices: Sequence[Index], extents: Sequence[int]) -> Index:
        """The row-major index of a place in an array."""
        found: Index = 0
        for index, extent in zip(indices, extents, strict=True):
            found = self.add(self.multiply(found, extent), index)
        return found

    def add_bytes(self, address: SSAValue, offset: Index) -> SSAValue:
        """An address in bytes after another, both i32."""
        return address if offset == 0 else self._add(arith.AddiOp(address, self.as_i32(offset))).results[0]

    def is_below(self, index: Index, limit: int) -> SSAValue | bool:
        """Whether an index is below a number."""
        if isinstance(index, int):
            return index < limit
        return self._add(arith.CmpiOp(index, self.value(limit), "ult")).results[0]

    def both(self, first: SSAValue | bool, second: SSAValue | bool) -> SSAValue | bool:
        """Whether both conditions hold."""
        if isinstance(first, bool) or isinstance(second, bool):
            known, other = (first, second) if isinstance(first, bool) else (second, first)
            return other if known else False
        return self._add(arith.AndIOp(first, second)).results[0]

    # Regions

    @contextmanager
    def loop(self, lower: Index, upper: Index, step: Index) -> Iterator[Index]:
        """The index of a loop, whose body is written in the context; without a loop if it runs once."""
        if all(isinstance(each, int) for each in (lower, upper, step)) and lower + step >= upper > lower:  # type: ignore[operator]
            yield lower
            return
        block = Block(arg_types=[INDEX])
        end = scf.YieldOp()
        block.add_op(end)
        made = self._add(scf.ForOp(self.value(lower), self.value(upper), self.value(step), (), Region(block)))
        end.location = made.location
        with self._inside(end):
            yield block.args[0]

    @contextmanager
    def loops(self, extents: Sequence[int]) -> Iterator[list[Index]]:
        """The indices of nested loops from zero."""
        if not extents:
            yield []
            return
        with self.loop(0, extents[0], 1) as first, self.loops(extents[1:]) as others:
            yield [first, *others]

    @contextmanager
    def only_if(self, condition: SSAValue | bool) -> Iterator[None]:
        """Writes ops that run if a condition holds."""
        if condition is True:
            yield
            return
        assert isinstance(condition, SSAValue), "a place that is never inside is not written"
        block = Block()
        end = scf.YieldOp()
        block.add_op(end)
        made = self._add(scf.IfOp(condition, [], Region(block)))
        end.location = made.location
        with self._inside(end):
            yield

    @contextmanager
    def _inside(self, end: Operation) -> Iterator[None]:
        """Writes before the end of a region."""
        previous, self._before = self._before, end
        yield
        self._before = previous

    def _constant(self, kind: str, key: object, attribute: IntegerAttr[Any] | FloatAttr[Any]) -> SSAValue:
        known = self._constants.get((kind, key))
        if known is None:
            made = arith.ConstantOp(attribute)
            made.location = self.function.location
            block = self.function.body.block
            if self._last_constant is None:
                first = block.first_op
                assert first is not None, "a function has a terminator"
                insert_before(made, first)
            else:
                block.insert_ops_after([made], self._last_constant)
            self._last_constant = made
            known = self._constants[kind, key] = made.results[0]
        return known

    def _add(self, made: Operation) -> Operation:
        made.location = self._location
        insert_before(made, self._before)
        return made
