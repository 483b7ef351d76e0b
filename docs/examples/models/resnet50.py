# ResNet-50: batch norms folded into convolutions, whose weights the first run prepares; images are flattened,
# channels last.
#
#     python -m ttnn_jit docs/examples/models/resnet50.py

from dataclasses import dataclass

import torch
import ttnn
from ttnn.model_preprocessing import (
    convert_torch_model_to_ttnn_model,
    fold_batch_norm2d_into_conv2d,
    preprocess_model_parameters,
)


@dataclass(frozen=True)
class Config:
    image: int = 64
    planes: int = 32
    blocks: tuple[int, ...] = (2, 1, 1, 1)
    num_labels: int = 40


SMALL = Config()
FULL = Config(224, 64, (3, 4, 6, 3), 1000)

EXPANSION = 4
TILE = 32


def norm(channels):
    layer = torch.nn.BatchNorm2d(channels)
    layer.running_mean.normal_(0, 0.1)
    layer.running_var.uniform_(0.5, 1.5)
    return layer


class Bottleneck(torch.nn.Module):
    def __init__(self, inputs, planes, stride):
        super().__init__()
        outputs = planes * EXPANSION
        self.conv1, self.bn1 = torch.nn.Conv2d(inputs, planes, 1, bias=False), norm(planes)
        self.conv2, self.bn2 = torch.nn.Conv2d(planes, planes, 3, stride, 1, bias=False), norm(planes)
        self.conv3, self.bn3 = torch.nn.Conv2d(planes, outputs, 1, bias=False), norm(outputs)
        self.downsample = None
        if stride != 1 or inputs != outputs:
            shortcut = torch.nn.Conv2d(inputs, outputs, 1, stride, bias=False)
            self.downsample = torch.nn.Sequential(shortcut, norm(outputs))

    def forward(self, x):
        out = torch.relu(self.bn1(self.conv1(x)))
        out = torch.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        return torch.relu(out + (x if self.downsample is None else self.downsample(x)))


