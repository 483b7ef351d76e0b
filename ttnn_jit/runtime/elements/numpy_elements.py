"""Read, fill and relayout the elements of a tensor with numpy, without torch."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ttnn_jit.runtime.memory.buffer import Buffer
from ttnn_jit.specs.tensor_spec import DataType, Layout, TensorSpec

if TYPE_CHECKING:
    import numpy


def owning_bytes(buffer: Buffer, nbytes: int) -> ctypes.Array[ctypes.c_char]:
    """The first bytes of `buffer`; the array keeps the buffer alive."""
    memory = (ctypes.c_char * nbytes).from_address(buffer.address)
    memory._ttnn_jit_buffer = buffer  # type: ignore[attr-defined]  # ctypes instances have a __dict__
    return memory


def numbers(spec: TensorSpec, buffer: Buffer) -> numpy.ndarray[Any, Any]:
    """A dense numpy copy of the logical elements of a tensor of `spec` in `buffer`.

    Its dtype is the same type, or float32 for floats of 16 bits, each of which it represents.
    """
    import numpy

    if spec.dtype.is_block_float:
        return unpack(spec, buffer)
    bits = _logical_bits(spec, buffer)
    if spec.dtype.is_upper_half:
        return floats_of_bfloat16(numpy.array(bits, order="C"))
    stored = numpy.array(bits, order="C")
    if spec.dtype.is_ieee_half:
        return stored.view(numpy.float16).astype(numpy.float32)
    return stored.view(spec.dtype.traits.numpy)


def fill(spec: TensorSpec, buffer: Buffer, number: float) -> None:
    """Set every logical element to `number` and padding to zero.

    Floats are rounded to float32 and then to the dtype of `spec`, unless it is wider. An integer dtype must represent
    `number` exactly.
    """
    if spec.dtype.is_block_float:
        import numpy

        pack(numpy.broadcast_to(_float(number)[0], tuple(spec.shape)), spec, buffer)
        return
    zero_padding(spec, buffer)
    _logical_bits(spec, buffer)[...] = _bits_of(number, spec.dtype)


def _bits_of(number: float, dtype: DataType) -> int:
    if dtype.is_integer:
        return int(number) % (1 << 8 * dtype.itemsize)
    import numpy

    exact = numpy.array([number], numpy.float64)
    return int(_bits_of_floats(exact if dtype.compute.is_wide else _floats(exact), dtype)[0])


def _float(number: float) -> numpy.ndarray[Any, Any]:
    """The nearest float32 number, in an array of one element."""
    import numpy

    return _floats(numpy.array([number], numpy.float64))


def _bits_of_floats(floats: numpy.ndarray[Any, Any], dtype: DataType) -> numpy.ndarray[Any, Any]:
    """The bits of numbers, rounded to nearest even if `dtype` is narrower; those of bfloat16 are float32 numbers."""
    import numpy

    if not dtype.is_upper_half:
        with numpy.errstate(over="ignore"):
            stored: numpy.ndarray[Any, Any] = floats.astype(f"float{8 * dtype.itemsize}").view(_unsigned(dtype))
        return stored
    bits = floats.view(numpy.uint32)
    return numpy.where(numpy.isnan(floats), 0x7FC0, (bits + (0x7FFF + (bits >> 16 & 1))) >> 16)


def write_numbers(values: Sequence[float] | numpy.ndarray[Any, Any], spec: TensorSpec, buffer: Buffer) -> None:
    """Set the logical elements to `values`, an array or a sequence in row-major order, and padding to zero.

    Each value is rounded once, to nearest even. Integers keep their low bits in a narrower type. Floats converted to an
    integer type are truncated and saturated; NaN becomes 0.
    """
    import numpy

    array = values if isinstance(values, numpy.ndarray) else numpy.array(values, numpy.float64)
    array = array.reshape(tuple(spec.shape))
    if spec.dtype.is_block_float:
        pack(_floats(array), spec, buffer)
        return
    zero_padding(spec, buffer)
    if spec.dtype.is_integer:
        bits = _integers(array, spec.dtype)
    else:
        bits = _bits_of_floats(_rounded_to_odd(array) if spec.dtype.is_upper_half else array, spec.dtype)
    _logical_bits(spec, buffer)[...] = bits.astype(_unsigned(spec.dtype))


def _integers(array: numpy.ndarray[Any, Any], dtype: DataType) -> numpy.ndarray[Any, Any]:
    """Values that convert to an integer `dtype` by dropping high bits: floats are truncated and saturated first."""
    import numpy

    if array.dtype.kind != "f":
        return array
    limits = dtype.values
    whole: numpy.ndarray[Any, Any] = numpy.nan_to_num(array.astype(numpy.float64)).clip(limits[0], limits[-1])
    return whole.astype(numpy.int64)


def _floats(array: numpy.ndarray[Any, Any]) -> numpy.ndarray[Any, Any]:
    """The nearest float32 numbers."""
    import numpy

    with numpy.errstate(over="ignore"):
        return array.astype(numpy.float32)


def _rounded_to_odd(array: numpy.ndarray[Any, Any]) -> numpy.ndarray[Any, Any]:
    """Values rounded to odd in float32, so that rounding them to bfloat16 rounds once (see `torch_elements`)."""
    import numpy

    nearest = _floats(array)
    exact = array.astype(numpy.float64)
    direction = numpy.where(exact > nearest, numpy.float32(numpy.inf), numpy.float32(-numpy.inf))
    with numpy.errstate(over="ignore", under="ignore"):
        adjacent = numpy.nextafter(nearest, direction)
    keep = (nearest == exact) | (nearest.view(numpy.uint32) % 2 == 1) | numpy.isnan(nearest)
    return numpy.where(keep, nearest, adjacent)


def lay_out(source_spec: TensorSpec, source: Buffer, spec: TensorSpec, buffer: Buffer) -> None:
    """Copy the logical elements of a tensor to `buffer` in the layout of `spec`, of the same shape and dtype."""
    if spec.dtype.is_block_float:
        ctypes.memmove(buffer.address, source.address, spec.nbytes)
        return
    zero_padding(spec, buffer)
    _logical_bits(spec, buffer)[...] = _logical_bits(source_spec, source)


def dense_elements(spec: TensorSpec, buffer: Buffer) -> numpy.ndarray[Any, Any]:
    """A copy of the bits of the logical elements, row-major and without padding.

    For block floats, the bytes of the packed tiles.
    """
    import numpy

    if spec.dtype.is_block_float:
        return numpy.array(_stored_bytes(spec, buffer))
    return numpy.array(_logical_bits(spec, buffer), order="C")


def store_elements(spec: TensorSpec, buffer: Buffer, elements: bytes | memoryview) -> None:
    """The inverse of `dense_elements`: fill a tensor's memory; padding becomes zero."""
    import numpy

    if spec.dtype.is_block_float:
        _stored_bytes(spec, buffer)[...] = numpy.frombuffer(elements, numpy.uint8)
        return

    zero_padding(spec, buffer)
    _logical_bits(spec, buffer)[...] = numpy.frombuffer(elements, _unsigned(spec.dtype)).reshape(tuple(spec.shape))


