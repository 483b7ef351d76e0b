"""Storage formats of ttcore that are no element types of programs: they are only converted to and from float32.

`DataType` has the element types of ttnn, which tensors have and operations take. ttnn has no names for these formats:
only `#ttcore.supportedDataTypes`, `!ttcore.tile` and layouts (`tensor_layout.py`) do, and operations refuse them.
"""

from __future__ import annotations

from ttnn_jit.specs.dtypes import ALL_DTYPES, DataType, ElementFormat, block_floats


class StoredFormat(ElementFormat):
    """Block floats: exponents have 8 bits for names with ``BFLOAT``, and else five."""

    BFP_FLOAT8 = "bfp_f8"
    BFP_FLOAT4 = "bfp_f4"
    BFP_FLOAT2 = "bfp_f2"
    BFP_BFLOAT2 = "bfp_bf2"


StoredFormat.BFP_FLOAT8.traits = block_floats("bfp_f8", 7, largest=127 * 2.0**10, exponent_bits=5)
StoredFormat.BFP_FLOAT4.traits = block_floats("bfp_f4", 3, largest=7 * 2.0**14, exponent_bits=5)
StoredFormat.BFP_FLOAT2.traits = block_floats("bfp_f2", 1, largest=2.0**16, exponent_bits=5)
StoredFormat.BFP_BFLOAT2.traits = block_floats("bfp_bf2", 1, largest=2.0**127)

FORMATS: dict[str, DataType | StoredFormat] = {
    each.traits.ttcore: each for formats in (ALL_DTYPES, StoredFormat) for each in formats
}
"""ttcore's name -> the format."""
