"""Headers of exchanges: the sequence number, the hash of the call's key, and what is called where."""

from __future__ import annotations

import ctypes
import zlib
from collections.abc import Callable
from struct import Struct
from typing import NamedTuple

from ttnn_jit.runtime.ranks.transport import Region, View

KEY_BYTES = 16
_TEXT_BYTES = 232
_HEADER = Struct(f"<I{KEY_BYTES}s{_TEXT_BYTES}s")
_TAG_BITS = 0x3FFFFFFF
_HEADER_TAG = 0x40000000


class Call(NamedTuple):
    """What ranks call together.

    Attributes:
        text: The name, the operand and the attributes, for errors.
        key: The hash of everything that the ranks must agree on.
    """

    text: str
    key: bytes


class Data(NamedTuple):
    """Memory that goes to a rank or comes from it."""

    rank: int
    region: Region


class Header(NamedTuple):
    """What a rank says of an exchange that it begins.

    Attributes:
        sequence: The number of the exchange, of 32 bits.
        key: The hash of the call.
        text: What is called where, shortened.
    """

    sequence: int
    key: bytes
    text: str


class HeaderMemory:
    """The memory of one header, which travels in place."""

    def __init__(self, view: Callable[[Region], View]) -> None:
        self._bytes = ctypes.create_string_buffer(_HEADER.size)
        self.view = view(Region(ctypes.addressof(self._bytes), _HEADER.size))

    def write(self, header: Header) -> None:
        """Write a header."""
        self._bytes.raw = _HEADER.pack(header.sequence, header.key, _shortened(header.text))

    def read(self) -> Header:
        """The header that was written or received."""
        sequence, key, text = _HEADER.unpack(self._bytes.raw)
        return Header(sequence, key, text.rstrip(b"\0").decode(errors="replace"))


class Tags:
    """The tags of a channel: one for its headers, and one for the data of each exchange.

    Data of different calls never meet, whatever their sizes.
    """

    def __init__(self, name: str) -> None:
        self._own = zlib.crc32(name.encode()) & _TAG_BITS
        self.of_headers = self._own | _HEADER_TAG

    def of_data(self, header: Header) -> int:
        """The tag of the data of an exchange."""
        return (zlib.crc32(header.key, header.sequence) ^ self._own) & _TAG_BITS


def _shortened(text: str) -> bytes:
    """The text within the bytes of a header; of a long one the begin and the end, which has the line."""
    encoded = text.encode()
    if len(encoded) <= _TEXT_BYTES:
        return encoded
    half = (_TEXT_BYTES - 5) // 2
    return encoded[:half] + b" ... " + encoded[-half:]
