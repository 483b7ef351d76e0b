"""Tensor files, and the cache of converted weights that `as_tensor` keeps in such files.

Files have the safetensors format, so that its readers can read them: eight bytes with the length of the header, the
header in JSON, and the logical elements in row-major order. The header's metadata add the layout, the memory config,
the source of a cached tensor, and a checksum. Nothing is unpickled.
"""

from __future__ import annotations

import json
import sys
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.diagnostics.tracebacks import warn_user
from ttnn_jit.process.complete_file import write_complete
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.device import Device
from ttnn_jit.runtime.elements.numpy_elements import dense_elements, store_elements
from ttnn_jit.runtime.memory.buffer import HOST_POOL
from ttnn_jit.runtime.meshes.mesh import MeshDevice
from ttnn_jit.runtime.meshes.mesh_tensor import MeshTensor, placed_on
from ttnn_jit.runtime.plans.spec_json import spec_from_json, spec_to_json, topology_from_json, topology_to_json
from ttnn_jit.runtime.tensors.tensor import Tensor, in_order
from ttnn_jit.specs.cores.memory_config import HOST_MEMORY_CONFIG
from ttnn_jit.specs.meshes.mesh_shape import MeshShape
from ttnn_jit.specs.meshes.tensor_topology import TensorTopology
from ttnn_jit.specs.tensor_spec import DataType, Layout, MemoryConfig, TensorSpec, checked
from ttnn_jit.ttnn.calling.host_function import host_function
from ttnn_jit.ttnn.calling.rank_exchange import gathered_shards
from ttnn_jit.ttnn.tensors.mesh_mappers import ReplicateTensorToMesh, TensorToMesh
from ttnn_jit.ttnn.tensors.torch_conversion import check_torch, from_torch
from ttnn_jit.ttnn.tensors.transfers import to_device

if TYPE_CHECKING:
    import torch

FORMAT = "ttnn_jit 1"
_BEGINNING = b'{"__metadata__":{"format":"' + FORMAT.encode()
"""The beginning of the header of every file, which distinguishes damaged files from those of other programs."""

_LENGTH = 8
_MAX_HEADER = 1 << 20


class TensorFileError(ArgumentError, RuntimeError):
    """A file contains no tensor, is damaged, or contains another tensor than requested (a RuntimeError in ttnn)."""


class DamagedFileError(TensorFileError):
    """A file that `dump_tensor` or `as_tensor` wrote is truncated or modified."""


# --- One file -------------------------------------------------------------------------------------------------------


@host_function(without_effect={"one host writes the file": "mode"})
def dump_tensor(file_name: str | Path, tensor: Tensor, *, mode: object = None) -> None:
    """Write a tensor of a device, of a mesh or of the host to a file (ttnn.dump_tensor).

    The write is atomic: a temporary file is written, and renamed.

    Args:
        file_name: Path of the file; an existing file is replaced.
        tensor: A tensor of any layout, dtype and memory config.
        mode: Distribution of the work over hosts; there is one host.

    Raises:
        ArgumentError: `tensor` is not a tensor.
        DeallocatedError: The tensor was deallocated.
        OSError: The file cannot be written.
    """
    _dump(Path(file_name), tensor, source=None)


def _dump(path: Path, tensor: Tensor, source: str | None) -> None:
    """Write a tensor with the description of its source, if that is known."""
    tensors = [*gathered_shards(tensor).values()] if isinstance(tensor, MeshTensor) else [tensor]
    mesh = list(tensor.mesh.shape) if isinstance(tensor, MeshTensor) else None
    parts = [_stored(own) for own in tensors]
    described = {
        "specs": [spec_to_json(own.spec) for own in tensors],
        "mesh": mesh,
        "topology": None if mesh is None else topology_to_json(tensor.tensor_topology()),
        "source": source,
    }
    description = json.dumps(described, separators=(",", ":"))
    header = _header([own.spec for own in tensors], description, parts)
    write_complete(path, [len(header).to_bytes(_LENGTH, "little"), header, *parts])


def _stored(tensor: Tensor) -> bytes:
    with in_order(tensor):
        return dense_elements(tensor.spec, tensor.buffer("dump_tensor")).tobytes()


