"""Parts of convolutional networks in the style of public programs: both targets and frontends, against torch."""

from __future__ import annotations

import pytest
import torch

import ttnn_jit
from tests.products import EXACTLY
from ttnn_jit import ttnn

functional = torch.nn.functional


class Conv:
    """A convolution whose batch norm is folded in: weights are prepared by the first call, outside a program."""

    def __init__(self, device, inputs, outputs, size, *, kernel=3, stride=1, groups=1, activation=None, seed=0):
        generator = torch.Generator().manual_seed(seed)
        conv = torch.nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False)
        conv.weight.data = torch.randn(conv.weight.shape, generator=generator) / conv.weight[0].numel() ** 0.5
        norm = torch.nn.BatchNorm2d(outputs).eval()
        norm.running_mean = torch.randn(outputs, generator=generator)
        norm.running_var = torch.rand(outputs, generator=generator) + 0.5
        weight, bias = ttnn.model_preprocessing.fold_batch_norm2d_into_conv2d(conv, norm)
        self.torch = torch.nn.Sequential(conv, norm).double().eval()
        self.device, self.outputs, self.activation = device, outputs, activation
        self.call = {
            "in_channels": inputs, "out_channels": outputs, "batch_size": 2, "input_height": size,
            "input_width": size, "kernel_size": (kernel, kernel), "stride": (stride, stride),
            "padding": (kernel // 2, kernel // 2), "groups": groups, "device": device,
        }  # fmt: skip
        self.config = ttnn.Conv2dConfig(weights_dtype=ttnn.bfloat16, activation=activation)
        self.config.act_block_h_override = 32
        keywords = {"input_memory_config": ttnn.L1_MEMORY_CONFIG, "input_layout": ttnn.TILE_LAYOUT, **self.call}
        self.weight = ttnn.prepare_conv_weights(
            weight_tensor=ttnn.from_torch(weight.detach()), weights_format="OIHW", has_bias=True,
            conv_config=self.config, input_dtype=ttnn.bfloat16, **keywords,
        )  # fmt: skip
        self.bias = ttnn.prepare_conv_bias(
            bias_tensor=ttnn.from_torch(bias.detach().reshape(1, 1, 1, -1)), conv_config=self.config,
            input_dtype=ttnn.bfloat16, **keywords,
        )  # fmt: skip

    def __call__(self, x):
        x, [_, _] = ttnn.conv2d(
            input_tensor=x, weight_tensor=self.weight, bias_tensor=self.bias, conv_config=self.config,
            compute_config=EXACTLY, return_output_dim=True, dtype=ttnn.bfloat16, **self.call,
        )  # fmt: skip
        return x

    def golden(self, x):
        x = self.torch(x)
        return x if self.activation is None else functional.relu(x)


class BasicBlock:
    channels = 32

    def __init__(self, device):
        self.first = Conv(device, 32, 32, 8, activation="relu", seed=1)
        self.second = Conv(device, 32, 32, 8, seed=2)

    def __call__(self, x):
        return ttnn.relu(ttnn.add(self.second(self.first(x)), x))

    def golden(self, x):
        return functional.relu(self.second.golden(self.first.golden(x)) + x)


class Bottleneck:
    channels = 32

    def __init__(self, device):
        relu = ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU)
        self.reduce = Conv(device, 32, 16, 8, kernel=1, activation=relu, seed=1)
        self.middle = Conv(device, 16, 16, 8, stride=2, activation=relu, seed=2)
        self.expand = Conv(device, 16, 64, 4, kernel=1, seed=3)
        self.shortcut = Conv(device, 32, 64, 8, kernel=1, stride=2, seed=4)

    def __call__(self, x):
        y = self.expand(self.middle(self.reduce(x)))
        return ttnn.relu(ttnn.add(y, self.shortcut(x)))

    def golden(self, x):
        y = self.expand.golden(self.middle.golden(self.reduce.golden(x)))
        return functional.relu(y + self.shortcut.golden(x))


class DepthwiseSeparable:
    channels = 32

    def __init__(self, device):
        self.depthwise = Conv(device, 32, 32, 8, groups=32, activation="relu", seed=1)
        self.pointwise = Conv(device, 32, 64, 8, kernel=1, activation="relu", seed=2)

    def __call__(self, x):
        return self.pointwise(self.depthwise(x))

    def golden(self, x):
        return self.pointwise.golden(self.depthwise.golden(x))


class UNetDown:
    channels = 16

    def __init__(self, device):
        self.first = Conv(device, 16, 32, 8, activation="relu", seed=1)
        self.second = Conv(device, 32, 32, 8, activation="relu", seed=2)

    def __call__(self, x):
        y = self.second(self.first(x))
        return ttnn.max_pool2d(
            input_tensor=y, batch_size=2, input_h=8, input_w=8, channels=32, kernel_size=[2, 2], stride=[2, 2],
            padding=[0, 0], dilation=[1, 1], ceil_mode=False,
        )  # fmt: skip

    def golden(self, x):
        return functional.max_pool2d(self.second.golden(self.first.golden(x)), 2)


