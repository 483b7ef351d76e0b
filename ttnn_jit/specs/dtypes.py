"""Element types: one row of traits for each. No other place tells their members apart."""

from __future__ import annotations

import enum
import math
import struct
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.process.cached_property import cached_property
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.process.memoized import memoized

NO_DTYPE = "no element type of that name is implemented"
"""Why ttnn's other element types are not here."""


class ComputeType(enum.Enum):
    """What a kernel holds of an element while it computes with it, as MLIR spells it.

    All are 32 bits wide but I64, of which there is no arithmetic: such elements are moved whole and cast.
    """

    F32 = "f32"
    I32 = "i32"
    U32 = "ui32"
    BOOL = "i1"
    I64 = "i64"

    @property
    def is_integer(self) -> bool:
        """Whether arithmetic is exact: that of integers modulo 2**32, or that of truths, which are 0 and 1."""
        return self is not ComputeType.F32

    @property
    def is_signed(self) -> bool:
        """Whether numbers below zero are among them."""
        return self not in {ComputeType.U32, ComputeType.BOOL}

    @property
    def is_truth(self) -> bool:
        """Whether the numbers are 0 and 1 alone, each of which is a truth."""
        return self is ComputeType.BOOL

    @property
    def is_int64(self) -> bool:
        """Whether one has 64 bits, and no arithmetic."""
        return self is ComputeType.I64

    @property
    def llvm(self) -> str:
        """The LLVM type of one in a register."""
        return "i64" if self.is_int64 else "i32" if self.is_integer else "float"

    @property
    def numpy(self) -> str:
        """The numpy type of arrays of them: those of unsigned numbers hold their bits."""
        return "int64" if self.is_int64 else "int32" if self.is_integer else "float32"


class Storage(enum.Enum):
    """How an element in memory and what kernels compute with are made of each other.

    Attributes:
        WHOLE: They are the same bits.
        UPPER_HALF: An element is the upper half: it is loaded by a shift, and stored by rounding away the lower half.
        LOW_BITS: An element is the low bits: it is loaded by filling up with its sign, or with zeros where it has none,
            and stored by cutting.
        TRUTH: An element is a byte, 1 of what is not zero and else 0.
        BLOCKS: Elements are signs and magnitudes, packed tile by tile, of which 16 share an exponent. Kernels do not
            compute with them: they are packed and unpacked as a whole (kernels/block_floats/block_floats.py).
        IEEE_HALF: An element is one of IEEE's binary16. Kernels do not compute with them
            (kernels/block_floats/stored_elements.py).
    """

    WHOLE = "whole"
    UPPER_HALF = "upper half"
    LOW_BITS = "low bits"
    TRUTH = "truth"
    BLOCKS = "blocks"
    IEEE_HALF = "IEEE half"


@dataclass(frozen=True)
class DTypeTraits:
    """All that any room needs to know of an element type.

    Attributes:
        itemsize: Bytes of an item: an element; of block floats a tile.
        mlir: The MLIR spelling of an element of a tensor.
        ttcore: The spelling in `!ttcore.tile` and `#ttcore.supportedDataTypes`.
        torch: Its name in torch, then those of torch's types that `from_torch` makes it of.
        is_foreign: Torch's and numpy's tensors have such elements, and ttnn's have not.
        numpy: The numpy type of arrays that hold its elements as they are stored.
        llvm: The LLVM type that loads and stores them.
        compute: What kernels compute in.
        storage: How that is loaded and stored.
        largest: The largest finite number.
        elements: How many an item holds.
        magnitude_bits: Of a block float: the bits of an element beside its sign.
        exponent_bits: Of a block float: those of the shared exponent, which is in a byte whatever they are.
    """

    itemsize: int
    mlir: str
    ttcore: str
    torch: tuple[str, ...]
    numpy: str
    llvm: str
    compute: ComputeType
    storage: Storage
    largest: float
    is_foreign: bool = False
    elements: int = 1
    magnitude_bits: int = 0
    exponent_bits: int = 8


STRIDES_OF_A_TILE = 32
"""What strides count in a tile of block floats, so that an element along its rows, or columns, is one."""


