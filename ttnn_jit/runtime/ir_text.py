"""Lines of LLVM text that read and write the fields of a structure in memory."""

from __future__ import annotations

from ttnn_jit.runtime.structures import Field, Structure


def place(name: str, base: str, field: Field) -> str:
    """``%name``: the address of a field."""
    return f"  %{name} = getelementptr i8, ptr %{base}, i64 {field.offset}"


def behind(name: str, base: str, structure: type[Structure]) -> str:
    """``%name``: the address behind a structure."""
    return f"  %{name} = getelementptr i8, ptr %{base}, i64 {structure.nbytes}"


def word(name: str, base: str, field: Field) -> str:
    """``%name``: the value of a field, and ``%name.at``: its address."""
    return f"{place(f'{name}.at', base, field)}\n  %{name} = load {field.kind}, ptr %{name}.at"


def add(name: str, base: str, field: Field, step: int) -> str:
    """``%name``: a field after `step` was added to it."""
    return (
        f"{word(f'{name}.old', base, field)}\n  %{name} = add i64 %{name}.old, {step}\n"
        f"  store i64 %{name}, ptr %{name}.old.at"
    )


def add_atomic(name: str, base: str, field: Field, step: int) -> str:
    """`add` to a field that others read without the mutex."""
    return (
        f"{word(f'{name}.old', base, field)}\n  %{name} = add i64 %{name}.old, {step}\n"
        f"  store atomic i64 %{name}, ptr %{name}.old.at monotonic, align 8"
    )