class ResNet(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.conv1, self.bn1 = torch.nn.Conv2d(3, config.planes, 7, 2, 3, bias=False), norm(config.planes)
        inputs = config.planes
        for stage, count in enumerate(config.blocks):
            planes = config.planes << stage
            blocks = []
            for block in range(count):
                blocks.append(Bottleneck(inputs, planes, 2 if stage and not block else 1))
                inputs = planes * EXPANSION
            setattr(self, f"layer{stage + 1}", torch.nn.Sequential(*blocks))
        self.fc = torch.nn.Linear(inputs, config.num_labels)
        for module in self.modules():
            if isinstance(module, torch.nn.Conv2d):
                torch.nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")

    def forward(self, pixels):
        x = torch.relu(self.bn1(self.conv1(pixels)))
        x = torch.nn.functional.max_pool2d(x, 3, 2, 1)
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(x.mean((2, 3)))


def fold_filters(weight, stride):
    """Filters for images whose blocks of `stride` x `stride` pixels are folded into the channels, which are padded."""
    _, channels, height, width = weight.shape
    weight = torch.nn.functional.pad(weight, (0, width % stride, 0, height % stride, 0, -channels % 4))
    blocks = weight.unflatten(3, (-1, stride)).unflatten(2, (-1, stride))  # outputs, channels, rows, 2, columns, 2
    return blocks.permute(0, 3, 5, 1, 2, 4).flatten(1, 3)


def conv_parameters(weight, bias):
    return {"weight": ttnn.from_torch(weight), "bias": ttnn.from_torch(bias.reshape(1, 1, 1, -1))}


def custom_preprocessor(model, name, ttnn_module_args, convert_to_ttnn):
    parameters = {}
    if isinstance(model, Bottleneck):
        for conv, bn in (("conv1", "bn1"), ("conv2", "bn2"), ("conv3", "bn3")):
            folded = fold_batch_norm2d_into_conv2d(getattr(model, conv), getattr(model, bn))
            parameters[conv] = conv_parameters(*folded)
        if model.downsample is not None:
            parameters["downsample"] = conv_parameters(*fold_batch_norm2d_into_conv2d(*model.downsample))
    elif isinstance(model, ResNet):
        weight, bias = fold_batch_norm2d_into_conv2d(model.conv1, model.bn1)
        parameters["conv1"] = conv_parameters(fold_filters(weight, 2), bias)
        for child_name, child in model.named_children():
            if child_name not in {"conv1", "bn1"}:
                parameters[child_name] = convert_torch_model_to_ttnn_model(
                    child,
                    name=name,
                    custom_preprocessor=custom_preprocessor,
                    convert_to_ttnn=convert_to_ttnn,
                    ttnn_module_args=ttnn_module_args,
                )
    return parameters


def core_grid(tiles):
    """The largest number of cores within 8 x 8 with equal numbers of tiles."""
    grids = ((x, y) for x in range(1, 9) for y in range(1, 9) if tiles % (x * y) == 0)
    x, y = max(grids, key=lambda grid: grid[0] * grid[1])
    return ttnn.CoreGrid(x=x, y=y)


class Conv:
    """A convolution of images of one size."""

    def __init__(self, parameters, model_config, kernel, stride=1, padding=0, **conv_config):
        self.weight = parameters.weight
        self.bias = parameters.bias
        self.out_channels, self.in_channels = self.weight.shape[:2]
        self.kernel_size, self.stride, self.padding = (kernel, kernel), (stride, stride), (padding, padding)
        self.model_config = model_config
        self.conv_config = ttnn.Conv2dConfig(weights_dtype=model_config["WEIGHTS_DTYPE"], **conv_config)

    def __call__(self, x, device, batch_size, input_height, input_width):
        conv_kwargs = {
            "in_channels": self.in_channels,
            "out_channels": self.out_channels,
            "batch_size": batch_size,
            "input_height": input_height,
            "input_width": input_width,
            "kernel_size": self.kernel_size,
            "stride": self.stride,
            "padding": self.padding,
            "dilation": (1, 1),
            "groups": 1,
            "device": device,
            "conv_config": self.conv_config,
        }
        if not ttnn.is_tensor_storage_on_device(self.weight):
            self.weight = ttnn.prepare_conv_weights(
                weight_tensor=self.weight,
                weights_format="OIHW",
                input_memory_config=x.memory_config(),
                input_layout=x.get_layout(),
                has_bias=True,
                input_dtype=self.model_config["ACTIVATIONS_DTYPE"],
                **conv_kwargs,
            )
            self.bias = ttnn.prepare_conv_bias(
                bias_tensor=self.bias,
                input_memory_config=x.memory_config(),
                input_layout=x.get_layout(),
                input_dtype=self.model_config["ACTIVATIONS_DTYPE"],
                **conv_kwargs,
            )
            self.weight = ttnn.to_device(self.weight, device)
            self.bias = ttnn.to_device(self.bias, device)
        out, [output_height, output_width] = ttnn.conv2d(
            input_tensor=x,
            weight_tensor=self.weight,
            bias_tensor=self.bias,
            **conv_kwargs,
            compute_config=ttnn.init_device_compute_kernel_config(
                device.arch(), math_fidelity=self.model_config["MATH_FIDELITY"], packer_l1_acc=True
            ),
            return_output_dim=True,
            return_weights_and_bias=False,
            dtype=self.model_config["ACTIVATIONS_DTYPE"],
        )
        return out, output_height, output_width


class ResnetBottleneck:
    def __init__(self, parameters, stride, model_config, shard_layout):
        conv_options = {"shard_layout": shard_layout, "enable_act_double_buffer": True}
        self.conv1 = Conv(parameters.conv1, model_config, 1, activation="relu", **conv_options)
        self.conv2 = Conv(
            parameters.conv2, model_config, 3, stride, 1, activation="relu", deallocate_activation=True, **conv_options
        )
        self.conv3 = Conv(parameters.conv3, model_config, 1, **conv_options)
        self.downsample = None
        if "downsample" in parameters:
            self.downsample = Conv(
                parameters.downsample, model_config, 1, stride, deallocate_activation=True, **conv_options
            )

    def __call__(self, x, device, batch_size, input_height, input_width):
        out, height, width = self.conv1(x, device, batch_size, input_height, input_width)
        out, height, width = self.conv2(out, device, batch_size, height, width)
        out, height, width = self.conv3(out, device, batch_size, height, width)
        if self.downsample is None:
            ds_out = x
        else:
            ds_out, _, _ = self.downsample(x, device, batch_size, input_height, input_width)
            ttnn.deallocate(x)
            ds_out = ttnn.reallocate(ds_out)
        assert ttnn.get_memory_config(out) == ttnn.get_memory_config(ds_out)
        out = ttnn.add_(out, ds_out, activations=[ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU)])
        ttnn.deallocate(ds_out)
        return out, height, width


