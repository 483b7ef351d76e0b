"""Convolutions and pools against torch's, which lie channels last and run oneDNN.

Layers of ResNet-50 and MobileNetV2 and a UNet, with bias and relu, as ttnn tensors on the cpu target; weights are
prepared before, and torch's lie as its kernels want them; torch.compile fuses relu and freezes the weights. Layers with
batch norm have it folded into their weights before, by ttnn's function, and by torch.compile. The
contenders take turns (benchmarks/harness/turns.py says how), with all threads and, of one image, with one.

A layer's roof is the longer of two times, both measured in the same run (benchmarks/harness/roofs.py): of its
multiplications at the peak of registers, and of its bytes, each read or written once, at the pace of the best copy of
as many.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from benchmarks.harness.harness import Benchmark, Plots, Step, main, table
from benchmarks.harness.turns import (
    OURS,
    Call,
    geometric_rows,
    least,
    ratio,
    ratio_of_medians,
    set_call,
    steps_of,
    thread_counts,
    turns,
)
from benchmarks.kernels.roofline import copy_at, measured_roofs

EAGER, COMPILED = "torch", "torch.compile"
CONTENDERS = (OURS, EAGER, COMPILED)
PEERS = CONTENDERS[1:]


@dataclass(frozen=True)
class Layer:
    """A layer of square images and windows.

    Attributes:
        name: The layer in tables.
        size: Height and width of an image.
        inputs: Input channels.
        outputs: Output channels; of a pool, its input channels.
        kernel: Height and width of a window.
        stride: The stride.
        groups: Groups of channels.
        pool: ``max`` or ``avg``; empty for a convolution.
        norm: Whether batch norm follows the convolution, which then has no bias.
    """

    name: str
    size: int
    inputs: int
    outputs: int
    kernel: int
    stride: int = 1
    groups: int = 1
    pool: str = ""
    norm: bool = False

    @property
    def goal(self) -> float:
        """The goal of the best peer's time over ours, with all threads."""
        if self.pool:
            return 1.5
        if self.norm:
            return 1.1
        return 1.0 if self.groups > 1 else 0.9

    @property
    def padding(self) -> int:
        """The padding, such that every element is the centre of a window; 0 for windows that do not overlap."""
        return 0 if self.kernel == self.stride else self.kernel // 2

    def operations(self, batch: int) -> int:
        """Multiplications and additions; for a pool, elements of windows."""
        positions = batch * (self.size // self.stride) ** 2 * self.kernel**2
        return positions * self.inputs if self.pool else 2 * positions * self.outputs * (self.inputs // self.groups)

    def elements(self, batch: int) -> int:
        """Elements that must be read or written: those of windows, weights, bias and result."""
        side = self.size // self.stride
        read = min(self.size, side * self.kernel) ** 2 * self.inputs
        weights = 0 if self.pool else self.outputs * (self.inputs // self.groups * self.kernel**2 + 1)
        return batch * (read + side**2 * self.outputs) + weights


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
    Layer("MobileNet depthwise 56x56", 56, 144, 144, 3, 1, 144),
    Layer("MobileNet depthwise 14x14", 14, 384, 384, 3, 1, 384),
    Layer("UNet 3x3", 128, 64, 64, 3),
    Layer("ResNet conv2 3x3, batch norm", 56, 64, 64, 3, norm=True),
    Layer("ResNet conv4 3x3, batch norm", 14, 256, 256, 3, norm=True),
    Layer("ResNet conv4 1x1, batch norm", 14, 1024, 256, 1, norm=True),
    Layer("MobileNet 14x14, batch norm", 14, 384, 384, 3, 1, 384, norm=True),
    Layer("max pool 3x3, stride 2", 112, 64, 64, 3, 2, pool="max"),
    Layer("max pool 2x2", 128, 64, 64, 2, 2, pool="max"),
    Layer("max pool 4x4", 56, 128, 128, 4, 4, pool="max"),
    Layer("avg pool 3x3, stride 2", 112, 64, 64, 3, 2, pool="avg"),
    Layer("avg pool 7x7", 7, 2048, 2048, 7, 7, pool="avg"),
)


@dataclass(frozen=True)
class Case:
    """A layer with a batch of images of one element type (f32 or bf16), and a number of threads."""

    layer: str
    dtype: str
    batch: int
    threads: int

    @property
    def name(self) -> str:
        """The case in tables."""
        return f"{self.layer} {self.dtype}, batch {self.batch}, {self.threads} thread{'s' * (self.threads > 1)}"


def cases(quick: bool) -> list[Case]:
    """The cases in the order of the table; quick ones have one image, with all threads."""
    every, *one = thread_counts()
    ways = [(every, 1)] if quick else [(every, 1), (every, 8), *((threads, 1) for threads in one)]
    return [
        Case(layer.name, dtype, batch, threads)
        for threads, batch in ways
        for layer in LAYERS
        for dtype in ("f32", "bf16")
    ]


# The code up to `steps` runs in the contender's process.


def prepare(contender: str, fields: dict[str, Any]) -> float:
    """Makes the timed call; its largest error relative to the largest result."""
    import torch

    case = Case(**fields)
    layer = next(each for each in LAYERS if each.name == case.layer)
    dtype = torch.float32 if case.dtype == "f32" else torch.bfloat16
    torch.manual_seed(0)
    x = torch.randn(case.batch, layer.inputs, layer.size, layer.size).to(dtype)
    weight = torch.randn(layer.outputs, layer.inputs // layer.groups, layer.kernel, layer.kernel) / layer.kernel
    tensors = [x.contiguous(memory_format=torch.channels_last), weight.to(dtype), torch.randn(layer.outputs).to(dtype)]
    if layer.norm:
        mean, variance = torch.randn(layer.outputs), torch.rand(layer.outputs) + 0.5
        tensors += [mean.to(dtype), variance.to(dtype)]
    result = set_call(_ours(layer, tensors) if contender == OURS else _torchs(layer, tensors, contender == COMPILED))
    golden = _torchs(layer, [each.double() for each in tensors], compiled=False)().permute(0, 2, 3, 1)
    found = result if contender == OURS else result.permute(0, 2, 3, 1)
    found = _in_torch(found).double().reshape(golden.shape)
    return float((found - golden).abs().max() / golden.abs().max())


def _in_torch(result: Any) -> Any:
    import torch

    from ttnn_jit import ttnn

    return result if isinstance(result, torch.Tensor) else ttnn.to_torch(result)


def _ours(layer: Layer, tensors: Sequence[Any]) -> Call:
    from ttnn_jit import ttnn

    device = ttnn.open_device(device_id=0, target="cpu")
    x, weight, bias, *statistics = tensors
    if statistics:
        weight, bias = _folded(layer, weight, bias, *statistics)
    return (_pooling if layer.pool else _convolving)(layer, device, x, weight, bias)


def _folded(layer: Layer, weight: Any, shift: Any, mean: Any, variance: Any) -> tuple[Any, Any]:
    """The weights and the bias of a convolution with batch norm folded in."""
    import torch

    from ttnn_jit import ttnn

    conv = torch.nn.Conv2d(layer.inputs, layer.outputs, layer.kernel, groups=layer.groups, bias=False)
    norm = torch.nn.BatchNorm2d(layer.outputs)
    conv.weight.data, norm.bias.data, norm.running_mean, norm.running_var = (
        each.float() for each in (weight, shift, mean, variance)
    )
    folded = ttnn.model_preprocessing.fold_batch_norm2d_into_conv2d(conv, norm)
    weight, bias = (each.detach().to(mean.dtype) for each in folded)
    return weight, bias


def _convolving(layer: Layer, device: Any, x: Any, weight: Any, bias: Any) -> Call:
    import ttnn_jit
    from ttnn_jit import ttnn

    call = {
        "device": device, "in_channels": layer.inputs, "out_channels": layer.outputs, "batch_size": len(x),
        "input_height": layer.size, "input_width": layer.size, "kernel_size": (layer.kernel, layer.kernel),
        "stride": (layer.stride, layer.stride), "padding": (layer.padding, layer.padding), "groups": layer.groups,
        "conv_config": ttnn.Conv2dConfig(activation="relu", output_layout=ttnn.ROW_MAJOR_LAYOUT),
    }  # fmt: skip
    given = ttnn.from_torch(x.permute(0, 2, 3, 1).reshape(1, 1, -1, layer.inputs), device=device)
    _, (prepared, row) = ttnn.conv2d(
        input_tensor=given, weight_tensor=ttnn.from_torch(weight), return_weights_and_bias=True,
        bias_tensor=ttnn.from_torch(bias.reshape(1, 1, 1, -1)), **call,
    )  # fmt: skip
    jitted = ttnn_jit.jit()(lambda x: ttnn.conv2d(input_tensor=x, weight_tensor=prepared, bias_tensor=row, **call))
    return lambda: jitted(given)


def _pooling(layer: Layer, device: Any, x: Any, _weight: Any, _bias: Any) -> Call:
    import ttnn_jit
    from ttnn_jit import ttnn

    images, channels, size, _ = x.shape
    given = ttnn.from_torch(x.permute(0, 2, 3, 1).contiguous(), device=device)
    function = getattr(ttnn, f"{layer.pool}_pool2d")
    window = [layer.kernel] * 2, [layer.stride] * 2, [layer.padding] * 2
    jitted = ttnn_jit.jit()(lambda x: function(x, images, size, size, channels, *window))
    return lambda: jitted(given)


def _torchs(layer: Layer, tensors: Sequence[Any], compiled: bool) -> Call:
    import torch
    from torch.nn import functional

    x, weight, bias, *statistics = tensors
    lying = weight.contiguous(memory_format=torch.channels_last)

    def convolved() -> Any:
        own = None if statistics else bias
        y = functional.conv2d(x, lying, own, layer.stride, layer.padding, 1, layer.groups)
        return torch.relu_(functional.batch_norm(y, *statistics, None, bias) if statistics else y)

    def pooled() -> Any:
        return getattr(functional, f"{layer.pool}_pool2d")(x, layer.kernel, layer.stride, layer.padding)

    call = pooled if layer.pool else convolved
    if not compiled:
        return call
    torch._dynamo.reset()
    return torch.compile(call, dynamic=False, options={"freezing": True})  # type: ignore[no-any-return]


@contextmanager
def steps(quick: bool) -> Iterator[Sequence[Step]]:
    """A step per case."""
    roofs = [Step(name, 6, partial(measured_roofs, quick)) for name in _ROOFS]
    with turns() as running:
        measured = steps_of(running, cases(quick), CONTENDERS, prepare, 2 if quick else 3, 3)
        yield [roofs[0], *measured, roofs[1]]


_ROOFS = tuple(f"roofs {when}, 1 thread and {max(thread_counts())} threads" for when in ("before", "after"))


@dataclass(frozen=True)
class Roof:
    """The bound of a case, and its minimal time in seconds."""

    bound: str
    seconds: float


def roof_of(case: Case, layer: Layer, measured: Sequence[Mapping[str, Any]]) -> Roof:
    """The roof of a case by the best of the `measured` roofs."""
    probe, itemsize = ("fma", 4) if case.dtype == "f32" else ("pairs", 2)
    gflops = max(found[probe if not layer.pool else "fma"][str(case.threads)] for found in measured)
    copies: dict[int, float] = {}
    for found in measured:
        for nbytes, kinds in found["copy"].items():
            own = [pace for kind, pace in kinds.items() if kind.startswith(f"{case.threads} ")]
            copies[int(nbytes)] = max(copies.get(int(nbytes), 0.0), *own)
    nbytes = itemsize * layer.elements(case.batch)
    arithmetic = layer.operations(case.batch) / gflops / 1e9
    memory = nbytes / copy_at(copies, nbytes) / 1e9
    return Roof("memory", memory) if memory > arithmetic else Roof("arithmetic", arithmetic)


def report(results: Mapping[str, Any], plots: Plots) -> str:  # noqa: ARG001 - a table says it all
    """A row per case."""
    head = ["layer", *(f"{name}, us" for name in CONTENDERS), "GFLOP/s", "best of torch / ours", "goal", "medians"]
    head.append("error")
    measured = [results[name] for name in _ROOFS if name in results]
    rows = [[*head, "MB", "bound by", "ours, of the roof", "torch, of the roof"] if measured else head]
    for case in (case for case in cases(quick=False) if case.name in results):
        found = results[case.name]
        layer = next(each for each in LAYERS if each.name == case.layer)
        cells = [f"{least(found, name) * 1e6:,.0f}" for name in CONTENDERS]
        cells += [f"{layer.operations(case.batch) / least(found, OURS) / 1e9:,.0f}", f"{ratio(found, PEERS):.2f}"]
        cells += [_judged(ratio(found, PEERS), layer.goal) if case.threads == thread_counts()[0] else "-"]
        cells += [ratio_of_medians(found, PEERS), f"{found[OURS]['error']:.1e}"]
        if measured:
            roof, nbytes = (
                roof_of(case, layer, measured),
                layer.elements(case.batch) * (4 if case.dtype == "f32" else 2),
            )
            shares = roof.seconds / least(found, OURS), roof.seconds / min(least(found, peer) for peer in PEERS)
            cells += [f"{nbytes / 1e6:.1f}", roof.bound, *(f"{share:.0%}" for share in shares)]
        rows.append([case.name, *cells])
    return table(rows)


def _judged(found: float, goal: float) -> str:
    """The goal, and whether it is reached."""
    return f"{goal} {'met' if found >= goal else 'missed'}"


def summary(results: Mapping[str, Any]) -> list[list[str]]:
    """Rows of the summary: each kind of layer and batch, with all threads."""
    return geometric_rows(
        (f"{_kind(case.layer)}, batch {case.batch}", case.dtype, results[case.name], PEERS)
        for case in cases(quick=False)
        if case.name in results and case.threads == thread_counts()[0]
    )


def _kind(layer: str) -> str:
    return next(
        (kind for word, kind in _KINDS.items() if word in layer),
        "convolutions",
    )


_KINDS = {
    "batch norm": "convolutions with batch norm", "depthwise": "depthwise convolutions", "max": "max pools",
    "avg": "avg pools",
}  # fmt: skip
"""Part of a layer's name -> its kind in the summary."""


BENCHMARK = Benchmark("convolution", (__doc__ or "").splitlines()[0], steps, report)

if __name__ == "__main__":
    main(BENCHMARK)
