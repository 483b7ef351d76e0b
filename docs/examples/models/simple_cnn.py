# A small convolutional classifier of 32 x 32 pictures: two convolutions with pools, two linear layers.
#
#     python -m ttnn_jit docs/examples/models/simple_cnn.py

from dataclasses import dataclass

import torch
import ttnn


@dataclass(frozen=True)
class Config:
    image: int = 32
    channels: tuple[int, ...] = (16, 32)
    hidden: int = 128
    labels: int = 10


SMALL = Config()
FULL = Config(channels=(128, 256), hidden=1024)


class SimpleCnn(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        first, second = config.channels
        self.conv1 = torch.nn.Conv2d(3, first, 3, padding=1)
        self.conv2 = torch.nn.Conv2d(first, second, 3, padding=1)
        self.fc1 = torch.nn.Linear(second * (config.image // 4) ** 2, config.hidden)
        self.fc2 = torch.nn.Linear(config.hidden, config.labels)

    def forward(self, images):
        x = torch.nn.functional.max_pool2d(torch.relu(self.conv1(images)), 2)
        x = torch.nn.functional.max_pool2d(torch.relu(self.conv2(x)), 2)
        return self.fc2(torch.relu(self.fc1(x.flatten(1))))


class Convolution:
    """A convolution of 3 x 3 with relu, and the pool after it; the first call prepares the weights for later ones."""

    def __init__(self, layer, device):
        self.device = device
        self.out_channels, self.in_channels = layer.weight.shape[:2]
        self.weight = ttnn.from_torch(layer.weight, layout=ttnn.ROW_MAJOR_LAYOUT, dtype=ttnn.bfloat16)
        self.bias = ttnn.from_torch(layer.bias.view(1, 1, 1, -1), layout=ttnn.ROW_MAJOR_LAYOUT, dtype=ttnn.bfloat16)
        self.config = ttnn.Conv2dConfig(weights_dtype=ttnn.bfloat16, activation="relu")

    def __call__(self, x, batch_size, height, width):
        is_prepared = ttnn.is_tensor_storage_on_device(self.weight)
        x, [height, width], *prepared = ttnn.conv2d(
            input_tensor=x,
            weight_tensor=self.weight,
            bias_tensor=self.bias,
            in_channels=self.in_channels,
            out_channels=self.out_channels,
            device=self.device,
            kernel_size=(3, 3),
            stride=(1, 1),
            padding=(1, 1),
            batch_size=batch_size,
            input_height=height,
            input_width=width,
            conv_config=self.config,
            groups=0,
            return_output_dim=True,
            return_weights_and_bias=not is_prepared,
        )
        if not is_prepared:
            ((self.weight, self.bias),) = prepared
        x = ttnn.max_pool2d(
            x,
            batch_size=batch_size,
            input_h=height,
            input_w=width,
            channels=self.out_channels,
            kernel_size=[2, 2],
            stride=[2, 2],
            padding=[0, 0],
            dilation=[1, 1],
            ceil_mode=False,
        )
        return x, height // 2, width // 2


class Network:
    def __init__(self, model, device):
        self.conv1 = Convolution(model.conv1, device)
        self.conv2 = Convolution(model.conv2, device)
        self.w1, self.b1 = on_device(model.fc1.weight.T, device), on_device(model.fc1.bias.view(1, -1), device)
        self.w2, self.b2 = on_device(model.fc2.weight.T, device), on_device(model.fc2.bias.view(1, -1), device)


def on_device(tensor, device):
    rows = ttnn.from_torch(tensor, dtype=ttnn.bfloat16, layout=ttnn.ROW_MAJOR_LAYOUT, device=device)
    return ttnn.to_layout(rows, ttnn.TILE_LAYOUT)


def simple_cnn(network, images):
    batch, _, height, width = images.shape
    x = ttnn.permute(images, (0, 2, 3, 1))
    x, height, width = network.conv1(x, batch, height, width)
    x, height, width = network.conv2(x, batch, height, width)
    x = ttnn.reshape(x, (batch, height, width, x.shape[-1]))
    x = ttnn.permute(x, (0, 3, 1, 2))
    x = ttnn.reshape(x, (batch, -1))
    x = ttnn.to_layout(x, ttnn.TILE_LAYOUT)
    out = ttnn.relu(ttnn.linear(x, network.w1, bias=network.b1))
    return ttnn.linear(out, network.w2, bias=network.b2)


def build(config, device, batch=8, compiled=lambda function: function):
    """Functions that run the model on `device`, and torch's, on the same images."""
    torch.manual_seed(0)
    model = SimpleCnn(config).eval().requires_grad_(requires_grad=False).to(memory_format=torch.channels_last)
    pictures = torch.randn(batch, 3, config.image, config.image).contiguous(memory_format=torch.channels_last)
    images = ttnn.from_torch(pictures, layout=ttnn.ROW_MAJOR_LAYOUT, dtype=ttnn.bfloat16, device=device)
    network = Network(model, device)
    simple_cnn(network, images)
    forward = compiled(simple_cnn)
    return lambda: forward(network, images), lambda: model(pictures)


def main():
    device = ttnn.open_device(device_id=0, l1_small_size=8192)
    run, reference = build(SMALL, device)
    prediction = ttnn.to_torch(run())
    correlation = ttnn.pearson_correlation_coefficient(reference(), prediction.float())
    print(f"labels {torch.argmax(prediction, dim=1).tolist()} {correlation=:.5f}")
    assert correlation > 0.999
    ttnn.close_device(device)


if __name__ == "__main__":
    main()
    print("PASSED")
