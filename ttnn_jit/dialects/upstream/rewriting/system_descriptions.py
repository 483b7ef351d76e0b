"""`ttcore.system_desc` and `ttcore.device` of a system, as tt-mlir spells them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Attribute

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.dialects.ttcore import SYSTEM_DESC
from ttnn_jit.dialects.upstream.rewriting.made_attributes import parsed
from ttnn_jit.dialects.upstream.rewriting.rewriter import AUGUST, Rewriter, operation_kind
from ttnn_jit.dialects.writing.editing import insert_before
from ttnn_jit.specs.target import SystemDesc

DEVICE = "default_device"

_DATA_TYPES = (
    "[<f32>, <f16>, <bf16>, <bfp_f8>, <bfp_bf8>, <bfp_f4>, <bfp_bf4>, <bfp_f2>, <bfp_bf2>, <u32>, <u16>, <u8>, <si32>]"
)
_TILES = "[ 4x16,  16x16,  32x16,  4x32,  16x32,  32x32]"

_CHIPS = {
    "wormhole_b0": "l1_size = 1499136, num_dram_channels = 12, dram_channel_size = 1073741824, "
    "noc_l1_address_align_bytes = 16, pcie_address_align_bytes = 32, noc_dram_address_align_bytes = 32, "
    "l1_unreserved_base = 1024, erisc_l1_unreserved_base = 1024, dram_unreserved_base = 1024, "
    "dram_unreserved_end = 1073741824",
    "blackhole": "l1_size = 1572864, num_dram_channels = 8, dram_channel_size = 4278190080, "
    "noc_l1_address_align_bytes = 16, pcie_address_align_bytes = 64, noc_dram_address_align_bytes = 64, "
    "l1_unreserved_base = 98304, erisc_l1_unreserved_base = 100032, dram_unreserved_base = 64, "
    "dram_unreserved_end = 4276383744",
}
"""Architecture -> the numbers of a chip, as tt-mlir's mock descriptions have them. A cpu is described as a wormhole."""


@cache
def system_desc(arch: str, grid: tuple[int, int], chips: int) -> Attribute:
    """``#ttcore.system_desc<...>`` of equal chips in a ring."""
    known = arch if arch in _CHIPS else "wormhole_b0"
    return _of_chips(_chip(known, grid, _CHIPS[known], 16, 32), chips)


@cache
def system_desc_of(target: SystemDesc, chips: int) -> Attribute:
    """``#ttcore.system_desc<...>`` of chips with the numbers of a target; that of a cpu is a Wormhole's.

    The bytes of L1 that a target has are those above ``l1_unreserved_base``.
    """
    if target.arch not in _CHIPS:
        return system_desc(target.arch, target.grid, chips)
    numbers = {name: int(value) for name, value in (each.split(" = ") for each in _CHIPS[target.arch].split(", "))}
    numbers["l1_size"] = target.l1_bytes + numbers["l1_unreserved_base"]
    if target.dram_bytes is not None:
        numbers["dram_channel_size"] = target.dram_bytes // numbers["num_dram_channels"]
    text = ", ".join(f"{name} = {value}" for name, value in numbers.items())
    return _of_chips(_chip(target.arch, target.grid, text, target.dst_tiles, target.max_circular_buffers or 32), chips)


def mock_l1_bytes(arch: str) -> int | None:
    """The bytes of L1 above ``l1_unreserved_base`` of a chip of a mock description; None of an unknown architecture."""
    if arch not in _CHIPS:
        return None
    numbers = dict(each.split(" = ") for each in _CHIPS[arch].split(", "))
    return int(numbers["l1_size"]) - int(numbers["l1_unreserved_base"])


def _chip(arch: str, grid: tuple[int, int], numbers: str, dst_tiles: int, circular_buffers: int) -> str:
    return (
        f"{{arch = <{arch}>, grid = {grid[0]}x{grid[1]}, coord_translation_offsets = 18x18, {numbers}, "
        f"supported_data_types = {_DATA_TYPES}, supported_tile_sizes = {_TILES}, "
        f"dst_physical_size_tiles = {dst_tiles}, num_cbs = {circular_buffers}, num_compute_threads = 1, "
        "num_datamovement_threads = 2}"
    )


def _of_chips(chip: str, chips: int) -> Attribute:
    every = range(chips)
    ring = [f"[<[{index}, 0, 0], [{(index + 1) % chips}, 0, 0]>]" for index in every] if chips > 1 else []
    joined = ", ".join(each[1:-1] for each in ring)
    parts = [
        '{role = host, target_triple = "x86_64-pc-linux-gnu"}',
        ", ".join([chip] * chips),
        ", ".join(map(str, every)),
        ", ".join(["1 : i32"] * chips),
        " 0x0x0x0",
        *([joined] if ring else []),
    ]
    return parsed(f"#ttcore.system_desc<{', '.join(f'[{part}]' for part in parts)}>")


