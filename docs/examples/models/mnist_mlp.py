# A three-layer perceptron that classifies digits.
#
#     python -m ttnn_jit docs/examples/models/mnist_mlp.py

from dataclasses import dataclass

import torch
import ttnn


@dataclass(frozen=True)
class Config:
    image: int = 28
    hidden: tuple[int, ...] = (128, 64)
    digits: int = 10


SMALL = Config()
FULL = Config(hidden=(2048, 1024))


class Perceptron(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        widths = (config.image * config.image, *config.hidden, config.digits)
        self.layers = torch.nn.ModuleList(map(torch.nn.Linear, widths[:-1], widths[1:]))

    def forward(self, images):
        x = images.flatten(1)
        for layer in self.layers[:-1]:
            x = torch.relu(layer(x))
        return self.layers[-1](x)


def on_device(tensor, device):
    rows = ttnn.from_torch(tensor, dtype=ttnn.bfloat16, layout=ttnn.ROW_MAJOR_LAYOUT, device=device)
    return ttnn.to_layout(rows, ttnn.TILE_LAYOUT)


def perceptron(images, w1, b1, w2, b2, w3, b3):
    out1 = ttnn.linear(images, w1, bias=b1)
    out1 = ttnn.relu(out1)
    out2 = ttnn.linear(out1, w2, bias=b2)
    out2 = ttnn.relu(out2)
    return ttnn.linear(out2, w3, bias=b3)


def build(config, device, batch=1, compiled=lambda function: function):
    """Functions that run the model on `device`, and torch's, on the same images."""
    torch.manual_seed(0)
    model = Perceptron(config).eval()
    images = torch.randn(batch, 1, config.image, config.image)

    parameters = []
    for layer in model.layers:
        weight, bias = layer.weight.detach(), layer.bias.detach()
        parameters += [on_device(weight.T, device), on_device(bias.view(1, -1), device)]
    forward = compiled(perceptron)

    def run():
        return forward(on_device(images.view(batch, -1).to(torch.float32), device), *parameters)

    return run, lambda: model(images)


def main():
    device = ttnn.open_device(device_id=0)
    run, reference = build(SMALL, device, batch=5)
    prediction = ttnn.to_torch(run())
    with torch.no_grad():
        correlation = ttnn.pearson_correlation_coefficient(reference(), prediction.float())
    print(f"digits {torch.argmax(prediction, dim=1).tolist()} {correlation=:.5f}")
    assert correlation > 0.999
    ttnn.close_device(device)


if __name__ == "__main__":
    main()
    print("PASSED")
