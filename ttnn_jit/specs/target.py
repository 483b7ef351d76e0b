"""System descriptions: the limits and numerics of a target, and the presets.

A chip target has the limits of the ttnn.jit document (DST tiles, circular buffers, tile alignment) and device numerics;
the ``cpu`` target has no such limits and IEEE numerics. Every target runs natively on the host.
"""

from __future__ import annotations

import enum
import json
import math
import os
from collections.abc import Callable
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError, ProgramFormatError
from ttnn_jit.process.dataclass import dataclass, replace

TILE_HEIGHT = 32  # elements
TILE_WIDTH = 32  # elements
FACE = 16
"""The extents of a face, in elements: a tile is stored face by face, and a row of a face shares an exponent."""


class Numerics(enum.Enum):
    """How results are rounded (docs/numerics.md).

    DEVICE rounds the result of every op of the user's to its dtype, inside a fused kernel too; a NaN stored as bf16
    becomes +infinity, and denormal bf16 results flush to zero. IEEE keeps float32 inside a kernel and rounds at stores.
    """

    DEVICE = "device"
    IEEE = "ieee"

    __hash__ = object.__hash__  # members are singletons, and Enum hashes their names in Python


L1_BASE = 103712
"""The first address of a core's L1 that programs use, as tt-mlir's descriptions of chips say; the firmware is below."""


@dataclass(frozen=True)
class SystemDesc:
    """The parameters of a system for the compiler and the runtime; sizes in bytes, grids in cores (rows, columns).

    `dram_bytes` is None if the DRAM is the host's memory. `mesh` is the shape of the mesh that the system's chips form;
    the other fields are those of each chip.
    """

    name: str
    arch: str
    grid: tuple[int, int]
    l1_bytes: int
    numerics: Numerics
    dst_tiles: int
    dst_double_buffered: bool
    dst_halved_when_wide: bool
    max_circular_buffers: int | None
    max_wide_inputs: int | None
    tile_aligned_only: bool
    fuses_multi_user_values: bool
    dram_bytes: int | None = None
    mesh: tuple[int, ...] = (1, 1)

    @property
    def chip(self) -> SystemDesc:
        """The description of one chip of the system."""
        return self if math.prod(self.mesh) == 1 else resolve_target(replace(self, name=self.arch, mesh=(1, 1)))

    def dst_capacity(self, *, wide: bool) -> int:
        """DST tiles that one kernel may hold at once; `wide`: its elements are wider than 16 bits."""
        tiles = self.dst_tiles // 2 if self.dst_double_buffered else self.dst_tiles
        return tiles // 2 if wide and self.dst_halved_when_wide else tiles

    @property
    def rules(self) -> str:
        """The name for users, who see that no chip runs: ``wormhole_b0 rules on cpu``, or ``cpu``."""
        return self.name if self.arch == "cpu" else f"{self.name} rules on cpu"

    @property
    def dram_banks(self) -> int:
        """Banks of DRAM that a config may shard a tensor over, in one row; a cpu's are those of a Wormhole."""
        return 8 if self.arch == "blackhole" else 12

    @property
    def fuses_movement(self) -> bool:
        """Whether kernels read their operands through views, so that movements need no buffers.

        On chips a movement is a launch of its own (ttnn.jit document, limitations).
        """
        return not self.tile_aligned_only

    def to_json(self) -> str:
        """The description as JSON, as `SYSTEM_DESC_PATH` reads it."""
        return json.dumps(asdict(self) | {"numerics": self.numerics.value}, indent=2, sort_keys=True)

    @staticmethod
    def from_json(text: str, source: str = "this") -> SystemDesc:
        """The inverse of `to_json`; it also reads the JSON of tt-mlir's tools, with ``chip_descs``.

        Args:
            text: JSON.
            source: The name of the text in errors, such as its file.

        Raises:
            ArgumentError: The text is no system description.
        """
        try:
            described = json.loads(text)
        except ValueError:
            described = None
        if not isinstance(described, dict):
            raise _no_description(source, "it is no JSON object")
        inner = described.get("system_desc", described)
        if isinstance(inner, dict) and "chip_descs" in inner:
            return _of_chips(inner["chip_descs"], inner.get("chip_desc_indices"), source)
        return _of_fields(described, source)


