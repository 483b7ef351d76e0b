"""Goldens and the texts of stages inside binaries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import ProgramFormatError
from ttnn_jit.process.dataclass import dataclass

Tree = Mapping[str, Any]


@dataclass(frozen=True)
class Golden:
    """A tensor to which a result is compared.

    Attributes:
        name: The location of the operation.
        shape: Its extents.
        stride: Its strides, in elements.
        dtype: Case of its data type.
        data: The bytes of its elements.
    """

    name: str
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    dtype: str
    data: bytes


Goldens = Mapping[str, Mapping[int, Golden]]
"""Location -> device -> golden."""
Stages = Sequence[tuple[str, str]]
"""Name and text of the module after each stage."""


def debug_tree(goldens: Goldens, stages: Stages) -> dict[str, Any]:
    """The tree of goldens and stages."""
    golden_map = [
        {"key": key, "value": [{"device": device, "value": _golden_tree(golden)} for device, golden in found.items()]}
        for key, found in goldens.items()
    ]
    texts = [{"name": name, "source": text} for name, text in stages]
    return {"mlir_stages": texts, "golden_info": {"golden_map": golden_map}}


def _golden_tree(golden: Golden) -> dict[str, Any]:
    return {
        "name": golden.name,
        "shape": [*golden.shape],
        "stride": [*golden.stride],
        "dtype": golden.dtype,
        "data": golden.data,
    }


def goldens_in(tree: Tree) -> dict[str, dict[int, Golden]]:
    """The goldens of the programs of a binary.

    Raises:
        ProgramFormatError: A golden has no name or no tensor.
    """
    found: dict[str, dict[int, Golden]] = {}
    for each in _debug_information(tree):
        for entry in each.get("golden_info", {}).get("golden_map", []):
            if "key" not in entry:
                raise ProgramFormatError("a golden has no location")
            of_devices = found.setdefault(entry["key"], {})
            for held in entry.get("value", []):
                of_devices[held["device"]] = _golden(held.get("value", {}))
    return found


def _golden(tree: Tree) -> Golden:
    if "dtype" not in tree:
        raise ProgramFormatError("a golden has no tensor")
    shape, stride = tuple(tree.get("shape", ())), tuple(tree.get("stride", ()))
    return Golden(tree.get("name", ""), shape, stride, tree["dtype"], tree.get("data", b""))


def stages_in(tree: Tree) -> list[tuple[str, str]]:
    """Names and texts of the stages of a binary, each once."""
    pairs = [
        (stage.get("name", ""), stage.get("source", ""))
        for each in _debug_information(tree)
        for stage in each.get("mlir_stages", [])
    ]
    return [*dict.fromkeys(pairs)]


def _debug_information(tree: Tree) -> Iterator[Tree]:
    for program in tree.get("programs", []):
        yield program.get("debug_info", {})
