"""Calls of host functions that compute: a valid call of each, and another value for every argument.

Tensors are descriptions, of which every process makes the same elements.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

import torch

from ttnn_jit import ttnn
from ttnn_jit.specs.dtypes import INTEGERS
from ttnn_jit.specs.tensor_spec import DataType

NAMES = ("none", "tanh", "nearest", "bilinear", "relu", "floor", "trunc", "sum", "mean", "zeros", "border")
"""Strings that some parameter accepts."""


class Made(NamedTuple):
    """The description of a tensor: equal ones have equal elements.

    Attributes:
        shape: Its extents.
        dtype: Its element type.
        seed: Of its elements. Of integers, an odd one draws 0 and 1, which are indices in what has few elements, an
            even one those from -3 to 8, so that quotients are rounded.
        domain: The interval of floats.
        layout: How it lies.
        on_host: Whether it lies on the host.
    """

    shape: tuple[int, ...]
    dtype: DataType = ttnn.bfloat16
    seed: int = 0
    domain: tuple[float, float] = (-3.0, 3.0)
    layout: Any = ttnn.TILE_LAYOUT
    on_host: bool = False

    def on(self, device: Any) -> Any:
        """Creates the tensor."""
        generator = torch.Generator().manual_seed(self.seed)
        low, high = self.domain
        if self.dtype in INTEGERS:
            least, end = (0, 2) if self.seed % 2 else (max(-3, self.dtype.values[0]), 9)
            elements = torch.randint(least, end, self.shape, generator=generator)
        else:
            elements = torch.rand(self.shape, generator=generator) * (high - low) + low
        where = None if self.on_host else device
        return ttnn.from_torch(elements, dtype=self.dtype, layout=self.layout, device=where)


class Torch(NamedTuple):
    """A torch tensor."""

    shape: tuple[int, ...]
    dtype: torch.dtype = torch.float32


class OnDevice(NamedTuple):
    """The device of the call."""


class Pair(NamedTuple):
    """A complex tensor, of two tensors."""

    real: Made
    imag: Made


def made(value: Any, device: Any) -> Any:
    """The object of a description."""
    match value:
        case Made():
            return value.on(device)
        case Torch(shape, dtype):
            return (torch.rand(shape, generator=torch.Generator().manual_seed(3)) * 9 - 4).to(dtype)
        case OnDevice():
            return device
        case Pair(real, imag):
            return ttnn.complex_tensor(real.on(device), imag.on(device))
        case list():
            return [made(each, device) for each in value]
        case _:
            return value


_X, _Y = Made((4, 64)), Made((4, 64), seed=2)
_F32 = Made((4, 64), ttnn.float32)
_ROWS = Made((1, 1, 64, 32), layout=ttnn.ROW_MAJOR_LAYOUT)
_POOLED = {"input_tensor": _ROWS, "batch_size": 1, "input_h": 8, "input_w": 8, "channels": 32}
_WINDOW = {"kernel_size": (2, 2), "stride": (2, 2), "padding": (0, 0)}
_WEIGHT = Made((8, 4, 3, 3), seed=2, layout=ttnn.ROW_MAJOR_LAYOUT, on_host=True)
_CONV = {
    "input_tensor": Made((1, 1, 64, 4), layout=ttnn.ROW_MAJOR_LAYOUT),
    "weight_tensor": _WEIGHT,
    "bias_tensor": Made((1, 1, 1, 8), layout=ttnn.ROW_MAJOR_LAYOUT, on_host=True),
    "device": OnDevice(),
    "in_channels": 4,
    "out_channels": 8,
    "batch_size": 1,
    "input_height": 8,
    "input_width": 8,
    "kernel_size": (3, 3),
    "stride": (1, 1),
    "padding": (1, 1),
    "dilation": (1, 1),
    "groups": 1,
}
_MADE = {"shape": (4, 64), "device": OnDevice(), "layout": ttnn.TILE_LAYOUT}
_COMPLEX = Pair(_X, _Y)
_GRID = Made((1, 4, 4, 2), ttnn.float32, domain=(-1.0, 1.0), layout=ttnn.ROW_MAJOR_LAYOUT)
_IMAGE = Made((1, 8, 8, 32), layout=ttnn.ROW_MAJOR_LAYOUT)
_CHANNEL = Made((1, 4, 1, 1), domain=(0.5, 2.0))

HOST: Mapping[str, Mapping[str, Any]] = {
    "adaptive_avg_pool2d": {**_POOLED, "output_size": (2, 2)},
    "adaptive_max_pool2d": {**_POOLED, "output_size": (2, 2)},
    "angle": {"input_tensor": _COMPLEX},
    "angle_bw": {"grad_tensor": _X, "input_tensor": _COMPLEX},
    "arange": {"start": 1, "end": 40, "step": 3, "device": OnDevice()},
    "avg_pool2d": {**_POOLED, **_WINDOW, "divisor_override": None},
    "batch_norm": {
        "input": Made((2, 4, 8, 8)),
        "running_mean": _CHANNEL,
        "running_var": _CHANNEL._replace(seed=2),
        "weight": _CHANNEL._replace(seed=4),
        "bias": _CHANNEL._replace(seed=6),
    },
    "bcast": {
        "input_a": Made((1, 1, 32, 64)),
        "input_b": Made((1, 1, 1, 64)),
        "math_op": ttnn.BcastOpMath.ADD,
        "dim": ttnn.BcastOpDim.H,
    },
    "bernoulli": {"input": Made((4, 64), domain=(0.0, 1.0)), "seed": 3},
    "clone": {"input": _X},
    "conj": {"input_tensor": _COMPLEX},
    "conj_bw": {"grad_tensor": _COMPLEX, "input_tensor": _COMPLEX},
    "conv1d": {
        "input_tensor": Made((1, 1, 16, 4), layout=ttnn.ROW_MAJOR_LAYOUT),
        "weight_tensor": Made((8, 4, 3), seed=2, layout=ttnn.ROW_MAJOR_LAYOUT, on_host=True),
        "device": OnDevice(),
        "in_channels": 4,
        "out_channels": 8,
        "batch_size": 1,
        "input_length": 16,
        "kernel_size": 3,
        "padding": 1,
    },
    "conv2d": _CONV,
    "conv_transpose2d": {**_CONV, "weight_tensor": Made((4, 8, 3, 3), layout=ttnn.ROW_MAJOR_LAYOUT, on_host=True)},
    "empty_like": {"tensor": _X},
    "eye": {"rows": 5, "columns": 7, "device": OnDevice()},
    "fill_ones_rm": {"N": 1, "C": 1, "H": 8, "W": 8, "hOnes": 3, "wOnes": 5, "any": _IMAGE},
    "fill_rm": {"N": 1, "C": 1, "H": 8, "W": 8, "hOnes": 3, "wOnes": 5, "any": _IMAGE},
    "from_torch": {"tensor": Torch((4, 64)), "device": OnDevice()},
    "full": {**_MADE, "fill_value": 2.5},
    "full_like": {"tensor": _X, "fill_value": 2.5},
    "global_avg_pool2d": {"input_tensor": _IMAGE},
    "grid_sample": {"input_tensor": _IMAGE, "grid": _GRID},
    "imag": {"input_tensor": _COMPLEX},
    "is_imag": {"input_tensor": _COMPLEX},
    "max_pool2d": {**_POOLED, **_WINDOW, "dilation": (1, 1)},
    "moreh_cumsum": {"input": _X, "dim": 0},
    "nonzero": {"input_tensor": Made((1, 1, 1, 32), ttnn.uint32, 3, layout=ttnn.ROW_MAJOR_LAYOUT)},
    "ones": _MADE,
    "ones_like": {"tensor": _X},
    "plus_one": {"input_tensor": Made((64,), ttnn.int32, layout=ttnn.ROW_MAJOR_LAYOUT)},
    "polar": {"input_tensor": _COMPLEX},
    "polar_bw": {"grad_tensor": _COMPLEX, "input_tensor": _COMPLEX},
    "rand": {**_MADE, "seed": 3},
    "randn": {**_MADE, "seed": 3},
    "real": {"input_tensor": _COMPLEX},
    "rearrange": {"tensor": _X, "pattern": "a (b c) -> b a c", "b": 4},
    "tilize": {"input_tensor": _X._replace(shape=(32, 64), layout=ttnn.ROW_MAJOR_LAYOUT)},
    "tilize_with_val_padding": {
        "input_tensor": _X._replace(layout=ttnn.ROW_MAJOR_LAYOUT),
        "output_tensor_shape": (32, 64),
        "pad_value": 2.0,
    },
    "tilize_with_zero_padding": {"input_tensor": _X._replace(layout=ttnn.ROW_MAJOR_LAYOUT)},
    "to_layout": {"tensor": _X, "layout": ttnn.ROW_MAJOR_LAYOUT},
    "to_memory_config": {"tensor": _X, "memory_config": ttnn.L1_MEMORY_CONFIG},
    "typecast": {"input_tensor": _F32, "dtype": ttnn.bfloat16},
    "unary_chain": {
        "input_tensor": _X,
        "ops_chain": [ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU), ttnn.UnaryWithParam(ttnn.UnaryOpType.POWER, 2.0)],
    },
    "unique": {"input_tensor": Made((64,), ttnn.int32, layout=ttnn.ROW_MAJOR_LAYOUT)},
    "untilize": {"input_tensor": _X},
    "untilize_with_unpadding": {"input_tensor": _X, "output_tensor_end": (2, 39)},
    "upsample": {"input_tensor": _IMAGE, "scale_factor": 2},
    "zeros": _MADE,
    "zeros_like": {"tensor": _X},
}
"""Function -> arguments of a valid call."""


def host_arguments(name: str, function: Callable[..., Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The arguments of the valid call, and those with another value for each parameter, each with a label."""
    base = HOST[name]
    yield "", base
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            continue
        value = base.get(parameter.name, parameter.default)
        for other in _BY_NAME.get(parameter.name, _beside)(value):
            yield f" {parameter.name}={other!r}", {**base, parameter.name: other}


