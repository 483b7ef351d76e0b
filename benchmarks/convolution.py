"""Convolutions and pools against torch's, which lie channels last and run oneDNN.

    python -m benchmarks.convolution [--batch N] [--rounds N] [--threads N] [--compile] [--only TEXT] [--markdown FILE]

Layers of ResNet-50 and MobileNetV2 and a UNet, with bias and relu, on the cpu target; weights are prepared before, and
torch's lie as its kernels want them. *ours* and *torch* are microseconds of the fastest call of interleaved rounds;
GFLOP/s are ours. With ``--compile`` torch's calls are torch.compile's, which fuses relu and lays weights out anew. With
``--threads 1`` times are those of the thread, whatever else the machine does.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

import ttnn_jit
from benchmarks.harness import command_line, table
from ttnn_jit import ttnn

Call = Callable[[], Any]


@dataclass(frozen=True)
class Layer:
    """A layer of square images and windows.

    Attributes:
        name: In tables.
        size: Height and width of an image.
        inputs: Channels.
        outputs: Channels; those of a pool are the inputs.
        kernel: Height and width of a window.
        stride: From one window to the next.
        groups: Parts of the channels.
        pool: ``max`` or ``avg``; empty of a convolution.
    """

    name: str
    size: int
    inputs: int
    outputs: int
    kernel: int
    stride: int = 1
    groups: int = 1
    pool: str = ""

    @property
    def padding(self) -> int:
        """Around an image, so that every element is the middle of a window; none of windows beside each other."""
        return 0 if self.kernel == self.stride else self.kernel // 2

    def operations(self, batch: int) -> int:
        """Multiplications and additions; of a pool, elements of windows."""
        places = batch * (self.size // self.stride) ** 2 * self.kernel**2
        return places * self.inputs if self.pool else 2 * places * self.outputs * (self.inputs // self.groups)


LAYERS = (
    Layer("ResNet conv1", 224, 3, 64, 7, 2),
    Layer("ResNet conv2 1x1", 56, 256, 64, 1),
    Layer("ResNet conv2 3x3", 56, 64, 64, 3),
    Layer("ResNet conv3 3x3", 28, 128, 128, 3),
    Layer("ResNet conv4 3x3", 14, 256, 256, 3),
    Layer("ResNet conv4 1x1", 14, 1024, 256, 1),
    Layer("ResNet conv5 3x3", 7, 512, 512, 3),
    Layer("ResNet shortcut 1x1, stride 2", 28, 512, 1024, 1, 2),
    Layer("MobileNet depthwise, stride 2", 112, 96, 96, 3, 2, 96),
    Layer("MobileNet depthwise", 56, 144, 144, 3, 1, 144),
    Layer("MobileNet depthwise", 14, 384, 384, 3, 1, 384),
    Layer("UNet 3x3", 128, 64, 64, 3),
    Layer("max pool 3x3, stride 2", 112, 64, 64, 3, 2, pool="max"),
    Layer("max pool 2x2", 128, 64, 64, 2, 2, pool="max"),
    Layer("avg pool 3x3, stride 2", 112, 64, 64, 3, 2, pool="avg"),
    Layer("avg pool 7x7", 7, 2048, 2048, 7, 7, pool="avg"),
)


def convolving(layer: Layer, batch: int, dtype: torch.dtype, device: Any) -> tuple[Call, Call]:
    """Our call of a convolution, and torch's."""
    size, kernel, groups = layer.size, layer.kernel, layer.groups
    x = torch.randn(batch, layer.inputs, size, size).to(dtype).contiguous(memory_format=torch.channels_last)
    weight = (torch.randn(layer.outputs, layer.inputs // groups, kernel, kernel) / kernel).to(dtype)
    bias = torch.randn(layer.outputs).to(dtype)
    call = {
        "device": device, "in_channels": layer.inputs, "out_channels": layer.outputs, "batch_size": batch,
        "input_height": size, "input_width": size, "kernel_size": (kernel, kernel), "groups": groups,
        "stride": (layer.stride, layer.stride), "padding": (layer.padding, layer.padding),
        "conv_config": ttnn.Conv2dConfig(activation="relu", output_layout=ttnn.ROW_MAJOR_LAYOUT),
    }  # fmt: skip
    given = ttnn.from_torch(x.permute(0, 2, 3, 1).reshape(1, 1, -1, layer.inputs), device=device)
    _, (prepared, row) = ttnn.conv2d(
        input_tensor=given, weight_tensor=ttnn.from_torch(weight), return_weights_and_bias=True,
        bias_tensor=ttnn.from_torch(bias.reshape(1, 1, 1, -1)), **call,
    )  # fmt: skip
    jitted = ttnn_jit.jit()(lambda x: ttnn.conv2d(input_tensor=x, weight_tensor=prepared, bias_tensor=row, **call))
    lying = weight.contiguous(memory_format=torch.channels_last)
    options = layer.stride, layer.padding, 1, groups
    return lambda: jitted(given), lambda: torch.relu_(torch.nn.functional.conv2d(x, lying, bias, *options))


def pooling(layer: Layer, batch: int, dtype: torch.dtype, device: Any) -> tuple[Call, Call]:
    """Our call of a pool, and torch's."""
    size, channels = layer.size, layer.inputs
    x = torch.randn(batch, channels, size, size).to(dtype).contiguous(memory_format=torch.channels_last)
    given = ttnn.from_torch(x.permute(0, 2, 3, 1).contiguous(), device=device)
    function, theirs = getattr(ttnn, f"{layer.pool}_pool2d"), getattr(torch.nn.functional, f"{layer.pool}_pool2d")
    window = [layer.kernel] * 2, [layer.stride] * 2, [layer.padding] * 2
    jitted = ttnn_jit.jit()(lambda x: function(x, batch, size, size, channels, *window))
    return lambda: jitted(given), lambda: theirs(x, layer.kernel, layer.stride, layer.padding)


def best(calls: tuple[Call, ...], rounds: int, clock: Callable[[], float]) -> list[float]:
    """Seconds of the fastest call of each, in turn."""
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(rounds + 1):
        for call, own in zip(calls, times, strict=True):
            start = clock()
            call()
            own.append(clock() - start)
    return [min(own[1:]) for own in times]


def rows(options: Any) -> Iterator[list[str]]:
    """One for each layer and element type."""
    device = ttnn.open_device(device_id=0, target="cpu")
    clock = time.thread_time if options.threads == 1 else time.perf_counter
    for layer in (each for each in LAYERS if options.only in each.name):
        for dtype in (torch.float32, torch.bfloat16):
            make = pooling if layer.pool else convolving
            with torch.inference_mode():
                ours, theirs = make(layer, options.batch, dtype, device)
                peer = torch.compile(theirs, dynamic=False, options={"freezing": True}) if options.compile else theirs
                ours, theirs = best((ours, peer), options.rounds, clock)
                torch.compiler.reset()  # or the next sizes would be dynamic ones
            yield [
                layer.name,
                f"{layer.size}x{layer.size}x{layer.inputs} to {layer.outputs}",
                str(dtype).removeprefix("torch."),
                f"{ours * 1e6:.0f}",
                f"{theirs * 1e6:.0f}",
                f"{theirs / ours:.2f}",
                f"{layer.operations(options.batch) / ours / 1e9:.0f}",
            ]


def main() -> None:
    """Measure and print."""
    parser = command_line("convolution")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--threads", type=int, default=0, help="of torch and of ours; TTNN_JIT_NUM_THREADS if 0")
    parser.add_argument("--compile", action="store_true", help="torch's calls by torch.compile")
    parser.add_argument("--only", default="", metavar="TEXT", help="layers whose name contains TEXT")
    parser.add_argument("--markdown", type=Path, help="write the table here")
    options = parser.parse_args()
    if options.threads:
        torch.set_num_threads(options.threads)  # which ours are as many as
    titles = ["layer", "sizes", "type", "ours, us", "torch, us", "torch / ours", "GFLOP/s"]
    text = table([titles, *rows(options)], text_columns=3)
    print(text)
    if options.markdown:
        options.markdown.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
