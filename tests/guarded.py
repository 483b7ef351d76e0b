"""Memory between inaccessible pages: an access beyond either end kills the process."""

from __future__ import annotations

import ctypes
import mmap

_PAGE = mmap.PAGESIZE


class Guarded:
    """`nbytes` bytes at `address` whose last byte (or, at the `start`, first byte) is next to an inaccessible page.

    Addresses at the end are multiples of 4, as an element of float32 needs, and no more where `nbytes` is not.
    """

    def __init__(self, nbytes: int, *, start: bool = False) -> None:
        self.nbytes = nbytes
        pages = -(-max(nbytes, 1) // _PAGE)
        self._memory = mmap.mmap(-1, (pages + 2) * _PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        first = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        library = ctypes.CDLL(None, use_errno=True)
        library.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        for page in (first, first + (pages + 1) * _PAGE):
            if library.mprotect(page, _PAGE, 0):
                raise OSError(ctypes.get_errno(), "mprotect")
        self.address = first + _PAGE if start else first + (pages + 1) * _PAGE - nbytes