def _beside(value: Any) -> Iterator[Any]:
    """Other values of the kind of `value`."""
    match value:
        case bool():
            yield not value
        case int():
            yield from (value + 1, value - 1)
        case float():
            yield from (value + 0.5, 0.0, -0.0)
        case str():
            yield from (name for name in NAMES if name != value)
        case Made():
            yield value._replace(layout=ttnn.ROW_MAJOR_LAYOUT)
            yield value._replace(dtype=ttnn.float32)
            yield value._replace(seed=value.seed + 2)
        case Torch():
            yield value._replace(dtype=torch.bfloat16)
        case Pair(real, imag):
            yield Pair(imag, real)
        case tuple() if value and all(isinstance(each, int) for each in value):
            yield tuple(each + 1 for each in value)
            yield tuple(reversed(value))
        case list():
            yield value[::-1]
            yield value[:-1]


@cache
def precisions() -> tuple[Any, ...]:
    """Configs of a chip's precision."""
    return tuple(
        ttnn.WormholeComputeKernelConfig(math_fidelity=fidelity, fp32_dest_acc_en=wide)
        for fidelity in (ttnn.MathFidelity.LoFi, ttnn.MathFidelity.HiFi4)
        for wide in (False, True)
    )


def _always(*values: Any) -> Callable[[Any], tuple[Any, ...]]:
    return lambda _: values


_DTYPES = _always(ttnn.float32, ttnn.bfloat16, ttnn.int32)
_MEMORY_CONFIGS = _always(ttnn.DRAM_MEMORY_CONFIG, ttnn.L1_MEMORY_CONFIG)
_BY_NAME: Mapping[str, Callable[[Any], Any]] = {
    "dtype": _DTYPES,
    "output_dtype": _DTYPES,
    "memory_config": _MEMORY_CONFIGS,
    "layout": _always(ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT),
    "output_layout": _always(ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT),
    "compute_kernel_config": lambda _: precisions(),
    "compute_config": lambda _: precisions(),
    "math_op": lambda _: ttnn.BcastOpMath,
    "divisor_override": _always(3, 5),
    "seed": _always(4, 5),
    "conv_config": lambda _: [
        ttnn.Conv2dConfig(weights_dtype=dtype, activation=activation)
        for dtype in (ttnn.bfloat16, ttnn.float32)
        for activation in (None, ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU))
    ],
}
"""Parameter -> its values, if the annotation does not imply them."""
