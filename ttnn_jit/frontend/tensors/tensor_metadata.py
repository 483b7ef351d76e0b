"""Metadata of tensors of torch and numpy in programs, with the names and classes of their library.

Metadata in which the calls of one program may differ, such as `requires_grad`, is left out.
"""

from __future__ import annotations

import math
import sys
import types
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from ttnn_jit.foreign.values import ABSENT, is_python_class
from ttnn_jit.frontend.plain_numbers import SymbolicSize, plain
from ttnn_jit.frontend.tensors.program_tensor import ProgramTensor
from ttnn_jit.ops.movement.view_rules import are_dense
from ttnn_jit.runtime.libraries import NUMPY, TORCH, TensorLibrary
from ttnn_jit.specs.dtypes import dtype_named_elsewhere
from ttnn_jit.specs.extents.extent import is_symbolic
from ttnn_jit.specs.tensor_spec import Layout

MetadataQuery = Callable[..., Any]
"""From a tensor of the program, and arguments, to a value of its metadata."""

Listed = TypeVar("Listed")


def library_of(tensor: ProgramTensor) -> str | None:
    """The library whose metadata the tensor returns, torch or numpy; None for ttnn, as in functions of the host API."""
    return _LIBRARIES.get(tensor.emitter.metadata_library)


def element_type(tensor: ProgramTensor) -> Any:
    """Its ``.dtype``, that of its library."""
    dtype, library = tensor.spec.dtype, tensor.emitter.library
    if library_of(tensor) is None:
        return dtype
    if library is NUMPY and not dtype.is_upper_half:  # numpy has no bfloat16
        return sys.modules["numpy"].dtype(dtype.traits.numpy)
    return dtype.torch if library is TORCH else dtype


def extents(tensor: ProgramTensor) -> Any:
    """Its ``.shape``, of its library's class."""
    shape, library = tensor.spec.shape, library_of(tensor)
    if library == "torch":
        return handed_out(tensor, SymbolicSize(shape) if is_symbolic(shape) else sys.modules["torch"].Size(shape))
    return handed_out(tensor, shape if library is None else tuple(shape))


def handed_out(tensor: ProgramTensor, value: Any) -> Any:
    """`value`, a part of the metadata, for the user's code: plain ints if that runs natively."""
    return value if tensor.emitter.keeps_extents or tensor.emitter.metadata_library is None else plain(value)


def layout_of(tensor: ProgramTensor) -> Any:
    """Its ``.layout``: that of torch, or that of ttnn."""
    return sys.modules["torch"].strided if library_of(tensor) == "torch" else tensor.spec.layout


def ttnn_equivalent(value: Any) -> Any:
    """The element type or layout of ttnn for one of torch's or numpy's; any other value unchanged."""
    torch = sys.modules.get("torch")
    if torch is not None and value is torch.strided:
        return Layout.ROW_MAJOR
    return dtype_named_elsewhere(value) or value


def device_of(tensor: ProgramTensor) -> Any:
    """Its ``.device`` if it is a tensor of torch's or numpy's: the host."""
    return "cpu" if tensor.emitter.library is NUMPY else sys.modules["torch"].device("cpu")


def metadata_attribute(tensor: ProgramTensor, name: str) -> Any:
    """The value of the metadata property, or the bound metadata method, `name`; ABSENT if there is none."""
    library = tensor.emitter.library
    if name in (properties := _PROPERTIES.get(library, {})):
        return handed_out(tensor, properties[name](tensor))
    methods = _METHODS_OF_TORCH if library is TORCH else {}
    return types.MethodType(_handing_out(methods[name]), tensor) if name in methods else ABSENT


def _handing_out(query: MetadataQuery) -> MetadataQuery:
    return lambda tensor, *args, **kwargs: handed_out(tensor, query(tensor, *args, **kwargs))


def metadata_function(function: Any) -> MetadataQuery | None:
    """The implementation of a metadata function of torch's or numpy's; None for other functions."""
    query = table_entry(function, _FUNCTIONS)
    return None if query is None else _handing_out(query)


def table_entry(function: Any, tables: Mapping[str, Mapping[str, Listed]]) -> Listed | None:
    """The entry of a function in its library's table, by name; None if there is none."""
    if is_python_class(type(function)):
        return None  # its `__name__` may be any
    name: Any = getattr(function, "__name__", None)
    for library, table in tables.items():
        if name in table and getattr(sys.modules.get(library), name, None) is function:
            return table[name]
    return None


