"""Types of values in texts as specs of tensors."""

from __future__ import annotations

import re
from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX, ComplexType, TensorType
from xdsl.ir import Attribute

from ttnn_jit.diagnostics.errors import DTypeError, ShapeError
from ttnn_jit.dialects.ttcore import TileType
from ttnn_jit.dialects.upstream.rewriting.d2m_rules.metal_types import layout_of, tile_of
from ttnn_jit.specs.dtypes import ALL_DTYPES, DataType
from ttnn_jit.specs.tensor_spec import HOST_MEMORY_CONFIG, Layout, TensorSpec

MAX_TENSOR_BYTES = 2**36
"""A larger tensor is refused before anything is allocated."""

_SIGNLESS = {f"i{8 * dtype.itemsize}": dtype for dtype in ALL_DTYPES if dtype.mlir.startswith("si")}
_DTYPES = {dtype.mlir: dtype for dtype in ALL_DTYPES} | _SIGNLESS
_DTYPES["ui1"] = _DTYPES["i1"]
"""Spelling of an element type in a text -> the type; integers without a sign are signed."""


_QUANTIZED = re.compile(r"!quant\.uniform<(\w+)")
"""A quantized type; its numbers are stored as the integer type that it names."""


def is_tensor(type_: Attribute) -> bool:
    """Whether values of a type are tensors; devices and semaphores are not."""
    return isinstance(type_, TensorType)


def has_complex_numbers(type_: Attribute) -> bool:
    """Whether the elements of a tensor are complex numbers, which are computed as pairs of floats."""
    return isinstance(type_, TensorType) and isinstance(type_.get_element_type(), ComplexType)


def element_in_text(type_: Attribute) -> str:
    """The element type of a tensor, as its text spells it."""
    return str(type_.get_element_type()) if isinstance(type_, TensorType) else str(type_)


def dtype_in_text(element: Attribute) -> DataType:
    """The element type that a text names.

    Raises:
        DTypeError: Nothing is computed in that type here.
    """
    if isinstance(element, TileType):
        return element.dtype
    spelling = str(element)
    quantized = _QUANTIZED.match(spelling)
    found = _DTYPES.get(re.sub(r"^u(?=\d)", "ui", quantized[1]) if quantized else spelling)
    if found is None:
        known = ", ".join(sorted(_DTYPES))
        raise DTypeError(f"tensors of {element} are not computed here", help=f"element types are {known}")
    return found


def spec_of_element(shape: Sequence[int], element: str) -> TensorSpec:
    """The spec of dense rows on the host of an element type that `dtype_in_text` knows."""
    return TensorSpec(tuple(shape), _DTYPES[element], Layout.ROW_MAJOR, HOST_MEMORY_CONFIG)


def spec_on_device(type_: Attribute) -> TensorSpec:
    """The spec of a tensor of d2m: of tiles with the two dimensions of one, as the numbers that they hold.

    Raises:
        DTypeError: Nothing is computed in its element type here.
    """
    assert isinstance(type_, TensorType)
    dtype = dtype_in_text(type_.element_type).unpacked
    shape = (*type_.get_shape(), *tile_of(type_.element_type))
    return TensorSpec(shape, dtype, Layout.ROW_MAJOR, HOST_MEMORY_CONFIG)


def spec_in_text(type_: Attribute) -> TensorSpec:
    """The spec of a value: dense rows on the host, whatever layout the text says, for no number depends on it.

    A tensor in a layout of metal has the dimensions of grid, shard and tile (`spec_on_device`). Complex numbers are
    floats, whose last dimension holds real and imaginary parts.

    Raises:
        DTypeError, ShapeError: There is no tensor of that type here.
    """
    if not isinstance(type_, TensorType):
        raise ShapeError(f"{type_} is no tensor")
    if layout_of(type_) is not None:
        return spec_on_device(type_)
    if DYNAMIC_INDEX in type_.get_shape():
        raise ShapeError(f"{type_} has extents that the text leaves open", help="write every extent as a number")
    element, shape = type_.get_element_type(), tuple(type_.get_shape())
    if isinstance(element, ComplexType):
        element, shape = element.element_type, (*shape, 2)
    dtype = dtype_in_text(element)
    layout = Layout.TILE if dtype.is_block_float else Layout.ROW_MAJOR
    spec = TensorSpec(shape, dtype, layout, HOST_MEMORY_CONFIG)
    if spec.nbytes > MAX_TENSOR_BYTES:
        raise ShapeError(f"{type_} takes {spec.nbytes:,} bytes, and at most {MAX_TENSOR_BYTES:,} are allocated")
    return spec
