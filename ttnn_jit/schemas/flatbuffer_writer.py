"""Writes trees of dicts as flatbuffers.

A table or struct is a dict by field, a scalar a number or a bool, a value of an enum the name of its case, a vector a
list, or bytes for one of uint8. A union has its variant's name under ``field_type`` and its table under ``field``.
Equal parts are written once, so that equal trees give equal bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import flatbuffers
import numpy as np

from ttnn_jit.diagnostics.errors import ArgumentError, InternalError
from ttnn_jit.schemas.schema import Enum, Field, Record, Schema, Text, Union, Vector, alignment_of, scalar_of, size_of

Tree = Mapping[str, Any]


class FlatbufferWriter:
    """Writes one buffer.

    Args:
        schema: The types.
    """

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._builder: Any = flatbuffers.Builder(4096)
        self._written: dict[Any, int] = {}
        self._trees: dict[tuple[str, int], int] = {}

    def write(self, tree: Tree, identifier: str) -> bytes:
        """The bytes, prefixed by their number.

        Args:
            tree: The root table.
            identifier: Names the root table.
        """
        root = self._table(self._schema.record(self._schema.roots[identifier]), tree)
        self._builder.FinishSizePrefixed(root, file_identifier=identifier.encode())
        return bytes(self._builder.Output())

    def _once(self, key: Any, write: Callable[[], int]) -> int:
        """The place of a part, which is written if no equal one is."""
        found = self._written.get(key)
        if found is None:
            found = self._written[key] = write()
        return found

    def _table(self, record: Record, tree: Tree) -> int:
        """The place of a table; the same dict is looked at once."""
        key = record.name, id(tree)
        if key not in self._trees:
            self._trees[key] = self._new_table(record, tree)
        return self._trees[key]

    def _new_table(self, record: Record, tree: Tree) -> int:
        unknown = tree.keys() - record.fields.keys() - {f"{name}_type" for name in record.fields}
        if unknown:
            raise InternalError(f"{record.name} has no field {sorted(unknown)[0]}")
        parts = [part for field in record.fields.values() for part in self._parts(field, tree)]
        return self._once((record.name, *parts), lambda: self._object(record, parts))

    def _parts(self, field: Field, tree: Tree) -> list[tuple[int, str, Any]]:
        """What a field adds to its table: slot, letter of the module struct, and value."""
        value: Any = tree.get(field.name)
        if value is None:
            return []
        if (scalar := scalar_of(field.type)) is not None:
            number = number_of(field.type, value)
            return [] if number == field.default else [(field.slot, scalar.code, number)]
        match field.type:
            case Union():
                tag = field.type.tags[tree[f"{field.name}_type"]]
                table = self._schema.record(field.type.variants[tag][1])
                return [(field.slot - 1, "B", tag), (field.slot, "o", self._table(table, value))]
            case Record(is_struct=True):
                return [(field.slot, f"s{field.type.alignment}", packed(field.type, value))]
            case Vector(element=Union()):
                tags = [field.type.element.tags[each] for each in tree[f"{field.name}_type"]]
                tables = [self._schema.record(field.type.element.variants[tag][1]) for tag in tags]
                offsets = [self._table(table, each) for table, each in zip(tables, value, strict=True)]
                return [(field.slot - 1, "o", self._bytes(bytes(tags))), (field.slot, "o", self._offsets(offsets))]
            case _:
                return [(field.slot, "o", self._reference(field.type, value))]

    def _object(self, record: Record, parts: Sequence[tuple[int, str, Any]]) -> int:
        builder = self._builder
        builder.StartObject(record.slots)
        for slot, code, value in sorted(parts, key=lambda part: (-_size(part), part[0])):
            if code == "o":
                builder.PrependUOffsetTRelative(value)
            elif code.startswith("s"):
                self._place(value, int(code[1:]))
            else:
                self._place(_numbers(code, [value]), struct.calcsize(code))
            builder.Slot(slot)
        return int(builder.EndObject())

    def _place(self, data: bytes, alignment: int) -> None:
        builder = self._builder
        builder.Prep(alignment, len(data) - alignment)
        builder.head -= len(data)
        builder.Bytes[builder.head : builder.head + len(data)] = data

    def _reference(self, type_: Any, value: Any) -> int:
        """The place of a value that lies outside what holds it."""
        match type_:
            case Text():
                return self._once(("text", value), lambda: int(self._builder.CreateString(value)))
            case Record():
                return self._table(type_, value)
            case Vector(element=element):
                return self._vector(element, value)
            case _:
                raise InternalError(f"{type_} is written inside its table")

    def _vector(self, element: Any, values: Sequence[Any] | bytes) -> int:
        if isinstance(values, bytes):
            return self._bytes(values)
        if (scalar := scalar_of(element)) is not None:
            numbers: list[Any] = [number_of(element, each) for each in values]
            return self._inline(_numbers(scalar.code, numbers), scalar.size, len(numbers))
        if isinstance(element, Record) and element.is_struct:
            data = b"".join([packed(element, tree) for tree in list[Any](values)])
            return self._inline(data, element.size, len(values), element.alignment)
        return self._offsets([self._reference(element, each) for each in values])

    def _bytes(self, data: bytes) -> int:
        return self._inline(data, 1, len(data))

    def _inline(self, data: bytes, size: int, count: int, alignment: int | None = None) -> int:
        def write() -> int:
            builder = self._builder
            builder.StartVector(size, count, alignment or size)
            builder.head -= len(data)
            builder.Bytes[builder.head : builder.head + len(data)] = data
            return int(builder.EndVector())

        return self._once(("inline", data, size, alignment), write)

    def _offsets(self, offsets: Sequence[int]) -> int:
        def write() -> int:
            self._builder.StartVector(4, len(offsets), 4)
            for each in reversed(offsets):
                self._builder.PrependUOffsetTRelative(each)
            return int(self._builder.EndVector())

        return self._once(("offsets", *offsets), write)


def _size(part: tuple[int, str, Any]) -> int:
    """The bytes that decide in which order fields are written, the largest first."""
    _, code, value = part
    if code.startswith("s"):
        return len(value)
    return 4 if code == "o" else struct.calcsize(code)


def number_of(type_: Any, value: Any) -> Any:
    """The number by which a scalar or a case of an enum is stored."""
    if isinstance(type_, Enum):
        if type_.is_flags:
            return sum(1 << type_.numbers[each] for each in str(value).split()) if isinstance(value, str) else value
        return type_.numbers[value]
    scalar = scalar_of(type_)
    assert scalar is not None
    if scalar.code == "f":
        with np.errstate(over="ignore"):
            return float(np.float32(value))
    return float(value) if scalar.code == "d" else bool(value) if scalar.code == "?" else int(value)


def packed(record: Record, tree: Tree) -> bytes:
    """The bytes of a struct."""
    data = bytearray(record.size)
    for field in record.fields.values():
        scalar = scalar_of(field.type)
        if scalar is None:
            part = packed(field.type, tree[field.name])
        else:
            part = _numbers(scalar.code, [number_of(field.type, tree[field.name])])
        data[field.offset : field.offset + len(part)] = part
    return bytes(data)


__all__ = ["FlatbufferWriter", "Tree", "alignment_of", "number_of", "packed", "size_of"]


def _numbers(code: str, numbers: Sequence[Any]) -> bytes:
    """Numbers of the type of a letter of the module struct.

    Raises:
        ArgumentError: One is none of this type.
    """
    try:
        return struct.pack(f"<{len(numbers)}{code}", *numbers)
    except (struct.error, OverflowError) as error:
        largest = max(numbers, key=abs)
        raise ArgumentError(
            f"{largest} does not fit a field of {8 * struct.calcsize(code)} bits of a binary"
        ) from error
