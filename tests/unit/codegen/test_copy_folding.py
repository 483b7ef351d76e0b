"""Launches that only move elements are folded into their readers, or into the producers that they copy."""

from __future__ import annotations

import pytest
import torch

import ttnn_jit
from tests.products import TF32
from ttnn_jit import ttnn

X = torch.randn(2, 64, 64)


def launches(function, *tensors):
    """The operations of each launch, on a chip, where movements are separate launches; and the result."""
    jitted = ttnn_jit.jit()(function)
    got = jitted(*tensors)
    return [tuple(launch.split("  (")[0].split(": ")[1].split(" -> ")) for launch in _lines(jitted, tensors)], got


def _lines(jitted, tensors):
    return [line.strip() for line in str(jitted.explain(*tensors)).splitlines() if line.strip().startswith("launch ")]


def tiled(device, data=X):
    return ttnn.from_torch(data, layout=ttnn.TILE_LAYOUT, device=device)


def test_a_slice_is_read_through(device):
    found, got = launches(lambda x: ttnn.exp(x[:, 0:32]), tiled(device))
    assert found == [("slice", "exp")]
    torch.testing.assert_close(ttnn.to_torch(got), X[:, 0:32].exp())


def test_movements_of_movements_are_read_through_at_once(device):
    found, got = launches(lambda x: ttnn.exp(ttnn.reshape(x[:, 0:32], (64, 64))), tiled(device))
    assert found == [("slice", "reshape", "exp")]
    torch.testing.assert_close(ttnn.to_torch(got), X[:, 0:32].reshape(64, 64).exp())


def test_two_slices_of_one_tensor_are_two_operands(device):
    found, got = launches(lambda x: ttnn.add(x[:, 0:32], x[:, 32:64]), tiled(device))
    assert [set(names) for names in found] == [{"slice", "add"}]
    torch.testing.assert_close(ttnn.to_torch(got), X[:, 0:32] + X[:, 32:64])


def test_a_copy_that_is_a_result_is_materialized(device):
    def program(x):
        part = x[:, 0:32]
        return part, ttnn.exp(part)

    found, (part, _) = launches(program, tiled(device))
    assert found == [("slice",), ("exp",)]
    assert torch.equal(ttnn.to_torch(part), X[:, 0:32])


def test_columns_are_not_gathered_element_by_element(device):
    found, _ = launches(lambda x: ttnn.exp(ttnn.transpose(x, 1, 2)), tiled(device))
    assert found == [("transpose",), ("exp",)]


def test_a_copy_that_is_partly_overwritten_is_kept(cpu_device):
    def program(x):
        y = ttnn.reshape(x, (64, 128))
        y[0:2] = 1.0
        return ttnn.exp(y)

    x = ttnn.from_torch(X, device=cpu_device)
    want = X.reshape(64, 128).clone()
    want[0:2] = 1.0
    got = ttnn_jit.jit()(program)(x)
    torch.testing.assert_close(ttnn.to_torch(got), want.exp())


def test_a_transposed_operand_of_a_product_is_packed_directly_from_its_memory(device):
    found, got = launches(lambda x: ttnn.matmul(ttnn.transpose(x, 1, 2), x), tiled(device))
    assert found == [("transpose", "matmul")]
    torch.testing.assert_close(ttnn.to_torch(got), X.mT @ X, rtol=TF32, atol=64 * TF32)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize(("stride", "dilation"), [(1, 1), (2, 1), (1, 2)])
def test_the_windows_of_a_convolution_are_packed_directly_from_their_memory(stride, dilation, dtype, device):
    x, weight = torch.randn(2, 9, 7, 32).to(dtype), (torch.randn(40, 32, 3, 3) / 17).to(dtype)
    call = {"in_channels": 32, "out_channels": 40, "batch_size": 2, "input_height": 9, "input_width": 7, "padding": 2}
    call |= {"kernel_size": 3, "stride": stride, "dilation": dilation}
    rows, prepared = ttnn.from_torch(x, device=device), ttnn.from_torch(weight, device=device)
    found, got = launches(lambda x: ttnn.conv2d(input_tensor=x, weight_tensor=prepared, **call), rows)
    (product,) = [names for names in found if not {"pad", "permute"}.issuperset(names)]
    assert "matmul" in product
    want = torch.nn.functional.conv2d(x.double().permute(0, 3, 1, 2), weight.double(), None, stride, 2, dilation)
    want = want.permute(0, 2, 3, 1).reshape(got.shape)
    torch.testing.assert_close(ttnn.to_torch(got).double(), want, rtol=2.0**-7, atol=1e-2)


@pytest.mark.parametrize("shape", [(128, 64), (1, 2, 64, 64)])
def test_a_reshaped_result_is_written_by_its_producer(shape, cpu_device):
    x = ttnn.from_torch(X, device=cpu_device)
    found, got = launches(lambda x: ttnn.reshape(ttnn.exp(x), shape), x)
    assert len(found) == 1
    torch.testing.assert_close(ttnn.to_torch(got), X.exp().reshape(shape))


@pytest.mark.parametrize("bounds", [(0, 3), (1, 4), (0, 11), (3, 12)])
def test_a_part_of_a_result_is_not_its_reshape(bounds):
    x = torch.arange(6.0)
    jitted = ttnn_jit.jit()(lambda x: ttnn.slice(ttnn.repeat_interleave(x, 2, 0), [bounds[0]], [bounds[1]]))
    assert torch.equal(jitted(x), x.repeat_interleave(2)[slice(*bounds)])


@pytest.mark.parametrize(("group", "folded"), [(4, False), (32, False), (256, True)])
def test_numbers_per_group_are_repeated_first_where_loops_over_groups_would_be_short(cpu_device, group, folded):
    def program(x, means):
        return ttnn.subtract(x, ttnn.reshape(ttnn.repeat(means, (1, group)), (1, 512)))

    x, means = torch.randn(64, 512), torch.randn(512 // group, 1)
    given = [ttnn.from_torch(each, device=cpu_device) for each in (x, means)]
    found, got = launches(program, *given)
    assert (len(found) == 1) is folded
    assert torch.equal(ttnn.to_torch(got), x - means.repeat_interleave(group)[None])


def test_numbers_per_group_are_repeated_first_for_a_sum_of_columns_too(cpu_device):
    def program(x, means):
        spread = ttnn.reshape(ttnn.repeat(means, (1, 16)), (1, 512))
        return ttnn.sum(ttnn.square(ttnn.subtract(x, spread)), 0, True)

    x, means = torch.randn(64, 512), torch.randn(32, 1)
    given = [ttnn.from_torch(each, device=cpu_device) for each in (x, means)]
    function = ttnn_jit.jit()(program)
    assert [launch.loops for launch in function.explain(*given).launches][1:] == ["64 reduced x 512"]
    want = (x.double() - means.repeat_interleave(16)[None].double()).square().sum(0, keepdim=True)
    torch.testing.assert_close(ttnn.to_torch(function(*given)).double(), want, rtol=1e-5, atol=1e-5)
