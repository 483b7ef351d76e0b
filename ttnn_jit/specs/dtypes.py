"""Element types, with one row of traits each. No other file branches on the members."""

from __future__ import annotations

import enum
import struct
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.process.cached_property import cached_property
from ttnn_jit.process.memoized import memoized
from ttnn_jit.specs.dtype_traits import ComputeType, DTypeTraits, Storage
from ttnn_jit.specs.extents.extent import applied, is_extent
from ttnn_jit.specs.extents.float_functions import half_float, short_float

NO_DTYPE = "no element type of that name is implemented"
"""The message for ttnn's other element types."""


STRIDES_OF_A_TILE = 32
"""The strides of a tile of block floats: it has 32, so that one element along its rows, or columns, is one stride."""


class _DataTypes(enum.EnumMeta):
    def __iter__(cls) -> Iterator[Any]:
        members: Iterable[Any] = cls.__members__.values()
        return (dtype for dtype in members if not dtype.traits.is_foreign)

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise AttributeError(f"DataType has no member {name}: {NO_DTYPE}", name=name, obj=cls)


class ElementFormat(enum.Enum):
    """The format of elements in memory: a `DataType`, or a format that is no DataType (specs/stored_formats.py)."""

    traits: DTypeTraits

    @property
    def itemsize(self) -> int:
        """Bytes of an item: an element; of block floats a tile."""
        return self.traits.itemsize

    @property
    def stride_bytes(self) -> int:
        """The unit of strides in bytes: an element; of block floats 1/32 of a tile, since a tile has 32 rows.

        With this unit the strides of an element step from tile to tile of block floats.
        """
        return self.traits.itemsize // (STRIDES_OF_A_TILE if self.is_block_float else 1)

    def nbytes(self, elements: int) -> int:
        """Bytes of `elements` elements; of block floats, of the whole tiles that hold them."""
        return elements // self.traits.elements * self.traits.itemsize

    @cached_property
    def is_block_float(self) -> bool:
        """Whether 16 elements share an exponent, so that no single element can be loaded or stored."""
        return self.traits.storage is Storage.BLOCKS

    @cached_property
    def memory_type(self) -> str:
        """The LLVM type of its loads and stores; of block floats, which have none, the type of a tile in MLIR.

        Kernels of formats with one type may have one text: copies of signed and of unsigned integers.
        """
        return self.traits.mlir if self.is_block_float else self.traits.llvm

    @cached_property
    def is_integer(self) -> bool:
        """Whether it is an integer type."""
        return self.traits.compute.is_integer