def _no_description(source: str, reason: str) -> ArgumentError:
    return ArgumentError(
        f"{source} is not a system description: {reason}",
        help=f"its fields are {', '.join(field.name for field in fields(SystemDesc))}; "
        "`ttnn-jit query --target wormhole_b0` prints one to start from",
    )


def _of_fields(values: dict[str, Any], source: str) -> SystemDesc:
    known = {field.name for field in fields(SystemDesc)}
    if unknown := values.keys() - known:
        raise _no_description(source, f"`{min(unknown)}` is no field of one")
    if missing := known - values.keys() - _OPTIONAL:
        raise _no_description(source, f"it has no `{min(missing)}`")
    for name, value in values.items():
        if not _fits(name, value):
            raise _no_description(source, f"`{name}` is {value!r}")
    converted: dict[str, Any] = {name: tuple(values[name]) for name in ("grid", "mesh") if name in values}
    return SystemDesc(**(values | converted | {"numerics": Numerics(values["numerics"])}))


_OPTIONAL = {"dram_bytes", "mesh"}
"""Fields that descriptions of earlier versions lack."""


def _fits(name: str, value: object) -> bool:
    """Whether a value has the type of this field in a preset."""
    if name == "numerics":
        return value in [numerics.value for numerics in Numerics]
    if name == "mesh":
        return (
            isinstance(value, list) and len(value) in {2, 3} and all(type(each) is int and each > 0 for each in value)
        )
    if value is None:
        return getattr(PRESETS["cpu"], name) is None
    return _is_alike(tuple(value) if isinstance(value, list) else value, getattr(PRESETS["wormhole_b0"], name))


def _of_chips(chips: object, indices: object, source: str) -> SystemDesc:
    """The target of a system of equal chips; `indices` has the description of each chip, or is None."""
    if not isinstance(chips, list) or not chips or not all(isinstance(chip, dict) for chip in chips):
        raise _no_description(source, f"`chip_descs` is {chips!r}")
    targets = {_of_chip(chip, source) for chip in chips}
    if len(targets) > 1:
        raise _no_description(source, "its chips differ; keep those of one kind in `chip_descs`")
    if indices is None:
        count = 1
    elif isinstance(indices, list) and indices and all(each in range(len(chips)) for each in indices):
        count = len(indices)
    else:
        raise _no_description(source, f"`chip_desc_indices` is {indices!r}")
    return replace(targets.pop(), mesh=_MESHES.get(count, (1, count)))


_MESHES = {8: (2, 4), 32: (8, 4)}
"""The mesh of a number of chips, where it is no row: those of a T3000 and of a Galaxy."""


def _of_chip(chip: dict[str, Any], source: str) -> SystemDesc:
    """The target of a ``ChipDesc`` of tt-mlir; missing fields are those of its architecture's preset."""

    def read(name: str, meaning: Callable[[Any], Any], default: object = None) -> Any:
        value = chip.get(name, default)
        try:
            return meaning(value)
        except (LookupError, TypeError, ValueError):
            raise _no_description(source, f"`{name}` is {value!r}") from None

    preset: SystemDesc = read(
        "arch", lambda arch: PRESETS[_ARCHITECTURES[arch.lower() if isinstance(arch, str) else arch]]
    )
    base = read("l1_unreserved_base", lambda value: _at_least(0, value), 0)
    channels, channel = (read(name, _count_or_none) for name in ("num_dram_channels", "dram_channel_size"))
    return replace(
        preset,
        grid=read("grid_size", lambda size: (_at_least(1, size["y"]), _at_least(1, size["x"]))),
        l1_bytes=read("l1_size", lambda size: _at_least(1, _at_least(1, size) - base)),
        dram_bytes=channels * channel if channels and channel else preset.dram_bytes,
        dst_tiles=read("dst_physical_size_tiles", lambda value: _at_least(1, value), preset.dst_tiles),
        max_circular_buffers=read("num_cbs", lambda value: _at_least(1, value), preset.max_circular_buffers),
    )


_ARCHITECTURES = {1: "wormhole_b0", 2: "blackhole", "wormhole_b0": "wormhole_b0", "blackhole": "blackhole"}
"""The preset of an architecture, by tt-mlir's name or number."""


def _at_least(least: int, value: object) -> int:
    if type(value) is not int or value < least:
        raise ValueError(value)
    return value


def _count_or_none(value: object) -> int | None:
    return None if value is None else _at_least(1, value)


