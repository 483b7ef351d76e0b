"""Does the order that saves DST tiles help native code? Balanced trees of 8 to 31 inputs in three orders.

    python -m benchmarks.kernels.dst_order [--rounds N] [--markdown FILE]

*scheduled* emits a kernel's ops in the order of ``d2m-op-scheduler``, *source* in the order of the program,
*breadth-first* is what codegen does: ops that do not depend on each other side by side. The ops are the same in all
three, and so are the bits. One thread, 256x256 elements, medians over interleaved rounds. The number in parentheses
counts vector registers that the assembly stores on the stack: spills, and one to two per input in the loop's tail.
"""

from __future__ import annotations

import dataclasses
import re
import statistics
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import torch

from benchmarks.harness.harness import command_line, table
from ttnn_jit import ttnn
from ttnn_jit.codegen.bodies import body_emitter
from ttnn_jit.codegen.bodies.steps import KernelBody
from ttnn_jit.codegen.host import host_steps
from ttnn_jit.codegen.host.host_program import generate
from ttnn_jit.codegen.images.assemble import assembly
from ttnn_jit.compiler.llvm_backend import isa_of_this_host
from ttnn_jit.frontend import FrontendRequest, TensorArgument, lower
from ttnn_jit.kernels.isa import AVX2, HostIsa
from ttnn_jit.kernels.llvm.llvm_module import LlvmModule
from ttnn_jit.runtime.native.native import host_cpu
from ttnn_jit.runtime.programs.program import Program
from ttnn_jit.specs.options import CompileOptions
from ttnn_jit.specs.target import PRESETS
from ttnn_jit.transforms import pipeline

SHAPE = (256, 256)
# With DST tiles enough for the source order, which needs 10 for 16 inputs and would not fit the chip's 8.
TARGETS = {
    "cpu": PRESETS["cpu"],
    "wormhole_b0": dataclasses.replace(PRESETS["wormhole_b0"], name="roomy_wormhole_b0", dst_tiles=128),
}
ORDERS = ("scheduled", "source", "breadth-first")
NODES: dict[str, Callable[[Any, Any], Any]] = {
    "add": ttnn.add,
    "sigmoid of add": lambda a, b: ttnn.sigmoid(ttnn.add(a, b)),
}
STORE = re.compile(r"vmovap[sd]|vmovup[sd]|vmovdq\w+")
CALLS = 20


def tree(values: list[Any], node: Callable[[Any, Any], Any]) -> Any:
    """A balanced tree, in source order level by level."""
    while len(values) > 1:
        level = [node(a, b) for a, b in zip(values[::2], values[1::2], strict=False)]
        values = level + values[len(level) * 2 :]
    return values[0]


def scheduled_module(node: Callable[[Any, Any], Any], specs: list[Any], target: str, *, schedule: bool) -> Any:
    """The module that codegen reads, with or without the scheduler's order."""
    names = [f"x{k}" for k in range(len(specs))]
    # A function with one parameter per input.
    source = f"lambda {', '.join(names)}: tree([{', '.join(names)}], node)"
    function = eval(source, {"tree": tree, "node": node})
    arguments = {name: TensorArgument(spec) for name, spec in zip(names, specs, strict=True)}
    module = lower(FrontendRequest(function, arguments, TARGETS[target], graph_capture=True)).module
    passes = pipeline.passes_between(CompileOptions(), until=pipeline.SCHEDULED)
    pipeline.run_passes(module, [p for p in passes if schedule or p.name != "d2m-op-scheduler"])
    return module


def in_order(body: KernelBody) -> Iterable[int]:
    """The order of the module."""
    return range(len(body.steps))


def variants(node: str, inputs: int, dtype: torch.dtype, target: str) -> Iterator[tuple[str, HostIsa, Any]]:
    """Order, instruction set and generated program of every variant."""
    with ttnn.open_device(target=TARGETS[target]) as device:
        spec = ttnn.from_torch(torch.empty(SHAPE, dtype=dtype), layout=ttnn.TILE_LAYOUT, device=device).spec
    host = isa_of_this_host()
    for order in ORDERS:
        module = scheduled_module(NODES[node], [spec] * inputs, target, schedule=order != "source")
        chosen = body_emitter.emission_order if order == "breadth-first" else in_order
        for isa in (host, AVX2):
            host_steps.forget_loops()
            with mock.patch.object(body_emitter, "emission_order", chosen):
                yield order, isa, generate(module, isa)
    host_steps.forget_loops()


def stack_stores(module: LlvmModule, isa: HostIsa) -> int:
    """Vector registers that the kernel's assembly stores on the stack."""
    lines = (line.split("#")[0] for line in assembly(module, isa).splitlines())
    return sum(bool(STORE.search(line) and re.search(r"%[xyz]mm\d+, -?\d*\(%rsp\)", line)) for line in lines)


def measure(node: str, inputs: int, dtype: torch.dtype, target: str, rounds: int) -> dict[tuple[str, str], Any]:
    """(order, instruction set) -> (median microseconds, stores to the stack)."""
    from ttnn_jit.codegen.images.assemble import assemble

    programs, found = {}, {}
    for order, isa, code in variants(node, inputs, dtype, target):
        (kernel,) = code.kernels.values()
        module = kernel.modules.whole
        programs[order, isa.name] = Program(code.plan, {kernel.name: assemble(module, isa)}, built_for=host_cpu())
        found[order, isa.name] = stack_stores(module, isa)
    with ttnn.open_device(target=TARGETS[target]) as device:
        tensors = [
            ttnn.from_torch(torch.randn(SHAPE).to(dtype), layout=ttnn.TILE_LAYOUT, device=device) for _ in range(inputs)
        ]
        times: dict[tuple[str, str], list[float]] = {key: [] for key in programs}
        for _ in range(rounds):
            for key, program in programs.items():
                times[key].append(_microseconds(program, tensors))
    return {key: (statistics.median(values), found[key]) for key, values in times.items()}


def _microseconds(program: Program, tensors: list[Any]) -> float:
    """Microseconds of a call, averaged over consecutive calls."""
    start = time.perf_counter()
    for _ in range(CALLS):
        program(*tensors)
    return (time.perf_counter() - start) / CALLS * 1e6


def main() -> None:
    """Measure and print the table as markdown."""
    parser = command_line("dst_order")
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--markdown", type=Path, help="write the table there too")
    options = parser.parse_args()
    from rich.progress import track

    torch.set_num_threads(1)
    cases = [
        (node, inputs, dtype, target)
        for node in NODES
        for inputs in (8, 16, 31)
        for dtype, target in ((torch.float32, "cpu"), (torch.bfloat16, "wormhole_b0"))
    ]
    heads = ["node", "inputs", "dtype, target", "vectors", *(f"{order}, us (stack)" for order in ORDERS)]
    rows = [heads]
    for node, inputs, dtype, target in track(cases, "orders"):
        results = measure(node, inputs, dtype, target, options.rounds)
        for isa in dict.fromkeys(isa for _, isa in results):
            cells = [f"{results[order, isa][0]:.1f} ({results[order, isa][1]})" for order in ORDERS]
            rows.append([node, str(inputs), f"{str(dtype).removeprefix('torch.')}, {target}", isa, *cells])
    markdown = table(rows, text_columns=len(heads))
    print(markdown, end="")
    if options.markdown:
        options.markdown.write_text(markdown, encoding="utf-8")


if __name__ == "__main__":
    main()
