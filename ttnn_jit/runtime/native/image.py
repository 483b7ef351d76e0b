"""Native code that is mapped without a linker: references are resolved once, when an image is made.

An *image* is an object file in which every reference from one offset of the file to another is resolved for the file as
it lies on disk; mapped whole and executable, it runs at any address. Calls of functions elsewhere go through *stubs*
behind it, each with a slot for the function's address. Behind the stubs stands what a loader has to know, so that it
need not read the tables of an object file:

    object file   stubs   JSON   u32 offset of the JSON   b"TTJI"

Memory that starts as zeros follows the stubs at the next multiple of `PAGE_BYTES`.

Sources: System V ABI (ELF-64); its AMD64 supplement, 4.4; "ELF for the Arm 64-bit Architecture", 5.7.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from ttnn_jit.diagnostics.errors import InternalError
from ttnn_jit.process.dataclass import dataclass

PAGE_BYTES = 1 << 16
"""The largest page of the hosts: 4 KB on x86-64, 4 to 64 KB on aarch64."""

MAX_ZEROS = 1 << 24
"""Bytes of an image's memory that starts as zeros: the launch code has some hundred, kernels none."""

_MAGIC = b"TTJI"
_SLOT_BYTES = 8
_TRAILER = struct.Struct("<I4s")

_ROW_OF_SECTION = struct.Struct("<IIQQQQIIQQ")
_ROW_OF_SYMBOL = struct.Struct("<IBBHQQ")
_ROW_OF_RELOCATION = struct.Struct("<QIIq")
_SYMBOL_TABLE, _RELOCATIONS, _ZEROS = 2, 4, 8  # types of sections
_WRITTEN, _IN_MEMORY = 1, 2  # their flags
_GLOBAL_FUNCTION = 0x12
_ELSEWHERE, _NO_SECTION = 0, 0xFF00  # numbers of sections: of symbols of other files; from here on, of no section

_X86_64, _AARCH64 = 62, 183
_SLOT_OFFSET = 8  # of a stub's slot for the address
_STUBS = {
    _X86_64: bytes.fromhex("ff 25 02 00 00 00 90 90") + bytes(8),  # jmp *slot(%rip); nop; nop
    _AARCH64: bytes.fromhex("50 00 00 58 00 02 1f d6") + bytes(8),  # ldr x16, slot; br x16
}


@dataclass(frozen=True)
class Image:
    """What a loader has to know of an image.

    Attributes:
        code: The object file and the stubs.
        functions: Offsets of the functions, by symbol.
        called: By symbol of a function elsewhere, the offset of the slot that takes its address.
        zeros: Bytes of the memory that starts as zeros.
        signature: Of its kernel, as `launch_bounds.Signature` writes it; None for other functions.
    """

    code: memoryview
    functions: Mapping[str, int]
    called: Mapping[str, int]
    zeros: int
    signature: Any

    @staticmethod
    @lru_cache(maxsize=32)  # one that was checked is loaded next
    def read(data: bytes) -> Image:
        """The image in `data`.

        Raises:
            InternalError: There is none.
        """
        if len(data) < _TRAILER.size or data[-len(_MAGIC) :] != _MAGIC:
            raise InternalError("native code is no image")
        end = len(data) - _TRAILER.size
        start, _ = _TRAILER.unpack_from(data, end)
        try:
            functions, called, zeros, signature = json.loads(data[start:end].decode())
        except (ValueError, TypeError) as error:
            raise InternalError(f"native code is no image: {error}") from error
        if not _lie_inside(functions, start, 1) or not _lie_inside(called, start, _SLOT_BYTES):
            raise InternalError("native code is no image: a function lies outside")
        if type(zeros) is not int or not 0 <= zeros <= MAX_ZEROS:
            raise InternalError(f"native code is no image: it has {zeros!r} bytes of zeros")
        return Image(memoryview(data)[:start], functions, called, zeros, signature)

    @property
    def zeros_offset(self) -> int:
        """Where the memory that starts as zeros lies."""
        return _zeros_offset(len(self.code))


def _lie_inside(offsets: Any, size: int, nbytes: int) -> bool:
    """Whether `offsets` are those of addresses of `nbytes` bytes each in `size`, by symbol."""
    return isinstance(offsets, dict) and all(
        type(offset) is int and 0 <= offset <= size - nbytes and offset % nbytes == 0 for offset in offsets.values()
    )


