"""The measurements of one checkout for `compare_checkouts`: seconds by row, with names that every version exports.

The functions run in a process that imports that checkout. A figure is the minimum of some repetitions, since other
processes only lengthen them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from benchmarks.harness.contenders import Case, inputs_of
from benchmarks.harness.loop_shapes import LOOP_SHAPES, LoopShape
from benchmarks.harness.programs import ELEMENTWISE, Workload, cosh, tree30, ttnn_operations
from benchmarks.harness.timing import seconds, times_of
from benchmarks.programs.model_programs import module_of

Figure = tuple[str, Callable[[], float]]
"""A row's name, and a function that measures its seconds."""

KERNELS = ("cosh", "add-mul-exp-sigmoid", "add tree of 8")


def measure(only: str, quick: bool) -> dict[str, float]:
    """The figures of one process, of rows whose name contains `only`; compiles before warm calls."""
    return {name: figure() for name, figure in figures(quick) if only in name}


def figures(quick: bool) -> Iterator[Figure]:
    """Compiles, then warm calls."""
    duration = 0.01 if quick else 0.25
    yield from compiles("cold compile", 1 if quick else 7)
    yield from warm_calls(duration)
    yield from kernels(duration)
    yield from loop_shapes(duration)


def measure_disk_hits(only: str, quick: bool) -> dict[str, float]:
    """First calls of programs that an earlier process has stored in the same cache folder."""
    return {name: figure() for name, figure in disk_hits(quick) if only in name}


def disk_hits(quick: bool) -> Iterator[Figure]:
    """First calls, as `measure_disk_hits` measures them."""
    yield from compiles("disk hit", 1 if quick else 7)


def compiles(kind: str, repetitions: int) -> Iterator[Figure]:
    """First calls of new functions, each with its own constant; of a model, its first call."""
    programs = {
        "cosh": Workload(scaled_cosh, 2),
        "softmax": Workload(scaled_softmax, 2),
        "30 ops": Workload(scaled_tree, 3),
        "chain of 100": Workload(scaled_chain, 2),
    }
    yield f"{kind}, first of the process", lambda: first_call(programs["cosh"], 0.375)
    for name, program in programs.items():
        yield f"{kind}, {name}", partial(_first_calls, program, repetitions)
    yield f"{kind}, BERT", _first_call_of_bert


def _first_calls(program: Workload, repetitions: int) -> float:
    first_call(program, 0.25)  # loads what a process loads once
    return min(first_call(program, 0.5 + k / 64) for k in range(repetitions))


def _first_call_of_bert() -> float:
    """Seconds of a model's first call: twelve layers, small ones."""
    import ttnn_jit
    from ttnn_jit import ttnn

    bert = module_of("bert")
    device = ttnn.open_device(device_id=0, target="cpu")
    run, _ = bert.build(bert.Config(num_hidden_layers=12), device, compiled=ttnn_jit.jit())
    return seconds(run)


def first_call(program: Workload, factor: float) -> float:
    """Seconds of a new function's first call, on numpy arrays, which need no torch."""
    import numpy

    import ttnn_jit

    function = ttnn_jit.jit()(program.over(ttnn_operations()))
    arrays = [numpy.ones((64, 64), numpy.float32)] * (program.inputs - 1)
    return seconds(lambda: function(*arrays, factor))


def scaled_cosh(x: Any, factor: float, ops: Any) -> Any:
    """Six ops."""
    return ops.mul(cosh(x, ops), factor)


def scaled_softmax(x: Any, factor: float, ops: Any) -> Any:
    """Rows that are reduced twice."""
    return ops.mul(ops.softmax(x, -1), factor)


def scaled_tree(x: Any, y: Any, factor: float, ops: Any) -> Any:
    """Thirty ops, and one more."""
    return ops.mul(tree30(x, y, ops), factor)


def scaled_chain(x: Any, factor: float, ops: Any) -> Any:
    """A chain of a hundred ops."""
    for _ in range(50):
        x = ops.add(ops.mul(x, factor), 0.125)
    return x


def warm_calls(duration: float) -> Iterator[Figure]:
    """Calls of programs on 32x32 float32, dominated by the overhead of a call."""
    for name, call in {
        "1 ttnn tensor": lambda: _jitted("cosh", _on_device),
        "8 ttnn tensors": lambda: _jitted("add tree of 8", _on_device),
        "torch": lambda: _jitted("cosh", lambda tensors: tensors),
        "numpy": lambda: _jitted("cosh", lambda tensors: [tensor.numpy() for tensor in tensors]),
        "eager": _eager,
        "eager with scalar": _eager_with_scalar,
    }.items():
        yield f"warm call, {name}", partial(_fastest, call, duration)


def kernels(duration: float) -> Iterator[Figure]:
    """Programs on torch tensors, dominated by the kernel."""
    for workload in KERNELS:
        for dtype in ("f32", "bf16"):
            for side in (256, 2048):
                case = Case(workload, (side, side), dtype)
                yield case.name, partial(_fastest, partial(_kernel, case), duration)


def loop_shapes(duration: float) -> Iterator[Figure]:
    """A program for each shape of loop."""
    for shape in LOOP_SHAPES:
        for dtype in shape.dtypes:
            yield f"{shape.name} {dtype}", partial(_fastest, partial(_loop_of, shape, dtype), duration)


def _loop_of(shape: LoopShape, dtype: str) -> Callable[[], Any]:
    function, tensors = shape.jitted(), shape.tensors(dtype)
    return lambda: function(*tensors)


def _fastest(make_call: Callable[[], Callable[[], Any]], duration: float) -> float:
    call = make_call()
    for _ in range(100):
        call()
    start = time.perf_counter()
    while time.perf_counter() < start + duration / 10:  # warm-up of helper threads and the CPU's clock
        call()
    return min(times_of(call, duration))


def _kernel(case: Case) -> Callable[[], Any]:
    return _call(ELEMENTWISE[case.workload], inputs_of(case))


def _jitted(workload: str, as_arguments: Callable[[list[Any]], list[Any]]) -> Callable[[], Any]:
    return _call(ELEMENTWISE[workload], as_arguments(inputs_of(Case(workload, (32, 32), "f32"))))


def _call(workload: Workload, arguments: list[Any]) -> Callable[[], Any]:
    import ttnn_jit

    function = ttnn_jit.jit()(workload.over(ttnn_operations()))
    return lambda: function(*arguments)


def _eager() -> Callable[[], Any]:
    from ttnn_jit import ttnn

    x, y = _on_device(inputs_of(Case("add-mul-exp-sigmoid", (32, 32), "f32")))
    return lambda: ttnn.add(x, y)


def _eager_with_scalar() -> Callable[[], Any]:
    from ttnn_jit import ttnn

    (x,) = _on_device(inputs_of(Case("cosh", (32, 32), "f32")))
    return lambda: ttnn.multiply(x, 0.5)


def _on_device(tensors: list[Any]) -> list[Any]:
    from ttnn_jit import ttnn

    device = ttnn.open_device(device_id=0)
    return [ttnn.from_torch(tensor, layout=ttnn.TILE_LAYOUT, device=device) for tensor in tensors]
