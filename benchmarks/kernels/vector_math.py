"""Speed of every function on one core, data in the cache: this library's kernels beside torch and numpy in one run.

Elements per nanosecond of kernels as programs hold them (loads, stores, and rounding to bfloat16 included), of torch
(``out=``, one thread) and of numpy (``out=``); the largest error of this library in the next column, from
benchmarks/accuracy's sample. The same kernels for AVX2 alone, with the ratio. Where kernels of 65,536 elements and more
look results up (kernels/vectors/lookup_table.py), what that gives. A second table says what bounds the functions that
are not twice as fast as torch's.

Rounds of about a tenth of a millisecond alternate between the contenders; the tenth percentile of each counts, since a
shared machine only ever adds time. All compute on 32,768 elements, which lie in the second-level cache: so many that
what a call costs the peers counts little. Ours pass over them several times in one native call.
"""

from __future__ import annotations

import ctypes
import re
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch

from benchmarks.accuracy.measure import Mode, measured
from benchmarks.harness import plots
from benchmarks.harness.harness import Benchmark, Plots, Step, main, table
from benchmarks.harness.process import Process
from benchmarks.harness.roofs import host_isa
from ttnn_jit.codegen.bodies.steps import Apply, Constant, KernelBody, Load, SizeClass, Store
from ttnn_jit.codegen.host.host_steps import schedule_of
from ttnn_jit.codegen.images.assemble import assemble
from ttnn_jit.codegen.writing.llvm_kernel import kernel_of
from ttnn_jit.kernels.isa import AVX2, HostIsa
from ttnn_jit.nest.streams import InnerAccess, Stream
from ttnn_jit.ops import Operation, operations_on
from ttnn_jit.runtime.native.native import kernel_address
from ttnn_jit.specs.dtypes import FLOATS
from ttnn_jit.specs.target import Numerics
from ttnn_jit.specs.tensor_spec import DataType

ELEMENTS = 32_768  # for all contenders: a trivial operation is twice as fast in the first-level cache
PASSES = 4  # over them in one call of ours
STAGGER = 1088  # bytes between operands: with equal page offsets, loads would alias with unrelated stores
FLOAT32, BFLOAT16 = DataType.FLOAT32, DataType.BFLOAT16
TORCH = {FLOAT32: torch.float32, BFLOAT16: torch.bfloat16}
IN_TORCH: dict[str, Callable[..., Any]] = {
    "gelu": torch.nn.functional.gelu,
    "silu": torch.nn.functional.silu,
    "mish": torch.nn.functional.mish,
    "relu6": torch.nn.functional.relu6,
    "hardsigmoid": torch.nn.functional.hardsigmoid,
    "hardswish": torch.nn.functional.hardswish,
    "log_sigmoid": torch.nn.functional.logsigmoid,
    "softplus": torch.nn.functional.softplus,
    "elu": torch.nn.functional.elu,
    "selu": torch.nn.functional.selu,
    "celu": torch.nn.functional.celu,
    "tanhshrink": torch.nn.functional.tanhshrink,
    "softsign": torch.nn.functional.softsign,
    "gelu_tanh": lambda x: torch.nn.functional.gelu(x, approximate="tanh"),
}
IN_NUMPY = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh",
            "atanh": "arctanh", "neg": "negative", "atan2": "arctan2"}  # fmt: skip


@dataclass(frozen=True)
class Rate:
    """Elements per nanosecond of one function in one dtype; None if a peer has no such function.

    Attributes:
        name: Name of the operation in the TTNN dialect.
        dtype: Element type of operands and result.
        numerics: How results are rounded.
        ours: This library's.
        max_ulp: This library's largest error over a sample.
        torch: torch's.
        numpy: numpy's, in float32 only.
        avx2: This library's without AVX-512.
        looked_up: This library's with a lookup table, for large tensors.
        operands: The number of operands.
        instructions: Instructions of this library's kernel for 16 float32 elements, without its rare paths.
        divisions: The divisions among them.
        roots: The square roots among them.
    """

    name: str
    dtype: str
    numerics: str
    ours: float
    max_ulp: float
    torch: float | None
    numpy: float | None
    avx2: float | None
    looked_up: float | None = None
    operands: int = 1
    instructions: float = 0.0
    divisions: float = 0.0
    roots: float = 0.0


