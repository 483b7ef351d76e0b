"""Maps images into executable memory. The memory is writable only until it becomes executable."""

from __future__ import annotations

import ctypes
import mmap
import os
import sys
from collections.abc import Mapping
from functools import cache

from ttnn_jit.diagnostics.errors import InternalError
from ttnn_jit.runtime.native.image import Image


def mapped(image: Image, functions: Mapping[str, int]) -> int:
    """Map `image` into executable memory for the life of the process; returns its address.

    Args:
        image: The image to map.
        functions: Addresses of functions that it may call besides the C library's, by symbol.

    Raises:
        InternalError: It calls an undefined function, or the host gives no executable memory.
    """
    # Symbols are resolved before anything is mapped, so that a failure leaves no mapping.
    called = {slot: functions.get(symbol) or address_in_process(symbol) for symbol, slot in image.called.items()}
    library = _library()
    executable = image.zeros_offset if image.zeros else len(image.code)
    size = executable + image.zeros
    try:
        memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except OSError as error:
        raise _refused(size, error.errno) from error
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    memory[: len(image.code)] = image.code
    for slot, address in called.items():
        ctypes.c_uint64.from_address(start + slot).value = address
    if library.mprotect(start, executable, mmap.PROT_READ | mmap.PROT_EXEC):
        raise _refused(executable, ctypes.get_errno())
    if sys.platform == "darwin":
        # Linux invalidates the instruction cache when pages become executable.
        library.sys_icache_invalidate(ctypes.c_void_p(start), ctypes.c_size_t(executable))
    # Up to here an interrupt frees the memory. From here on it also outlives the interpreter, because helper threads
    # may be executing in it.
    _keep(memory)
    return start


def _keep(memory: mmap.mmap) -> None:
    """Have an object outlive the interpreter."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(memory))


@cache
def _library() -> ctypes.CDLL:
    """The functions of this process, including the C library's."""
    library = ctypes.CDLL(None, use_errno=True)
    library.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    return library


@cache
def address_in_process(symbol: str) -> int:
    """The address of a function of the C library.

    Raises:
        InternalError: This process has none of that name.
    """
    try:
        # By item, not by attribute: ctypes' object has attributes of its own. C ends a name at a NUL, Python does not.
        address = ctypes.cast(_library()[symbol.replace("\0", "\\0")], ctypes.c_void_p).value
    except (AttributeError, UnicodeEncodeError):
        raise InternalError(f"native code calls {symbol!r}, which this process lacks") from None
    assert address is not None
    return address


def _refused(size: int, reason: int | None) -> InternalError:
    return InternalError(f"the host gives no memory for {size} bytes of native code: {os.strerror(reason or 0)}")
