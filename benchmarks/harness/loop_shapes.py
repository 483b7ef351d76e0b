"""One program for each shape of loop that codegen writes, to time changes of a loop before and after.

A loop's shape is the schedule of its launch (`stage="host"`). The tensors are such that this loop takes most of a call.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from ttnn_jit import ttnn

MATRIX = (2048, 2048)
ON_DEVICE = {"bf16 tiles": ttnn.bfloat16, "f32 tiles": ttnn.float32, "bfp8": ttnn.bfloat8_b}
PACKED = "bfp8"


@dataclass(frozen=True)
class LoopShape:
    """A program of few launches, one of which has the loop.

    Attributes:
        name: Name of the figure.
        program: The function, which is jitted by tracing.
        shapes: Shapes of its tensors.
        schedule: The loop's schedule in the host's text; "" for a loop over elements, which has none.
        dtypes: Element types, with a figure for each: f32 and bf16 are torch tensors, `ON_DEVICE` are ttnn tensors.
    """

    name: str
    program: Callable[..., Any]
    shapes: tuple[tuple[int, ...], ...]
    schedule: str = ""
    dtypes: tuple[str, ...] = ("f32",)

    def tensors(self, dtype: str) -> list[Any]:
        """Tensors of normally distributed numbers, equal in every process."""
        import torch

        generator = torch.Generator().manual_seed(0)
        return [_tensor(torch.randn(shape, generator=generator), dtype) for shape in self.shapes]

    def jitted(self) -> Any:
        """The jitted program."""
        import ttnn_jit

        return ttnn_jit.jit(graph_capture=True)(self.program)


def _tensor(numbers: Any, dtype: str) -> Any:
    import torch

    if dtype in ON_DEVICE:
        return ttnn.from_torch(numbers, dtype=ON_DEVICE[dtype], layout=ttnn.TILE_LAYOUT, device=_device())
    return numbers.to({"f32": torch.float32, "bf16": torch.bfloat16}[dtype])


@cache
def _device() -> Any:
    return ttnn.open_device(target="cpu")


def _convolution(x: Any, weight: Any) -> Any:
    return ttnn.conv2d(
        input_tensor=x,
        weight_tensor=weight,
        device=None,
        in_channels=64,
        out_channels=64,
        batch_size=1,
        input_height=56,
        input_width=56,
        kernel_size=(3, 3),
        stride=(1, 1),
        padding=(1, 1),
    )


def _convolution_of_few_channels(x: Any, weight: Any) -> Any:
    return ttnn.conv2d(
        input_tensor=x,
        weight_tensor=weight,
        device=None,
        in_channels=4,
        out_channels=32,
        batch_size=1,
        input_height=224,
        input_width=224,
        kernel_size=(3, 3),
        stride=(1, 1),
        padding=(1, 1),
    )


def _attention(query: Any, key: Any, value: Any) -> Any:
    return ttnn.transformer.scaled_dot_product_attention(query, key, value, is_causal=True)


def _rows_named(numbers: Any, table: Any) -> Any:
    return ttnn.embedding(ttnn.typecast(ttnn.abs(ttnn.multiply(numbers, 1000.0)), ttnn.uint32), table)


def _rows_updated(cache: Any, rows: Any, numbers: Any) -> Any:
    positions = ttnn.typecast(ttnn.abs(ttnn.multiply(numbers, 100.0)), ttnn.int32)
    return ttnn.experimental.paged_update_cache(cache, rows, update_idxs_tensor=positions)


def _sequence(_: Any) -> Any:
    return ttnn.arange(0, 1 << 20, 1, dtype=ttnn.float32)


def _chain(x: Any) -> Any:
    for _ in range(10):
        x = ttnn.exp(ttnn.sigmoid(ttnn.tanh(ttnn.multiply(x, 0.5))))
    return x


BOTH = ("f32", "bf16")
PRODUCT = "operands packed, a microkernel"
LOOP_SHAPES = (
    LoopShape("one loop", lambda x: ttnn.exp(x), (MATRIX,), dtypes=BOTH),
    LoopShape("loop over rows", lambda x, y: ttnn.multiply(x, y), (MATRIX, (2048, 1)), dtypes=BOTH),
    LoopShape("table", lambda x: ttnn.gelu(x), (MATRIX,), "a table of gelu", ("bf16",)),
    LoopShape("staged", _chain, (MATRIX,), "cut into", ("f32",)),
    LoopShape("row sweep", lambda x: ttnn.sum(x, -1), (MATRIX,), "2 sweeps over rows", BOTH),
    LoopShape("column sweep", lambda x: ttnn.sum(x, 0), (MATRIX,), "2 sweeps over columns", BOTH),
    LoopShape("softmax", lambda x: ttnn.softmax(x, -1), (MATRIX,), "3 sweeps over rows, 1 row kept", BOTH),
    LoopShape("softmax of columns", lambda x: ttnn.softmax(x, 0), (MATRIX,), "3 sweeps over columns"),
    LoopShape("layer norm", lambda x: ttnn.layer_norm(x), (MATRIX,), "5 sweeps over rows", BOTH),
    LoopShape("blocked product", lambda x, y: ttnn.matmul(x, y), ((512, 512),) * 2, PRODUCT, (*BOTH, PACKED)),
    LoopShape("few-row product", lambda x, y: ttnn.matmul(x, y), ((8, 1024), (1024, 1024)), "8 rows at a time", BOTH),
    LoopShape("row product", lambda x, y: ttnn.matmul(x, y), ((1, 1024), (1024, 1024)), "1 row at a time", BOTH),
    LoopShape("window product", _convolution, ((1, 1, 3136, 64), (64, 64, 3, 3)), PRODUCT, BOTH),
    LoopShape("dot product", lambda x, y: ttnn.matmul(x, y), ((4096, 1, 128), (4096, 128, 1)), "dot products", BOTH),
    LoopShape("attention", _attention, ((1, 8, 512, 64),) * 3, PRODUCT, BOTH),
    LoopShape("attention in blocks", _attention, ((1, 16, 1024, 64),) * 3, "in the loop of (matmul) over rows"),
    LoopShape("copy in blocks", _convolution_of_few_channels, ((1, 1, 50176, 4), (32, 4, 3, 3)), "in the loop of"),
    LoopShape("panel product", lambda x, y: ttnn.matmul(x, y), ((256, 1024), (1024, 1024)), PRODUCT, ("bf16 tiles",)),
    LoopShape("pack", lambda x: ttnn.typecast(x, ttnn.bfloat8_b), (MATRIX,), "block floats packed", ("f32 tiles",)),
    LoopShape("unpack", lambda x: ttnn.typecast(x, ttnn.float32), (MATRIX,), "block floats unpacked", (PACKED,)),
    LoopShape("strips", lambda x: ttnn.exp(x), (MATRIX,), "in 512 blocks of 8 tiles", (PACKED,)),
    LoopShape("row strips", lambda x: ttnn.softmax(x, -1), (MATRIX,), "in 64 blocks of 32 rows", (PACKED,)),
    LoopShape("transpose", lambda x: ttnn.transpose(x, 0, 1), (MATRIX,), "transposed in registers", BOTH),
    LoopShape("reversed copy", lambda x: ttnn.flip(x, [1]), (MATRIX,), "reversed in registers", BOTH),
    LoopShape("copy by twos", lambda x: x[:, ::2], (MATRIX,), "every second element, in registers", BOTH),
    LoopShape("copy by threes", lambda x: x[:, ::3], (MATRIX,), dtypes=BOTH),
    LoopShape("repeating copy", lambda x: ttnn.repeat_interleave(x, 2, 1), ((2048, 1024),), "repeated", BOTH),
    LoopShape("short rows", lambda x: ttnn.permute(x, (1, 0, 2)), ((512, 1024, 8),), "a vector per row", BOTH),
    LoopShape("heads", lambda x: ttnn.permute(x, (0, 2, 1, 3)), ((4, 512, 16, 64),), dtypes=BOTH),
    LoopShape("rows gathered", _rows_named, ((2048,), (4096, 512)), "rows gathered"),
    LoopShape("rows updated", _rows_updated, ((8, 16, 512, 128), (1, 8, 16, 128), (8,)), "rows updated", BOTH),
    LoopShape("sequence", _sequence, ((32, 32),), "sequence"),
    LoopShape("argmax", lambda x: ttnn.argmax(x, -1), (MATRIX,), "argument reduction", BOTH),
    LoopShape("routine", lambda x: ttnn.cumsum(x, -1), (MATRIX,), "compiled by numba"),
)
"""A program for each schedule of a loop, and for each kind of product and copy."""
