"""How fast block floats are packed and unpacked, against a copy of as many bytes.

    python -m benchmarks.kernels.block_floats [--sizes N ...] [--rounds N] [--markdown FILE]

Square tensors in tiles on the cpu target, the kernels alone: no result is allocated. *copy* is the kernel of
`ttnn.identity` over float32 that reads half of the bytes and writes the other half. Best of interleaved rounds.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import torch

from benchmarks.harness.harness import command_line, table
from ttnn_jit import ttnn
from ttnn_jit.compiler.driver import compile_program
from ttnn_jit.compiler.request import OperationRequest
from ttnn_jit.ops import COPY, TYPECAST, Operation
from ttnn_jit.runtime.memory.buffer import HOST_POOL
from ttnn_jit.runtime.programs.program import Program
from ttnn_jit.specs.dtypes import BLOCK_FLOATS, FLOATS
from ttnn_jit.specs.target import PRESETS
from ttnn_jit.specs.tensor_spec import DataType, TensorSpec


def program(operation: Operation, spec: TensorSpec, *attributes: DataType) -> Program:
    """The program of one operation on one tensor."""
    request = OperationRequest(operation, (spec,), attributes, PRESETS["cpu"])
    return compile_program(request, use_disk=False).program


def running(compiled: Program, source: int) -> tuple[Callable[[], None], object]:
    """A call of the kernel on the tensor at an address, and the buffer of its result."""
    result = HOST_POOL.allocate(compiled.plan.outputs[0].nbytes)
    return lambda: compiled.run(source, result.address), result


def best(calls: list[Callable[[], None]], rounds: int) -> list[float]:
    """Seconds of each call."""
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(rounds + 1):
        for call, own in zip(calls, times, strict=True):
            start = time.perf_counter()
            call()
            own.append(time.perf_counter() - start)
    return [min(own[1:]) for own in times]


def rows(sizes: list[int], rounds: int) -> Iterator[list[str]]:
    """A row for each size and pair of types."""
    device = ttnn.open_device(device_id=0, target="cpu")
    for size in sizes:
        values = torch.randn(size, size)
        for packed in sorted(BLOCK_FLOATS, key=lambda dtype: dtype.value):
            for dtype in sorted(FLOATS, key=lambda dtype: dtype.name):
                elements = ttnn.from_torch(values, dtype=dtype, layout=ttnn.TILE_LAYOUT, device=device)
                tiles = ttnn.typecast(elements, packed)
                nbytes = elements.spec.nbytes + tiles.spec.nbytes
                given = ttnn.from_torch(torch.randn(nbytes // 8), device=device)  # its pages are mapped
                pairs = [
                    running(program(COPY, given.spec), given.buffer_address()),
                    running(program(TYPECAST, elements.spec, packed), elements.buffer_address()),
                    running(program(TYPECAST, tiles.spec, dtype), tiles.buffer_address()),
                ]
                copy, pack, unpack = best([call for call, _ in pairs], rounds)
                yield [
                    f"{size}x{size}",
                    f"{dtype.name} and {packed.name}",
                    f"{nbytes / copy / 1e9:.0f}",
                    f"{nbytes / pack / 1e9:.0f} ({copy / pack:.2f})",
                    f"{nbytes / unpack / 1e9:.0f} ({copy / unpack:.2f})",
                ]


def main() -> None:
    """Measures and prints."""
    parser = command_line("block_floats")
    parser.add_argument("--sizes", nargs="*", type=int, default=[256, 1024, 4096], help="extents of the tensors")
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--markdown", type=Path, help="write the table here")
    options = parser.parse_args()
    titles = ["tensor", "types", "copy, GB/s", "pack, GB/s (of copy)", "unpack, GB/s (of copy)"]
    text = table([titles, *rows(options.sizes, options.rounds)], text_columns=2)
    print(text)
    if options.markdown:
        options.markdown.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