def length(tensor: ProgramTensor) -> int:
    """``len(tensor)``."""
    if not tensor.spec.shape:
        tensor.refuse("TypeError: len() of a 0-d tensor")
    extent: int = handed_out(tensor, tensor.spec.shape[0])
    return extent


def _size(tensor: ProgramTensor, dim: int | None = None) -> Any:
    return tensor.shape if dim is None else _at(tensor, tensor.spec.shape, dim)


def _at(tensor: ProgramTensor, numbers: tuple[int, ...], dim: int) -> int:
    rank = len(numbers)
    if not -rank <= dim < rank:
        tensor.refuse(f"IndexError: dimension {dim} of a tensor of {rank} dimensions")
    return numbers[dim]


def _known_strides(tensor: ProgramTensor) -> tuple[int, ...]:
    if tensor.strides_in_elements is None:
        tensor.refuse("the strides of this tensor are not known", "`.contiguous()` has those of its shape")
    return tuple(tensor.strides_in_elements)


def _strides(tensor: ProgramTensor) -> tuple[int, ...]:
    return tuple(_stride_along(tensor, dim) for dim in range(_rank(tensor)))


def _stride_along(tensor: ProgramTensor, dim: int) -> int:
    if _at(tensor, tensor.spec.shape, dim) == 1:
        tensor.refuse("the stride of a dimension of one element may be any number", "use its `.shape`")
    return _at(tensor, _known_strides(tensor), dim)


def _stride(tensor: ProgramTensor, dim: int | None = None) -> Any:
    return _strides(tensor) if dim is None else _stride_along(tensor, dim)


def _rank(tensor: ProgramTensor) -> int:
    return len(tensor.spec.shape)


def _count(tensor: ProgramTensor) -> int:
    return math.prod(tensor.spec.shape)


def _count_along(tensor: ProgramTensor, axis: int | None = None) -> int:
    return _count(tensor) if axis is None else _at(tensor, tensor.spec.shape, axis)


def _itemsize(tensor: ProgramTensor) -> int:
    return int(element_type(tensor).itemsize)


def _nbytes(tensor: ProgramTensor) -> int:
    return _count(tensor) * _itemsize(tensor)


def _is_float(tensor: ProgramTensor) -> bool:
    return not tensor.spec.dtype.is_integer


def _is_signed(tensor: ProgramTensor) -> bool:
    return bool(element_type(tensor).is_signed)


def _is_contiguous(tensor: ProgramTensor) -> bool:
    return are_dense(tuple(tensor.spec.shape), _known_strides(tensor))


def _never(_: ProgramTensor) -> bool:
    return False


_LIBRARIES: dict[TensorLibrary | None, str] = {TORCH: "torch", NUMPY: "numpy"}

_METHODS_OF_TORCH: dict[str, MetadataQuery] = {
    "dim": _rank, "ndimension": _rank, "size": _size, "numel": _count, "nelement": _count, "stride": _stride,
    "element_size": _itemsize, "is_contiguous": _is_contiguous, "is_floating_point": _is_float,
    "is_signed": _is_signed, "is_complex": _never, "is_conj": _never, "is_neg": _never,
    "get_device": lambda _: -1,
}  # fmt: skip

_OF_BOTH: dict[str, MetadataQuery] = {"ndim": _rank, "itemsize": _itemsize, "nbytes": _nbytes}
_NO_OTHER_KIND = ("is_cuda", "is_mps", "is_xpu", "is_meta", "is_sparse", "is_quantized", "is_mkldnn", "is_nested")

_PROPERTIES: dict[TensorLibrary | None, dict[str, MetadataQuery]] = {
    TORCH: {**_OF_BOTH, **dict.fromkeys(_NO_OTHER_KIND, _never), "is_cpu": lambda _: True},
    NUMPY: {
        **_OF_BOTH,
        "size": _count,
        "strides": lambda tensor: tuple(step * _itemsize(tensor) for step in _strides(tensor)),
    },
}

_FUNCTIONS: dict[str, dict[str, MetadataQuery]] = {
    "torch": {name: _METHODS_OF_TORCH[name] for name in ("numel", "is_floating_point", "is_signed", "is_complex")},
    "numpy": {"ndim": _rank, "shape": lambda tensor: tensor.shape, "size": _count_along},
}