class DataType(ElementFormat, metaclass=_DataTypes):
    """Element types; the numbers are ttnn's.

    Negative numbers are types that only torch and numpy have; iteration over the class skips them.
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
    SINT8 = -4  # ttnn has another INT8, which is not implemented
    UINT64 = -5
    FLOAT16 = -6
    FLOAT64 = -7

    __hash__ = object.__hash__  # members are singletons, and Enum hashes their names in Python

    def __eq__(self, other: object) -> bool:
        """Whether `other` is this type, or torch's or numpy's name of it."""
        return self is other or (type(other) is not DataType and dtype_named_elsewhere(other) is self)

    @property
    def element_bytes(self) -> int:
        """Bytes of an element, rounded up: 1 for block floats."""
        return max(1, self.traits.itemsize // self.traits.elements)

    @cached_property
    def unpacked(self) -> DataType:
        """The type in which operations read it: of block floats, the narrowest that holds their values; else itself."""
        return DataType.BFLOAT16 if self.is_block_float else self

    @property
    def mlir(self) -> str:
        """The element type in MLIR, ``bf16`` or ``si32``."""
        return self.traits.mlir

    @property
    def compute(self) -> ComputeType:
        """The type in registers."""
        return self.traits.compute

    @property
    def is_compute_type(self) -> bool:
        """Whether kernels compute in it: loads do not widen it, stores do not round."""
        return self.traits.storage is Storage.WHOLE

    @property
    def is_upper_half(self) -> bool:
        """Whether an element is the upper 16 bits of an element of the compute type."""
        return self.traits.storage is Storage.UPPER_HALF

    @property
    def is_ieee_half(self) -> bool:
        """Whether an element is IEEE's binary16."""
        return self.traits.storage is Storage.IEEE_HALF

    @property
    def is_wide(self) -> bool:
        """Whether an element has more than 16 bits, so that DST holds half as many tiles."""
        return self.unpacked.itemsize > 2

    @property
    def mantissa_bits(self) -> int:
        """Of a float: the mantissa bits after the hidden one; the sign has one bit."""
        return 8 * self.traits.itemsize - 1 - self.traits.exponent_bits

    @property
    def smallest_normal(self) -> float:
        """Of a float: the smallest number with a hidden bit."""
        return 2.0 ** (2 - (1 << self.traits.exponent_bits - 1))

    @property
    def buffer_format(self) -> str:
        """The format character of a stored element for `memoryview.cast` and `struct`."""
        if self.is_compute_type and not self.is_integer:
            return {4: "f", 8: "d"}[self.itemsize]
        word = {1: "b", 2: "h", 4: "i", 8: "q"}[self.itemsize]
        return word if self.is_integer and self.compute.is_signed else word.upper()

    @property
    def torch(self) -> Any:
        """The torch dtype."""
        import torch

        return getattr(torch, self.traits.torch[0])

    @property
    def is_foreign(self) -> bool:
        """Whether only torch and numpy have it, and ttnn has not."""
        return self.traits.is_foreign

    @property
    def held_as(self) -> DataType:
        """The type of tensors that hold its values in programs of tt-mlir: ttnn has no flags."""
        return DataType.BFLOAT16 if self.compute.is_bool else self

    @property
    def values(self) -> range:
        """The range of an integer type."""
        if self.compute.is_bool:
            return range(2)
        count = 1 << 8 * self.itemsize
        return range(-count // 2, count // 2) if self.compute.is_signed else range(count)

    def checked_integer(self, value: object, what: str) -> int:
        """`value` as an integer of this type.

        Args:
            value: A number.
            what: Its name in the error.

        Raises:
            ArgumentError: It is no integer of this type.
        """
        if not isinstance(value, int):
            raise ArgumentError(f"{what} is {value!r}, and {self.name} holds integers", help="give an int")
        if not self.values[0] <= value <= self.values[-1]:
            raise ArgumentError(
                f"{what} is {value}, and {self.name} holds {self.values[0]} to {self.values[-1]}",
                help="give a number in between, or cast the tensors to a type that holds it",
            )
        if self.compute.is_wide and not -(2**31) <= value < 2**31:
            raise ArgumentError(
                f"{what} is {value}, and programs hold numbers of 32 bits",
                help="pass a tensor that holds it",
            )
        return value if is_extent(value) else int(value)

    def rounded(self, value: float) -> float:
        """The float32 `value` rounded to this type, to nearest, ties to even; NaN stays NaN.

        For block floats, the value in a group of equal elements: never infinite, and zero if it is denormal.
        """
        if self.is_ieee_half:
            return half_float(value)
        if not (self.is_upper_half or self.is_block_float):
            return value
        lost = 24 - (self.traits.magnitude_bits or 8)
        nearest: float = applied(short_float, value, lost, int(self.is_block_float))
        return nearest

    def decoded(self, element: bytes) -> float:
        """The number that the bytes of one element encode."""
        if self.is_integer:
            return int.from_bytes(element, "little", signed=self.compute.is_signed)
        word = b"\0\0" + element if self.is_upper_half else element
        return float(struct.unpack({2: "<e", 4: "<f", 8: "<d"}[len(word)], word)[0])


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


def _integers(
    compute: ComputeType, storage: Storage, *torch: str, is_foreign: bool = False, is_of_texts: bool = False
) -> DTypeTraits:
    """The traits of an integer type; its first torch name gives sign and width."""
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
        is_of_texts=is_of_texts,
    )


DataType.UINT32.traits = _integers(ComputeType.U32, Storage.WHOLE, "uint32", "int64")
DataType.UINT8.traits = _integers(ComputeType.U32, Storage.LOW_BITS, "uint8", "bool")
DataType.UINT16.traits = _integers(ComputeType.U32, Storage.LOW_BITS, "uint16", "int16")
DataType.INT32.traits = _integers(ComputeType.I32, Storage.WHOLE, "int32")
DataType.INT16.traits = _integers(ComputeType.I32, Storage.LOW_BITS, "int16", is_foreign=True)
DataType.INT64.traits = _integers(ComputeType.I64, Storage.WHOLE, "int64", is_foreign=True)
DataType.SINT8.traits = _integers(ComputeType.I32, Storage.LOW_BITS, "int8", is_foreign=True, is_of_texts=True)
DataType.UINT64.traits = _integers(ComputeType.U64, Storage.WHOLE, "uint64", is_foreign=True, is_of_texts=True)
DataType.FLOAT16.traits = DTypeTraits(
    itemsize=2,
    mlir="f16",
    ttcore="f16",
    torch=("float16",),
    numpy="uint16",
    llvm="half",
    compute=ComputeType.F32,
    storage=Storage.IEEE_HALF,
    largest=65504.0,
    exponent_bits=5,
    is_foreign=True,
    is_of_texts=True,
)
DataType.FLOAT64.traits = DTypeTraits(
    itemsize=8,
    mlir="f64",
    ttcore="f64",
    torch=("float64",),
    numpy="float64",
    llvm="double",
    compute=ComputeType.F64,
    storage=Storage.WHOLE,
    largest=1.7976931348623157e308,
    exponent_bits=11,
    is_foreign=True,
    is_of_texts=True,
)
DataType.BOOL.traits = DTypeTraits(
    itemsize=1,
    mlir="i1",
    ttcore="bool",
    torch=("bool",),
    numpy="bool",
    llvm="i8",
    compute=ComputeType.BOOL,
    storage=Storage.BOOL_BYTE,
    largest=1,
    is_foreign=True,
)
GROUPS = 64  # per tile, of 16 elements and a byte for their shared exponent


