"""Maps images into executable memory, which is writable only before it becomes executable."""

from __future__ import annotations

import ctypes
import mmap
import os
import sys
from collections.abc import Mapping
from functools import cache

from ttnn_jit.diagnostics.errors import InternalError
from ttnn_jit.runtime.image import Image

_MAP_FAILED = ctypes.c_void_p(-1).value


def mapped(image: Image, functions: Mapping[str, int]) -> int:
    """The address of `image` in memory of its own, ready to run, which stays as long as the process.

    Args:
        image: What to map.
        functions: Addresses of functions that it may call, by symbol; it may call the C library's besides.

    Raises:
        InternalError: It calls a function that is not there, or the host gives no executable memory.
    """
    # Before anything is mapped: a failure leaves nothing behind.
    called = {slot: functions.get(symbol) or address_in_process(symbol) for symbol, slot in image.called.items()}
    library = _library()
    executable = image.zeros_offset if image.zeros else len(image.code)
    size, private = executable + image.zeros, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    # By the C library: the mapping of a `mmap.mmap` ends with the interpreter, while helper threads may be in it.
    start = library.mmap(None, size, mmap.PROT_READ | mmap.PROT_WRITE, private, -1, 0)
    if start == _MAP_FAILED:
        raise _refused(size)
    ctypes.memmove(start, bytes(image.code), len(image.code))
    for slot, address in called.items():
        ctypes.c_uint64.from_address(start + slot).value = address
    if library.mprotect(start, executable, mmap.PROT_READ | mmap.PROT_EXEC):
        refusal = _refused(executable)
        library.munmap(start, size)
        raise refusal
    if sys.platform == "darwin":
        # Linux lets instructions be read anew by itself when their pages become executable.
        library.sys_icache_invalidate(ctypes.c_void_p(start), ctypes.c_size_t(executable))
    return int(start)


@cache
def _library() -> ctypes.CDLL:
    """The functions of this process, those of the C library among them."""
    library = ctypes.CDLL(None, use_errno=True)
    library.mmap.restype = ctypes.c_void_p
    library.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    library.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    library.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    return library


@cache
def address_in_process(symbol: str) -> int:
    """The address of a function of the C library.

    Raises:
        InternalError: This process has none of that name.
    """
    try:
        # By item: attributes are also those of ctypes' object. C ends a name at a NUL, Python does not.
        address = ctypes.cast(_library()[symbol.replace("\0", "\\0")], ctypes.c_void_p).value
    except (AttributeError, UnicodeEncodeError):
        raise InternalError(f"native code calls {symbol!r}, which this process lacks") from None
    assert address is not None
    return address


def _refused(size: int) -> InternalError:
    reason = os.strerror(ctypes.get_errno())
    return InternalError(f"the host gives no memory for {size} bytes of native code: {reason}")
