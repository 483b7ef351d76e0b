"""Types of TTNN's results whose elements are tiles: the layout holds tiles of the same data type."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation

from ttnn_jit.dialects.ttcore import TileType
from ttnn_jit.dialects.ttnn_attributes import TTNNLayoutAttr
from ttnn_jit.dialects.upstream import tables
from ttnn_jit.dialects.upstream.rules.view import fail


def verify_tile_types(op: Operation) -> None:
    """Block floats in the type are block floats in the layout."""
    for result in op.results:
        type_: Any = result.type
        if not isinstance(type_, TensorType) or not isinstance(type_.get_element_type(), TileType):
            continue
        layout: Any = type_.encoding
        held = layout.memref if isinstance(layout, TTNNLayoutAttr) else layout.value("memref")
        element, tile = type_.get_element_type(), held.get_element_type()
        scalar = tile if not isinstance(tile, TileType) or tile.dtype.is_block_float else tile.data_type.data
        if element != scalar:
            fail(
                f"Output element type must match the scalar element type from encoding. Element type: '{element}', "
                f"Scalar element type: '{scalar}'."
            )


ENCODINGS = dict.fromkeys((name for name in tables.operation_names() if name.startswith("ttnn.")), (verify_tile_types,))