def pack(values: numpy.ndarray[Any, Any], spec: TensorSpec, buffer: Buffer) -> None:
    """Write float32 `values` to a tensor of block floats; padding becomes zero."""
    import numpy

    from ttnn_jit.kernels.block_floats.block_floats import packed

    if not spec.nbytes:
        return
    padded = numpy.zeros(spec.padded_shape, numpy.float32)
    _logical(padded, spec)[...] = values
    _stored_bytes(spec, buffer)[...] = packed(padded, spec.dtype)


def unpack(spec: TensorSpec, buffer: Buffer) -> numpy.ndarray[Any, Any]:
    """The logical elements of a tensor of block floats, as a dense float32 array."""
    import numpy

    from ttnn_jit.kernels.block_floats.block_floats import unpacked

    padded = unpacked(_stored_bytes(spec, buffer), spec.padded_shape, spec.dtype)
    return numpy.ascontiguousarray(_logical(padded, spec)).reshape(tuple(spec.shape))


def _stored_bytes(spec: TensorSpec, buffer: Buffer) -> numpy.ndarray[Any, Any]:
    import numpy

    return numpy.frombuffer(memoryview(owning_bytes(buffer, spec.nbytes)), numpy.uint8)


def _logical(padded: numpy.ndarray[Any, Any], spec: TensorSpec) -> numpy.ndarray[Any, Any]:
    """The logical elements of a tiled tensor, without padding."""
    height, width = (1, 1, *spec.shape)[-2:]
    return padded[..., :height, :width]


def zero_padding(spec: TensorSpec, buffer: Buffer) -> None:
    """Set every padding element to zero."""
    if spec.layout is Layout.ROW_MAJOR or not spec.nbytes:
        return
    import numpy

    stored = numpy.frombuffer(memoryview(owning_bytes(buffer, spec.nbytes)), _unsigned(spec.dtype)).reshape(
        spec.padded_shape
    )
    height, width = (1, 1, *spec.shape)[-2:]
    stored[..., height:, :] = 0
    stored[..., :height, width:] = 0


def _logical_bits(spec: TensorSpec, buffer: Buffer) -> numpy.ndarray[Any, Any]:
    """The bits of the logical elements, in place."""
    import numpy

    unsigned = numpy.dtype(_unsigned(spec.dtype))
    if not spec.volume:
        return numpy.empty(tuple(spec.shape), unsigned)
    strides = tuple(stride * unsigned.itemsize for stride in spec.element_strides)
    return numpy.ndarray(tuple(spec.shape), unsigned, memoryview(owning_bytes(buffer, spec.nbytes)), strides=strides)


def _unsigned(dtype: DataType) -> str:
    """The numpy name of the unsigned integer type of the size of `dtype`."""
    return f"uint{8 * dtype.itemsize}"


def floats_of_bfloat16(bits: numpy.ndarray[Any, Any]) -> numpy.ndarray[Any, Any]:
    """The float32 numbers whose upper halves are `bits`: bfloat16 numbers, which numpy lacks."""
    import numpy

    wide = bits.astype(numpy.uint32)
    wide <<= 16
    return wide.view(numpy.float32)


def numpy_array(spec: TensorSpec, buffer: Buffer) -> numpy.ndarray[Any, Any]:
    """A dense numpy array of `spec`'s shape and dtype over the memory of `buffer`; the array keeps it alive."""
    import numpy

    memory = memoryview(owning_bytes(buffer, spec.nbytes_of_elements))
    return numpy.frombuffer(memory, dtype=spec.dtype.traits.numpy).reshape(spec.shape)
