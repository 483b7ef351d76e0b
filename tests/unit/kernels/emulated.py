"""Images of aarch64 code on any host: an emulator of a NEON machine.

Unicorn (QEMU's translator as a library) executes the instructions; the arithmetic is IEEE 754 in software.
"""

from __future__ import annotations

import platform
import struct

import numpy as np
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

from ttnn_jit.runtime.native.image import Image

_CODE, _STACK, _HEAP = 0x10_0000, 0x4000_0000, 0x8000_0000
_STACK_BYTES = _PAGE = 0x10_0000
_SMALLEST_PAGE = 0x1000
_RETURN = 0x1000  # an address without code: the emulator stops when the function returns to it
_LIBRARY = {"memcpy": 0x2000, "memset": 0x2010}  # the functions of the C library that kernels may call
_AARCH64 = 183
_RET = b"\xc0\x03\x5f\xd6"
_ARGUMENTS = (UC_ARM64_REG_X0, UC_ARM64_REG_X1, UC_ARM64_REG_X2, UC_ARM64_REG_X3, UC_ARM64_REG_X4)


class Machine:
    """A machine with one program."""

    def __init__(self, code: bytes) -> None:
        self._image = Image.read(code)
        self._machine = Uc(UC_ARCH_ARM64, UC_MODE_ARM)
        self._top = _HEAP
        self._machine.mem_map(_CODE, self._image.zeros_offset + self._image.zeros + _PAGE & -_PAGE)
        self._machine.mem_write(_CODE, bytes(self._image.code))
        for name, slot in self._image.called.items():
            self._machine.mem_write(_CODE + slot, _LIBRARY[name].to_bytes(8, "little"))
        self._machine.mem_map(_STACK, _STACK_BYTES)
        self._machine.mem_map(_LIBRARY["memcpy"], _SMALLEST_PAGE)
        for name, function in (("memcpy", _memcpy), ("memset", _memset)):
            self._machine.mem_write(_LIBRARY[name], _RET)
            self._machine.hook_add(UC_HOOK_CODE, function, None, _LIBRARY[name], _LIBRARY[name])

    def write(self, array: np.ndarray, *, start: bool = False) -> int:
        """The address of a copy of `array` that ends (or starts) at an inaccessible page."""
        address = self._top + _PAGE
        size = array.nbytes + _SMALLEST_PAGE & -_SMALLEST_PAGE
        self._machine.mem_map(address, size)
        begin = address if start else address + size - array.nbytes
        self._machine.mem_write(begin, np.ascontiguousarray(array).tobytes())
        self._top = address + size + _PAGE & -_PAGE
        return begin

    def call(self, name: str, *arguments: int) -> int:
        """The result of the function `name` for integers and addresses; meaningless if it returns nothing."""
        for register, value in zip(_ARGUMENTS[: len(arguments)], arguments, strict=True):
            self._machine.reg_write(register, value)
        self._machine.reg_write(UC_ARM64_REG_SP, _STACK + _STACK_BYTES)
        self._machine.reg_write(UC_ARM64_REG_LR, _RETURN)
        self._machine.emu_start(_CODE + self._image.functions[name], _RETURN)
        return self._machine.reg_read(UC_ARM64_REG_X0)

    def read(self, address: int, like: np.ndarray) -> np.ndarray:
        """The current content of `address`, in the shape and dtype of `like`."""
        return np.frombuffer(self._machine.mem_read(address, like.nbytes), like.dtype).reshape(like.shape)


def _memcpy(machine: Uc, *_: object) -> None:
    to, source, size = (machine.reg_read(register) for register in _ARGUMENTS[:3])
    machine.mem_write(to, bytes(machine.mem_read(source, size)))


def _memset(machine: Uc, *_: object) -> None:
    to, byte, size = (machine.reg_read(register) for register in _ARGUMENTS[:3])
    machine.mem_write(to, bytes([byte & 255]) * size)


def is_foreign(code: bytes) -> bool:
    """Whether this machine needs the emulator for an image, which contains an object file."""
    (machine,) = struct.unpack_from("<H", code, 18)  # an ELF file's e_machine; parsing all of it takes milliseconds
    return machine == _AARCH64 and platform.machine() != "aarch64"
