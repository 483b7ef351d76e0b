"""The types of the schemas by name: tables, structs, unions and enums of one version."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from ttnn_jit.process.dataclass import dataclass

VERSIONS = {"2": "2026-08", "1": "2025-12"}
"""Versions of the schema, the written one first, with the month of tt-mlir's tree."""
NEWEST = "2"
_TABLE = Path(__file__).parent / "schema.tsv"
_CODES = {
    "bool": "?", "int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "int32": "i", "uint32": "I", "int64": "q",
    "uint64": "Q", "float": "f", "double": "d",
}  # fmt: skip
_BYTES = {"?": 1, "b": 1, "B": 1, "h": 2, "H": 2, "i": 4, "I": 4, "q": 8, "Q": 8, "f": 4, "d": 8}


@dataclass(frozen=True)
class Scalar:
    """A number or a boolean.

    Attributes:
        name: Its name in schemas.
        code: Its letter of the module struct.
        size: Its bytes.
    """

    name: str
    code: str
    size: int


@dataclass(frozen=True)
class Enum:
    """An enum.

    Attributes:
        name: Its name.
        scalar: Its underlying type.
        cases: Number -> case.
        numbers: Case -> number.
        is_flags: Whether a value is a set of cases, case `n` the bit `n`.
    """

    name: str
    scalar: Scalar
    cases: Mapping[int, str]
    numbers: Mapping[str, int]
    is_flags: bool


@dataclass(frozen=True)
class Union:
    """A union of tables.

    Attributes:
        name: Its name.
        variants: Tag -> name of the variant and of its table; tag 0 is no value.
        tags: Name of a variant -> tag.
    """

    name: str
    variants: Mapping[int, tuple[str, str]]
    tags: Mapping[str, int]


@dataclass(frozen=True)
class Text:
    """A string."""


@dataclass(frozen=True)
class Vector:
    """A vector of elements of one type."""

    element: Any


@dataclass(frozen=True)
class Field:
    """A field of a table or a struct.

    Attributes:
        name: Its name.
        type: A scalar, enum, union, text, vector, struct or table.
        slot: Its place in the table's vtable; the tag of a union, or the tags of a vector of such, have the one before.
        default: The number of a scalar that is absent; None if it then has no value, or is no scalar.
        offset: Its bytes from the beginning of a struct.
    """

    name: str
    type: Any
    slot: int
    default: Any
    offset: int


