"""The text of layouts and devices: printed as `#ttcore.layout` and `#ttcore.device`, parsed in older syntax too.

Older texts have the prefix `tt` for `ttcore` and lack fields, which get their defaults: the memory layout of a layout,
and the maps of a device to L1 and DRAM. The memref of a layout follows from its map, grid and tile; a text with another
memref is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TypeVar

from ttnn_jit.diagnostics.errors import LayoutError
from ttnn_jit.layout_specification.affine_map import AffineMap
from ttnn_jit.layout_specification.device_layout import CHIP_GRID, DeviceLayout
from ttnn_jit.layout_specification.tensor_layout import MemorySpace, OutOfBounds, TensorLayout, extents_text
from ttnn_jit.specs.dtypes import ElementFormat
from ttnn_jit.specs.stored_formats import FORMATS

T = TypeVar("T")

_MAP = r"\([^()]*\)\s*->\s*\((?:[^<>]*)\)"
_EXTENTS = r"\d+(?:x\d+)*"
_STRIDES = re.compile(rf"#(?:tt|ttcore)\.layout\s*<\s*{_EXTENTS}\s*,")
_TENSOR = re.compile(rf"\s*tensor\s*<\s*(?P<shape>{_EXTENTS})x(?P<element>\w+)\s*,(?P<layout>.*)>\s*", re.DOTALL)
_LAYOUT = re.compile(
    rf"\s*#(?:tt|ttcore)\.layout\s*<\s*(?P<map>{_MAP})\s*,\s*(?P<oob>\w+)\s*,\s*<\s*(?P<grid>{_EXTENTS})\s*>\s*,"
    rf"\s*memref\s*<\s*(?P<extents>{_EXTENTS})\s*x\s*(?P<element>\w+|!(?:tt|ttcore)\.tile\s*<[^<>]*>)\s*,"
    r"\s*#(?:(?:tt|ttcore)\.memory_space\s*<\s*)?(?P<space>[a-z0-9]+)_?\s*>?\s*>\s*"
    r"(?:,\s*(?P<memory_layout>\w+)\s*)?>\s*",
    re.DOTALL,
)
_TILE = re.compile(r"!(?:tt|ttcore)\.tile\s*<\s*(\d+)\s*x\s*(\d+)\s*,\s*(\w+)\s*>")
_DEVICE = re.compile(
    rf"\s*#(?:tt|ttcore)\.device\s*<\s*workerGrid\s*=\s*#(?:tt|ttcore)\.grid\s*<\s*(?P<grid>{_EXTENTS})\s*,"
    rf"\s*(?P<map>{_MAP})\s*>\s*,"
    rf"(?:\s*l1Map\s*=\s*(?P<l1>{_MAP})\s*,)?(?:\s*dramMap\s*=\s*(?P<dram>{_MAP})\s*,)?"
    rf"\s*meshShape\s*=\s*(?P<mesh>{_EXTENTS})\s*,\s*chipIds\s*=\s*\[(?P<ids>[\d,\s]*)\]\s*>\s*",
    re.DOTALL,
)


def layout_text(layout: TensorLayout) -> str:
    """``#ttcore.layout<(d0, d1) -> (d0, d1), undef, <1x2>, memref<8x150xf32, #ttcore.memory_space<l1>>>``."""
    element = layout.element.traits.ttcore
    if layout.tile:
        element = f"!ttcore.tile<{extents_text(layout.tile)}, {element}>"
    memref = f"memref<{extents_text(layout.memref_shape)}x{element}, #ttcore.memory_space<{layout.memory_space.value}>>"
    fields = [str(layout.linear), layout.out_of_bounds.value, f"<{extents_text(layout.grid)}>", memref]
    if layout.memory_layout != "none":
        fields.append(layout.memory_layout)
    return f"#ttcore.layout<{', '.join(fields)}>"


def tensor_text(element: str, layout: TensorLayout) -> str:
    """``tensor<8x300xf32, #ttcore.layout<...>>``: the logical shape and element type, and the layout."""
    return f"tensor<{extents_text(layout.shape)}x{element}, {layout_text(layout)}>"