def image_of(object_code: bytes, signature: Any = None) -> bytes:
    """The image of an object file for x86-64 or aarch64, with the `signature` of its kernel.

    Raises:
        InternalError: It is for another host, or holds what no kernel needs: a reference of another kind, memory that
            starts with values and is written.
    """
    machine, sections = _sections_of(object_code)
    (table,) = (section for section in sections if section.type == _SYMBOL_TABLE)
    symbols = _symbols_of(object_code, table, sections[table.link].offset)
    memory = bytearray(object_code) + bytes(-len(object_code) % len(_STUBS[machine]))
    stubs = {}
    for symbol in symbols:
        if symbol.name and symbol.section == _ELSEWHERE:
            stubs[symbol.name] = len(memory)
            memory += _STUBS[machine]
    offsets, zeros = _section_offsets(sections, _zeros_offset(len(memory)))
    for section in sections:
        if section.type == _RELOCATIONS and section.info in offsets:
            for offset, kind, index, addend in _ROW_OF_RELOCATION.iter_unpack(section.rows(object_code)):
                value = _address(symbols[index], offsets, stubs) + addend
                _resolve(memory, machine, kind, offsets[section.info] + offset, value)
    functions = {symbol.name: _address(symbol, offsets, stubs) for symbol in symbols if symbol.kind == _GLOBAL_FUNCTION}
    called = {name: stub + _SLOT_OFFSET for name, stub in stubs.items()}
    text = json.dumps([functions, called, zeros, signature], separators=(",", ":")).encode()
    return bytes(memory) + text + _TRAILER.pack(len(memory), _MAGIC)


def _zeros_offset(size: int) -> int:
    return size + -size % PAGE_BYTES


class _Section(NamedTuple):
    """A row of the table of sections."""

    name: int
    type: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    alignment: int
    row_bytes: int

    def rows(self, object_code: bytes) -> bytes:
        """What it holds."""
        return object_code[self.offset : self.offset + self.size]


class _Symbol(NamedTuple):
    """What is used of a row of the table of symbols."""

    name: str
    kind: int
    section: int
    value: int


def _sections_of(object_code: bytes) -> tuple[int, list[_Section]]:
    """The machine that an object file is for, and its sections."""
    machine = struct.unpack_from("<H", object_code, 18)[0] if object_code[:6] == b"\x7fELF\x02\x01" else None
    if machine not in _STUBS:
        raise InternalError("native code is no ELF object file for x86-64 or aarch64")
    (start,), (count,) = struct.unpack_from("<Q", object_code, 40), struct.unpack_from("<H", object_code, 60)
    rows = object_code[start : start + count * _ROW_OF_SECTION.size]
    return machine, [_Section(*row) for row in _ROW_OF_SECTION.iter_unpack(rows)]


def _symbols_of(object_code: bytes, table: _Section, names: int) -> list[_Symbol]:
    def text(start: int) -> str:
        return object_code[start : object_code.index(0, start)].decode()

    rows = _ROW_OF_SYMBOL.iter_unpack(table.rows(object_code))
    return [_Symbol(text(names + name), kind, section, value) for name, kind, _, section, value, _ in rows]


def _section_offsets(sections: list[_Section], zeros_offset: int) -> tuple[dict[int, int], int]:
    """Offsets in the image of the sections that are in memory, by number; and the bytes that start as zeros."""
    offsets, zeros = {}, 0
    for number, section in enumerate(sections):
        if section.flags & _IN_MEMORY:
            offsets[number] = section.offset
            if section.flags & _WRITTEN:
                if section.type != _ZEROS:
                    raise InternalError("native code has memory that starts with values and is written")
                zeros += -zeros % section.alignment
                offsets[number] = zeros_offset + zeros
                zeros += section.size
    return offsets, zeros


def _address(symbol: _Symbol, offsets: Mapping[int, int], stubs: Mapping[str, int]) -> int:
    if symbol.section >= _NO_SECTION:
        raise InternalError(f"native code refers to {symbol.name}, which lies in no section")
    return stubs[symbol.name] if symbol.section == _ELSEWHERE else offsets[symbol.section] + symbol.value


# --- References -----------------------------------------------------------------------------------------------------

_X86_64_RELATIVE = {2, 4}  # R_X86_64_PC32 and R_X86_64_PLT32
_PREL32, _ADR_PREL_PG_HI21, _JUMP26, _CALL26 = 261, 275, 282, 283  # R_AARCH64_*
_SHIFT_OF_LOW_BITS = {277: 0, 278: 0, 284: 1, 285: 2, 286: 3, 299: 4}
"""R_AARCH64_ADD_ABS_LO12_NC, and those of loads and stores of 8 to 128 bits."""


def _resolve(memory: bytearray, machine: int, kind: int, offset: int, value: int) -> None:
    """Have the reference at `offset` lead to `value`."""
    if kind in _X86_64_RELATIVE if machine == _X86_64 else kind == _PREL32:
        struct.pack_into("<i", memory, offset, value - offset)
        return
    (instruction,) = struct.unpack_from("<I", memory, offset)
    if machine == _AARCH64 and kind == _ADR_PREL_PG_HI21:
        pages = (value >> 12) - (offset >> 12)
        instruction |= (pages & 3) << 29 | (pages >> 2 & 0x7FFFF) << 5
    elif machine == _AARCH64 and kind in _SHIFT_OF_LOW_BITS:
        instruction |= (value & 0xFFF) >> _SHIFT_OF_LOW_BITS[kind] << 10
    elif machine == _AARCH64 and kind in {_JUMP26, _CALL26}:
        instruction |= (value - offset) >> 2 & 0x3FF_FFFF
    else:
        raise InternalError(f"native code has a reference of kind {kind}, which no kernel needs")
    struct.pack_into("<I", memory, offset, instruction)
