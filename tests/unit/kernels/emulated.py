"""aarch64 object code on any host: an emulator runs what a NEON machine would.

Unicorn (QEMU's translator as a library) executes the instructions; the arithmetic is IEEE 754 in software.
"""

from __future__ import annotations

import io
import platform
import struct
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection
from elftools.elf.sections import Symbol
from unicorn import UC_ARCH_ARM64, UC_HOOK_CODE, UC_MODE_ARM, Uc
from unicorn.arm64_const import (
    UC_ARM64_REG_LR,
    UC_ARM64_REG_SP,
    UC_ARM64_REG_X0,
    UC_ARM64_REG_X1,
    UC_ARM64_REG_X2,
    UC_ARM64_REG_X3,
    UC_ARM64_REG_X4,
)

_CODE, _STACK, _HEAP = 0x10_0000, 0x4000_0000, 0x8000_0000
_STACK_BYTES = _PAGE = 0x10_0000
_SMALLEST_PAGE = 0x1000
_RETURN = 0x1000  # an address of no code: where the function returns to, the emulator stops
_LIBRARY = {"memcpy": 0x2000}  # the functions of the C library that kernels may call
_RET = b"\xc0\x03\x5f\xd6"
_ARGUMENTS = (UC_ARM64_REG_X0, UC_ARM64_REG_X1, UC_ARM64_REG_X2, UC_ARM64_REG_X3, UC_ARM64_REG_X4)


@dataclass(frozen=True)
class Image:
    """Object code, relocated to `_CODE`, and the addresses of its functions."""

    code: bytes
    symbols: dict[str, int]


def linked(object_code: bytes) -> Image:
    """Lays the sections of an aarch64 object one after the other and applies its relocations."""
    elf = ELFFile(io.BytesIO(object_code))
    memory = bytearray()
    places: dict[int, int] = {}
    for index, section in enumerate(elf.iter_sections()):
        if section["sh_flags"] & 2:  # it takes part in the image (SHF_ALLOC)
            memory += bytes(-len(memory) % 64)
            places[index] = _CODE + len(memory)
            memory += section.data()
    table = elf.get_section_by_name(".symtab")
    addresses = [_address(symbol, places) for symbol in table.iter_symbols()]
    for section in elf.iter_sections():
        if isinstance(section, RelocationSection) and section["sh_info"] in places:
            for relocation in section.iter_relocations():
                place = places[section["sh_info"]] + relocation["r_offset"]
                value = addresses[relocation["r_info_sym"]] + relocation["r_addend"]
                _relocate(memory, relocation["r_info_type"], place, value)
    names = [symbol.name for symbol in table.iter_symbols()]
    return Image(bytes(memory), dict(zip(names, addresses, strict=True)))


def _address(symbol: Symbol, places: Mapping[int, int]) -> int:
    section = symbol["st_shndx"]
    if section == "SHN_UNDEF":
        return _LIBRARY[symbol.name] if symbol.name else 0
    return places.get(section, 0) + int(symbol["st_value"])


def _relocate(memory: bytearray, kind: int, place: int, value: int) -> None:
    """One relocation of "ELF for the Arm 64-bit Architecture", section 5.7."""
    offset = place - _CODE
    if kind == 261:  # R_AARCH64_PREL32
        struct.pack_into("<i", memory, offset, value - place)
        return
    (instruction,) = struct.unpack_from("<I", memory, offset)
    if kind == 275:  # R_AARCH64_ADR_PREL_PG_HI21
        pages = (value >> 12) - (place >> 12)
        instruction |= (pages & 3) << 29 | (pages >> 2 & 0x7FFFF) << 5
    elif kind in _SHIFT_OF_LOW_BITS:
        instruction |= (value & 0xFFF) >> _SHIFT_OF_LOW_BITS[kind] << 10
    elif kind in {282, 283}:  # R_AARCH64_JUMP26, R_AARCH64_CALL26
        instruction |= (value - place) >> 2 & 0x3FF_FFFF
    else:
        raise NotImplementedError(f"relocation {kind}")
    struct.pack_into("<I", memory, offset, instruction)


# R_AARCH64_ADD_ABS_LO12_NC, and those of loads and stores of 16, 32, 64 and 128 bits
_SHIFT_OF_LOW_BITS = {277: 0, 284: 1, 285: 2, 286: 3, 299: 4}


class Machine:
    """A machine with one program."""

    def __init__(self, object_code: bytes) -> None:
        self._image = linked(object_code)
        self._machine = Uc(UC_ARCH_ARM64, UC_MODE_ARM)
        self._top = _HEAP
        self._machine.mem_map(_CODE, len(self._image.code) + _PAGE & -_PAGE)
        self._machine.mem_write(_CODE, self._image.code)
        self._machine.mem_map(_STACK, _STACK_BYTES)
        self._machine.mem_map(_LIBRARY["memcpy"], _SMALLEST_PAGE)
        self._machine.mem_write(_LIBRARY["memcpy"], _RET)
        self._machine.hook_add(UC_HOOK_CODE, _memcpy, None, _LIBRARY["memcpy"], _LIBRARY["memcpy"])

    def place(self, array: np.ndarray) -> int:
        """The address of a copy of `array`, with a hole on both sides: an access beyond it fails."""
        address = self._top + _PAGE
        size = array.nbytes + _SMALLEST_PAGE & -_SMALLEST_PAGE
        self._machine.mem_map(address, size)
        start = address + size - array.nbytes
        self._machine.mem_write(start, np.ascontiguousarray(array).tobytes())
        self._top = address + size + _PAGE & -_PAGE
        return start

    def call(self, name: str, *arguments: int) -> None:
        """Calls the function `name` with integers and addresses."""
        for register, value in zip(_ARGUMENTS[: len(arguments)], arguments, strict=True):
            self._machine.reg_write(register, value)
        self._machine.reg_write(UC_ARM64_REG_SP, _STACK + _STACK_BYTES)
        self._machine.reg_write(UC_ARM64_REG_LR, _RETURN)
        self._machine.emu_start(self._image.symbols[name], _RETURN)

    def read(self, address: int, like: np.ndarray) -> np.ndarray:
        """What lies at `address` now, in the shape and dtype of `like`."""
        return np.frombuffer(self._machine.mem_read(address, like.nbytes), like.dtype).reshape(like.shape)


def _memcpy(machine: Uc, *_: object) -> None:
    to, source, size = (machine.reg_read(register) for register in _ARGUMENTS[:3])
    machine.mem_write(to, bytes(machine.mem_read(source, size)))


def is_foreign(object_code: bytes) -> bool:
    """Whether this machine needs the emulator for it."""
    return ELFFile(io.BytesIO(object_code)).get_machine_arch() == "AArch64" and platform.machine() != "aarch64"