class Record:
    """A table or a struct.

    Attributes:
        name: Its name.
        is_struct: Whether it lies inside what holds it.
        size: The bytes of a struct.
        alignment: The alignment of a struct.
    """

    def __init__(self, schema: Schema, name: str, is_struct: bool, members: str) -> None:
        self.name, self.is_struct, self._schema, self._members = name, is_struct, schema, members

    @cached_property
    def fields(self) -> Mapping[str, Field]:
        """Its fields by name, in order."""
        found: dict[str, Field] = {}
        slot = offset = 0
        for member in self._members.split():
            name, _, rest = member.partition(":")
            type_name, _, default = rest.partition("=")
            type_ = self._schema.type(type_name)
            if self.is_struct:
                offset = -(-offset // alignment_of(type_)) * alignment_of(type_)
            slot += isinstance(type_, Union) or (isinstance(type_, Vector) and isinstance(type_.element, Union))
            found[name] = Field(name, type_, slot, _default(type_, default), offset)
            slot += 1
            offset += size_of(type_) if self.is_struct else 0
        return found

    @cached_property
    def alignment(self) -> int:
        """The largest alignment of a field."""
        return max(alignment_of(each.type) for each in self.fields.values())

    @cached_property
    def size(self) -> int:
        """The bytes from one struct to the next."""
        last = [*self.fields.values()][-1]
        end = last.offset + size_of(last.type)
        return -(-end // self.alignment) * self.alignment

    @cached_property
    def slots(self) -> int:
        """The number of places in the vtable."""
        return max((each.slot + 1 for each in self.fields.values()), default=0)


class Schema:
    """The types of one version.

    Args:
        version: "1" or "2".

    Attributes:
        version: The same.
        roots: File identifier -> name of the root table.
    """

    def __init__(self, version: str) -> None:
        self.version = version
        self._rows: dict[str, tuple[str, str, str]] = {}
        self.roots: dict[str, str] = {}
        for line in _TABLE.read_text(encoding="utf-8").splitlines():
            if line.startswith("#"):
                continue
            kind, name, versions, type_, members = line.split("\t")
            if version in versions and kind == "root":
                self.roots[name] = members
            elif version in versions:
                self._rows[name] = kind, type_, members
        self._made: dict[str, Any] = {}

    @cached_property
    def hash(self) -> str:
        """A hash of its facts: it is not tt-mlir's, which depends on the build of flatc."""
        rows = "".join(f"{name}\t{row}\n" for name, row in sorted(self._rows.items()))
        return hashlib.sha256(rows.encode()).hexdigest()

    def declarations(self) -> Mapping[str, tuple[str, str, str]]:
        """Name -> kind, type of an enum, and members, as the table of facts has them."""
        return self._rows

    def record(self, name: str) -> Record:
        """A table or struct."""
        found = self.type(name)
        assert isinstance(found, Record), f"{name} is a table or a struct"
        return found

    def type(self, name: str) -> Any:
        """The type of a name, ``[name]`` for a vector."""
        found = self._made.get(name)
        if found is None:
            found = self._made[name] = self._make(name)
        return found

    def _make(self, name: str) -> Any:
        if name.startswith("["):
            return Vector(self.type(name[1:-1]))
        if name == "string":
            return Text()
        if name in _CODES:
            return Scalar(name, _CODES[name], _BYTES[_CODES[name]])
        kind, type_, members = self._rows[name]
        if kind == "enum":
            return self._enum(name, type_, members)
        if kind == "union":
            variants = dict(enumerate((tuple(each.split(":")) for each in members.split()), start=1))
            return Union(name, variants, {variant: tag for tag, (variant, _) in variants.items()})  # type: ignore[arg-type]
        return Record(self, name, kind == "struct", members)

    def _enum(self, name: str, type_: str, members: str) -> Enum:
        scalar, _, flags = type_.partition(" ")
        pairs = [each.split("=") for each in members.split()]
        cases = {int(number): case for number, case in pairs}
        return Enum(name, self.type(scalar), cases, {case: number for number, case in cases.items()}, bool(flags))


def schema(version: str = NEWEST) -> Schema:
    """The schema of a version, the same object each time."""
    return _schemas()[version]


@cache
def _schemas() -> Mapping[str, Schema]:
    return {version: Schema(version) for version in VERSIONS}


def size_of(type_: Any) -> int:
    """The bytes of a value that lies inside what holds it; of any other the bytes of its offset."""
    match type_:
        case Scalar():
            return type_.size
        case Enum():
            return type_.scalar.size
        case Record() if type_.is_struct:
            return type_.size
        case _:
            return 4


def alignment_of(type_: Any) -> int:
    """The alignment of such a value."""
    return type_.alignment if isinstance(type_, Record) and type_.is_struct else size_of(type_)


def scalar_of(type_: Any) -> Scalar | None:
    """The scalar as which a value is stored; None of what is none."""
    if isinstance(type_, Enum):
        return type_.scalar
    return type_ if isinstance(type_, Scalar) else None


def _default(type_: Any, text: str) -> Any:
    scalar = scalar_of(type_)
    if scalar is None or text == "null":
        return None
    if isinstance(type_, Enum):
        return type_.numbers[text] if text else 0
    if scalar.code == "?":
        return text == "true"
    return float(text or 0) if scalar.code in "fd" else int(text or 0)