@host_function()
def load_tensor(file_name: str | Path, *, device: Device | None = None) -> Tensor:
    """The tensor in a file that `dump_tensor` wrote (ttnn.load_tensor).

    Args:
        file_name: Path of the file.
        device: Device of the result, with the stored memory config; None for the host.

    Raises:
        TensorFileError: The file does not exist, is no tensor file of ttnn_jit, or is of another mesh than `device`.
        GridError, L1CapacityError: The tensor does not fit on `device`.
    """
    path = Path(file_name)
    contents = _read(path)
    mesh = device if isinstance(device, MeshDevice) else None
    if contents.mesh is not None and (mesh is None or list(mesh.shape) != contents.mesh):
        raise TensorFileError(
            f"{path} holds the tensors of a mesh of {MeshShape(contents.mesh)}, and `device` is {device}",
            help=f"pass `device=ttnn.open_mesh_device({tuple(contents.mesh)})`",
        )
    found = _on_host(contents, mesh)
    return found if device is None else to_device(found, device)


def _on_host(contents: _Contents, mesh: MeshDevice | None, memory_config: MemoryConfig | None = None) -> Tensor:
    """The tensor in a file, with `memory_config` if that is given; several tensors are those of `mesh`."""
    specs = [spec.with_(memory_config=memory_config) for spec in contents.specs]
    tensors = list(map(_host_tensor, specs, contents.parts))
    return tensors[0] if contents.mesh is None or mesh is None else placed_on(mesh, tensors, contents.topology)


def _host_tensor(spec: TensorSpec, elements: memoryview) -> Tensor:
    buffer = HOST_POOL.allocate(spec.nbytes)
    store_elements(spec, buffer, elements)
    return Tensor(spec, None, buffer)


# --- The format -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Contents:
    specs: Sequence[TensorSpec]
    mesh: list[int] | None
    topology: TensorTopology | None
    parts: Sequence[memoryview]
    source: str | None


def _header(specs: Sequence[TensorSpec], description: str, parts: Sequence[bytes]) -> bytes:
    metadata = {"format": FORMAT, "ttnn": description, "crc32": str(_checksum(description, parts))}
    entries: dict[str, Any] = {"__metadata__": metadata}
    offset = 0
    for name, spec, part in zip(_names(len(specs)), specs, parts, strict=True):
        shape = [spec.nbytes] if spec.dtype.is_block_float else list(spec.shape)
        extents = {"dtype": _format_dtype(spec.dtype), "shape": shape}
        entries[name] = extents | {"data_offsets": [offset, offset + len(part)]}
        offset += len(part)
    text = json.dumps(entries, separators=(",", ":")).encode()
    return text + b" " * (-len(text) % _LENGTH)


def _names(count: int) -> list[str]:
    return ["tensor"] if count == 1 else [f"tensor.{number}" for number in range(count)]


def _format_dtype(dtype: DataType) -> str:
    """The name of a dtype in safetensors, such as ``BF16``, ``F32`` and ``I32``; ``U8`` for block floats."""
    if dtype.is_block_float:
        return "U8"
    return dtype.mlir.upper().replace("UI", "U").replace("SI", "I")


def _checksum(description: str, parts: Sequence[bytes | memoryview]) -> int:
    value = zlib.crc32(description.encode())
    for part in parts:
        value = zlib.crc32(part, value)
    return value


def _read(path: Path) -> _Contents:
    if not path.exists():
        raise TensorFileError(f"Unable to load the tensor from {path}: the file does not exist")
    if not path.is_file():
        raise TensorFileError(f"Unable to load the tensor from {path}: it is no file")
    data = memoryview(path.read_bytes())
    raised = DamagedFileError if _is_written_here(data) else TensorFileError
    length = int.from_bytes(data[:_LENGTH], "little")
    if len(data) < _LENGTH or not 0 < length <= min(_MAX_HEADER, len(data) - _LENGTH):
        raise _invalid_file(raised, path, "its header is not that of one")
    try:
        contents = _parsed(bytes(data[_LENGTH : _LENGTH + length]), data[_LENGTH + length :])
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise _invalid_file(raised, path, f"its header says {error}") from None
    if contents is None:
        raise _invalid_file(raised, path, "it is damaged: its contents and its checksum do not agree")
    return contents


