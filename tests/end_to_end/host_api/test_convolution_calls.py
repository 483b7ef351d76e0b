"""Convolutions of host, device, mesh, torch and numpy tensors."""

from __future__ import annotations

import pytest
import torch

import ttnn_jit
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import CompileError

X, WEIGHT = torch.randn(2, 4, 4, 8), torch.randn(8, 8, 3, 3)
WANT = torch.nn.functional.conv2d(X.double().permute(0, 3, 1, 2), WEIGHT.double(), padding=1).permute(0, 2, 3, 1)
CALL = {"in_channels": 8, "out_channels": 8, "batch_size": 2, "input_height": 4, "input_width": 4}
CALL |= {"kernel_size": 3, "padding": 1}


def assert_near(got, bound=1e-4):
    torch.testing.assert_close(torch.as_tensor(got).double().reshape(WANT.shape), WANT, rtol=bound, atol=bound * 16)


def test_tensors_on_the_host_go_to_the_device(device):
    got = ttnn.conv2d(input_tensor=ttnn.from_torch(X), weight_tensor=ttnn.from_torch(WEIGHT), device=device, **CALL)
    assert got.device() is device
    assert_near(ttnn.to_torch(got))


def test_every_device_of_a_mesh_convolves_its_own_part():
    mesh = ttnn.open_mesh_device(mesh_shape=ttnn.MeshShape(1, 2))
    x = ttnn.from_torch(X, device=mesh, mesh_mapper=ttnn.ShardTensorToMesh(mesh, dim=0))
    got, extents, (weight, bias) = ttnn.conv2d(
        input_tensor=x, weight_tensor=ttnn.from_torch(WEIGHT), device=mesh, return_output_dim=True,
        return_weights_and_bias=True, **{**CALL, "batch_size": 1},
    )  # fmt: skip
    assert (extents, tuple(weight.shape), bias) == ((4, 4), (1, 1, 72, 8), None)
    assert_near(ttnn.to_torch(got, mesh_composer=ttnn.ConcatMeshToTensor(mesh, dim=0)))


def test_channels_that_pad_the_input_are_left_out(device):
    padded = torch.nn.functional.pad(X, (0, 24), value=9.0)
    weight = ttnn.from_torch(WEIGHT, device=device)
    got = ttnn.conv2d(input_tensor=ttnn.from_torch(padded, device=device), weight_tensor=weight, **CALL)
    assert_near(ttnn.to_torch(got))


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.bfloat8_b])
@pytest.mark.parametrize("layout", [ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT])
def test_the_result_has_the_requested_type_and_memory_config(layout, dtype, device):
    x, weight = (ttnn.from_torch(each, device=device) for each in (X, WEIGHT))
    x = ttnn.to_layout(x, layout)
    got = ttnn.conv2d(
        input_tensor=x, weight_tensor=weight, dtype=dtype, memory_config=ttnn.L1_MEMORY_CONFIG,
        conv_config=ttnn.Conv2dConfig(deallocate_activation=True), **CALL,
    )  # fmt: skip
    assert (got.dtype, got.memory_config()) == (dtype, ttnn.L1_MEMORY_CONFIG)
    assert_near(ttnn.to_torch(got), 2.0**-6)
    assert x.is_allocated()  # as in DRAM


@pytest.mark.parametrize("requested", [None, ttnn.float32])
def test_fields_of_earlier_versions_are_taken_and_their_dtype_is_that_of_the_result(requested, device):
    x, weight = (ttnn.from_torch(each, device=device) for each in (X, WEIGHT))
    config = ttnn.Conv2dConfig(
        dtype=ttnn.bfloat16, enable_split_reader=True, enable_subblock_padding=False, input_channels_alignment=16,
        preprocess_weights_on_device=True, always_preprocess_weights=True, in_place=False,
    )  # fmt: skip
    got = ttnn.conv2d(input_tensor=x, weight_tensor=weight, dtype=requested, conv_config=config, **CALL)
    plain = ttnn.conv2d(input_tensor=x, weight_tensor=weight, dtype=requested or ttnn.bfloat16, **CALL)
    assert got.dtype == (requested or ttnn.bfloat16)
    assert torch.equal(ttnn.to_torch(got), ttnn.to_torch(plain))


def test_an_input_in_l1_is_freed_if_the_config_requests_it(device):
    x, weight = (ttnn.from_torch(each, device=device) for each in (X, WEIGHT))
    x = ttnn.to_memory_config(x, ttnn.L1_MEMORY_CONFIG)
    config = ttnn.Conv2dConfig(deallocate_activation=True)
    assert_near(ttnn.to_torch(ttnn.conv2d(input_tensor=x, weight_tensor=weight, conv_config=config, **CALL)))
    assert not x.is_allocated()


def test_torch_tensors_are_convolved_in_plain_python_fallback():
    def program(x, weight):
        y = ttnn.conv2d(input_tensor=x, weight_tensor=weight, **CALL)
        return y if float(x.sum()) < 1e9 else x

    jitted = ttnn_jit.jit(fallback=True)(program)
    with pytest.warns(UserWarning, match="runs as plain Python"):
        got = jitted(X, WEIGHT)
    assert jitted.fallback_used
    assert_near(got)


def test_numpy_arrays_are_convolved_and_pooled():
    def program(x, weight):
        y = ttnn.conv2d(input_tensor=x, weight_tensor=weight, **CALL)
        return ttnn.max_pool2d(y, 2, 4, 4, 8, [2, 2], [2, 2], [0, 0], return_indices=True)

    got, indices = ttnn_jit.jit()(program)(X.numpy(), WEIGHT.numpy())
    want, found = torch.nn.functional.max_pool2d(WANT.permute(0, 3, 1, 2), 2, return_indices=True)
    torch.testing.assert_close(
        torch.from_numpy(got).double(), want.permute(0, 2, 3, 1).reshape(got.shape), rtol=1e-4, atol=1e-4
    )
    assert torch.equal(torch.from_numpy(indices.astype("int64")), found.permute(0, 2, 3, 1).reshape(got.shape))


class Layer:
    """A layer that stores the weights that its first call prepared, as many public models do."""

    def __init__(self):
        self.weight, self.bias = ttnn.from_torch(WEIGHT), None

    def __call__(self, x, device):
        options = {"return_output_dim": True, "return_weights_and_bias": True, **CALL}
        [out, [_height, _width], [self.weight, self.bias]] = ttnn.conv2d(
            input_tensor=x, weight_tensor=self.weight, bias_tensor=self.bias, device=device, **options
        )
        return ttnn.relu(out)

    def reading(self, x):
        return self(x, x.device())


def test_a_layer_keeps_the_weights_that_are_prepared(device):
    layer, x = Layer(), ttnn.from_torch(X, device=device)
    want = ttnn.to_torch(layer(x, device))
    weight = layer.weight
    got = ttnn_jit.jit()(Layer.reading)(layer, x)
    assert torch.equal(ttnn.to_torch(got), want)
    assert layer.weight is weight


def test_a_trace_is_refused_because_it_would_leave_proxies_in_a_layer(device):
    layer, x = Layer(), ttnn.from_torch(X, device=device)
    layer(x, device)
    weight = layer.weight
    with pytest.raises(CompileError, match=r"assigning to an attribute(.|\n)*self\.weight, self\.bias"):
        ttnn_jit.jit(graph_capture=True)(Layer.reading)(layer, x)
    assert layer.weight is weight
