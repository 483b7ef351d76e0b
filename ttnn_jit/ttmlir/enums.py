"""Enums of the dialects, with the names of C++ for what the tables know by keywords."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from functools import cache
from typing import Any

from ttnn_jit.dialects.upstream import tables
from ttnn_jit.dialects.upstream.rewriting.attributes_of_values import ENUMERATORS

_OF_ENUMS = {
    ("MemorySpace", "dram"): "DeviceDRAM",
    ("MemorySpace", "l1"): "DeviceL1",
    ("MemorySpace", "dst"): "RegisterDst",
    ("BufferType", "dram"): "DRAM",
    ("AttentionMaskType", "none"): "NoMask",
    ("OOBVal", "neginf"): "NegInf",
}


class DialectEnum(enum.IntEnum):
    """Base of the enums: a number with a keyword.

    Attributes:
        keyword: What texts have.
    """

    keyword: str

    def __str__(self) -> str:
        return self.keyword


@cache
def enum_of(cpp_name: str, dialect: str) -> Any:
    """The enum that a dialect's C++ calls `cpp_name`; None if the tables have none."""
    if tables.enum_cases(cpp_name, dialect) is None:
        return None
    name = cpp_name.rpartition("::")[2]
    numbers = tables.enum_values(cpp_name, dialect)
    words = {_enumerator(name, word): word for word in numbers}
    return made_enum(name, {python: (numbers[word], word) for python, word in words.items()})


def made_enum(name: str, members: Mapping[str, tuple[int, str]]) -> Any:
    """An enum of names with their numbers and keywords."""
    make: Any = DialectEnum
    made = make(name, {python: number for python, (number, _) in members.items()})
    for member in made:
        member.keyword = members[member.name][1]
    return made


def _enumerator(enum_name: str, keyword: str) -> str:
    found = _OF_ENUMS.get((enum_name, keyword)) or ENUMERATORS.get(keyword)
    if found is not None:
        return found
    if keyword.isupper():
        return keyword
    return "".join(part[:1].upper() + part[1:] for part in keyword.split("_"))
