"""Headers of exchanges: the sequence number, the hash of the call's key, and what is called where."""

from __future__ import annotations

import ctypes
import zlib
from collections.abc import Callable, Sequence
from struct import Struct
from typing import NamedTuple

from ttnn_jit.diagnostics.source import Location, whole_line
from ttnn_jit.diagnostics.tracebacks import user_line, user_location
from ttnn_jit.runtime.ranks.transport import Region, View

KEY_BYTES = 16
INLINE_BYTES = 1 << 18
"""The most data that travels with a header: a message of its own costs more than to copy it twice
(benchmarks/programs/ranks.py)."""
_TEXT_BYTES = 232
_HEADER = Struct(f"<I{KEY_BYTES}s{_TEXT_BYTES}s")
_TAG_BITS = 0x3FFFFFFF
_HEADER_TAG = 0x40000000


class Call(NamedTuple):
    """What ranks call together.

    Attributes:
        text: The name, the operand and the attributes, for errors.
        key: The hash of everything that the ranks must agree on.
        file: The user's file that calls it; "": the file that is running.
        number: The line there.
    """

    text: str
    key: bytes
    file: str = ""
    number: int = 0

    @property
    def location(self) -> Location | None:
        """The line of the user's that calls it."""
        return whole_line(self.file, self.number) if self.file else user_location()

    @property
    def line(self) -> str:
        """Its file and number."""
        return f"{self.file}:{self.number}" if self.file else user_line()


class Data(NamedTuple):
    """Memory that goes to a rank or comes from it."""

    rank: int
    region: Region


class Header(NamedTuple):
    """What a rank says of an exchange that it begins.

    Attributes:
        sequence: The number of the exchange, of 32 bits.
        key: The hash of the call.
        text: What is called where, encoded and shortened.
    """

    sequence: int
    key: bytes
    text: bytes

    def __str__(self) -> str:
        return self.text.rstrip(b"\0").decode(errors="replace")


class HeaderMemory:
    """The memory of one header, which travels in place, and of little data that travels with it.

    Args:
        view: The form of memory that a transport takes.
        room: Bytes for the data; to receive there is always room for any.
    """

    def __init__(self, view: Callable[[Region], View], room: int = INLINE_BYTES) -> None:
        self._bytes = (ctypes.c_char * (_HEADER.size + room))()
        self._address = ctypes.addressof(self._bytes)
        self._data = self._address + _HEADER.size
        self._view = view
        self._views: dict[int, View] = {}

    def written(self, header: Header, data: Sequence[Region] = ()) -> View:
        """A view of a header and of the data of these regions behind it."""
        _HEADER.pack_into(self._bytes, 0, *header)
        address = self._data
        for region in data:
            ctypes.memmove(address, region.address, region.nbytes)
            address += region.nbytes
        return self._first(address - self._address)

    def whole(self) -> View:
        """A view of the memory, to receive a header and as much data as there is."""
        return self._first(_HEADER.size + INLINE_BYTES)

    def _first(self, nbytes: int) -> View:
        found = self._views.get(nbytes)
        if found is None:
            found = self._views[nbytes] = self._view(Region(self._address, nbytes))
        return found

    def read(self) -> Header:
        """The header that was received."""
        return Header(*_HEADER.unpack_from(self._bytes))

    def read_data(self, data: Sequence[Region]) -> None:
        """Copy the data behind the header to these regions."""
        address = self._data
        for region in data:
            ctypes.memmove(region.address, address, region.nbytes)
            address += region.nbytes


def is_inline(data: Sequence[Region]) -> bool:
    """Whether the data between two ranks travels with the header; both ends know its size."""
    return sum([region.nbytes for region in data]) <= INLINE_BYTES


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


def shortened(text: str) -> bytes:
    """The text within the bytes of a header; of a long one the begin and the end, which has the line."""
    encoded = text.encode()
    if len(encoded) <= _TEXT_BYTES:
        return encoded
    half = (_TEXT_BYTES - 5) // 2
    return encoded[:half] + b" ... " + encoded[-half:]