class _DataTypes(enum.EnumMeta):
    def __iter__(cls) -> Iterator[Any]:
        members: Iterable[Any] = cls.__members__.values()
        return (dtype for dtype in members if not dtype.traits.is_foreign)

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise AttributeError(f"DataType has no member {name}: {NO_DTYPE}", name=name, obj=cls)


class ElementFormat(enum.Enum):
    """What a tensor's memory holds: a `DataType`, or a format without one (specs/stored_formats.py)."""

    traits: DTypeTraits

    @property
    def itemsize(self) -> int:
        """Bytes of an item: an element; of block floats a tile."""
        return self.traits.itemsize

    @property
    def stride_bytes(self) -> int:
        """Bytes of what strides count: an element; of block floats a thirty-second of a tile, which has as many rows.

        So loops over elements step from tile to tile of these by the strides of one element.
        """
        return self.traits.itemsize // (STRIDES_OF_A_TILE if self.is_block_float else 1)

    def nbytes(self, elements: int) -> int:
        """Bytes of so many elements; of block floats, whole tiles of them."""
        return elements // self.traits.elements * self.traits.itemsize

    @cached_property
    def is_block_float(self) -> bool:
        """Whether 16 elements share an exponent, so that none of them can be read or written by itself."""
        return self.traits.storage is Storage.BLOCKS

    @cached_property
    def is_integer(self) -> bool:
        """Whether its numbers are integers, all of those of its width."""
        return self.traits.compute.is_integer