class UNetUp:
    channels = 32

    def __init__(self, device):
        generator = torch.Generator().manual_seed(5)
        weight = torch.randn((32, 16, 2, 2), generator=generator) / 6
        self.device, self.weight = device, ttnn.from_torch(weight, dtype=ttnn.bfloat16, device=device)
        self.torch_weight = weight.bfloat16().double()
        self.joined = Conv(device, 48, 16, 16, activation="relu", seed=1)

    def __call__(self, x):
        y = ttnn.conv_transpose2d(
            input_tensor=x, weight_tensor=self.weight, device=self.device, in_channels=32, out_channels=16,
            batch_size=2, input_height=8, input_width=8, kernel_size=(2, 2), stride=(2, 2), padding=(0, 0),
        )  # fmt: skip
        wide = ttnn.upsample(ttnn.reshape(x, (2, 8, 8, 32)), 2)
        return self.joined(ttnn.concat([ttnn.reshape(y, (2, 16, 16, 16)), wide], -1))

    def golden(self, x):
        y = functional.conv_transpose2d(x, self.torch_weight, stride=2)
        return self.joined.golden(torch.cat([y, functional.interpolate(x, scale_factor=2)], 1))


class ResNet:
    """A network with partial tiles towards its end, and row-major tensors after its pools."""

    channels = 3

    def __init__(self, device):
        generator = torch.Generator().manual_seed(6)
        self.stem = Conv(device, 3, 32, 8, kernel=7, stride=2, activation="relu", seed=1)
        self.first = Conv(device, 32, 32, 2, activation="relu", seed=2)
        self.second = Conv(device, 32, 32, 2, seed=3)
        weight = torch.randn((32, 10), generator=generator) / 6
        self.weight = ttnn.from_torch(weight, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
        self.torch_weight = weight.bfloat16().double()

    def __call__(self, x):
        x = ttnn.max_pool2d(self.stem(x), 2, 4, 4, 32, [3, 3], [2, 2], [1, 1])
        x = ttnn.relu(ttnn.add(self.second(self.first(x)), x))
        x = ttnn.avg_pool2d(x, 2, 2, 2, 32, [2, 2], [1, 1], [0, 0])
        return ttnn.linear(x, self.weight, compute_kernel_config=EXACTLY)

    def golden(self, x):
        x = functional.max_pool2d(self.stem.golden(x), 3, 2, 1)
        x = functional.relu(self.second.golden(self.first.golden(x)) + x).mean((2, 3))
        return (x @ self.torch_weight)[..., None, None]


BLOCKS = [ResNet, BasicBlock, Bottleneck, DepthwiseSeparable, UNetDown, UNetUp]


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("target", ["wormhole_b0", "cpu"])
def test_a_block_is_torchs_eagerly_and_under_both_frontends(block, target):
    device = ttnn.open_device(device_id=0, target=target)
    module = block(device)
    x = torch.randn((2, 8, 8, module.channels), generator=torch.Generator().manual_seed(7)).bfloat16()
    want = module.golden(x.double().permute(0, 3, 1, 2))
    want = want.permute(0, 2, 3, 1).reshape(1, 1, -1, want.shape[1]).detach()
    given = ttnn.from_torch(x.reshape(1, 1, -1, module.channels), layout=ttnn.TILE_LAYOUT, device=device)
    functions = [module, *(ttnn_jit.jit(graph_capture=capture)(lambda x: module(x)) for capture in (False, True))]
    eager, *jitted = (ttnn.to_torch(function(given)) for function in functions)
    for got in (eager, *jitted):
        assert ttnn.pearson_correlation_coefficient(want.float(), got.float()) > 0.9995
        assert float((got.double() - want).abs().max()) <= 2.0**-6 * float(want.abs().max())
    assert torch.equal(*jitted)
    assert target == "cpu" or torch.equal(jitted[0], eager)  # on cpu fused operations round once


def test_a_changed_activation_of_a_config_is_detected(cpu_device):
    layer = Conv(cpu_device, 8, 8, 4)
    x = ttnn.from_torch(torch.randn(2, 4, 4, 8), dtype=ttnn.bfloat16, device=cpu_device)
    jitted = ttnn_jit.jit()(lambda x: layer(x))
    plain = ttnn.to_torch(jitted(x))
    layer.config = ttnn.Conv2dConfig(weights_dtype=ttnn.bfloat16, activation="relu")
    assert torch.equal(ttnn.to_torch(jitted(x)), plain.relu())