def block_floats(name: str, magnitude_bits: int, largest: float, exponent_bits: int = 8) -> DTypeTraits:
    """The traits of a block float with a sign and `magnitude_bits` bits per element; `name` is ttcore's."""
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
"""The type in which kernels compute with floats."""

ALL_DTYPES: tuple[DataType, ...] = tuple(DataType.__members__.values())
"""ttnn's types, and those that only torch and numpy have."""

BLOCK_FLOATS = frozenset(dtype for dtype in ALL_DTYPES if dtype.is_block_float)
"""The types that operations read unpacked, and to which results are packed."""

BOOLS = frozenset(dtype for dtype in ALL_DTYPES if dtype.compute.is_bool)
"""The boolean types: `+` is or, `*` is and."""

WIDE_INTEGERS = frozenset(dtype for dtype in ALL_DTYPES if dtype.compute.is_wide and dtype.is_integer)
"""The integers of 64 bits: those of torch and numpy alone; numbers beside them have at most 32 bits."""

WIDE_FLOATS = frozenset(dtype for dtype in ALL_DTYPES if dtype.compute.is_wide and not dtype.is_integer)
"""The floats of 64 bits: their functions are those of the C library."""

WIDE = WIDE_INTEGERS | WIDE_FLOATS
"""The types of 64 bits: kernels compute with them elementwise, and in no reduction or product of their own."""

INTEGERS = frozenset(dtype for dtype in ALL_DTYPES if dtype.is_integer) - BOOLS - WIDE
"""The types whose arithmetic is exact, modulo a power of two."""

IEEE_HALVES = frozenset(dtype for dtype in ALL_DTYPES if dtype.is_ieee_half)
"""The floats that operations move and cast, and do not compute with: `COMPUTE_TYPE` holds their numbers."""

FLOATS = frozenset(dtype for dtype in ALL_DTYPES if not dtype.is_integer) - BLOCK_FLOATS - WIDE - IEEE_HALVES
"""The types whose arithmetic is that of `COMPUTE_TYPE`."""

SCALARS = FLOATS | INTEGERS
"""The numeric types that kernels compute with elementwise, reduce and multiply."""

MOVABLE = SCALARS | BOOLS | WIDE | IEEE_HALVES
"""The types whose single elements kernels load and store."""

HALVES = frozenset(dtype for dtype in FLOATS if dtype.is_upper_half)
"""The floats of 16 bits."""

INDICES = INTEGERS | WIDE_INTEGERS
"""The types of index tensors."""


@memoized
def dtypes_in_torch() -> Mapping[Any, DataType]:
    """Torch dtype -> the DataType with the same bits."""
    return {dtype.torch: dtype for dtype in MOVABLE}


@memoized
def dtypes_of_torch() -> Mapping[Any, DataType]:
    """Torch dtype -> the DataType with the same bits, of those that programs of ttnn take."""
    return {name: dtype for name, dtype in dtypes_in_torch().items() if not dtype.traits.is_of_texts}


@memoized
def dtypes_of_numpy() -> Mapping[Any, DataType]:
    """Numpy dtype -> the DataType with the same bits, of those that programs of ttnn take; numpy has no bfloat16."""
    import numpy

    named = (dtype for dtype in MOVABLE if not (dtype.traits.is_of_texts or dtype.is_upper_half))
    return {numpy.dtype(dtype.traits.numpy): dtype for dtype in named}


@memoized
def dtypes_made_of_torch() -> Mapping[Any, DataType]:
    """Torch dtype -> the DataType to which `from_torch` converts it by default."""
    import torch

    return {getattr(torch, name): dtype for dtype in SCALARS if not dtype.is_foreign for name in dtype.traits.torch}


def dtype_named_elsewhere(value: object) -> DataType | None:
    """The `DataType` of a torch or numpy dtype; None for another value."""
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    if torch is not None and type(value) is torch.dtype:
        return dtypes_of_torch().get(value)
    return dtypes_of_numpy().get(value) if numpy is not None and isinstance(value, numpy.dtype) else None
