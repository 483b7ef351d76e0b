"""Element types: one row of traits for each. No other place tells their members apart."""

from __future__ import annotations

import enum
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

NO_DTYPE = "only float32 and bfloat16 are implemented"
"""Why ttnn's other element types are not here."""


@dataclass(frozen=True)
class DTypeTraits:
    """All that any room needs to know of an element type.

    Attributes:
        itemsize: Bytes of one element.
        mlir: The MLIR spelling.
        torch: Its name in torch, then those of torch's types that `from_torch` makes it of.
        numpy: The numpy type of arrays that hold its elements as they are stored.
        llvm: The LLVM type that loads and stores them.
        compute: The type that kernels compute in, as MLIR spells it.
        is_upper_half: An element is the upper half of one of the compute type: it is loaded by a shift, and stored by
            rounding away the lower half.
        largest: The largest finite number.
    """

    itemsize: int
    mlir: str
    torch: tuple[str, ...]
    numpy: str
    llvm: str
    compute: str
    is_upper_half: bool
    largest: float


class _DataTypes(enum.EnumMeta):
    def __getattr__(cls, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise AttributeError(f"DataType has no member {name}: {NO_DTYPE}", name=name, obj=cls)


class DataType(enum.Enum, metaclass=_DataTypes):
    """Element types; the numbers are ttnn's."""

    traits: DTypeTraits

    BFLOAT16 = 0
    FLOAT32 = 1

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self.traits.itemsize

    @property
    def mlir(self) -> str:
        """The MLIR spelling of the element type, ``bf16`` or ``f32``."""
        return self.traits.mlir

    @property
    def is_compute_type(self) -> bool:
        """Whether kernels compute in it: loads widen nothing, results are not rounded."""
        return self.traits.mlir == self.traits.compute

    @property
    def is_upper_half(self) -> bool:
        """Whether an element is the upper half of one of the compute type: a word of 16 bits."""
        return self.traits.is_upper_half

    @property
    def is_wide(self) -> bool:
        """Whether an element has more than 16 bits, so that DST holds half as many tiles."""
        return self.traits.itemsize > 2

    @property
    def torch(self) -> Any:
        """The element type as torch names it."""
        import torch

        return getattr(torch, self.traits.torch[0])

    def rounded(self, value: float) -> float:
        """The number nearest to the float32 `value` that this type can hold, ties to even; NaN stays NaN."""
        if not self.is_upper_half or value != value:  # noqa: PLR0124 - NaN
            return value
        bits: int = struct.unpack("<I", struct.pack("<f", value))[0]
        bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
        return float(struct.unpack("<f", struct.pack("<I", bits))[0])

    def decoded(self, element: bytes) -> float:
        """The number that the bytes of one element are."""
        return float(struct.unpack("<f", b"\0\0" + element if self.is_upper_half else element)[0])


DataType.BFLOAT16.traits = DTypeTraits(
    itemsize=2,
    mlir="bf16",
    torch=("bfloat16", "float16"),
    numpy="uint16",
    llvm="i16",
    compute="f32",
    is_upper_half=True,
    largest=3.3895313892515355e38,
)
DataType.FLOAT32.traits = DTypeTraits(
    itemsize=4,
    mlir="f32",
    torch=("float32",),
    numpy="float32",
    llvm="float",
    compute="f32",
    is_upper_half=False,
    largest=3.4028234663852886e38,
)

COMPUTE_TYPE = DataType.FLOAT32
"""What kernels compute in."""

FLOATS = frozenset(dtype for dtype in DataType if dtype.traits.compute == COMPUTE_TYPE.mlir)
"""The types whose arithmetic is that of `COMPUTE_TYPE`."""


@cache
def dtypes_of_torch() -> Mapping[Any, DataType]:
    """Type of torch -> the DataType whose elements are its, bit for bit."""
    return {dtype.torch: dtype for dtype in DataType}


@cache
def dtypes_made_of_torch() -> Mapping[Any, DataType]:
    """Type of torch -> the DataType that `from_torch` makes of it where none is asked for."""
    import torch

    return {getattr(torch, name): dtype for dtype in DataType for name in dtype.traits.torch}