def usual_instructions(text: str) -> tuple[float, float, float]:
    """A kernel's instructions for 16 elements without its rare paths, and the divisions and roots among them."""
    body = text.partition("\nbody:\n")[2].partition("\ndone:\n")[0]
    usual, rare = [], False
    for line in body.splitlines():
        rare = line.endswith(".rare:") or (rare and not line.endswith(".after:"))
        if not rare and " = " in line and not re.search(" = (bitcast|phi|getelementptr) ", line):
            usual.append(line)
    found = re.search(r"%main = and i64 %n, -(\d+)", text)
    assert found is not None, "the text is a kernel's"
    chunks = 16 / int(found.group(1))
    divisions, roots = (sum(text in line for line in usual) for text in (" = fdiv ", "@llvm.sqrt."))
    return len(usual) * chunks, divisions * chunks, roots * chunks


def kernel_body(operation: Operation, dtype: DataType, numerics: Numerics) -> KernelBody:
    """A contiguous loop of the operation alone, inside a loop that repeats it."""
    inputs = [Stream(dtype, InnerAccess.CONTIGUOUS) for _ in range(operation.arity)]
    loads = [Load(k, None) for k in range(operation.arity)]
    numbers = tuple(Constant.of(attribute.default) for attribute in operation.attributes)
    apply = Apply(operation.tile_name, tuple(range(operation.arity)), numbers, dtype, None)
    streams = (*inputs, Stream(dtype, InnerAccess.CONTIGUOUS, written=True))
    return KernelBody(streams, 1, (*loads, apply, Store(operation.arity, operation.arity)), numerics)


class Kernel:
    """A kernel on buffers of its own, callable."""

    def __init__(self, body: KernelBody, operation: Operation, isa: HostIsa) -> None:
        kernel, dtype = kernel_of(schedule_of(body, isa), isa), body.streams[0].dtype
        address = kernel_address(kernel.name, assemble(kernel.modules.whole, isa))
        self._function = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(address)
        self._tensors = staggered(operation.arity + 1, dtype)
        for tensor, numbers in zip(self._tensors, random_inputs(operation, dtype, ELEMENTS), strict=False):
            tensor.copy_(numbers)
        self._pointers = (ctypes.c_void_p * len(self._tensors))(*[t.data_ptr() for t in self._tensors])
        strides = [1, 0] * len(self._tensors)
        self._params = (ctypes.c_int64 * (2 + len(strides)))(ELEMENTS, PASSES, *strides)

    def __call__(self) -> None:
        """All passes over the elements."""
        self._function(self._pointers, self._params)


def staggered(count: int, dtype: DataType) -> list[torch.Tensor]:
    """Tensors of `ELEMENTS` in one buffer, each aligned to a cache line, with distinct page offsets."""
    apart = ELEMENTS * dtype.itemsize + STAGGER
    block = torch.zeros(count * apart + 4096, dtype=torch.uint8)
    first = -block.data_ptr() % 4096
    starts = range(first, first + count * apart, apart)
    return [block[start : start + ELEMENTS * dtype.itemsize].view(TORCH[dtype]) for start in starts]


def random_inputs(operation: Operation, dtype: DataType, count: int) -> list[torch.Tensor]:
    """Arguments of the operation's domain, within [-8, 8] if possible, as in programs."""
    low, high = operation.probe.domain
    generator = torch.Generator().manual_seed(3)
    low, high = max(low, -8.0), min(high, 8.0)
    numbers = torch.rand(operation.arity, count, generator=generator) * (high - low) + low
    return [column.to(TORCH[dtype]).contiguous() for column in numbers]


