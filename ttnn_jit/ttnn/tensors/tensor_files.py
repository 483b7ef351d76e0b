"""Tensors in files, and the cache of converted weights that `as_tensor` keeps in them.

A file is one of the safetensors format, which every reader of that format takes: eight bytes with the length of a
header, the header in JSON, and the logical elements row by row. Its metadata say what the format does not: layout,
memory config, what the cache made it of, and a checksum over all of it. Nothing is ever unpickled.
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
from ttnn_jit.runtime.mesh_shape import MeshShape
from ttnn_jit.runtime.plans.spec_json import spec_from_json, spec_to_json
from ttnn_jit.runtime.tensors.tensor import Tensor, in_order
from ttnn_jit.specs.cores.memory_config import HOST_MEMORY_CONFIG
from ttnn_jit.specs.tensor_spec import DataType, Layout, MemoryConfig, TensorSpec, checked
from ttnn_jit.ttnn.calling.host_function import host_function
from ttnn_jit.ttnn.calling.mesh import MeshDevice, MeshTensor
from ttnn_jit.ttnn.tensors.mesh_mappers import ReplicateTensorToMesh, TensorToMesh
from ttnn_jit.ttnn.tensors.torch_conversion import check_torch, from_torch
from ttnn_jit.ttnn.tensors.transfers import to_device

if TYPE_CHECKING:
    import torch

FORMAT = "ttnn_jit 1"
_BEGINNING = b'{"__metadata__":{"format":"' + FORMAT.encode()
"""How the header of every file starts, so that a damaged one is told from another program's."""

_LENGTH = 8
_MOST_HEADER = 1 << 20


class TensorFileError(ArgumentError, RuntimeError):
    """A file holds no tensor, is damaged, or holds another one than was asked for (a RuntimeError in ttnn)."""


class DamagedFileError(TensorFileError):
    """A file that `dump_tensor` or `as_tensor` wrote, of which a part is missing or changed."""


# --- One file -------------------------------------------------------------------------------------------------------


@host_function(without_effect={"one host writes the file": "mode"})
def dump_tensor(file_name: str | Path, tensor: Tensor, *, mode: object = None) -> None:
    """Write a tensor to a file (ttnn.dump_tensor), from a device or the host; the tensors of a mesh one by one.

    The file is complete or not there: it is written beside the path and moved there at once.

    Args:
        file_name: Where; what is there is replaced.
        tensor: Of any layout, dtype and memory config.
        mode: How several hosts share the work; there is one.

    Raises:
        ArgumentError: It is no tensor.
        DeallocatedError: It was deallocated.
        OSError: The file cannot be written.
    """
    _dump(Path(file_name), tensor, source=None)


def _dump(path: Path, tensor: Tensor, source: str | None) -> None:
    """Write a tensor, and what it was made of, if that is known."""
    tensors = tensor.tensors if isinstance(tensor, MeshTensor) else (tensor,)
    mesh = list(tensor.mesh.shape) if isinstance(tensor, MeshTensor) else None
    parts = [_stored(own) for own in tensors]
    told = json.dumps(
        {"specs": [spec_to_json(own.spec) for own in tensors], "mesh": mesh, "source": source}, separators=(",", ":")
    )
    header = _header([own.spec for own in tensors], told, parts)
    write_complete(path, [len(header).to_bytes(_LENGTH, "little"), header, *parts])


def _stored(tensor: Tensor) -> bytes:
    with in_order(tensor):
        return dense_elements(tensor.spec, tensor.buffer("dump_tensor")).tobytes()


