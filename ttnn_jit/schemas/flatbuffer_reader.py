"""Reads flatbuffers as trees of dicts, the form that `flatbuffer_writer.py` describes.

Nothing of a buffer is trusted: every offset, length and tag is checked before it is followed, and work is bounded by
the size of the file. Absent scalars of a table have the defaults of the schema, or are None; an absent union is of the
type NONE; anything else that is absent has no entry.
"""

from __future__ import annotations

import struct
from typing import Any

from ttnn_jit.schemas.schema import Enum, Field, Record, Scalar, Schema, Text, Union, Vector, scalar_of, size_of

MAX_PARTS = 20_000_000
"""A tree of more parts is refused: parts that are shared in the file are counted each time."""
_OFFSET = struct.Struct("<I")
_BACKWARDS = struct.Struct("<i")
_SHORT = struct.Struct("<H")


class DamagedBufferError(ValueError):
    """Bytes are no flatbuffer of the schema; the message says where they are not."""


class FlatbufferReader:
    """Reads one buffer.

    Args:
        schema: The types.
        data: A buffer that is prefixed by its size.
    """

    def __init__(self, schema: Schema, data: bytes) -> None:
        self._schema = schema
        self._data = data
        self._end = len(data)
        self._tables: dict[tuple[str, int], tuple[dict[str, Any], int]] = {}
        self._vectors: dict[tuple[int, int], tuple[Any, int]] = {}
        self._work = 0
        self._parts = 0

    def read(self, identifier: str) -> dict[str, Any]:
        """The root table.

        Raises:
            DamagedBufferError: The bytes are no such buffer.
        """
        root = self._schema.record(self._schema.roots[identifier])
        return self._table(root, self._follow(4), root.name)

    def _number(self, form: struct.Struct, at: int, where: str) -> int:
        if at < 0 or at + form.size > self._end:
            raise DamagedBufferError(f"{where} lies at byte {at:,} of {self._end:,}")
        return int(form.unpack_from(self._data, at)[0])

    def _follow(self, at: int, where: str = "the root table") -> int:
        offset = self._number(_OFFSET, at, where)
        if offset == 0:
            raise DamagedBufferError(f"{where} has the offset 0")
        return at + offset

    def _count(self, amount: int, where: str) -> None:
        """Counts work; parts that lie apart add up to no more than the file."""
        self._work += amount
        if self._work > 4 * self._end + 1024:
            raise DamagedBufferError(f"parts of the file overlap, at {where}")

    def _expand(self, parts: int, where: str) -> None:
        self._parts += parts
        if self._parts > MAX_PARTS:
            raise DamagedBufferError(f"more than {MAX_PARTS:,} parts, at {where}")

    def _table(self, record: Record, at: int, where: str) -> dict[str, Any]:
        known = self._tables.get((record.name, at))
        if known is not None:
            self._expand(known[1], where)
            return known[0]
        before = self._parts
        self._expand(1, where)
        vtable = at - self._number(_BACKWARDS, at, where)
        size, width = self._number(_SHORT, vtable, where), self._number(_SHORT, vtable + 2, where)
        if size < 4 or size % 2 or vtable + size > self._end or width < 4 or at + width > self._end:
            raise DamagedBufferError(f"{where} has no vtable")
        self._count(4, where)
        found: dict[str, Any] = {}
        for field in record.fields.values():
            position = 4 + 2 * field.slot
            offset = self._number(_SHORT, vtable + position, where) if position + 2 <= size else 0
            self._field(found, field, (at, offset, width), self._tag(field, vtable, size), f"{where}.{field.name}")
        self._tables[record.name, at] = found, self._parts - before
        return found

    def _tag(self, field: Field, vtable: int, size: int) -> int:
        """The offset of a union's tag inside its table; 0 if it has none."""
        is_union = isinstance(field.type, Union) or (
            isinstance(field.type, Vector) and isinstance(field.type.element, Union)
        )
        position = 2 + 2 * field.slot
        return self._number(_SHORT, vtable + position, field.name) if is_union and position + 2 <= size else 0

    def _field(self, found: dict[str, Any], field: Field, place: tuple[int, int, int], tag: int, where: str) -> None:
        """Adds a field to its table's dict.

        Args:
            found: The dict.
            field: The field.
            place: Where the table lies, the offset of the field, and the bytes of the table.
            tag: The offset of a union's tag.
            where: Names the field in errors.
        """
        at, offset, width = place
        if offset == 0:
            if scalar_of(field.type) is not None:
                number = field.default
                found[field.name] = None if number is None else _named(field.type, number, where)
            elif isinstance(field.type, Union):
                found[f"{field.name}_type"] = "NONE"
            return
        if offset < 4 or offset + size_of(field.type) > width:
            raise DamagedBufferError(f"{where} lies outside its table")
        self._count(size_of(field.type), where)
        match field.type:
            case Union():
                self._union(found, field, at + offset, at + tag if tag else 0, where)
            case Vector(element=Union()):
                self._unions(found, field, at + offset, at + tag if tag else 0, where)
            case _:
                found[field.name] = self._value(field.type, at + offset, where)

    def _union(self, found: dict[str, Any], field: Field, at: int, tag_at: int, where: str) -> None:
        tag = self._number(struct.Struct("<B"), tag_at, where) if tag_at else 0
        variant, table = self._variant(field.type, tag, where)
        found[f"{field.name}_type"] = variant
        found[field.name] = self._table(self._schema.record(table), self._follow(at, where), f"{where}.{variant}")

    def _unions(self, found: dict[str, Any], field: Field, at: int, tag_at: int, where: str) -> None:
        if not tag_at:
            raise DamagedBufferError(f"{where} has no types")
        tags = self._vector(self._schema.type("uint8"), self._follow(tag_at, where), where)
        start, count = self._length(self._follow(at, where), 4, where)
        if len(tags) != count:
            raise DamagedBufferError(f"{where} has {count} tables and {len(tags)} types")
        variants = [self._variant(field.type.element, tag, where) for tag in tags]
        found[f"{field.name}_type"] = [name for name, _ in variants]
        found[field.name] = [
            self._table(self._schema.record(table), self._follow(start + 4 * index, where), f"{where}.{name}")
            for index, (name, table) in enumerate(variants)
        ]

    def _variant(self, union: Union, tag: int, where: str) -> tuple[str, str]:
        known = union.variants.get(tag)
        if known is None:
            raise DamagedBufferError(f"{where} has the type {tag}, which {union.name} does not have")
        return known

    def _value(self, type_: Any, at: int, where: str) -> Any:
        match type_:
            case Scalar() | Enum():
                scalar = scalar_of(type_)
                assert scalar is not None
                return _named(type_, self._scalar(scalar, at, where), where)
            case Record(is_struct=True):
                return self._struct(type_, at, where)
            case Record():
                return self._table(type_, self._follow(at, where), where)
            case Text():
                return self._text(self._follow(at, where), where)
            case Vector(element=element):
                return self._vector(element, self._follow(at, where), where)
            case _:
                raise DamagedBufferError(f"{where} has no value")

    def _scalar(self, scalar: Scalar, at: int, where: str) -> Any:
        if at + scalar.size > self._end:
            raise DamagedBufferError(f"{where} lies at byte {at:,} of {self._end:,}")
        return struct.unpack_from(f"<{scalar.code}", self._data, at)[0]

    def _struct(self, record: Record, at: int, where: str) -> dict[str, Any]:
        return {
            name: self._value(field.type, at + field.offset, f"{where}.{name}") for name, field in record.fields.items()
        }

    def _length(self, at: int, size: int, where: str) -> tuple[int, int]:
        """Where the elements of a vector begin, and their number."""
        count = self._number(_OFFSET, at, where)
        if at + 4 + count * size > self._end:
            raise DamagedBufferError(f"{where} has {count:,} elements at byte {at:,} of {self._end:,}")
        self._count(4 + count * size, where)
        return at + 4, count

    def _text(self, at: int, where: str) -> str:
        start, count = self._length(at, 1, where)
        try:
            return self._data[start : start + count].decode()
        except UnicodeDecodeError as error:
            raise DamagedBufferError(f"{where} is no text") from error

    def _vector(self, element: Any, at: int, where: str) -> Any:
        known = self._vectors.get((id(element), at))
        if known is not None:
            self._expand(known[1], where)
            return known[0]
        before = self._parts
        start, count = self._length(at, size_of(element), where)
        found: Any
        if isinstance(element, Scalar) and element.name == "uint8":
            found = self._data[start : start + count]
        elif (scalar := scalar_of(element)) is not None:
            self._expand(count, where)
            numbers = struct.unpack_from(f"<{count}{scalar.code}", self._data, start)
            found = [_named(element, each, where) for each in numbers] if isinstance(element, Enum) else [*numbers]
        else:
            self._expand(count, where)
            step = size_of(element)
            found = [self._value(element, start + step * index, f"{where}[{index}]") for index in range(count)]
        self._vectors[id(element), at] = found, self._parts - before
        return found


def _named(type_: Any, number: Any, where: str) -> Any:
    """A number of an enum as the name of its case."""
    if not isinstance(type_, Enum):
        return number
    if type_.is_flags:
        names = [name for bit, name in type_.cases.items() if number >> bit & 1]
        if sum(1 << type_.numbers[name] for name in names) != number:
            raise DamagedBufferError(f"{where} is {number}, which {type_.name} does not have")
        return " ".join(names) if names else 0
    if number not in type_.cases:
        raise DamagedBufferError(f"{where} is {number}, which {type_.name} does not have")
    return type_.cases[number]
