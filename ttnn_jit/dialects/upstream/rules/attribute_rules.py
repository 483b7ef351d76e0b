"""What C++ verifies of attributes when a text has them: layouts and ranges of cores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xdsl.ir import Attribute

from ttnn_jit.dialects.ttnn_attributes import BufferTypeAttr, CoreRangeAttr, TTNNLayoutAttr
from ttnn_jit.dialects.upstream.rules.collective_rules import elements_of
from ttnn_jit.dialects.upstream.rules.view import fail, require
from ttnn_jit.dialects.upstream.table_attributes import TableAttribute


def verify_attribute(attribute: Attribute) -> None:
    """Checks an attribute that was parsed.

    Raises:
        VerifyException: It breaks a rule of its class.
    """
    rule = _RULES.get(attribute.name)
    if rule is not None:
        rule(attribute)


def _verify_metal_layout(attribute: Any) -> None:
    """The alignments and the intervals of a layout on a grid of cores."""
    rank, alignments = len(attribute.value("logical_shape") or ()), attribute.value("dim_alignments") or ()
    require(len(alignments) == rank, f"dim_alignments size ({len(alignments)}) must match logical_shape rank ({rank})")
    for index, alignment in enumerate(alignments):
        require(alignment > 0, f"dim_alignments[{index}] must be positive, got {alignment}")
    shape, flat = elements_of(attribute.value("collapsed_intervals"))
    require(len(shape) == 2, f"collapsed_intervals must be a 2D array, got rank {len(shape)}")
    require(shape[1] == 2, f"collapsed_intervals must have pairs (second dim size 2), got {shape[1]}")
    for start, end in zip(flat[::2], flat[1::2], strict=True):
        first, last = (index + rank if index < 0 else index for index in (start, end))
        for what, given, index, is_inside in (
            ("start", start, first, 0 <= first < rank),
            ("end", end, last, 0 <= last <= rank),
        ):
            require(
                is_inside,
                f"collapsed_intervals {what} index {given} (normalized: {index}) is out of bounds for logical_shape "
                f"rank {rank}",
            )
        require(first <= last, f"collapsed_intervals start ({start}) must not exceed end ({end})")


def _verify_layout(attribute: Any) -> None:
    """The memory layout that fits where the tensor lies."""
    layout: str | None
    if isinstance(attribute, TTNNLayoutAttr):
        memref, layout, grid = attribute.memref, attribute.memory_layout.data, [*attribute.grid.data]
    else:
        memref, found = attribute.value("memref"), attribute.value("mem_layout")
        layout = _keyword(found)
        of_2025: Any = attribute.value("grid")
        grid = [*(attribute.value("grid_shape") or ())] if of_2025 is None else _shape_of_grid(of_2025)
    space = memref.memory_space
    if not isinstance(space, BufferTypeAttr):
        return
    # August 2026 shards tensors in DRAM too.
    if space.data not in {"l1", "l1_small"} and grid != [1, 1] and layout in {None, "interleaved"}:
        shown = ", ".join(map(str, grid))
        fail(f"expected (1, 1) grid shape for non-L1 buffer type, got ({shown}) for {space.data} buffer type")
    _verify_memory(space.data, layout)


def _shape_of_grid(grid: Any) -> list[int]:
    return [*(grid.value("shape") if isinstance(grid, TableAttribute) else grid.data)]


def _keyword(attribute: Any) -> str | None:
    """The keyword of an attribute of either class; None for none."""
    if attribute is None:
        return None
    found: str = attribute.value("value") if isinstance(attribute, TableAttribute) else attribute.data
    return found


def _verify_memory(buffer_type: str, layout: str | None) -> None:
    if layout is None:
        require(buffer_type == "system_memory", "Memory layout is required for non-SystemMemory buffer type.")
        return
    require(buffer_type != "system_memory", "Memory layout is not allowed for SystemMemory buffer type.")


def _verify_memory_config(attribute: Any) -> None:
    _verify_memory(_keyword(attribute.value("bufferType")) or "", _keyword(attribute.value("tensorMemoryLayout")))


def _verify_core_range(attribute: Any) -> None:
    """Cores from a first to a last one."""
    if isinstance(attribute, CoreRangeAttr):
        return
    for what in ("start", "end"):
        coordinate = attribute.value(f"{what}_coord")
        require(min(coordinate) >= 0, f"{what} coordinates {'x'.join(map(str, coordinate))} must be non-negative")


_RULES: dict[str, Callable[[Any], None]] = {
    "ttcore.metal_layout": _verify_metal_layout,
    "ttcore.core_range": _verify_core_range,
    "ttnn.ttnn_layout": _verify_layout,
    "ttnn.memory_config": _verify_memory_config,
}
