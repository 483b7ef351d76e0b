"""The `#ttnn.ttnn_layout` of tensors in texts, as tt-mlir lays them out on a chip."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import Any

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute

from ttnn_jit.diagnostics.errors import DTypeError
from ttnn_jit.dialects.ttcore import TileType
from ttnn_jit.dialects.upstream.rewriting.made_attributes import parsed, parsed_type
from ttnn_jit.dialects.upstream.table_attributes import TableAttribute

TILE = 32
_NUMBERS = {"bf16", "f16", "f32", "u8", "u16", "u32", "si32"}


def data_type(element: Attribute) -> str:
    """The keyword of an element type in ``#ttcore.supportedDataTypes<...>``.

    Raises:
        DTypeError: tt-mlir has no such type on a chip.
    """
    if isinstance(element, TileType):
        return str(element).rpartition(", ")[2].rstrip(">")
    if str(element).startswith("!quant"):
        return "si32"
    spelled = str(element).replace("ui", "u")
    found = spelled if spelled in _NUMBERS else {"i32": "si32", "i1": "bf16"}.get(spelled)
    if found is not None:
        return found
    raise DTypeError(f"a chip has no tensors of {element}")


def data_type_attribute(element: Attribute) -> Attribute:
    """``#ttcore.supportedDataTypes<bf16>``."""
    return parsed(f"#ttcore.supportedDataTypes<{data_type(element)}>")


@cache
def ttnn_layout(shape: tuple[int, ...], element: str, *, tiled: bool, memory: str) -> Attribute:
    """The layout of a tensor that is not sharded.

    Args:
        shape: Its shape.
        element: The keyword of its data type if it is tiled, else its element type.
        tiled: Whether its elements lie in tiles.
        memory: Keyword of the buffer type: dram, l1, system_memory.
    """
    rows, columns, linear = collapsed(shape, TILE if tiled else 1)
    if tiled:
        held = f"{math.ceil(rows / TILE)}x{math.ceil(columns / TILE)}x!ttcore.tile<{TILE}x{TILE}, {element}>"
    else:
        held = f"{rows}x{columns}x{element}"
    interleaved = "" if memory == "system_memory" else ", <interleaved>"
    return parsed(f"#ttnn.ttnn_layout<{linear}, <1x1>, memref<{held}, #ttnn.buffer_type<{memory}>>{interleaved}>")


def collapsed(shape: Sequence[int], alignment: int) -> tuple[int, int, str]:
    """Rows and columns of the matrix in which a tensor lies, and the map of its indices."""
    rank = len(shape)
    names = [f"d{index}" for index in range(rank)]
    head = f"({', '.join(names)})"
    if rank == 0:
        return 1, 1, "() -> (0, 0)"
    if rank == 1:
        return 1, shape[0], f"{head} -> (0, d0)"
    step = math.ceil(shape[-2] / alignment) * alignment
    steps = [math.prod(shape[index + 1 : -2]) * step for index in range(rank - 2)] + [1]
    terms = [name if by == 1 else f"{name} * {by}" for name, by in zip(names, steps, strict=False)]
    return (
        math.prod(shape[:-2]) * step if rank > 2 else shape[0],
        shape[-1],
        f"{head} -> ({' + '.join(terms)}, {names[-1]})",
    )


def laid_out(type_: TensorType[Any], *, tiled: bool = True, memory: str = "dram") -> TensorType[Any]:
    """A tensor type with the layout of a tensor that is not sharded."""
    element = type_.get_element_type()
    quantized = str(element).startswith("!quant")
    spelled = data_type(element) if tiled else ("i32" if quantized else str(element))
    layout = ttnn_layout(tuple(type_.get_shape()), spelled, tiled=tiled, memory=memory)
    return TensorType(element, type_.get_shape(), layout)


class LayoutView:
    """What the layout of a tensor type says.

    Attributes:
        tiled: Whether elements lie in tiles.
        memory: Keyword of the buffer type.
        sharding: Keyword of the memory layout: interleaved, block_sharded ...; "" on the host.
    """

    def __init__(self, type_: Attribute) -> None:
        assert isinstance(type_, TensorType)
        text = str(type_.encoding)
        self.tiled = "!ttcore.tile" in text
        self.memory = next(
            (each for each in ("system_memory", "dram", "l1_small", "l1", "trace") if f"<{each}>" in text), "dram"
        )
        kinds = ("interleaved", "height_sharded", "width_sharded", "block_sharded", "single_bank")
        self.sharding = next((each for each in kinds if f"<{each}>" in text), "")

    @property
    def on_device(self) -> bool:
        """Whether the tensor is in the memory of a device."""
        return self.memory != "system_memory"

    def layout(self) -> Attribute:
        """``#ttnn.layout<tile>``."""
        return parsed(f"#ttnn.layout<{'tile' if self.tiled else 'row_major'}>")

    def memory_config(self) -> Attribute:
        """``#ttnn.memory_config<#dram, <interleaved>>``."""
        sharding = f", <{self.sharding}>" if self.sharding else ""
        return parsed(f"#ttnn.memory_config<#ttnn.buffer_type<{self.memory}>{sharding}>")


def has_layout(type_: Attribute) -> bool:
    """Whether a type is a tensor with a layout."""
    return isinstance(type_, TensorType) and "ttnn.ttnn_layout" in getattr(type_.encoding, "name", "")


def with_data_type(type_: Attribute, element: Attribute) -> TensorType[Any]:
    """A tensor type with a layout in tiles, of another data type; all else of the layout is kept.

    Args:
        type_: The tensor type.
        element: A float, or a tile of block floats.
    """
    assert isinstance(type_, TensorType)
    layout: Any = type_.encoding
    is_of_tables = isinstance(layout, TableAttribute)
    held = layout.value("memref") if is_of_tables else layout.memref
    tile = element if isinstance(element, TileType) else parsed_type(f"!ttcore.tile<{TILE}x{TILE}, {element}>")
    memory = type(held)(tile, held.get_shape(), held.layout, held.memory_space)
    if is_of_tables:
        renewed = type(layout)(tuple((name, memory if name == "memref" else value) for name, value in layout.data))
    else:
        renewed = type(layout).new([memory if each is held else each for each in layout.parameters])
    return TensorType(element, type_.get_shape(), renewed)
