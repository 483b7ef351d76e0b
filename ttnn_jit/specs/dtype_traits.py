"""The traits of an element type: its sizes and spellings, how it is stored, and the type in registers."""

from __future__ import annotations

import enum

from ttnn_jit.process.dataclass import dataclass


class ComputeType(enum.Enum):
    """The type of an element in a register of a kernel, by its MLIR name. Types have 32 bits or, if wide, 64."""

    F32 = "f32"
    I32 = "i32"
    U32 = "ui32"
    BOOL = "i1"
    F64 = "f64"
    I64 = "i64"
    U64 = "ui64"

    @property
    def is_integer(self) -> bool:
        """Whether arithmetic is exact: that of integers modulo 2**32 or 2**64, or that of booleans."""
        return self not in {ComputeType.F32, ComputeType.F64}

    @property
    def is_signed(self) -> bool:
        """Whether it has negative values."""
        return self not in {ComputeType.U32, ComputeType.BOOL, ComputeType.U64}

    @property
    def is_bool(self) -> bool:
        """Whether it is the boolean type."""
        return self is ComputeType.BOOL

    @property
    def is_wide(self) -> bool:
        """Whether it has 64 bits."""
        return self in {ComputeType.F64, ComputeType.I64, ComputeType.U64}

    @property
    def bits(self) -> int:
        """The bits of a register's element."""
        return 64 if self.is_wide else 32

    @property
    def llvm(self) -> str:
        """The LLVM type."""
        if self.is_integer:
            return f"i{self.bits}"
        return "double" if self.is_wide else "float"

    @property
    def numpy(self) -> str:
        """The numpy type of arrays; unsigned numbers are held as the signed numbers of the same bits."""
        return f"{'int' if self.is_integer else 'float'}{self.bits}"


class Storage(enum.Enum):
    """The conversion between an element in memory and in a register.

    Attributes:
        WHOLE: Both have the same bits.
        UPPER_HALF: Memory has the upper half: loads shift left, stores round the lower half away.
        LOW_BITS: Memory has the low bits: loads extend by the sign, or by zeros if unsigned, and stores truncate.
        BOOL_BYTE: Memory has a byte, 1 for a nonzero value and else 0.
        BLOCKS: Memory has signs and magnitudes, packed tile by tile; 16 elements share an exponent. Kernels do not load
            or store them: they are packed and unpacked by the tile (kernels/block_floats/block_floats.py).
        IEEE_HALF: Memory has IEEE's binary16: loads widen it, stores round to it.
    """

    WHOLE = "whole"
    UPPER_HALF = "upper half"
    LOW_BITS = "low bits"
    BOOL_BYTE = "truth"
    BLOCKS = "blocks"
    IEEE_HALF = "IEEE half"


@dataclass(frozen=True)
class DTypeTraits:
    """The traits of an element type.

    Attributes:
        itemsize: Bytes of an item: an element; of block floats a tile.
        mlir: The element type of a tensor in MLIR.
        ttcore: The name in `!ttcore.tile` and `#ttcore.supportedDataTypes`.
        torch: Its name in torch, then the names of the torch types that `from_torch` converts to it.
        is_foreign: Whether only torch and numpy have it, and ttnn has not.
        is_of_texts: Whether only texts of other compilers compute with it: programs of ttnn take no tensor of it.
        numpy: The numpy type of arrays with its stored elements.
        llvm: The LLVM type of its loads and stores.
        compute: The type in registers.
        storage: The conversion between memory and registers.
        largest: The largest finite number.
        elements: The number of elements of an item.
        magnitude_bits: Of a block float: the bits of an element without its sign.
        exponent_bits: The bits of a float's exponent; the shared one of a block float occupies a byte in any case.
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
    is_of_texts: bool = False
    elements: int = 1
    magnitude_bits: int = 0
    exponent_bits: int = 8