class Resnet:
    def __init__(self, config, device, parameters, batch_size, model_config):
        self.config = config
        self.device = device
        self.batch_size = batch_size
        self.model_config = model_config
        self.conv1 = Conv(
            parameters.conv1,
            model_config,
            4,
            activation="relu",
            deallocate_activation=True,
            act_block_h_override=49 * TILE,
            enable_act_double_buffer=True,
            shard_layout=ttnn.TensorMemoryLayout.HEIGHT_SHARDED,
            reshard_if_not_optimal=False,
        )
        height, block = ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.TensorMemoryLayout.BLOCK_SHARDED
        self.layers = [
            [
                ResnetBottleneck(block_parameters, 2 if stage and not index else 1, model_config, shard_layout)
                for index, block_parameters in enumerate(parameters[f"layer{stage + 1}"].values())
            ]
            for stage, shard_layout in enumerate((height, height, block, block))
        ]
        self.fc_weight = ttnn.to_device(parameters.fc.weight, device)
        self.fc_bias = ttnn.to_device(parameters.fc.bias, device)
        self.fc_config = ttnn.MatmulMultiCoreReuseMultiCast1DProgramConfig(
            compute_with_storage_grid_size=(8, 4),
            in0_block_w=2,
            out_subblock_h=1,
            out_subblock_w=1,
            per_core_M=1,
            per_core_N=1,
            fuse_batch=True,
            fused_activation=None,
            mcast_in0=True,
        )
        self.compute_kernel_config = ttnn.init_device_compute_kernel_config(
            device.arch(),
            math_fidelity=model_config["MATH_FIDELITY"],
            math_approx_mode=True,
            fp32_dest_acc_en=False,
            packer_l1_acc=True,
        )
        self.fold_grid = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(7, 7))})

    def __call__(self, input_tensor):
        batch_size, device = self.batch_size, self.device
        x = ttnn.fold(
            input_tensor,
            2,
            2,
            use_transpose_as_fold=True,
            pad_c=1,
            pad_h=3,
            pad_w=3,
            grid_size=self.fold_grid,
            override_memory_config=ttnn.L1_MEMORY_CONFIG,
        )
        n, height, width, channels = x.shape
        x = ttnn.reshape(x, (1, 1, n * height * width, channels))

        x, height, width = self.conv1(x, device, batch_size, height, width)
        x = ttnn.max_pool2d(
            input_tensor=x,
            batch_size=batch_size,
            input_h=height,
            input_w=width,
            channels=self.config.planes,
            kernel_size=[3, 3],
            stride=[2, 2],
            padding=[1, 1],
            dilation=[1, 1],
        )
        height, width = height // 2, width // 2
        x = ttnn.reshape(x, (1, 1, height * width * batch_size, self.config.planes))
        sharded = ttnn.create_sharded_memory_config_(
            ttnn.Shape([batch_size * height * width, self.config.planes]),
            core_grid(batch_size * height * width // TILE),
            ttnn.TensorMemoryLayout.HEIGHT_SHARDED,
            ttnn.ShardOrientation.ROW_MAJOR,
            tile_layout=True,
        )
        x = ttnn.to_memory_config(x, sharded)
        x = ttnn.to_layout(x, ttnn.TILE_LAYOUT, dtype=self.model_config["ACTIVATIONS_DTYPE"])

        for layer in self.layers:
            for block in layer:
                x, height, width = block(x, device, batch_size, height, width)
        return self.classify(x, batch_size)

    def classify(self, x, batch_size):
        x = ttnn.untilize_with_unpadding(
            x, output_tensor_end=tuple(extent - 1 for extent in x.shape), memory_config=ttnn.L1_MEMORY_CONFIG
        )
        x = ttnn.reshape(x, (batch_size, x.shape[1], x.shape[2] // batch_size, x.shape[3]))
        x = ttnn.tilize_with_val_padding(
            x,
            [x.shape[0], x.shape[1], TILE * -(-x.shape[2] // TILE), x.shape[3]],
            0.0,
            memory_config=ttnn.L1_MEMORY_CONFIG,
            dtype=self.model_config["ACTIVATIONS_DTYPE"],
        )
        x = ttnn.global_avg_pool2d(x, memory_config=ttnn.L1_MEMORY_CONFIG)
        x = ttnn.to_layout(x, ttnn.ROW_MAJOR_LAYOUT)
        x = ttnn.reshape(x, (1, 1, batch_size, x.shape[3]))
        x = ttnn.to_layout(x, ttnn.TILE_LAYOUT)
        x = ttnn.linear(
            x,
            self.fc_weight,
            bias=self.fc_bias,
            program_config=self.fc_config,
            memory_config=ttnn.L1_WIDTH_SHARDED_MEMORY_CONFIG,
            dtype=self.model_config["ACTIVATIONS_DTYPE"],
            compute_kernel_config=self.compute_kernel_config,
        )
        x = ttnn.untilize_with_unpadding(
            x, output_tensor_end=(0, 0, batch_size - 1, self.config.num_labels - 1), memory_config=ttnn.L1_MEMORY_CONFIG
        )
        return ttnn.reshape(x, (batch_size, self.config.num_labels))


def resnet50(network, pixels):
    return network(pixels)


def load(config, device, batch):
    """The torch model, and the same on `device`."""
    torch.manual_seed(0)
    model = ResNet(config).eval().requires_grad_(requires_grad=False).to(memory_format=torch.channels_last)
    model_config = {
        "MATH_FIDELITY": ttnn.MathFidelity.HiFi2,
        "WEIGHTS_DTYPE": ttnn.bfloat16,
        "ACTIVATIONS_DTYPE": ttnn.bfloat16,
    }
    parameters = preprocess_model_parameters(
        initialize_model=lambda: model, custom_preprocessor=custom_preprocessor, device=None
    )
    return model, Resnet(config, device, parameters, batch, model_config)


def build(config, device, batch=1, compiled=lambda function: function):
    """Functions that run the model on `device`, and torch's, on the same images."""
    model, network = load(config, device, batch)
    pixels = torch.randn(batch, 3, config.image, config.image).contiguous(memory_format=torch.channels_last)

    def on_device():
        return ttnn.from_torch(pixels, dtype=ttnn.bfloat16, layout=ttnn.ROW_MAJOR_LAYOUT, device=device)

    network(on_device())  # the first run prepares the weights
    forward = compiled(resnet50)

    def run():
        images = on_device()
        logits = forward(network, images)
        ttnn.deallocate(images)
        return logits

    return run, lambda: model(pixels)


def main():
    device = ttnn.open_device(device_id=0, l1_small_size=24576)
    run, reference = build(SMALL, device)
    result = ttnn.to_torch(run())
    correlation = ttnn.pearson_correlation_coefficient(reference(), result.float())
    print(f"{result.shape=} {correlation=:.5f}")
    assert correlation > 0.99
    ttnn.close_device(device)


if __name__ == "__main__":
    main()
    print("PASSED")
