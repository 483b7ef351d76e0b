"""The memory of an interpreted function: objects at addresses far from each other, and which trip used which."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import Float32Type, Float64Type, IntegerType
from xdsl.dialects.llvm import LLVMArrayType, LLVMPointerType, LLVMStructType
from xdsl.ir import Attribute

from ttnn_jit.dialects.cpu_module.memory_layout import member_of, size_of

_GAP = 2**20
_FIRST = 2**32


class HostFault(Exception):  # noqa: N818 - it says what was found
    """A function does what no function may."""


class NoGoldenOfHost(Exception):  # noqa: N818 - it says what there is not
    """A function is not interpreted: it is too long, or has an operation without a meaning here."""


class DependentTrips(Exception):  # noqa: N818 - it says what was found
    """Trips of a loop depend on each other."""


def numpy_type(kind: Attribute) -> np.dtype[Any]:
    """The numpy type of a scalar; addresses are integers.

    Raises:
        NoGoldenOfHost: There is none.
    """
    match kind:
        case IntegerType():
            width = kind.width.data
            return np.dtype(bool) if width == 1 else np.dtype(f"i{width // 8}")
        case LLVMPointerType():
            return np.dtype("i8")
        case Float32Type():
            return np.dtype("f4")
        case Float64Type():
            return np.dtype("f8")
        case _:
            raise NoGoldenOfHost(f"values of {kind} have no meaning here")


class _Object:
    """An allocation."""

    def __init__(self, data: np.ndarray[Any, Any]) -> None:
        self.data = data
        self.width = 0
        self.writers: np.ndarray[Any, Any] | None = None
        self.readers: np.ndarray[Any, Any] | None = None


class AddressSpace:
    """The memory of a run."""

    def __init__(self, limit_bytes: int) -> None:
        self._starts: list[int] = []
        self._objects: list[_Object | None] = []
        self._next = _FIRST
        self._room = limit_bytes
        self._trips: np.ndarray[Any, Any] | None = None
        self._touched: list[_Object] = []
        self._undo: list[tuple[_Object, Any, Any]] = []

    def add(self, data: np.ndarray[Any, Any]) -> int:
        """The address of an object with these bytes."""
        address = self._next
        self._room -= data.nbytes
        if self._room < 0:
            raise NoGoldenOfHost("it allocates more than is interpreted")
        self._next += data.nbytes + _GAP - data.nbytes % _GAP
        self._starts.append(address)
        self._objects.append(_Object(data))
        return address

    def allocate(self, nbytes: int) -> int:
        """The address of an object of zeros."""
        if not 0 <= nbytes <= self._room:
            raise NoGoldenOfHost("it allocates more than is interpreted")
        return self.add(np.zeros(nbytes, np.uint8))

    def release(self, address: int) -> None:
        """End the life of an object."""
        if address == 0:
            return
        index = bisect_right(self._starts, address) - 1
        found = self._objects[index] if index >= 0 and self._starts[index] == address else None
        if found is None:
            raise HostFault("memory is released that is not allocated")
        self._room += found.data.nbytes
        self._objects[index] = None

    def bytes_at(self, address: int, nbytes: int) -> np.ndarray[Any, Any]:
        """So many bytes at an address, to be read and written.

        Raises:
            HostFault: They are not of one object.
        """
        if nbytes == 0:
            return np.zeros(0, np.uint8)
        found, offset = self._object(address, address, nbytes)
        return found.data[offset : offset + nbytes]

    def _object(self, first: int, last: int, nbytes: int) -> tuple[_Object, int]:
        index = bisect_right(self._starts, first) - 1
        found = self._objects[index] if index >= 0 else None
        if found is None or last + nbytes > self._starts[index] + found.data.nbytes:
            raise HostFault("an access outside of the operands, globals and allocations of the function")
        return found, first - self._starts[index]

    def load(self, address: Any, kind: Attribute) -> Any:
        """The value at an address, or at each of several."""
        if isinstance(kind, LLVMStructType | LLVMArrayType):
            return [self.load(address + offset, own) for offset, own in members(kind)]
        element = numpy_type(kind)
        found, places, data = self._elements(address, element)
        if self._trips is not None:
            self._note_read(found, places, element.itemsize)
        if np.ndim(address) == 0:
            return data[int(places)]
        return data[places]

    def store(self, value: Any, address: Any, kind: Attribute) -> None:
        """Write a value at an address, or values at several."""
        if isinstance(kind, LLVMStructType | LLVMArrayType):
            for (offset, own), part in zip(members(kind), value, strict=True):
                self.store(part, address + offset, own)
            return
        found, places, data = self._elements(address, numpy_type(kind))
        if self._trips is not None:
            self._note_write(found, places, data.itemsize, address)
            self._undo.append((found, (places, data.dtype), np.copy(data[places])))
        data[places] = value

    def _elements(self, address: Any, element: np.dtype[Any]) -> tuple[_Object, Any, np.ndarray[Any, Any]]:
        """The object of addresses, and the elements that they are in it."""
        first, last = (
            (int(address), int(address)) if np.ndim(address) == 0 else (int(np.min(address)), int(np.max(address)))
        )
        found, offset = self._object(first, last, element.itemsize)
        start = first - offset
        places, rest = np.divmod(np.asarray(address, np.int64) - start, element.itemsize)
        if np.any(rest):
            if np.ndim(address) or self._trips is not None:
                raise DependentTrips
            whole = found.data[offset : offset + element.itemsize]
            return found, np.int64(0), whole.view(element)
        end = found.data.nbytes // element.itemsize * element.itemsize
        return found, places, found.data[:end].view(element)

    # Loops all of whose trips are run at once

    def begin_trips(self, count: int) -> None:
        """From here on every value of a loop is one of each trip."""
        self._trips = np.arange(count, dtype=np.int32)

    def end_trips(self, *, undo: bool) -> None:
        """The trips are over; `undo` restores what they wrote."""
        if undo:
            for found, (places, kind), old in reversed(self._undo):
                end = found.data.nbytes // kind.itemsize * kind.itemsize
                found.data[:end].view(kind)[places] = old
        for each in self._touched:
            each.width, each.writers, each.readers = 0, None, None
        self._trips = None
        self._touched, self._undo = [], []

    def _note_read(self, found: _Object, places: Any, width: int) -> None:
        writers, readers = self._users(found, width)
        trips = self._trips
        assert trips is not None, "trips have begun"
        if np.ndim(places) == 0:
            if writers[places] != _NOBODY:
                raise DependentTrips
            readers[places] = _SEVERAL
            return
        known = writers[places]
        if np.any((known != _NOBODY) & (known != trips)):
            raise DependentTrips
        before = readers[places]
        readers[places] = trips
        # An element that several trips read, in this access or an earlier one, is one that none may write.
        shared = (readers[places] != trips) | ((before != _NOBODY) & (before != trips))
        readers[places[shared]] = _SEVERAL

    def _note_write(self, found: _Object, places: Any, width: int, address: Any) -> None:
        if np.ndim(address) == 0:
            raise DependentTrips
        writers, readers = self._users(found, width)
        trips = self._trips
        for users in (writers, readers):
            known = users[places]
            if np.any((known != _NOBODY) & (known != trips)):
                raise DependentTrips
        writers[places] = trips
        if np.any(writers[places] != trips):
            raise DependentTrips

    def _users(self, found: _Object, width: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """Which trip has written and read each element of an object."""
        if found.writers is None or found.readers is None:
            count = found.data.nbytes // width
            found.width = width
            found.writers, found.readers = (np.full(count, _NOBODY, np.int32) for _ in range(2))
            self._touched.append(found)
        elif found.width != width:
            raise DependentTrips
        return found.writers, found.readers


_NOBODY, _SEVERAL = -1, -2


def members(kind: Attribute) -> Sequence[tuple[int, Attribute]]:
    """The members of an aggregate with their offsets."""
    count = kind.size.data if isinstance(kind, LLVMArrayType) else len(kind.types.data)  # type: ignore[attr-defined]
    return [member_of(kind, index) for index in range(count)]


def zero_of(kind: Attribute) -> Any:
    """The value of a type whose bytes are zeros; an aggregate is a list."""
    if isinstance(kind, LLVMStructType | LLVMArrayType):
        size_of(kind)
        return [zero_of(own) for _, own in members(kind)]
    return numpy_type(kind).type(0)