def torch_call(operation: Operation, dtype: DataType) -> Callable[[], Any] | None:
    """The function of torch on the same numbers, with ``out=`` if supported."""
    function = IN_TORCH.get(operation.ttnn_name) or getattr(torch, operation.name, None)
    if function is None or (operation.attributes and operation.ttnn_name not in IN_TORCH):
        return None
    inputs = random_inputs(operation, dtype, ELEMENTS)
    out = torch.empty(ELEMENTS, dtype=TORCH[dtype])
    for call in (lambda: function(*inputs, out=out), lambda: function(*inputs)):
        try:
            call()
        except (TypeError, RuntimeError):
            continue
        return call
    return None


def numpy_call(operation: Operation, dtype: DataType) -> Callable[[], Any] | None:
    """The numpy function of that name, float32 only."""
    function = getattr(np, IN_NUMPY.get(operation.name, operation.name), None)
    if dtype is not FLOAT32 or not isinstance(function, np.ufunc) or operation.attributes:
        return None
    inputs = [t.numpy() for t in random_inputs(operation, dtype, ELEMENTS)]
    out = np.empty(ELEMENTS, np.float32)
    try:
        function(*inputs, out=out)
    except TypeError:
        return None
    return lambda: function(*inputs, out=out)


def elements_per_ns(calls: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """Tenth percentiles of interleaved rounds of about a tenth of a millisecond each."""
    repeats = {}
    for name, call in calls.items():
        call()
        start = time.perf_counter_ns()
        call()
        repeats[name] = max(1, 100_000 // max(1, time.perf_counter_ns() - start))
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            start = time.perf_counter_ns()
            for _ in range(repeats[name]):
                call()
            times[name].append((time.perf_counter_ns() - start) / repeats[name])
    elements = dict.fromkeys(calls, ELEMENTS) | dict.fromkeys(("ours", "avx2", "looked_up"), ELEMENTS * PASSES)
    return {name: elements[name] / statistics.quantiles(values, n=10)[0] for name, values in times.items()}


def rate(operation: Operation, dtype: DataType, numerics: Numerics, isa: HostIsa, rounds: int) -> Rate:
    """Measures one function in one dtype."""
    body = kernel_body(operation, dtype, numerics)
    calls: dict[str, Callable[[], Any]] = {"ours": Kernel(body, operation, isa)}
    if isa.avx512:
        calls["avx2"] = Kernel(body, operation, replace(AVX2, triple=isa.triple))
    of_many = replace(body, size_class=SizeClass.LARGE)
    if schedule_of(of_many, isa).tables:
        calls["looked_up"] = Kernel(of_many, operation, isa)
    for name, peer in (("torch", torch_call(operation, dtype)), ("numpy", numpy_call(operation, dtype))):
        if peer is not None:
            calls[name] = peer
    found = elements_per_ns(calls, rounds)
    error = measured(operation, dtype, 1e-3, modes=[Mode.CPU])[0].max_ulp
    peers = {name: found.get(name) for name in ("torch", "numpy", "avx2", "looked_up")}
    counts = (operation.arity, *usual_instructions(kernel_of(schedule_of(body, isa), isa).text))
    return Rate(operation.ttnn_name, dtype.name, numerics.value, found["ours"], error, *peers.values(), *counts)


def rates(index: int, rounds: int) -> list[dict[str, Any]]:
    """One operation in float32, in bfloat16 for cpu and in bfloat16 for a chip target; in a separate process."""
    torch.set_num_threads(1)
    kinds = ((FLOAT32, Numerics.IEEE), (BFLOAT16, Numerics.IEEE), (BFLOAT16, Numerics.DEVICE))
    return [asdict(rate(operations_on(FLOATS)[index], *kind, host_isa(), rounds)) for kind in kinds]


@contextmanager
def steps(quick: bool) -> Iterator[Sequence[Step]]:
    """A step per operation; one process for all."""
    chosen = range(0, len(operations_on(FLOATS)), 12 if quick else 1)
    with _Shared() as shared:
        yield [
            Step(operations_on(FLOATS)[index].signature, 1, partial(shared.call, index, 11 if quick else 31))
            for index in chosen
        ]


class _Shared:
    """A process that is started on first use."""

    def __init__(self) -> None:
        self._process: Process | None = None

    def call(self, index: int, rounds: int) -> Any:
        if self._process is None:
            self._process = Process({})
        return self._process.call(rates, index, rounds)

    def __enter__(self) -> _Shared:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._process.__exit__()


def report(results: Mapping[str, Any], plots_: Plots) -> str:
    """A row per operation and dtype, and a plot of the ratios to torch."""
    rows = [["operation", "dtype", "rounding", "el/ns", "largest error, ulp", "torch", "ours / torch", "numpy",
             "ours / numpy", "AVX2", "AVX-512 / AVX2", "looked up", "looked up / torch"]]  # fmt: skip
    found = [Rate(**fields) for step in results.values() for fields in step]
    for r in found:
        cells = [r.name, r.dtype.lower(), r.numerics, f"{r.ours:.2f}", f"{r.max_ulp:.2f}"]
        for peer in (r.torch, r.numpy, r.avx2):
            cells += ["-", "-"] if peer is None else [f"{peer:.2f}", f"{r.ours / peer:.1f}"]
        cells.append("-" if r.looked_up is None else f"{r.looked_up:.2f}")
        cells.append(f"{r.looked_up / r.torch:.1f}" if r.looked_up and r.torch else "-")
        rows.append(cells)
    _plot(found, plots_)
    return f"{plots_.shown('ours beside torch')}\n{table(rows, text_columns=3)}\n{bounds(found)}"


def bounds(found: Sequence[Rate]) -> str:
    """The table of bounds of the functions that are not twice as fast as torch's, if there are any."""
    by_kind = {(r.name, r.dtype, r.numerics): r for r in found}
    plain = {1: "identity", 2: "add", 3: "where"}
    rows = [["operation", "dtype", "rounding", "ours / torch", "instructions for 16", "a ns", "of the divider",
             "of a plain loop"]]  # fmt: skip
    for r in sorted(found, key=lambda r: r.ours / (r.torch or 1e-9)):
        if r.torch is None or max(r.ours, r.looked_up or 0.0) >= 2 * r.torch:
            continue
        names = ("divide", "sqrt", plain[r.operands])
        divide, root, loop = (by_kind.get((name, r.dtype, r.numerics)) for name in names)
        cells = [r.name, r.dtype.lower(), r.numerics, f"{r.ours / r.torch:.2f}", f"{r.instructions:.0f}"]
        cells.append(f"{r.ours * r.instructions / 16:.1f}")
        busy = divide and root and r.ours * (r.divisions / divide.ours + r.roots / root.ours)
        cells.append(f"{busy:.0%}" if busy else "-")
        cells.append(f"{r.ours / loop.ours:.0%}" if loop else "-")
        rows.append(cells)
    if len(rows) == 1:
        return ""
    return (
        "## Less than twice torch\n\nWhat bounds these functions: how many instructions they take for 16 elements, and "
        "how many of those run in a ns; the share of the time that the divider is busy, if `divide` and `sqrt` keep it "
        "so for all of it; the share of the speed of an operation on as many operands that costs nothing.\n\n"
        f"{table(rows, text_columns=3)}"
    )


def _plot(found: Sequence[Rate], plots_: Plots) -> None:
    """Plots the sorted ratios to torch."""
    figure, axes = plots.panels(1, 1, 6, 3)
    axis = axes[0][0]
    for dtype, numerics, label in (
        ("FLOAT32", Numerics.IEEE, "f32"),
        ("BFLOAT16", Numerics.IEEE, "bf16 on cpu"),
        ("BFLOAT16", Numerics.DEVICE, "bf16 on wormhole_b0"),
    ):
        chosen = [r for r in found if (r.dtype, r.numerics) == (dtype, numerics.value) and r.torch]
        axis.plot(sorted(r.ours / r.torch for r in chosen if r.torch), marker="o", label=label)
    axis.axhline(1, color="black", linewidth=0.8)
    plots.plain_logarithm(axis.yaxis)
    axis.set_xlabel("operations, by ratio")
    axis.set_ylabel("times as fast as torch")
    axis.legend()
    plots.save(figure, plots_.path())


BENCHMARK = Benchmark("vector_math", (__doc__ or "").splitlines()[0], steps, report)

if __name__ == "__main__":
    main(BENCHMARK)
