"""Runs native code that checks its every access against a table of ranges, and owns what the code allocates.

The code is a function of the host's module (`codegen/checked/`). It gets an array of `WrappedTensor` of
tt-mlir's runtime (runtime/detail/common/dylib.h): start, aligned start, offset in elements, sizes and strides.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

from ttnn_jit.process.compile_lock import interrupts_postponed
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.native.executable import mapped
from ttnn_jit.runtime.native.image import Image
from ttnn_jit.runtime.native.run_record import ENTRY, SEEN_WORDS, Error, Word

_WORD_BYTES = 8
WRAPPED_WORDS = 4
"""The words of a wrapped tensor."""
_MAX_ALLOCATIONS = 4096
_ALIGNMENT = 64

_STEPS = 2**24
"""After so many steps it is asked whether the run goes on: whether there was no interrupt."""
_STEPS_PER_BYTE = 2**12
"""A product of matrices of n x n floats takes n / 12 steps for each of its 12 n**2 bytes."""
_ALLOCATED = 2**26
_ALLOCATED_PER_BYTE = 16
"""Bytes that a run may have allocated at a time for each byte that it is given."""


class CheckedError(Exception):
    """A run stopped.

    Attributes:
        error: Why.
        site: The number of the operation; -1 for what is not an operation's.
        address: The first byte of the access.
        nbytes: Its bytes.
    """

    def __init__(self, error: Error, site: int, address: int = 0, nbytes: int = 0) -> None:
        super().__init__(error.name)
        self.error = error
        self.site = site
        self.address = address
        self.nbytes = nbytes


@dataclass(frozen=True)
class Wrapped:
    """A tensor of the caller's: contiguous memory that a run may read and write.

    Attributes:
        address: Its first byte.
        nbytes: Its bytes.
        shape: Its extents.
    """

    address: int
    nbytes: int
    shape: tuple[int, ...]


class CheckedCode:
    """A function in native code.

    Args:
        image: Its image, which defines `ENTRY`.
    """

    def __init__(self, image: bytes) -> None:
        code = Image.read(image)
        address = mapped(code, {}) + code.functions[ENTRY]
        self.function = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(address)


class CheckedRun:
    """One run of a function: the memory that it may touch, and what it allocates.

    Args:
        code: The function.
        tensors: What it is called with.
        globals_: Addresses and bytes of the globals.
        result_bytes: The bytes of what it returns, which bounds what it may allocate.
        sites: The number of its operations that may fail.
    """

    def __init__(
        self,
        code: CheckedCode,
        tensors: Sequence[Wrapped],
        globals_: Sequence[tuple[int, int]],
        result_bytes: int,
        sites: int,
    ) -> None:
        self._code = code
        self._tensors = tensors
        self._allocations: dict[int, tuple[Any, int]] = {}
        self._given: list[tuple[int, int]] = [(each.address, each.nbytes) for each in tensors] + [*globals_]
        given = sum(nbytes for _, nbytes in self._given) + result_bytes
        self._room = _ALLOCATED + _ALLOCATED_PER_BYTE * given
        self._record = (ctypes.c_int64 * len(Word))()
        self._steps = _STEPS + _STEPS_PER_BYTE * given
        self._record[Word.GENERATION] = 1
        self._seen = (ctypes.c_int64 * max(SEEN_WORDS * sites, 1))()
        self._record[Word.SEEN] = ctypes.addressof(self._seen)
        self._globals = (ctypes.c_int64 * max(len(globals_), 1))(*(address for address, _ in globals_))
        self._record[Word.GLOBALS] = ctypes.addressof(self._globals)
        self._interrupts: list[int] = []
        self._raised: BaseException | None = None
        self._callbacks = self._callback_words()

    def run(self) -> int:
        """What the function returns.

        Raises:
            CheckedError: The run stopped.
        """
        words = (ctypes.c_int64 * max(WRAPPED_WORDS * len(self._tensors), 1))()
        held = []
        for index, tensor in enumerate(self._tensors):
            extents = (ctypes.c_int64 * max(2 * len(tensor.shape), 1))(*tensor.shape, *row_major(tensor.shape))
            held.append(extents)
            at = WRAPPED_WORDS * index
            words[at : at + WRAPPED_WORDS] = [tensor.address, tensor.address, 0, ctypes.addressof(extents)]
        for each in (words, *held):
            self._given.append((ctypes.addressof(each), ctypes.sizeof(each)))
        self._held = (words, held)
        self._write_table()
        with interrupts_postponed() as self._interrupts:  # else one would be lost that comes as a callback begins
            self._code.function(ctypes.addressof(self._record), ctypes.addressof(words))
        if self._raised is not None:
            raise self._raised
        if self._record[Word.ERROR]:
            record = self._record
            raise CheckedError(
                Error(record[Word.ERROR]),
                record[Word.SITE],
                record[Word.ADDRESS] % 2**64,
                record[Word.BYTES] % 2**64,
            )
        return int(self._record[Word.RESULT])

    def words(self, address: int, count: int) -> list[int]:
        """So many words of 64 bits at an address.

        Raises:
            CheckedError: They lie outside of the memory of the run.
        """
        self.require(address, count * _WORD_BYTES, -1)
        return [*(ctypes.c_int64 * count).from_address(address)] if count else []

    def require(self, address: int, nbytes: int, site: int) -> None:
        """Refuse an access outside of the memory of the run.

        Raises:
            CheckedError: It is one.
        """
        if nbytes and not any(low <= address and address + nbytes <= low + size for low, size in self._ranges()):
            raise CheckedError(Error.OUT_OF_RANGE, site, address % 2**64, nbytes % 2**64)

    def _ranges(self) -> list[tuple[int, int]]:
        return [*self._given, *((address, size) for address, (_, size) in self._allocations.items())]

    def _write_table(self) -> None:
        ranges = self._ranges()
        self._table = (ctypes.c_uint64 * (2 * len(ranges)))()
        for index, (low, size) in enumerate(ranges):
            self._table[2 * index : 2 * index + 2] = [low, low + size]
        self._record[Word.TABLE] = ctypes.addressof(self._table)
        self._record[Word.RANGES] = len(ranges)

    def _callback_words(self) -> list[Any]:
        """The functions that the code calls, which its record names."""
        pointer, number = ctypes.c_void_p, ctypes.c_uint64
        callbacks: list[tuple[Word, Any, Callable[..., Any]]] = [
            (Word.ALLOCATE, ctypes.CFUNCTYPE(pointer, pointer, number, number), self._allocate),
            (Word.RELEASE, ctypes.CFUNCTYPE(None, pointer, number, number), self._release),
            (Word.EXTEND, ctypes.CFUNCTYPE(None, pointer, number), self._extend),
            (Word.COPY, ctypes.CFUNCTYPE(None, pointer, number, number, number, number), self._copy),
        ]
        made = [(word, kind(self._guarded(function))) for word, kind, function in callbacks]
        for word, function in made:
            self._record[word] = ctypes.cast(function, pointer).value or 0
        return made

    def _guarded(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function whose error stops the run: none passes through native code."""

        def guarded(_: int, *arguments: int) -> Any:
            try:
                return function(*arguments)
            except CheckedError as error:
                self._stop(error)
            except BaseException as error:  # noqa: BLE001 - `run` raises it
                self._raised = error
                self._stop(CheckedError(Error.RAISED, arguments[-1]))
            return 0

        return guarded

    def _stop(self, error: CheckedError) -> None:
        for word, value in zip(
            (Word.ERROR, Word.SITE, Word.ADDRESS, Word.BYTES),
            (int(error.error), error.site, error.address, error.nbytes),
            strict=True,
        ):
            self._record[word] = value - 2**64 * (value >= 2**63)

    def _allocate(self, nbytes: int, site: int) -> int:
        import numpy as np

        held = sum(size for _, size in self._allocations.values())
        if nbytes + held > self._room or len(self._allocations) >= _MAX_ALLOCATIONS:
            raise CheckedError(Error.NO_MEMORY, site, 0, nbytes)
        memory = np.zeros(nbytes + _ALIGNMENT, np.uint8)
        address = memory.ctypes.data + -memory.ctypes.data % _ALIGNMENT
        self._allocations[address] = memory, nbytes
        self._write_table()
        return address

    def _release(self, address: int, site: int) -> None:
        if address and self._allocations.pop(address, None) is None:
            raise CheckedError(Error.RELEASED, site, address)
        self._record[Word.GENERATION] += 1
        self._write_table()

    def _extend(self, site: int) -> None:
        if self._steps <= 0 or self._interrupts:
            raise CheckedError(Error.TOO_LONG, site)
        granted = min(self._steps, _STEPS)
        self._steps -= granted
        self._record[Word.STEPS] += granted

    def _copy(self, element_bytes: int, source: int, destination: int, site: int) -> None:
        """`memrefCopy` of MLIR's runtime: unranked memrefs, each a rank and the address of its descriptor."""
        import numpy as np

        views = [self._strided(address, element_bytes, site) for address in (source, destination)]
        if views[0].shape != views[1].shape:
            raise CheckedError(Error.OUT_OF_RANGE, site, destination)
        np.copyto(views[1], views[0].copy())

    def _strided(self, address: int, element_bytes: int, site: int) -> Any:
        rank, descriptor = self.words(address, 2)
        if not 0 <= rank <= _MAX_RANK or not 0 < element_bytes <= _MAX_ELEMENT_BYTES:
            raise CheckedError(Error.OUT_OF_RANGE, site, address)
        _, start, offset, *extents = self.words(descriptor, 3 + 2 * rank)
        return self.strided(start, offset, extents[:rank], extents[rank:], element_bytes, site)

    def strided(
        self, start: int, offset: int, sizes: Sequence[int], strides: Sequence[int], element_bytes: int, site: int = -1
    ) -> Any:
        """The elements of a memref as a numpy array of their bytes, in the memory of the run.

        Raises:
            CheckedError: One lies outside of the memory of the run.
        """
        import numpy as np

        kind = np.dtype((np.void, element_bytes))
        if any(size < 0 for size in sizes):
            raise CheckedError(Error.OUT_OF_RANGE, site, start % 2**64)
        if 0 in sizes:
            return np.empty(tuple(sizes), kind)
        reach = [(size - 1) * stride for size, stride in zip(sizes, strides, strict=True)]
        low = start + (offset + sum(min(each, 0) for each in reach)) * element_bytes
        nbytes = (sum(map(abs, reach)) + 1) * element_bytes
        self.require(low, nbytes, site)
        memory = np.ctypeslib.as_array((ctypes.c_uint8 * nbytes).from_address(low))
        first = -sum(min(each, 0) for each in reach) * element_bytes
        return np.ndarray(tuple(sizes), kind, memory, first, [each * element_bytes for each in strides])


_MAX_RANK = 16
_MAX_ELEMENT_BYTES = 64


def row_major(shape: Sequence[int]) -> tuple[int, ...]:
    """The strides of dense rows, in elements."""
    strides: list[int] = []
    step = 1
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))