class DataType(ElementFormat, metaclass=_DataTypes):
    """Element types; the numbers are ttnn's.

    Those below zero are of types that torch and numpy alone have, which no iteration over the class meets.
    """

    BFLOAT16 = 0
    FLOAT32 = 1
    UINT32 = 2
    BFLOAT8_B = 3
    BFLOAT4_B = 4
    UINT8 = 5
    UINT16 = 6
    INT32 = 7
    INT16 = -1
    BOOL = -2
    INT64 = -3

    __hash__ = enum.Enum.__hash__

    def __eq__(self, other: object) -> bool:
        """Whether `other` is the same, or what torch or numpy names the same elements."""
        return self is other or (type(other) is not DataType and dtype_named_elsewhere(other) is self)

    @property
    def element_bytes(self) -> int:
        """Bytes of an element, whole ones: 1 of block floats."""
        return max(1, self.traits.itemsize // self.traits.elements)

    @cached_property
    def unpacked(self) -> DataType:
        """The type that operations take it as: of block floats, the narrowest that holds their numbers; else itself."""
        return DataType.BFLOAT16 if self.is_block_float else self

    @property
    def mlir(self) -> str:
        """The MLIR spelling of the element type, ``bf16`` or ``si32``."""
        return self.traits.mlir

    @property
    def compute(self) -> ComputeType:
        """What kernels compute in."""
        return self.traits.compute

    @property
    def is_compute_type(self) -> bool:
        """Whether kernels compute in it: loads widen nothing, results are not rounded."""
        return self.traits.storage is Storage.WHOLE

    @property
    def is_upper_half(self) -> bool:
        """Whether an element is the upper half of one of the compute type: a word of 16 bits."""
        return self.traits.storage is Storage.UPPER_HALF

    @property
    def is_wide(self) -> bool:
        """Whether an element has more than 16 bits, so that DST holds half as many tiles."""
        return self.unpacked.itemsize > 2

    @property
    def mantissa_bits(self) -> int:
        """Of a float: the bits after its leading one, which share its bytes with a sign and 8 bits of exponent."""
        return 8 * self.traits.itemsize - 9

    @property
    def buffer_format(self) -> str:
        """The format of an element as it is stored, as `memoryview.cast` and `struct` name it."""
        if self.is_compute_type and not self.is_integer:
            return "f"
        word = {1: "b", 2: "h", 4: "i", 8: "q"}[self.itemsize]
        return word if self.is_integer and self.compute.is_signed else word.upper()

    @property
    def torch(self) -> Any:
        """The element type as torch names it."""
        import torch

        return getattr(torch, self.traits.torch[0])

    @property
    def is_foreign(self) -> bool:
        """Whether torch's and numpy's tensors have such elements, and ttnn's have not."""
        return self.traits.is_foreign

    @property
    def values(self) -> range:
        """The numbers of a type of integers."""
        if self.compute.is_truth:
            return range(2)
        count = 1 << 8 * self.itemsize
        return range(-count // 2, count // 2) if self.compute.is_signed else range(count)

    def whole(self, value: object, what: str) -> int:
        """`value` as one of the integers of this type.

        Args:
            value: A number.
            what: Names it in the error.

        Raises:
            ArgumentError: It is none of them.
        """
        if not isinstance(value, int):
            raise ArgumentError(f"{what} is {value!r}, and {self.name} holds integers", help="give an int")
        if value not in self.values:
            raise ArgumentError(
                f"{what} is {value}, and {self.name} holds {self.values[0]} to {self.values[-1]}",
                help="give a number in between, or cast the tensors to a type that holds it",
            )
        if self.compute.is_int64 and not -(2**31) <= value < 2**31:
            raise ArgumentError(
                f"{what} is {value}, and programs hold numbers of 32 bits",
                help="pass a tensor that holds it",
            )
        return int(value)

    def rounded(self, value: float) -> float:
        """The number nearest to the float32 `value` that this type can hold, ties to even; NaN stays NaN.

        Of block floats, what it becomes among its equals: never infinite, and zero if it is denormal.
        """
        if not (self.is_upper_half or self.is_block_float) or not math.isfinite(value):
            return value
        bits: int = struct.unpack("<I", struct.pack("<f", value))[0]
        lost = 24 - (self.traits.magnitude_bits or 8)
        nearest = (bits + (1 << lost - 1) - 1 + (bits >> lost & 1)) >> lost << lost
        if self.is_block_float:
            has_carried = nearest >> 23 != bits >> 23
            nearest = 0 if not bits >> 23 & 0xFF else nearest - (1 << lost) if has_carried else nearest
        return float(struct.unpack("<f", struct.pack("<I", nearest))[0])

    def decoded(self, element: bytes) -> float:
        """The number that the bytes of one element are."""
        if self.is_integer:
            return int.from_bytes(element, "little", signed=self.compute.is_signed)
        return float(struct.unpack("<f", b"\0\0" + element if self.is_upper_half else element)[0])


DataType.BFLOAT16.traits = DTypeTraits(
    itemsize=2,
    mlir="bf16",
    ttcore="bf16",
    torch=("bfloat16", "float16"),
    numpy="uint16",
    llvm="i16",
    compute=ComputeType.F32,
    storage=Storage.UPPER_HALF,
    largest=3.3895313892515355e38,
)
DataType.FLOAT32.traits = DTypeTraits(
    itemsize=4,
    mlir="f32",
    ttcore="f32",
    torch=("float32",),
    numpy="float32",
    llvm="float",
    compute=ComputeType.F32,
    storage=Storage.WHOLE,
    largest=3.4028234663852886e38,
)


def _integers(compute: ComputeType, storage: Storage, *torch: str, is_foreign: bool = False) -> DTypeTraits:
    """The traits of integers, whose name, the first of those in torch, says sign and width."""
    name = torch[0]
    bits = int(name.partition("int")[2])
    sign = "s" if compute.is_signed else "u"
    return DTypeTraits(
        itemsize=bits // 8,
        mlir=f"{sign}i{bits}",
        ttcore=f"si{bits}" if compute.is_signed else f"u{bits}",
        torch=torch,
        numpy=name,
        llvm=f"i{bits}",
        compute=compute,
        storage=storage,
        largest=2 ** (bits - compute.is_signed) - 1,
        is_foreign=is_foreign,
    )


DataType.UINT32.traits = _integers(ComputeType.U32, Storage.WHOLE, "uint32", "int64")
DataType.UINT8.traits = _integers(ComputeType.U32, Storage.LOW_BITS, "uint8", "bool")
DataType.UINT16.traits = _integers(ComputeType.U32, Storage.LOW_BITS, "uint16", "int16")
DataType.INT32.traits = _integers(ComputeType.I32, Storage.WHOLE, "int32")
DataType.INT16.traits = _integers(ComputeType.I32, Storage.LOW_BITS, "int16", is_foreign=True)
DataType.INT64.traits = _integers(ComputeType.I64, Storage.WHOLE, "int64", is_foreign=True)
DataType.BOOL.traits = DTypeTraits(
    itemsize=1,
    mlir="i1",
    ttcore="bool",
    torch=("bool",),
    numpy="bool",
    llvm="i8",
    compute=ComputeType.BOOL,
    storage=Storage.TRUTH,
    largest=1,
    is_foreign=True,
)
GROUPS = 64  # of a tile, 16 elements each, with a byte for the exponent that they share


def block_floats(name: str, magnitude_bits: int, largest: float, exponent_bits: int = 8) -> DTypeTraits:
    """The traits of elements of a sign and so many bits, in groups that share an exponent; `name` is ttcore's."""
    return DTypeTraits(
        itemsize=GROUPS * (1 + 2 * (1 + magnitude_bits)),
        mlir=f"!ttcore.tile<32x32, {name}>",
        ttcore=name,
        torch=("float32",),
        numpy="uint8",
        llvm="i8",
        compute=ComputeType.F32,
        storage=Storage.BLOCKS,
        largest=largest,
        elements=GROUPS * 16,
        magnitude_bits=magnitude_bits,
        exponent_bits=exponent_bits,
    )


DataType.BFLOAT8_B.traits = block_floats("bfp_bf8", 7, largest=127 * 2.0**121)
DataType.BFLOAT4_B.traits = block_floats("bfp_bf4", 3, largest=7 * 2.0**125)

COMPUTE_TYPE = DataType.FLOAT32
"""What kernels compute with floats in."""

ALL_DTYPES: tuple[DataType, ...] = tuple(DataType.__members__.values())
"""ttnn's types, and those that torch and numpy alone have."""

BLOCK_FLOATS = frozenset(dtype for dtype in ALL_DTYPES if dtype.is_block_float)
"""The types that operations take as what they are unpacked to, and whose results are packed."""

TRUTHS = frozenset(dtype for dtype in ALL_DTYPES if dtype.compute.is_truth)
"""The types of truths, whose arithmetic is that of 0 and 1: `+` is or, `*` is and."""

INT64S = frozenset(dtype for dtype in ALL_DTYPES if dtype.compute.is_int64)
"""The types of 64 bits, which operations move, cast and take for indices, and do not compute with."""

INTEGERS = frozenset(dtype for dtype in ALL_DTYPES if dtype.is_integer) - TRUTHS - INT64S
"""The types whose arithmetic is exact, modulo a power of two."""

FLOATS = frozenset(dtype for dtype in ALL_DTYPES if not dtype.is_integer) - BLOCK_FLOATS
"""The types whose arithmetic is that of `COMPUTE_TYPE`."""

SCALARS = FLOATS | INTEGERS
"""The types of numbers that kernels compute with one by one."""

MOVABLE = SCALARS | TRUTHS | INT64S
"""The types whose elements kernels read and write one by one."""

HALVES = frozenset(dtype for dtype in FLOATS if dtype.is_upper_half)
"""The floats of 16 bits."""

INDICES = INTEGERS | INT64S
"""The types of tensors that name elements of others."""


@memoized
def dtypes_of_torch() -> Mapping[Any, DataType]:
    """Type of torch -> the DataType whose elements are its, bit for bit."""
    return {dtype.torch: dtype for dtype in MOVABLE}


@memoized
def dtypes_of_numpy() -> Mapping[Any, DataType]:
    """Type of numpy -> the DataType whose elements are its, bit for bit."""
    import numpy

    return {numpy.dtype(dtype.traits.numpy): dtype for dtype in MOVABLE if not dtype.is_upper_half}


@memoized
def dtypes_made_of_torch() -> Mapping[Any, DataType]:
    """Type of torch -> the DataType that `from_torch` makes of it where none is asked for."""
    import torch

    return {getattr(torch, name): dtype for dtype in SCALARS if not dtype.is_foreign for name in dtype.traits.torch}


def dtype_named_elsewhere(value: object) -> DataType | None:
    """The `DataType` that an element type of torch's or numpy's is."""
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    if torch is not None and type(value) is torch.dtype:
        return dtypes_of_torch().get(value)
    return dtypes_of_numpy().get(value) if numpy is not None and isinstance(value, numpy.dtype) else None