@host_function()
def load_tensor(file_name: str | Path, *, device: Device | None = None) -> Tensor:
    """The tensor in a file that `dump_tensor` wrote (ttnn.load_tensor).

    Args:
        file_name: Which.
        device: Where it goes, and lies as the one that was written; None keeps it on the host.

    Raises:
        TensorFileError: There is no such file, it holds none of our tensors, or those of another mesh than `device`.
        GridError, L1CapacityError: It does not fit on `device`.
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
    """What a file holds, under `memory_config` if that is given; several tensors are those of `mesh`."""
    specs = [spec.with_(memory_config=memory_config) for spec in contents.specs]
    tensors = list(map(_host_tensor, specs, contents.parts))
    return tensors[0] if contents.mesh is None or mesh is None else MeshTensor(mesh, tensors)


def _host_tensor(spec: TensorSpec, elements: memoryview) -> Tensor:
    buffer = HOST_POOL.allocate(spec.nbytes)
    store_elements(spec, buffer, elements)
    return Tensor(spec, None, buffer)


# --- The format -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Contents:
    specs: Sequence[TensorSpec]
    mesh: list[int] | None
    parts: Sequence[memoryview]
    source: str | None


def _header(specs: Sequence[TensorSpec], told: str, parts: Sequence[bytes]) -> bytes:
    metadata = {"format": FORMAT, "ttnn": told, "crc32": str(_checksum(told, parts))}
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
    """What safetensors calls an element type: ``BF16``, ``F32``, ``U8``, ``I32``; bytes hold block floats."""
    if dtype.is_block_float:
        return "U8"
    return dtype.mlir.upper().replace("UI", "U").replace("SI", "I")


def _checksum(told: str, parts: Sequence[bytes | memoryview]) -> int:
    value = zlib.crc32(told.encode())
    for part in parts:
        value = zlib.crc32(part, value)
    return value


def _read(path: Path) -> _Contents:
    if not path.exists():
        raise TensorFileError(f"Unable to load the tensor from {path}: the file does not exist")
    if not path.is_file():
        raise TensorFileError(f"Unable to load the tensor from {path}: it is no file")
    data = memoryview(path.read_bytes())
    raised = DamagedFileError if _is_ours(data) else TensorFileError
    length = int.from_bytes(data[:_LENGTH], "little")
    if len(data) < _LENGTH or not 0 < length <= min(_MOST_HEADER, len(data) - _LENGTH):
        raise _no_tensor(raised, path, "its header is not that of one")
    try:
        contents = _parsed(bytes(data[_LENGTH : _LENGTH + length]), data[_LENGTH + length :])
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise _no_tensor(raised, path, f"its header says {error}") from None
    if contents is None:
        raise _no_tensor(raised, path, "it is damaged: its contents and its checksum do not agree")
    return contents


def _is_ours(data: memoryview) -> bool:
    """Whether a file, damaged or not, was written here; an empty one counts, since nothing is lost with it."""
    return not data or _BEGINNING in bytes(data[_LENGTH : _LENGTH + len(_BEGINNING)])


def _parsed(header: bytes, data: memoryview) -> _Contents | None:
    """What a file holds; None where the checksum is another.

    Raises:
        KeyError, TypeError, ValueError: The header is none of ours.
    """
    entries = json.loads(header)
    metadata = entries["__metadata__"]
    if metadata["format"] != FORMAT:
        raise ValueError(f"the format {metadata['format']!r}, not {FORMAT!r}")
    told = json.loads(metadata["ttnn"])
    specs = [checked(spec_from_json(fields)) for fields in told["specs"]]
    parts, offset = [], 0
    for spec in specs:
        parts.append(data[offset : offset + spec.nbytes_of_elements])
        offset += spec.nbytes_of_elements
    mesh, whole = told["mesh"], offset == len(data)
    if not whole or str(_checksum(metadata["ttnn"], parts)) != metadata["crc32"]:
        return None
    if len(specs) != (1 if mesh is None else MeshShape(mesh).mesh_size()):
        raise ValueError(f"{len(specs)} tensors of a mesh of {mesh}")
    return _Contents(specs, mesh, parts, told.get("source"))


def _no_tensor(raised: type[TensorFileError], path: Path, why: str) -> TensorFileError:
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
        tensor: Any strides; it may be None where a file holds the result.
        dtype: As of `from_torch`.
        layout: As of `from_torch`.
        device: As of `from_torch`.
        memory_config: As of `from_torch`.
        cache_file_name: The beginning of the file's name, behind which dtype and layout stand. The result is read from
            the file; where there is none, or a damaged one, of which a warning says so, it is made and written there.
            Processes may do so at once. The file keeps the element type, the shape and a checksum of `tensor`: one that
            was made of another is refused, as long as `tensor` is given.
        preprocess: Applied to `tensor` before it is converted; a result from a file went through it when it was made.
        mesh_mapper: What each device of a mesh gets; parts are kept in the file, a replicated tensor once.
        cache_dump_mode: How several hosts share the work; there is one.

    Raises:
        ArgumentError: There is neither a tensor nor a file; and whatever `from_torch` raises.
        TensorFileError: The file holds another shape, dtype or layout, was made of other weights, or by another
            program; it stays as it is.
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
    """What a file must hold; None of what is not known, or may be anything."""

    shape: tuple[int, ...] | None
    dtype: DataType | None
    layout: Layout | None
    memory_config: MemoryConfig
    mesh: Device | None
    source: str | None


def _source(tensor: object, mapper: TensorToMesh | None) -> str | None:
    """What tells weights from others: element type, shape, a checksum of the elements (one read of them), and the cut.

    None of what has no elements at hand: tensors of torch's meta device, and whatever `preprocess` makes a tensor of.
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
    """The file in which `as_tensor` keeps a tensor, as ttnn names it."""
    names = ["None" if each is None else each.name for each in (dtype, layout)]
    return Path(f"{cache_file_name}_dtype_{names[0]}_layout_{names[1]}.tensorbin")


def _cached(path: Path, expected: _Expected) -> Tensor | None:
    """The tensor in the file, on the host; None where there is no such file, or a damaged one."""
    if not path.is_file():
        return None
    try:
        return _as_expected(path, _read(path), expected)
    except DamagedFileError as error:
        warn_user(f"as_tensor: {path} is made anew: {error.message}")
        return None


def _as_expected(path: Path, contents: _Contents, expected: _Expected) -> Tensor:
    """What a file holds, on the host.

    Raises:
        TensorFileError: It is something else than is asked for.
    """
    for field in ("shape", "dtype", "layout"):
        wanted, has = getattr(expected, field), getattr(contents.specs[0], field)
        if wanted is not None and wanted != has:
            raise _other_tensor(path, f"a tensor whose {field} is {_shown(has)}, and {_shown(wanted)} is asked for")
    if None not in (expected.source, contents.source) and expected.source != contents.source:
        raise _other_tensor(path, f"a tensor made of {contents.source}, and one of {expected.source} is asked for")
    mesh = expected.mesh if isinstance(expected.mesh, MeshDevice) else None
    if contents.mesh != (None if mesh is None else list(mesh.shape)):
        raise _other_tensor(path, f"tensors of a mesh {contents.mesh}, and {mesh} is asked for")
    return _on_host(contents, mesh, expected.memory_config)


def _shown(value: object) -> str:
    return str(list(value)) if isinstance(value, (tuple, Sequence)) else str(value)


def _other_tensor(path: Path, what: str) -> TensorFileError:
    return TensorFileError(
        f"as_tensor: {path} holds {what}",
        help="the file stays as it is: pass another `cache_file_name`, or remove the file to have it made anew",
    )
