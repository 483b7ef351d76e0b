"""Access of native code to the fields of a structure in memory."""

from __future__ import annotations

from ttnn_jit.kernels.llvm.builder import Builder
from ttnn_jit.kernels.llvm.instructions import Operand
from ttnn_jit.kernels.llvm.types import type_of
from ttnn_jit.kernels.llvm.values import Value, i64
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.native.structures import Field, Structure


@dataclass(frozen=True)
class NativeRecord:
    """A structure in memory.

    Attributes:
        builder: The builder of the function that uses it.
        start: Its address.
    """

    builder: Builder
    start: Value

    def address(self, field: Field, hint: str = "") -> Value:
        """The address of a field."""
        return self.builder.ptr_add(self.start, field.offset, hint)

    def end_of(self, structure: type[Structure], hint: str = "") -> Value:
        """The address of the end of a structure."""
        return self.builder.ptr_add(self.start, structure.nbytes, hint)

    def load(self, field: Field, hint: str = "") -> Value:
        """The value of a field."""
        return self.builder.load(type_of(field.kind), self.address(field), hint=hint)

    def load_atomic(self, field: Field, hint: str = "") -> Value:
        """The value of a field that other threads write without the mutex."""
        return self.builder.atomic_load(type_of(field.kind), self.address(field), hint=hint)

    def store(self, field: Field, value: Operand) -> None:
        """Write a field."""
        self.builder.store(value if isinstance(value, Value) else i64(value), self.address(field))

    def store_atomic(self, field: Field, value: Operand) -> None:
        """Write a field that other threads read without the mutex."""
        self.builder.atomic_store(value if isinstance(value, Value) else i64(value), self.address(field))

    def add(self, field: Field, step: int) -> Value:
        """Add to a number; returns the sum."""
        total = self.builder.add(self.load(field), step)
        self.store(field, total)
        return total

    def add_atomic(self, field: Field, step: int) -> Value:
        """Add to a number that is written under the mutex and read without it; returns the sum."""
        total = self.builder.add(self.load(field), step)
        self.store_atomic(field, total)
        return total