def _is_written_here(data: memoryview) -> bool:
    """Whether ttnn_jit wrote a file, damaged or not; an empty file counts, since replacing it loses nothing."""
    return not data or _BEGINNING in bytes(data[_LENGTH : _LENGTH + len(_BEGINNING)])


def _parsed(header: bytes, data: memoryview) -> _Contents | None:
    """The contents of a file; None if the checksum is wrong.

    Raises:
        KeyError, TypeError, ValueError: The header is not one of ttnn_jit.
    """
    entries = json.loads(header)
    metadata = entries["__metadata__"]
    if metadata["format"] != FORMAT:
        raise ValueError(f"the format {metadata['format']!r}, not {FORMAT!r}")
    description = json.loads(metadata["ttnn"])
    specs = [checked(spec_from_json(fields)) for fields in description["specs"]]
    parts, offset = [], 0
    for spec in specs:
        parts.append(data[offset : offset + spec.nbytes_of_elements])
        offset += spec.nbytes_of_elements
    mesh, whole = description["mesh"], offset == len(data)
    if not whole or str(_checksum(metadata["ttnn"], parts)) != metadata["crc32"]:
        return None
    placed = description.get("topology")  # absent in files of earlier versions
    topology = None if placed is None else topology_from_json(placed)
    count = 1 if mesh is None else MeshShape(mesh).mesh_size() if topology is None else len(topology.mesh_coords())
    if len(specs) != count:
        raise ValueError(f"{len(specs)} tensors of a mesh of {mesh}")
    return _Contents(specs, mesh, topology, parts, description.get("source"))


def _invalid_file(raised: type[TensorFileError], path: Path, why: str) -> TensorFileError:
    return raised(
        f"{path} is no tensor file of ttnn_jit: {why}",
        help="write it again with `ttnn.dump_tensor`; files that ttnn itself wrote are not read",
    )


# --- The cache ------------------------------------------------------------------------------------------------------


@host_function(without_effect={"one host writes the file": "cache_dump_mode"})
def as_tensor(  # noqa: PLR0913 - ttnn's keywords
    tensor: torch.Tensor | None,
    dtype: DataType | None = None,
    *,
    layout: Layout | None = Layout.ROW_MAJOR,
    device: Device | None = None,
    memory_config: MemoryConfig | None = None,
    cache_file_name: str | Path | None = None,
    preprocess: Callable[[torch.Tensor], torch.Tensor] | None = None,
    mesh_mapper: TensorToMesh | None = None,
    cache_dump_mode: object = None,
) -> Tensor:
    """`from_torch`, with a cache of converted weights in files (ttnn.as_tensor).

    Args:
        tensor: A torch tensor of any strides; it may be None if the file exists.
        dtype: As for `from_torch`.
        layout: As for `from_torch`.
        device: As for `from_torch`.
        memory_config: As for `from_torch`.
        cache_file_name: Prefix of the file's name; dtype and layout are appended. If the file exists, the result is
            read from it. If there is no file, or a damaged one, which causes a warning, the tensor is converted and
            written to the file. Several processes may do so concurrently. The file stores dtype, shape and a checksum
            of `tensor`; if `tensor` is given, a file with another source is refused.
        preprocess: Applied to `tensor` before the conversion; a file contains the preprocessed tensor.
        mesh_mapper: Distributes the tensor over a mesh; the file contains the parts, or a replicated tensor once.
        cache_dump_mode: Distribution of the work over hosts; there is one host.

    Raises:
        ArgumentError: There is neither a tensor nor a file; and the errors of `from_torch`.
        TensorFileError: The file has another shape, dtype, layout or source, or is of another program; it is left
            unchanged.
        OSError: The file cannot be written.
    """

    def converted(device: Device | None, mapper: TensorToMesh | None) -> Tensor:
        if tensor is None:
            raise ArgumentError("as_tensor: there is no tensor, and no file that holds the result")
        source = tensor if preprocess is None else preprocess(tensor)
        return from_torch(source, dtype, layout=layout, device=device, memory_config=memory_config, mesh_mapper=mapper)

    if cache_file_name is None:
        return converted(device, mesh_mapper)
    if tensor is not None and preprocess is None and not getattr(tensor, "is_meta", False):
        check_torch(tensor, "as_tensor")
    path = cache_path(cache_file_name, dtype, layout)
    mapper = None if isinstance(mesh_mapper, ReplicateTensorToMesh) else mesh_mapper
    shape = None if preprocess or mapper or tensor is None else tuple(tensor.shape)
    source = None if tensor is None else _source(tensor, mapper)
    mesh = None if mapper is None else mapper.mesh_device
    found = _cached(path, _Expected(shape, dtype, layout, memory_config or HOST_MEMORY_CONFIG, mesh, source))
    if found is None:
        found = converted(None, mapper)
        path.parent.mkdir(parents=True, exist_ok=True)
        _dump(path, found, source)
    return found if device is None else to_device(found, device, memory_config)


