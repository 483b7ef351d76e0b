"""Integer tensors: conversion, compiled functions of all kinds of tensors, and refusals."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import ttnn_jit
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import ArgumentError, CompileError, DTypeError
from ttnn_jit.dialects import parse_module, print_module
from ttnn_jit.runtime.tensors.tensor import torch_copy
from ttnn_jit.specs.dtypes import INTEGERS
from ttnn_jit.specs.tensor_spec import DataType

BY_NAME = sorted((dtype for dtype in INTEGERS if not dtype.is_foreign), key=lambda dtype: dtype.name)
EACH = pytest.mark.parametrize("dtype", BY_NAME, ids=lambda dtype: dtype.mlir)


def extremes(dtype, shape=(64, 32)):
    generator = torch.Generator().manual_seed(dtype.value)
    values = torch.randint(dtype.values[0], dtype.values[-1] + 1, shape, generator=generator)
    values.view(-1)[:2] = torch.tensor([dtype.values[0], dtype.values[-1]])
    return values.to(dtype.torch)


def on(device, tensor):
    return ttnn.from_torch(tensor, layout=ttnn.TILE_LAYOUT, device=device)


@ttnn_jit.jit()
def masked(x, y):
    return ttnn.bitwise_and(ttnn.add(x, y), 127)


def expected_of_masked(x, y):
    return ((x.to(torch.int64) + y.to(torch.int64)) & 127).to(x.dtype)


@EACH
def test_torch_numpy_and_ttnn_tensors_have_one_result(device, cpu_device, dtype):
    x, y = extremes(dtype), extremes(dtype).flip(0)
    expected = expected_of_masked(x, y)
    assert torch.equal(masked(x, y), expected)
    result = masked(x.numpy(), y.numpy())
    assert result.dtype == x.numpy().dtype
    assert np.array_equal(result, expected.numpy())
    for each_device in (device, cpu_device):
        result = masked(on(each_device, x), on(each_device, y))
        assert result.dtype is dtype
        assert torch.equal(torch_copy(result), expected)


@EACH
def test_a_result_is_reproduced_by_the_warm_path_and_by_the_disk(dtype):
    x, y = extremes(dtype, (300, 500)), extremes(dtype, (300, 500)).flip(0)
    expected = expected_of_masked(x, y)
    function = ttnn_jit.jit()(masked.func)
    assert all(torch.equal(function(x, y), expected) for _ in range(3))
    assert all(np.array_equal(function(x.numpy(), y.numpy()), expected.numpy()) for _ in range(3))
    before = ttnn_jit.cache_info()
    assert torch.equal(ttnn_jit.jit()(masked.func)(x, y), expected)
    assert ttnn_jit.cache_info().compiles == before.compiles


def test_a_kernel_of_integers_is_fused_and_reported(device):
    x = on(device, extremes(DataType.INT32))
    report = masked.explain(x, x)
    assert [kernel.ops for kernel in report.kernels] == [("add", "bitwise_and")]
    assert "4 DST tiles" in str(report)


@pytest.mark.parametrize("target", ["wormhole_b0", "cpu"])
def test_a_cast_ends_a_kernel_of_the_target_and_is_named(target):
    def program(x):
        y = ttnn.exp(ttnn.typecast(x + 1, ttnn.float32))
        return ttnn.bitwise_and(ttnn.typecast(y, ttnn.int32), x)

    with ttnn.manage_device(0, target=target) as each_device:
        x = torch.arange(-1024, 1024, dtype=torch.int32).reshape(64, 32)
        given, jitted = on(each_device, x), ttnn_jit.jit()(program)
        report = jitted.explain(given)
        assert [kernel.ops for kernel in report.kernels] == [("add", "typecast"), ("exp", "typecast"), ("bitwise_and",)]
        assert {pair.predicate for pair in report.not_fused} == {"element_types"}
        exact = (x + 1).double().exp().clamp(max=2**31 - 1).to(torch.int32)
        result = torch_copy(jitted(given))
        near = (x + 1).abs() < 12  # every integer below it is a float32
        assert torch.equal(result[near], (exact & x)[near])
        assert torch.equal(result, torch_copy(program(given)))


@EACH
def test_the_text_of_every_stage_round_trips(device, dtype):
    x = on(device, extremes(dtype))
    for stage in ("frontend", "convert-ttnn-to-ttir", "d2m-generic-fusion", "d2m-insert-dst-register-access"):
        text = masked.ir(x, x, stage=stage)
        assert f"!ttcore.tile<32x32, {dtype.traits.ttcore}>" in text
        assert f"tensor<64x32x{dtype.mlir}, " in text
        assert print_module(parse_module(text)) == text


def test_both_frontends_leave_one_text(device):
    x = on(device, extremes(DataType.UINT32))
    traced = ttnn_jit.jit(graph_capture=True)(masked.func)
    assert traced.ir(x, x) == masked.ir(x, x)


NUMBERS = (0, 1, 2**24 + 1, 2**31 - 1, 2**31, 2**32 - 1)


@pytest.mark.parametrize("number", NUMBERS)
def test_a_number_beside_integers_keeps_all_its_bits(device, number):
    x = extremes(DataType.UINT32)
    added = ttnn_jit.jit(enable_cache=False)(lambda x: number + x)
    expected = ((x.to(torch.int64) + number) & (2**32 - 1)).to(torch.uint32)
    for given in (x, on(device, x)):
        got = added(given)
        assert torch.equal(got if isinstance(got, torch.Tensor) else torch_copy(got), expected)
    assert torch.equal(torch_copy(number + on(device, x)), expected)


def test_numbers_that_differ_make_programs_that_differ(device):
    x = on(device, torch.zeros(32, 32, dtype=torch.int32))
    results = [torch_copy(ttnn.add(x, number))[0, 0].item() for number in (2**24, 2**24 + 1, 2**24 + 2)]
    assert results == [2**24, 2**24 + 1, 2**24 + 2]


def test_unsigned_numbers_above_half_their_range_stay_positive(device):
    x = on(device, torch.tensor([[2**31, 2**32 - 1, 5]], dtype=torch.uint32))
    assert torch_copy(ttnn.gt(x, 2**31 - 1)).tolist() == [[1, 1, 0]]
    assert torch_copy(ttnn.maximum(x, 7)).tolist() == [[2**31, 2**32 - 1, 7]]
    assert torch_copy(ttnn.bitwise_right_shift(x, 1)).tolist() == [[2**30, 2**31 - 1, 2]]


def test_omitted_limits_of_a_clamp_are_those_of_the_type():
    x = extremes(DataType.INT32)
    assert torch.equal(ttnn_jit.jit()(lambda x: ttnn.clamp(x, min=-5))(x), x.clamp(min=-5))
    assert torch.equal(ttnn_jit.jit()(lambda x: ttnn.clamp(x, -5, 7))(x), x.clamp(-5, 7))


# --- Refused --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x, _: ttnn.exp(x), "`exp` does not take INT32 tensors"),
        (lambda x, _: ttnn.divide_(x, 2), "a result of FLOAT32 is not written into a tensor of INT32 in place"),
        (lambda _, y: ttnn.bitwise_and(y, 3), "`bitwise_and` does not take FLOAT32 tensors"),
        (lambda x, y: x + y, "`add` got tensors of FLOAT32 and INT32"),
        (lambda x, y: ttnn.where(y, x, x), "`where` got tensors of FLOAT32 and INT32"),
        (lambda x, _: x * 2.5, "`input_tensor_b` of `multiply` is 2.5, and INT32 holds integers"),
        (lambda x, _: x * 2.0, "`input_tensor_b` of `multiply` is 2.0, and INT32 holds integers"),
        (lambda x, _: x + 2**31, "`input_tensor_b` of `add` is 2147483648, and INT32 holds -2147483648 to 2147483647"),
        (lambda x, _: x + float("nan"), "`input_tensor_b` of `add` is nan, and INT32 holds integers"),
    ],
)
def test_invalid_integers_are_refused_and_leave_no_state(device, function, message):
    x, y = on(device, extremes(DataType.INT32)), on(device, torch.ones(64, 32))
    entries, before = device.num_program_cache_entries(), ttnn_jit.cache_info()
    for run in (function, ttnn_jit.jit()(function), ttnn_jit.jit(graph_capture=True)(function)):
        with pytest.raises((CompileError, ArgumentError)) as refused:
            run(x, y)
        assert message in str(refused.value)
    assert device.num_program_cache_entries() == entries
    assert ttnn_jit.cache_info().entries == before.entries


def test_unsupported_torch_types_are_refused_with_the_cast_to_write():
    with pytest.raises(DTypeError, match=r"torch\.float64 are not supported(?s:.*)tensor\.to\(torch\.int32\)"):
        masked(torch.ones(4, dtype=torch.float64), torch.ones(4, dtype=torch.float64))
    with pytest.raises(DTypeError, match=r"uint64 are not supported(?s:.*)astype\(numpy\.int32\)"):
        masked(np.ones(4, np.uint64), np.ones(4, np.uint64))


# --- The host -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "dtype"),
    [(torch.int64, "UINT32"), (torch.int16, "UINT16"), (torch.bool, "UINT8"), (torch.uint8, "UINT8")],
)
def test_from_torch_names_a_type_where_none_is_given(given, dtype):
    tensor = ttnn.from_torch(torch.tensor([0, 1]).to(given))
    assert tensor.dtype is DataType[dtype]
    assert torch_copy(tensor).tolist() == [0, 1]


def test_from_torch_to_integers_drops_fractions_and_upper_bits():
    assert torch_copy(ttnn.from_torch(torch.tensor([1.75, -1.75]), dtype=ttnn.int32)).tolist() == [1, -1]
    assert torch_copy(ttnn.from_torch(torch.tensor([257, -1]), dtype=ttnn.uint8)).tolist() == [1, 255]


@EACH
def test_tensors_of_one_number_hold_it_exactly(dtype):
    last = dtype.values[-1]
    for layout in (ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT):
        assert torch_copy(ttnn.full((2, 3), last, dtype=dtype, layout=layout)).tolist() == [[last] * 3] * 2
    assert torch_copy(ttnn.zeros((2,), dtype=dtype)).tolist() == [0, 0]
    assert torch_copy(ttnn.ones_like(ttnn.zeros((2,), dtype=dtype))).tolist() == [1, 1]
    for number in (last + 1, dtype.values[0] - 1, 0.5):
        with pytest.raises(ArgumentError, match=f"`fill_value` is {number}, and {dtype.name} holds"):
            ttnn.full((2,), number, dtype=dtype)


def test_arange_counts_as_range_does():
    assert torch_copy(ttnn.arange(5, dtype=ttnn.uint32)).tolist() == [0, 1, 2, 3, 4]
    assert torch_copy(ttnn.arange(7, -3, -4, dtype=ttnn.int32)).tolist() == [7, 3, -1]
    assert ttnn.arange(3).dtype is ttnn.bfloat16
    assert ttnn.arange(2, 2, dtype=ttnn.int32).shape == (0,)
    for arguments in ((0, 4, 0), (300,), (-1, 1), (2.5,)):
        with pytest.raises(ArgumentError):
            ttnn.arange(*arguments, dtype=ttnn.uint8)


def test_integers_are_printed_as_ttnn_prints_them():
    tensor = ttnn.from_torch(torch.tensor([[1, -2], [2**31 - 1, 0]], dtype=torch.int32))
    assert str(tensor) == (
        "ttnn.Tensor([[    1,    -2],\n             [2147483647,     0]], shape=Shape([2, 2]), dtype=DataType.INT32, "
        "layout=Layout.ROW_MAJOR)"
    )


@EACH
def test_numpy_gets_the_integers_of_a_host_tensor(dtype):
    x = extremes(dtype)
    got = np.asarray(ttnn.from_torch(x, layout=ttnn.TILE_LAYOUT))
    assert got.dtype == x.numpy().dtype
    assert np.array_equal(got, x.numpy())


@EACH
def test_integers_move_as_other_elements_do(device, dtype):
    x = extremes(dtype)
    tensor = on(device, x)
    assert torch.equal(torch_copy(ttnn.permute(tensor, (1, 0))), x.T)
    assert torch.equal(torch_copy(ttnn.concat([tensor, tensor], 1)), torch.cat([x, x], 1))
    assert torch.equal(torch_copy(ttnn.to_layout(tensor, ttnn.ROW_MAJOR_LAYOUT)[3:9, ::2]), x[3:9, ::2])


@pytest.mark.parametrize(("dtype", "signed"), [(torch.uint16, torch.int16), (torch.uint32, torch.int32)])
def test_torch_gets_unsigned_numbers_as_the_signed_type_with_their_bits_unless_it_names_a_type(dtype, signed):
    x = extremes(ttnn.uint16 if dtype is torch.uint16 else ttnn.uint32)
    tensor = ttnn.from_torch(x)
    for got in (ttnn.to_torch(tensor), tensor.to_torch(), ttnn.to_torch(tensor, torch_rank=2)):
        assert torch.equal(got, x.view(signed))
    for wide in (torch.int64, torch.float64, dtype):
        assert torch.equal(ttnn.to_torch(tensor, dtype=wide), x.to(wide))
    assert torch.equal(torch_copy(ttnn.from_torch(ttnn.to_torch(tensor), dtype=tensor.dtype)), x)
    mesh = ttnn.open_mesh_device(ttnn.MeshShape(1, 2), target="cpu")
    joined = ttnn.from_torch(x, device=mesh, mesh_mapper=ttnn.ShardTensorToMesh(mesh, dim=0))
    composer = ttnn.ConcatMeshToTensor(mesh, dim=0)
    assert torch.equal(ttnn.to_torch(joined, mesh_composer=composer), x.view(signed))
    assert torch.equal(ttnn.to_torch(joined, mesh_composer=composer, dtype=torch.int64), x.long())
    assert torch.equal(ttnn.to_torch(ttnn.get_device_tensors(joined)[1]), x.view(signed)[32:])


def test_indices_of_ttnn_index_torch_tensors(device):
    x = torch.randn(4, 64)
    _, indices = ttnn.topk(on(device, x), 5)
    assert indices.dtype == ttnn.uint16
    assert torch.equal(x.gather(1, ttnn.to_torch(indices).long()), x.topk(5).values)
    assert torch.equal(ttnn.to_torch(indices) + 1, x.topk(5).indices + 1)
