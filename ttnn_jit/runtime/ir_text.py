"""Lines of LLVM text that read and write the words of a structure in memory, by their offsets in bytes."""

from __future__ import annotations


def field(name: str, base: str, offset: int) -> str:
    """``%name``: the address of a word."""
    return f"  %{name} = getelementptr i8, ptr %{base}, i64 {offset}"


def word(name: str, base: str, offset: int, kind: str = "i64") -> str:
    """``%name``: a word, and ``%name.at``: its address."""
    return f"{field(f'{name}.at', base, offset)}\n  %{name} = load {kind}, ptr %{name}.at"


def add(name: str, base: str, offset: int, step: int) -> str:
    """``%name``: a word after `step` was added to it."""
    return (
        f"{word(f'{name}.old', base, offset)}\n  %{name} = add i64 %{name}.old, {step}\n"
        f"  store i64 %{name}, ptr %{name}.old.at"
    )


def add_watched(name: str, base: str, offset: int, step: int) -> str:
    """`add` to a word that others read without the mutex."""
    return (
        f"{word(f'{name}.old', base, offset)}\n  %{name} = add i64 %{name}.old, {step}\n"
        f"  store atomic i64 %{name}, ptr %{name}.old.at monotonic, align 8"
    )