@dataclass(frozen=True)
class _Expected:
    """The required contents of a file; None for an unknown or arbitrary field."""

    shape: tuple[int, ...] | None
    dtype: DataType | None
    layout: Layout | None
    memory_config: MemoryConfig
    mesh: Device | None
    source: str | None


def _source(tensor: object, mapper: TensorToMesh | None) -> str | None:
    """The identity of weights: dtype, shape, a checksum of the elements, and the distribution over a mesh.

    None if elements cannot be read, as of torch's meta device, or if the value is an input of `preprocess` only.
    """
    torch = sys.modules.get("torch")
    if (
        torch is None
        or not isinstance(tensor, torch.Tensor)
        or tensor.device.type != "cpu"
        or tensor.layout != torch.strided
    ):
        return None
    words = tensor.detach().resolve_conj().resolve_neg().reshape(-1).view(torch.uint8).numpy()
    cut = "" if mapper is None else f", cut by {mapper.settings}"
    return f"{tensor.dtype}{list(tensor.shape)} of checksum {zlib.crc32(words):08x}{cut}"


def cache_path(cache_file_name: str | Path, dtype: DataType | None, layout: Layout | None) -> Path:
    """The path of the file of a tensor in the cache of `as_tensor`, as in ttnn."""
    names = ["None" if each is None else each.name for each in (dtype, layout)]
    return Path(f"{cache_file_name}_dtype_{names[0]}_layout_{names[1]}.tensorbin")


def _cached(path: Path, expected: _Expected) -> Tensor | None:
    """The tensor in the file, on the host; None if the file does not exist or is damaged."""
    if not path.is_file():
        return None
    try:
        return _as_expected(path, _read(path), expected)
    except DamagedFileError as error:
        warn_user(f"as_tensor: {path} is rewritten: {error.message}")
        return None


def _as_expected(path: Path, contents: _Contents, expected: _Expected) -> Tensor:
    """The tensor in a file, on the host.

    Raises:
        TensorFileError: The contents are not the expected ones.
    """
    for field in ("shape", "dtype", "layout"):
        wanted, has = getattr(expected, field), getattr(contents.specs[0], field)
        if wanted is not None and wanted != has:
            raise _mismatch(path, f"a tensor whose {field} is {_shown(has)}, but {_shown(wanted)} is requested")
    if None not in (expected.source, contents.source) and expected.source != contents.source:
        raise _mismatch(path, f"a tensor made of {contents.source}, but one of {expected.source} is requested")
    mesh = expected.mesh if isinstance(expected.mesh, MeshDevice) else None
    if contents.mesh != (None if mesh is None else list(mesh.shape)):
        raise _mismatch(path, f"tensors of a mesh {contents.mesh}, but {mesh} is requested")
    return _on_host(contents, mesh, expected.memory_config)


def _shown(value: object) -> str:
    return str(list(value)) if isinstance(value, (tuple, Sequence)) else str(value)


def _mismatch(path: Path, what: str) -> TensorFileError:
    return TensorFileError(
        f"as_tensor: {path} holds {what}",
        help="the file stays as it is: pass another `cache_file_name`, or remove the file to rewrite it",
    )
