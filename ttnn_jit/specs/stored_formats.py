"""The formats of ttcore that are no element types of programs: they are stored, and converted to float32 and back.

`DataType` has ttnn's members and numbers, and each of them is one that tensors are made of and operations take. These
formats have no name in ttnn, which could take none of them: `#ttcore.supportedDataTypes`, `!ttcore.tile` and layouts
(`tensor_layout.py`) name them, and what would compute with one refuses it by name.
"""

from __future__ import annotations

from ttnn_jit.specs.dtypes import ALL_DTYPES, GROUPS, ComputeType, DataType, DTypeTraits, ElementFormat, Storage


class StoredFormat(ElementFormat):
    """IEEE's half, and block floats: a second b says that exponents are float32's, else they have five bits."""

    FLOAT16 = "f16"
    BFP_FLOAT8 = "bfp_f8"
    BFP_FLOAT4 = "bfp_f4"
    BFP_FLOAT2 = "bfp_f2"
    BFP_BFLOAT2 = "bfp_bf2"


StoredFormat.FLOAT16.traits = DTypeTraits(
    itemsize=2,
    mlir="f16",
    ttcore="f16",
    torch=("float16",),
    numpy="float16",
    llvm="half",
    compute=ComputeType.F32,
    storage=Storage.IEEE_HALF,
    largest=65504.0,
)


def _block_float(name: str, magnitude_bits: int, exponent_bits: int, largest: float) -> DTypeTraits:
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


StoredFormat.BFP_FLOAT8.traits = _block_float("bfp_f8", 7, 5, 127 * 2.0**10)
StoredFormat.BFP_FLOAT4.traits = _block_float("bfp_f4", 3, 5, 7 * 2.0**14)
StoredFormat.BFP_FLOAT2.traits = _block_float("bfp_f2", 1, 5, 2.0**16)
StoredFormat.BFP_BFLOAT2.traits = _block_float("bfp_bf2", 1, 8, 2.0**127)

FORMATS: dict[str, DataType | StoredFormat] = {
    each.traits.ttcore: each for formats in (ALL_DTYPES, StoredFormat) for each in formats
}
"""ttcore's spelling -> the format."""
