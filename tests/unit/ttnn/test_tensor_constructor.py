"""`ttnn.Tensor(...)`, and what tensors tell of themselves."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import ArgumentError, DTypeError, ShapeError
from ttnn_jit.runtime.tensors.tensor import Tensor

FLOAT32, ROWS, TILES = ttnn.float32, ttnn.ROW_MAJOR_LAYOUT, ttnn.TILE_LAYOUT
DTYPES = st.sampled_from([ttnn.bfloat16, ttnn.float32, ttnn.int32, ttnn.uint32, ttnn.uint16, ttnn.uint8])
SHAPES = st.lists(st.integers(0, 5), min_size=1, max_size=4)


@settings(deadline=None)
@given(shape=SHAPES, dtype=DTYPES, layout=st.sampled_from([ROWS, TILES]), data=st.data())
def test_numbers_and_a_shape_make_the_tensor_that_torch_makes(shape, dtype, layout, data):
    size = int(np.prod(shape))
    numbers = data.draw(st.lists(st.integers(0, 255), min_size=size, max_size=size))
    tensor = ttnn.Tensor(numbers, shape, dtype, layout)
    assert (tensor.shape, tensor.dtype, tensor.layout, tensor.device()) == (shape, dtype, layout, None)
    expected = torch.tensor(numbers, dtype=torch.float64).reshape(shape)
    assert torch.equal(tensor.to_torch().double(), expected)
    assert tensor.to_list() == expected.tolist()
    assert (tensor.volume(), tensor.logical_volume()) == (size, size)


@settings(deadline=None)
@given(values=st.lists(st.floats(width=32), min_size=1, max_size=40))
def test_floats_are_rounded_once_as_torch_rounds_them(values):
    tensor = ttnn.Tensor(values, [len(values)], ttnn.bfloat16, ROWS)
    expected = torch.tensor(values, dtype=torch.float32).bfloat16()
    assert torch.equal(tensor.to_torch().nan_to_num(7), expected.nan_to_num(7))


@settings(deadline=None)
@given(array=arrays.arrays(np.float32, arrays.array_shapes(max_dims=3, max_side=5)), transposed=st.booleans())
def test_numpy_arrays_and_torch_tensors_of_any_strides_are_copied(array, transposed):
    array = array.T if transposed else array
    for source in (array, torch.from_numpy(array)):
        tensor = ttnn.Tensor(source)
        assert tensor.dtype is FLOAT32
        assert np.array_equal(np.asarray(tensor), array, equal_nan=True)
        half = ttnn.Tensor(source, ttnn.bfloat16)
        expected = torch.from_numpy(array.copy()).bfloat16()
        assert torch.equal(half.to_torch().nan_to_num(7), expected.nan_to_num(7))


NUMBERS = st.one_of(st.floats(allow_nan=False), st.integers(-(2**63), 2**63 - 1), st.sampled_from([float("nan"), -0.0]))


@settings(deadline=None)
@given(
    numbers=st.lists(NUMBERS, min_size=1, max_size=9),
    kind=st.sampled_from(["f2", "f4", "f8", ">f4", "i1", "u1", "i2", "i4", "i8", "?"]),
    dtype=st.sampled_from([*ttnn.DataType][:9]),
)
def test_numpy_arrays_become_what_torch_tensors_of_their_numbers_do(numbers, kind, dtype):
    with np.errstate(all="ignore"):
        array = np.array(numbers, np.float64).astype(kind)
    expected = ttnn.from_torch(torch.from_numpy(array.astype(array.dtype.newbyteorder("="))), dtype)
    made = ttnn.Tensor(array, dtype)
    assert made.spec is expected.spec
    assert made.to_torch().equal(expected.to_torch()) or np.array_equal(
        *map(np.asarray, (made, expected)), equal_nan=True
    )


def test_a_tensor_is_made_on_a_device_where_a_config_says(device):
    x = torch.randn(64, 64)
    for tensor in (
        ttnn.Tensor(x, ttnn.bfloat16, device, TILES, ttnn.L1_MEMORY_CONFIG),
        ttnn.Tensor(tensor=x, data_type=ttnn.bfloat16, device=device, layout=TILES, mem_config=ttnn.L1_MEMORY_CONFIG),
        ttnn.Tensor(x.reshape(-1).tolist(), [64, 64], ttnn.bfloat16, TILES, device, ttnn.L1_MEMORY_CONFIG),
        ttnn.Tensor(x, ttnn.bfloat16).to(TILES).to(device, ttnn.L1_MEMORY_CONFIG),
        ttnn.Tensor(x, ttnn.bfloat16).to(TILES).to(device, mem_config=ttnn.L1_MEMORY_CONFIG),
    ):
        assert (tensor.device(), tensor.layout, tensor.memory_config()) == (device, TILES, ttnn.L1_MEMORY_CONFIG)
        assert torch.equal(tensor.cpu(blocking=False).to_torch(), x.bfloat16())


@pytest.mark.parametrize("dtype", [ttnn.float32, ttnn.bfloat16, ttnn.bfloat8_b, ttnn.uint32, ttnn.uint8])
def test_a_list_and_a_shape_make_a_tensor_on_a_device(dtype, device):
    tensor = ttnn.from_buffer(buffer=[1, 2, 3, 4, 5, 6], shape=[2, 3], dtype=dtype, device=device)
    assert (tensor.device(), tensor.dtype) == (device, dtype)
    assert tensor.layout is (TILES if dtype is ttnn.bfloat8_b else ROWS)
    assert tensor.to_list() == [[1, 2, 3], [4, 5, 6]]


def test_a_list_and_a_shape_make_a_tensor_of_a_mesh_or_are_refused(device):
    mesh = ttnn.open_mesh_device((1, 2))
    tensor = ttnn.from_buffer([1.5, 2], [1, 2], FLOAT32, mesh, TILES, ttnn.L1_MEMORY_CONFIG)
    assert [each.to_list() for each in ttnn.get_device_tensors(tensor)] == [[[1.5, 2]]] * 2
    ttnn.close_mesh_device(mesh)
    with pytest.raises(ShapeError, match=r"ttnn.from_buffer: 2 numbers do not make up a shape of \[3\]"):
        ttnn.from_buffer([1, 2], [3], FLOAT32, device)
    with pytest.raises(ArgumentError, match=r"a number of ttnn.from_buffer is 256"):
        ttnn.from_buffer([256], [1], ttnn.uint8, device)
    with pytest.raises(ArgumentError, match=r"`device` of from_buffer must be a ttnn.Device, got None"):
        ttnn.from_buffer([1], [1], FLOAT32, None)


def test_a_tensor_of_a_tensor_shares_its_memory(device):
    tensor = ttnn.Tensor(torch.ones(3), device=device)
    assert ttnn.Tensor(tensor).buffer_address() == tensor.buffer_address()
    assert type(ttnn.Tensor(tensor)) is Tensor


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: ttnn.Tensor([1, 2, 3], [2, 2], FLOAT32, ROWS), ShapeError, "3 numbers do not make up a shape"),
        (lambda: ttnn.Tensor([[1, 2], [3, 4]], [2, 2], FLOAT32, ROWS), ArgumentError, "a flat list of numbers"),
        (lambda: ttnn.Tensor("12", [2], FLOAT32, ROWS), ArgumentError, "takes numbers in a list"),
        (lambda: ttnn.Tensor([1, "2"], [2], FLOAT32, ROWS), ArgumentError, "a flat list of numbers, got str"),
        (
            lambda: ttnn.Tensor([1, 2], [2]),
            ArgumentError,
            "missing a required argument: 'data_type'\nhelp: it is written",
        ),
        (lambda: ttnn.Tensor(), ArgumentError, "missing a required argument: 'data'"),
        (lambda: ttnn.Tensor(torch.ones(2), dtyp=FLOAT32), ArgumentError, "unexpected keyword argument 'dtyp'"),
        (lambda: ttnn.Tensor([256], [1], ttnn.uint8, ROWS), ArgumentError, "256, and UINT8 holds 0 to 255"),
        (lambda: ttnn.Tensor([1], [-1], FLOAT32, ROWS), ShapeError, "do not make up a shape of"),
        (
            lambda: ttnn.Tensor([1], [1], torch.float32, ROWS),
            ArgumentError,
            "`data_type` of ttnn.Tensor must be a ttnn.DataType",
        ),
        (lambda: ttnn.Tensor(np.array(["a"])), DTypeError, "makes no tensor of a numpy array of <U1"),
        (lambda: ttnn.Tensor(np.ones(2, np.complex64)), DTypeError, "`array.real` and `array.imag`"),
        (lambda: ttnn.Tensor(np.ones(2)), DTypeError, r"numpy's float64 are not supported\nhelp: cast it"),
        (lambda: ttnn.Tensor(np.ma.array([1.0])), ArgumentError, "would lose its mask"),
        (lambda: ttnn.Tensor(torch.ones(2, dtype=torch.complex64)), ArgumentError, "imaginary part"),
        (lambda: ttnn.Tensor(ttnn.ones((2,)), FLOAT32), ArgumentError, "makes no copy\nhelp: use `ttnn.clone`"),
    ],
)
def test_what_makes_no_tensor_is_refused_with_the_way_to_write_it(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_a_mesh_needs_another_function():
    mesh = ttnn.open_mesh_device((1, 2))
    with pytest.raises(ArgumentError, match=r"help: use `ttnn.from_torch\(..., device=mesh, mesh_mapper=...\)`"):
        ttnn.Tensor(torch.ones(2), device=mesh)
    ttnn.close_mesh_device(mesh)


def test_the_only_element_is_an_item_and_others_are_none(device):
    for value, dtype in ((1.5, ttnn.bfloat16), (-7, ttnn.int32), (2**32 - 1, ttnn.uint32)):
        number = ttnn.full((1, 1), value, dtype, TILES, device).item()
        assert (number, type(number)) == (value, type(value))
    with pytest.raises(RuntimeError, match=r"has 2 elements\nhelp: choose one"):
        ttnn.ones((2,)).item()


def test_a_tensor_tells_its_stored_size():
    tensor = ttnn.zeros((2, 5, 40), layout=TILES)
    assert tensor.padded_shape == (2, 32, 64)
    assert (tensor.volume(), tensor.physical_volume(), tensor.element_size()) == (400, 4096, 2)
    assert (tensor.get_dtype(), tensor.get_layout(), tensor.tile.tile_shape) == (ttnn.bfloat16, TILES, (32, 32))


@settings(deadline=None)
@given(shape=SHAPES, rank=st.integers(0, 6))
def test_a_shape_of_another_rank_gains_or_loses_ones_in_front(shape, rank):
    extents = ttnn.Shape(shape)
    front = shape[: max(0, len(shape) - rank)]
    if all(extent == 1 for extent in front):
        assert extents.to_rank(rank) == [1] * (rank - len(shape)) + shape[len(front) :]
        assert extents.to_rank(rank).rank == rank
    else:
        with pytest.raises(ShapeError, match="has no form of rank"):
            extents.to_rank(rank)