def parse_tensor(text: str) -> tuple[str, TensorLayout]:
    """The element type and the layout of a tensor type.

    Raises:
        LayoutError: The text is no tensor type; its layout has strides in place of a map, or a memref that does not
            follow from map, grid and tile; or see `TensorLayout`.
    """
    matched = _matched(_TENSOR, text, "tensor with a layout", "tensor<8x300xf32, #tt.layout<...>>")
    return matched["element"], parse_layout(matched["layout"], _extents(matched["shape"]))


def parse_layout(text: str, shape: Iterable[int]) -> TensorLayout:
    """The layout of a tensor of that shape.

    Raises:
        LayoutError: See `parse_tensor`.
    """
    if _STRIDES.match(text.strip()):
        raise LayoutError(
            f"`{_one_line(text)}` has strides where a layout has an affine map",
            help="strides are an old syntax: for strides AxBx1 write `(d0, d1, d2) -> (d0 * A + d1 * B + d2)`, split "
            "into a result for each dimension of the grid",
        )
    example = "#tt.layout<(d0, d1) -> (d0, d1), undef, <1x2>, memref<8x150xf32, #tt.memory_space<l1>>>"
    matched = _matched(_LAYOUT, text, "layout", example)
    tile, element = _element(matched["element"])
    layout = TensorLayout(
        tuple(shape),
        AffineMap.parse(matched["map"]),
        _extents(matched["grid"]),
        element,
        tile,
        _named(matched["oob"], {each.value: each for each in OutOfBounds}, "a value of padding"),
        _named(matched["space"], {each.value: each for each in MemorySpace}, "a memory space"),
        matched["memory_layout"] or "none",
    )
    if layout.memref_shape != _extents(matched["extents"]):
        raise LayoutError(
            f"the memref has extents {matched['extents']}, and a tensor of {extents_text(layout.shape)} with the map "
            f"`{layout.linear}` on <{extents_text(layout.grid)}> gives {extents_text(layout.memref_shape)}"
        )
    return layout


def device_text(device: DeviceLayout) -> str:
    """``#ttcore.device<workerGrid = #ttcore.grid<8x8, ...>, meshShape = 1, chipIds = [0]>``."""
    fields = [f"workerGrid = #ttcore.grid<{extents_text(device.grid)}, {device.mapping}>"]
    fields += [f"l1Map = {device.l1_map}"] if device.l1_map else []
    fields += [f"dramMap = {device.dram_map}"] if device.dram_map else []
    fields += [f"meshShape = {extents_text(device.mesh_shape)}", f"chipIds = [{', '.join(map(str, device.chip_ids))}]"]
    return f"#ttcore.device<{', '.join(fields)}>"


def parse_device(text: str, chip_grid: tuple[int, int] = CHIP_GRID) -> DeviceLayout:
    """The device of a text. The text lacks the number of cores of a chip, which is `chip_grid`.

    Raises:
        LayoutError: The text is no device, or see `DeviceLayout`.
        GridError: See `DeviceLayout`.
    """
    example = "#tt.device<workerGrid = #tt.grid<8x8, (d0, d1) -> (0, d0, d1)>, meshShape = 1, chipIds = [0]>"
    matched = _matched(_DEVICE, text, "device", example)
    l1, dram = (AffineMap.parse(matched[name]) if matched[name] else None for name in ("l1", "dram"))
    ids = tuple(int(number) for number in matched["ids"].split(",") if number.strip())
    mapping = AffineMap.parse(matched["map"])
    return DeviceLayout(_extents(matched["grid"]), mapping, _extents(matched["mesh"]), ids, chip_grid, l1, dram)


def _element(text: str) -> tuple[tuple[int, int] | None, ElementFormat]:
    matched = _TILE.fullmatch(text)
    element = _named(matched[3] if matched else text, FORMATS, "an element type")
    return (int(matched[1]), int(matched[2])) if matched else None, element


def _named(word: str, meanings: Mapping[str, T], what: str) -> T:
    if word not in meanings:
        raise LayoutError(f"{what} is one of {', '.join(meanings)}, got `{word}`")
    return meanings[word]


def _matched(pattern: re.Pattern[str], text: str, what: str, example: str) -> re.Match[str]:
    matched = pattern.fullmatch(text)
    if matched is None:
        raise LayoutError(f"`{_one_line(text)}` is not a {what}", help=f"write `{example}`")
    return matched


def _extents(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split("x")))


def _one_line(text: str) -> str:
    return " ".join(text.split())