def _is_alike(value: object, known: object) -> bool:
    """Whether a value has the type of `known`, a preset's; numbers are at least 1."""
    if isinstance(known, tuple):
        return isinstance(value, tuple) and len(value) == len(known) and all(map(_is_alike, value, known))
    if isinstance(known, int) and not isinstance(known, bool):
        return type(value) is int and value >= 1
    return type(value) is type(known)


def _chip(name: str, *, l1_bytes: int, dram_bytes: int) -> SystemDesc:
    return SystemDesc(
        name=name,
        arch=name,
        grid=(8, 8),
        l1_bytes=l1_bytes,
        dram_bytes=dram_bytes,
        numerics=Numerics.DEVICE,
        dst_tiles=16,
        dst_double_buffered=True,
        dst_halved_when_wide=True,
        max_circular_buffers=32,
        max_wide_inputs=7,
        tile_aligned_only=True,
        fuses_multi_user_values=False,
    )


PRESETS = {
    desc.name: desc
    for desc in (
        # The DRAM channels and their bytes are those of tt-mlir's chip descriptions.
        _chip("wormhole_b0", l1_bytes=1_369_120, dram_bytes=12 * 1_073_741_824),
        _chip("blackhole", l1_bytes=1_499_136, dram_bytes=8 * 4_278_190_080),
        SystemDesc(
            name="cpu",
            arch="cpu",
            grid=(8, 8),
            l1_bytes=1 << 62,
            numerics=Numerics.IEEE,
            # Slots become SIMD registers: of 32, a kernel's constants and temporaries need a few.
            dst_tiles=28,
            dst_double_buffered=False,
            dst_halved_when_wide=False,
            max_circular_buffers=None,
            max_wide_inputs=None,
            tile_aligned_only=False,
            fuses_multi_user_values=True,
        ),
    )
}

SYSTEMS = {
    name: replace(PRESETS[arch], name=name, mesh=mesh)
    for name, arch, mesh in (
        ("n150", "wormhole_b0", (1, 1)),
        ("n300", "wormhole_b0", (1, 2)),
        ("t3000", "wormhole_b0", (2, 4)),
        ("galaxy", "wormhole_b0", (8, 4)),
        ("p150", "blackhole", (1, 1)),
    )
}
"""Systems of one or several chips, whose rules are those of a preset."""

_INTERNED = {desc: desc for desc in (*PRESETS.values(), *SYSTEMS.values())}


def resolve_target(target: SystemDesc | str | None) -> SystemDesc:
    """The description of `target`: itself or a preset; of None that of `SYSTEM_DESC_PATH`, else ``wormhole_b0``.

    Equal descriptions resolve to one object, so that a call's key can compare it by identity.

    Raises:
        ArgumentError: No preset has that name, or the file cannot be read.
    """
    if isinstance(target, SystemDesc):
        return _INTERNED.setdefault(target, target)
    if target is not None:
        preset = (PRESETS | SYSTEMS).get(target) if isinstance(target, str) else None
        if preset is None:
            raise ArgumentError(
                f"unknown target {target!r}", help=f"the presets are {', '.join(PRESETS)}, {', '.join(SYSTEMS)}"
            )
        return preset
    path = os.environ.get("SYSTEM_DESC_PATH")
    if not path:
        return PRESETS["wormhole_b0"]
    try:
        return read_target(path)
    except ArgumentError as error:
        raise ArgumentError(f"SYSTEM_DESC_PATH: {error.message}", help=error.help) from None


def read_target(path: str) -> SystemDesc:
    """The description in a file: JSON (`SystemDesc.from_json`), or a flatbuffer of tt-mlir (``.ttsys``).

    Raises:
        ArgumentError: The file cannot be read, or is no system description.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise ArgumentError(f"the system description {path} cannot be read: {error.strerror}") from error
    text = data.decode(errors="replace")
    if not {"\0", "\N{REPLACEMENT CHARACTER}"}.isdisjoint(text):
        text = _json_of_flatbuffer(data, path)
    return resolve_target(SystemDesc.from_json(text, path))


def _json_of_flatbuffer(data: bytes, path: str) -> str:
    from ttnn_jit.schemas.binary_file import read_file
    from ttnn_jit.schemas.json_text import json_text

    try:
        return json_text(read_file(data, f"the system description {path}", "TTSY", ignore_version=True).tree)
    except ProgramFormatError as error:
        raise ArgumentError(
            error.message, help="`ttnn-jit query --target wormhole_b0 -o system.ttsys` writes one to start from"
        ) from error
