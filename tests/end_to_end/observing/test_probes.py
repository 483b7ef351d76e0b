"""One operation of every family in all features of the decorator and of eager ttnn."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch

import ttnn_jit
from tests.products import TF32
from tests.sampling import shown
from ttnn_jit import ttnn
from ttnn_jit.compiler import driver
from ttnn_jit.dialects import parse_module, print_module
from ttnn_jit.interpreters.tile_interpreter import interpret
from ttnn_jit.transforms import pipeline

F32, BF16, I32 = torch.float32, torch.bfloat16, torch.int32
NAMES = (Path(__file__).parents[3] / "docs" / "from_ttnn.md").read_text()


@dataclass(frozen=True)
class Probe:
    """A program of one operation.

    Attributes:
        program: The function.
        golden: The same in torch, of operands in float64 where they are floats.
        shapes: Of its operands.
        dtypes: Of the operands, or of all of them.
        name: In ttnn's namespace; "" of a subscript.
        tolerance: Relative to the largest element of the result; 0 means bit for bit.
        functions: The same between executors: of functions that numba takes from libm.
        on_chips: The same between targets, where a chip multiplies with fewer bits.
    """

    program: Callable[..., Any]
    golden: Callable[..., Any]
    shapes: tuple[tuple[int, ...], ...] = ((64, 96),)
    dtypes: tuple[torch.dtype, ...] = (F32,)
    name: str = ""
    tolerance: float = 0.0
    functions: float = 0.0
    on_chips: float = 0.0


def _written(x, y):
    x[::2, 3:35] = y[:32, :32]
    return x


def _written_in_torch(x, y):
    x = x.clone()
    x[::2, 3:35] = y[:32, :32]
    return x


def _indices(shape):
    return torch.arange(shape[0] * shape[1], dtype=I32).reshape(shape) % 50


TWO = ((64, 96), (64, 96))
PROBES = {
    "reshape": Probe(lambda x: ttnn.reshape(x, (96, 64)), lambda x: x.reshape(96, 64), name="reshape"),
    "permute": Probe(lambda x: ttnn.permute(x, (1, 0)), lambda x: x.permute(1, 0), name="permute"),
    "slice with steps": Probe(
        lambda x: ttnn.slice(x, (1, 0), (64, 96), (3, 5)), lambda x: x[1:64:3, 0:96:5], name="slice"
    ),
    "concat": Probe(lambda x, y: ttnn.concat([x, y], dim=1), lambda x, y: torch.cat([x, y], 1), TWO, name="concat"),
    "embedding": Probe(
        lambda i, w: ttnn.embedding(i, w), lambda i, w: w[i.long()], ((4, 32), (50, 64)), (I32, F32), "embedding"
    ),
    "sum": Probe(lambda x: ttnn.sum(ttnn.neg(x), 0), lambda x: (-x).sum(0), name="sum", tolerance=2e-6),
    "sum of bf16": Probe(
        lambda x: ttnn.sum(ttnn.neg(x), (0, 1)), lambda x: (-x).sum(), dtypes=(BF16,), name="sum", tolerance=2**-8
    ),
    "max": Probe(lambda x: ttnn.max(ttnn.neg(x), -1, True), lambda x: (-x).amax(-1, True), name="max"),
    "max of bf16": Probe(lambda x: ttnn.max(ttnn.neg(x), 0), lambda x: (-x).amax(0), dtypes=(BF16,), name="max"),
    "softmax": Probe(
        lambda x: ttnn.softmax(x, -1), lambda x: torch.softmax(x, -1), name="softmax", tolerance=1e-6, functions=1e-6
    ),
    "matmul": Probe(
        lambda x, y: ttnn.matmul(x, y),
        lambda x, y: x @ y,
        ((64, 96), (96, 32)),
        name="matmul",
        tolerance=2e-6,
        on_chips=TF32,
    ),
    "matmul of bf16": Probe(
        lambda x, y: x @ y, lambda x, y: x @ y, ((64, 96), (96, 32)), (BF16,), "matmul", tolerance=2**-8, on_chips=2**-6
    ),
    "topk": Probe(lambda x: ttnn.topk(x, 5), lambda x: tuple(torch.topk(x, 5)), name="topk"),
    "int32 add": Probe(lambda x, y: x + y, lambda x, y: x + y, TWO, (I32,), "add"),
    "bitwise_and": Probe(lambda x, y: ttnn.bitwise_and(x, y), lambda x, y: x & y, TWO, (I32,), "bitwise_and"),
    "add_": Probe(lambda x, y: ttnn.add_(x, y), lambda x, y: (x.float() + y.float()).double(), TWO, name="add_"),
    "subscript written": Probe(_written, _written_in_torch, TWO),
    "linear": Probe(
        lambda x, w, b: ttnn.linear(x, w, bias=b),
        lambda x, w, b: x @ w + b,
        ((64, 96), (96, 32), (32,)),
        name="linear",
        tolerance=2e-6,
        on_chips=TF32,
    ),
    "layer_norm": Probe(
        lambda x, w: ttnn.layer_norm(x, weight=w, epsilon=1e-5),
        lambda x, w: torch.nn.functional.layer_norm(x, (96,), w, eps=float(torch.tensor(1e-5))),
        ((64, 96), (96,)),
        name="layer_norm",
        tolerance=2e-6,
        functions=1e-6,
    ),
}


def operands(probe: Probe) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(5)
    dtypes = probe.dtypes * (len(probe.shapes) if len(probe.dtypes) == 1 else 1)
    made = []
    for shape, dtype in zip(probe.shapes, dtypes, strict=True):
        if probe.name == "embedding" and dtype is I32:
            made.append(_indices(shape))
        elif dtype is I32:
            made.append(torch.randint(-(2**31), 2**31 - 1, shape, generator=generator).to(I32))
        else:
            made.append(torch.randn(shape, generator=generator).to(dtype))
    return made


def copies(tensors):
    return [x.clone() for x in tensors]


def as_tuple(results):
    return tuple(results) if isinstance(results, (tuple, list)) else (results,)


def for_interpreter(x):
    return x.contiguous().view(torch.int16).numpy().view("uint16") if x.dtype is BF16 else x.numpy()


def assert_equal(got, want):
    for one, other in zip(as_tuple(got), as_tuple(want), strict=True):
        assert torch.equal(one.contiguous(), other.contiguous())


def probes(names):
    return pytest.mark.parametrize("probe", [PROBES[each] for each in names], ids=[n.replace(" ", "_") for n in names])


def some_probes(test):
    """Those that a test shows of which each takes a quarter of a second."""
    return probes(shown(test.__name__, [*PROBES]))(test)


@some_probes
def test_a_probe_reports_the_numbers_of_torch_in_every_executor_frontend_and_memory(probe, device, cpu_device):
    tensors = operands(probe)
    jitted = ttnn_jit.jit()(probe.program)
    got = as_tuple(jitted(*copies(tensors)))
    wide = [x.double() if x.is_floating_point() else x for x in tensors]
    for one, want in zip(got, as_tuple(probe.golden(*wide)), strict=True):
        error = (one.double() - want.double()).abs().max()
        assert error <= probe.tolerance * want.double().abs().max()
    assert_equal(ttnn_jit.jit(graph_capture=True)(probe.program)(*copies(tensors)), got)
    by_numba = as_tuple(ttnn_jit.jit(backend="numba")(probe.program)(*copies(tensors)))
    for one, other in zip(by_numba, got, strict=True):  # functions are libm's there
        assert (one.double() - other.double()).abs().max() <= probe.functions * other.double().abs().max()
    module = parse_module(jitted.ir(*copies(tensors), stage=pipeline.SCHEDULED))
    interpreted = interpret(module, [for_interpreter(x) for x in copies(tensors)])
    for one, array in zip(got, interpreted, strict=True):
        assert (for_interpreter(one).reshape(-1) == array.reshape(-1).view(for_interpreter(one).dtype)).all()
    for where in (cpu_device, device):
        for function in (probe.program, jitted):
            on_device = [ttnn.from_torch(x, layout=ttnn.TILE_LAYOUT, device=where) for x in tensors]
            found = [ttnn.to_torch(each) for each in as_tuple(function(*on_device))]
            if where is device and probe.on_chips:
                assert all(
                    (x - y).abs().max() <= probe.on_chips * y.abs().max() for x, y in zip(found, got, strict=True)
                )
            else:
                assert_equal([x.to(y.dtype) for x, y in zip(found, got, strict=True)], got)


@some_probes
def test_a_probe_is_in_every_dump_in_reports_in_descriptors_and_on_disk(probe):
    tensors = operands(probe)
    jitted, traced = (ttnn_jit.jit(graph_capture=capture)(probe.program) for capture in (False, True))
    texts, request = {}, jitted.request(*copies(tensors))
    driver.run_stages(request.lower().module, request.options, lambda stage, text: texts.update({stage: text()}))
    assert {*texts, driver.ASSEMBLY} == {*driver.stages()}
    for stage in (pipeline.FRONTEND, *pipeline.STAGES):
        assert print_module(parse_module(texts[stage])) == texts[stage]
    assert without_locations(texts[pipeline.FRONTEND]) == without_locations(traced.ir(*tensors))
    report = jitted.explain(*copies(tensors))
    assert report.launches
    assert all(launch.nbytes for launch in report.launches)
    program = ttnn_jit.jit(compile_only=True)(probe.program)(*copies(tensors))
    assert len(program.plan.launches) == len(report.launches)
    assert all(descriptor["kernel"] and descriptor["cbs"] for descriptor in program.descriptors)
    first = jitted(*copies(tensors))
    jitted.clear()
    before = ttnn_jit.cache_info()
    assert_equal(jitted(*copies(tensors)), first)
    after = ttnn_jit.cache_info()
    assert (after.disk_hits - before.disk_hits, after.compiles) == (1, before.compiles)
    assert not probe.name or re.search(rf"^\| `ttnn\.{probe.name}\b.*\| honoured", NAMES, re.MULTILINE)


def without_locations(text):
    return re.sub(r"loc\(.*?\)", "", text).replace("@_lambda_", "@")


@probes([*PROBES])
def test_results_of_a_probe_in_l1_are_charged_and_released(probe, cpu_device):
    l1 = ttnn.L1_MEMORY_CONFIG
    jitted = ttnn_jit.jit(memory_config=l1)(probe.program)
    on_device = [
        ttnn.from_torch(x, layout=ttnn.TILE_LAYOUT, device=cpu_device, memory_config=l1) for x in operands(probe)
    ]
    before = cpu_device.l1.view().used
    results = as_tuple(jitted(*on_device))
    made = [each for each in results if all(each is not given for given in on_device)]
    assert all(each.memory_config().buffer_type is ttnn.BufferType.L1 for each in results)
    charged = cpu_device.l1.view().used
    assert charged != before or not made
    del results, made
    assert cpu_device.l1.view().used == before