@cache
def device(
    grid: tuple[int, int], channels: int, mesh: tuple[int, ...], version: str, topology: tuple[str, ...] = ()
) -> Attribute:
    """``#ttcore.device<...>``: the grid of cores and how addresses map to banks; with a topology, August's form."""
    volume = "(s2 * (s3 * s6))"
    address = f"((d0 * s1) * {volume} + d1 * {volume} + d2)"
    banks = (
        f"(0, 0, ({address} floordiv s4) mod {channels}, "
        f"(({address} floordiv s4) floordiv {channels}) * s4 + {address} mod s4 + s5)"
    )
    rows, columns = grid
    ids = ", ".join(map(str, range(math.prod(mesh))))
    if version == AUGUST or topology:
        maps = "virt_to_physical_map = (d0, d1) -> (0, d0, d1), physical_to_virt_map = (d0, d1, d2) -> (d1, d2)"
        worker = f"#ttcore.grid<{rows}x{columns}, {maps}>"
        dram = f"dramGrid = #ttcore.grid<1x{channels}>, "
    else:
        worker, dram = f"#ttcore.grid<{rows}x{columns}, (d0, d1) -> (0, d0, d1)>", ""
    linked = f", meshTopology = [{', '.join(topology)}]" if topology else ""
    return parsed(
        f"#ttcore.device<workerGrid = {worker}, {dram}l1Map = (d0, d1, d2)[s0] -> (0, d0, d1, d2 + s0), "
        f"dramMap = (d0, d1, d2)[s0, s1, s2, s3, s4, s5, s6] -> {banks}, meshShape = {'x'.join(map(str, mesh))}, "
        f"chipIds = [{ids}]{linked}>"
    )


def register_device(
    module: ModuleOp,
    target: SystemDesc | None,
    mesh: Sequence[int],
    rewriter: Rewriter,
    *,
    topology: Sequence[str] = (),
    is_mock: bool = True,
) -> None:
    """Gives a module a system description and its default device, where it has none.

    Args:
        module: The module.
        target: The system; None keeps the module's, or takes a Wormhole.
        mesh: The mesh; empty for that of the module's `ttcore.meshes`, of the system, or one device.
        rewriter: Counts the change.
        topology: How the devices along each axis are linked; empty for none.
        is_mock: Whether only architecture and grid are the target's, and other numbers those of tt-mlir's mock.

    Raises:
        ArgumentError: An extent of the mesh is not positive, or the mesh has more than `MAX_DEVICES` devices.
    """
    shape = (
        tuple(mesh) or _mesh_of(module) or (target.mesh if target is not None and math.prod(target.mesh) > 1 else ())
    )
    _require_mesh(shape)
    arch, grid = ("wormhole_b0", (8, 8)) if target is None else (target.arch, target.grid)
    if target is not None or SYSTEM_DESC not in module.attributes:
        chips = math.prod(shape)
        module.attributes[SYSTEM_DESC] = (
            system_desc(arch, grid, chips) if target is None or is_mock else system_desc_of(target, chips)
        )
    block = module.body.block
    if any(op.name == "ttcore.device" for op in block.ops):
        return
    channels = 8 if "<blackhole>" in str(module.attributes[SYSTEM_DESC]) else 12
    if channels == 8 and target is None:
        grid = (10, 13)
    described = device(grid, channels, shape, rewriter.version, tuple(topology))
    properties = {"sym_name": StringAttr(DEVICE), "device_attr": described}
    made = operation_kind("ttcore.device").create(properties=properties)
    made.location = module.location
    if block.first_op is None:
        block.add_op(made)
    else:
        insert_before(made, block.first_op)
    rewriter.changes += 1


MAX_DEVICES = 2**12
"""A larger mesh is refused: a system description has a text for each device."""


def _require_mesh(shape: Sequence[int]) -> None:
    extents = "x".join(map(str, shape))
    if min(shape, default=1) < 1:
        raise ArgumentError(f"a mesh has positive extents, got {extents}")
    if math.prod(shape) > MAX_DEVICES:
        raise ArgumentError(
            f"the mesh {extents} has {math.prod(shape):,} devices, and at most {MAX_DEVICES:,} are taken"
        )


def _mesh_of(module: ModuleOp) -> tuple[int, ...]:
    """The shape of the first mesh of the module's `ttcore.meshes`."""
    meshes = module.attributes.get("ttcore.meshes")
    if meshes is None or not hasattr(meshes, "value"):
        return ()
    listed = meshes.value("meshes") or ()
    return tuple(int(each) for each in listed[0].value("shape")) if listed else ()
