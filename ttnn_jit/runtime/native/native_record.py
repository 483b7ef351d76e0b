"""The fields of a structure in memory, as native code reads and writes them."""

from __future__ import annotations

from ttnn_jit.kernels.llvm.builder import Builder
from ttnn_jit.kernels.llvm.instructions import Operand
from ttnn_jit.kernels.llvm.types import type_of
from ttnn_jit.kernels.llvm.values import Value, i64
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.native.structures import Field, Structure


@dataclass(frozen=True)
class NativeRecord:
    """A structure.

    Attributes:
        builder: Of the function that uses it.
        start: Its address.
    """

    builder: Builder
    start: Value

    def address(self, field: Field, hint: str = "") -> Value:
        """Where a field is."""
        return self.builder.bytes_on(self.start, field.offset, hint)

    def behind(self, structure: type[Structure], hint: str = "") -> Value:
        """Where the whole ends."""
        return self.builder.bytes_on(self.start, structure.nbytes, hint)

    def load(self, field: Field, hint: str = "") -> Value:
        """What a field holds."""
        return self.builder.load(type_of(field.kind), self.address(field), hint=hint)

    def load_atomic(self, field: Field, hint: str = "") -> Value:
        """What a field holds that others write without the mutex."""
        return self.builder.atomic_load(type_of(field.kind), self.address(field), hint=hint)

    def store(self, field: Field, value: Operand) -> None:
        """Writes a field."""
        self.builder.store(value if isinstance(value, Value) else i64(value), self.address(field))

    def store_atomic(self, field: Field, value: Operand) -> None:
        """Writes a field that others read without the mutex."""
        self.builder.atomic_store(value if isinstance(value, Value) else i64(value), self.address(field))

    def add(self, field: Field, step: int) -> Value:
        """Adds to a number; the sum."""
        total = self.builder.add(self.load(field), step)
        self.store(field, total)
        return total

    def add_atomic(self, field: Field, step: int) -> Value:
        """Adds to a number that only holders of the mutex write, and others read without it; the sum."""
        total = self.builder.add(self.load(field), step)
        self.store_atomic(field, total)
        return total
