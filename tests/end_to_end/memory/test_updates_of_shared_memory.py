"""Updates of arguments that share memory, or of slices of them, equal torch or are refused."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import ttnn_jit
from tests.end_to_end.memory.updated import BOTH, EVERY_LIBRARY, LIBRARIES, added, whole
from ttnn_jit import ttnn
from ttnn_jit.compiler.driver import compile_program
from ttnn_jit.diagnostics.errors import ArgumentError, InternalError
from ttnn_jit.runtime.native.generated import define
from ttnn_jit.runtime.plans.plan import ProgramPlan
from ttnn_jit.runtime.programs import warm_caller

# --- Memory that arguments share ------------------------------------------------------------------------------------


def crossed(x, y):
    x += y
    y[0] = x[1] * 2.0
    return x - y


@BOTH
def test_a_tensor_passed_twice_sees_every_write(graph_capture):
    jitted = ttnn_jit.jit(graph_capture=graph_capture)(crossed)
    for given in ((x := whole(4, 5), x), (whole(4, 5), whole(4, 5)), (x := whole(4, 5), x.view(4, 5))):
        pair = [tensor.clone() for tensor in given]
        pair = [pair[0], pair[0]] if given[0].data_ptr() == given[1].data_ptr() else pair
        expected = crossed(*pair)
        assert torch.equal(jitted(*given), expected)
        assert all(map(torch.equal, given, pair))


def test_interleaved_views_do_not_overlap():
    jitted = ttnn_jit.jit()(crossed)
    memory = whole(4, 10)
    expected = memory.clone()
    assert torch.equal(jitted(memory[:, ::2], memory[:, 1::2]), crossed(expected[:, ::2], expected[:, 1::2]))
    assert torch.equal(memory, expected)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (lambda t: t[:, :5], lambda t: t[:, 1:6]),
        (lambda t: t[:, :4], lambda t: t[:, :4].T),
        (lambda t: t[:, 0:8:2], lambda t: t[:, 6:10]),
    ],
)
def test_arguments_that_overlap_partly_are_refused_and_nothing_is_written(first, second):
    memory = whole(4, 10)
    before = memory.clone()
    with pytest.raises(
        ArgumentError, match="argument 0, which the function writes into, shares memory with argument 1"
    ):
        ttnn_jit.jit()(added)(first(memory), second(memory))
    assert torch.equal(memory, before)


@EVERY_LIBRARY
def test_warm_calls_see_that_arguments_share_memory(library, cpu_device):
    """In a warm call the kernel writes directly into the argument."""
    jitted = ttnn_jit.jit()(crossed_in_place)
    make, read = (
        (lambda _, t: ttnn.from_torch(t, device=cpu_device), ttnn.to_torch) if library == "ttnn" else LIBRARIES[library]
    )
    for given in ("apart", "apart", "apart", "twice", "apart", "twice", "twice", "apart"):
        x, y = whole(4, 6), whole(4, 6)
        first = make(None, x)
        second = first if given == "twice" else make(None, y)
        other = x if given == "twice" else y
        result = jitted(first, second)
        assert result[0] is first
        x.add_(other)
        assert torch.equal(read(result[1]), other - 1)
        assert torch.equal(read(first), x)


def crossed_in_place(x, y):
    ttnn.add_(x, y)
    return x, ttnn.subtract(y, 1.0)


def test_warm_calls_that_write_many_tensors_refuse_two_that_overlap():
    def added_to_each(pairs):
        return [ttnn.add_(x, y) for x, y in pairs]

    jitted = ttnn_jit.jit()(added_to_each)

    def made():
        return [[whole(4, 6), whole(4, 6)] for _ in range(10)]

    for _ in range(4):
        jitted(made())
    memory, pairs = whole(5, 6), made()
    for (first, index), (second, other) in (((3, 0), (3, 1)), ((7, 0), (2, 1)), ((2, 0), (9, 0))):
        shared = [[*pair] for pair in pairs]
        shared[first][index], shared[second][other] = memory[:4], memory[1:]
        before = memory.clone()
        with pytest.raises(ArgumentError, match="shares memory"):
            jitted(shared)
        assert torch.equal(memory, before)


def text_of_a_warm_call(count, device, monkeypatch):
    """The lines of the generated function for warm calls of a program that writes this many caches."""
    lines = []

    def defined(name, text, *arguments, **named):
        lines.append([*text])
        return define(name, lines[-1], *arguments, **named)

    def added_to_each(caches, x):
        for cache in caches:
            ttnn.add_(cache, x)
        return ttnn.add(x, 1.0)

    jitted = ttnn_jit.jit()(added_to_each)
    made = [ttnn.from_torch(whole(), layout=ttnn.TILE_LAYOUT, device=device) for _ in range(count + 1)]
    with monkeypatch.context() as patched:
        patched.setattr(warm_caller, "define", defined)
        for _ in range(3):
            jitted(made[:-1], made[-1])
    return len("\n".join(lines[-1]))


def test_the_code_of_warm_calls_grows_linearly_with_the_written_caches(cpu_device, monkeypatch):
    few, more, most = (text_of_a_warm_call(count, cpu_device, monkeypatch) for count in (10, 30, 50))
    assert most - more < 1.1 * (more - few)


def test_warm_calls_refuse_the_same_writes_as_cold_ones():
    jitted = ttnn_jit.jit()(added)
    memory = whole(5, 6)
    for _ in range(4):
        jitted(memory[:4], whole(4, 6))
        jitted(whole(4, 6).numpy(), whole(4, 6).numpy())
    before = memory.clone()
    for _ in range(2):
        with pytest.raises(ArgumentError, match="shares memory"):
            jitted(memory[:4], memory[1:])
        array = before.numpy()[:4].copy()
        array.flags.writeable = False
        with pytest.raises(ArgumentError, match="read-only"):
            jitted(array, whole(4, 6).numpy())
        with torch.inference_mode():
            tensor = torch.ones(4, 6)
        with pytest.raises(ArgumentError, match="inference mode"):
            jitted(tensor, whole(4, 6))
        assert torch.equal(tensor.clone(), torch.ones(4, 6))
    assert torch.equal(memory, before)


def into_part(x, y):
    x[1:3] = ttnn.multiply(y, 2.0)


def within_itself(x, y):
    x[1:3] = ttnn.add(x[0:2], y)


def with_an_old_part(x, y):
    old = ttnn.multiply(x, 2.0)
    x[1:3] = y
    return ttnn.add(old, x)


def _into_part(x, y):
    x[1:3] = y * 2


def _within_itself(x, y):
    x[1:3] = x[0:2] + y


def _with_an_old_part(x, y):
    old = x * 2
    x[1:3] = y
    return old + x


REFERENCES = {into_part: _into_part, within_itself: _within_itself, with_an_old_part: _with_an_old_part}


@EVERY_LIBRARY
@pytest.mark.parametrize("function", list(REFERENCES))
def test_a_slice_is_updated_in_place_if_no_later_read_needs_the_old_value(library, function, cpu_device):
    make, read = LIBRARIES[library]
    jitted = ttnn_jit.jit()(function)
    for _ in range(4):
        x, y = whole(5, 32), whole(2, 32)
        given = make(cpu_device, x)
        result = jitted(given, make(cpu_device, y))
        expected = REFERENCES[function](x, y)
        assert torch.equal(read(given), x)
        assert expected is result is None or torch.equal(read(result), expected)


def test_explain_reports_every_write_and_its_target():
    x, y = whole(5, 32), whole(2, 32)
    assert "writes argument 0 where it lies" in str(ttnn_jit.jit()(into_part).explain(x, y))
    strided = whole(5, 64)[:, ::2]
    assert "writes argument 0\n" in str(ttnn_jit.jit()(into_part).explain(strided, y))


def test_every_device_of_a_mesh_is_written():
    mesh = ttnn.open_mesh_device(ttnn.MeshShape(1, 2))
    x = whole(32, 32)
    given = ttnn.from_torch(x, layout=ttnn.TILE_LAYOUT, device=mesh, mesh_mapper=ttnn.ReplicateTensorToMesh(mesh))
    for times, run in ((2, ttnn.add_), (4, ttnn_jit.jit()(added))):
        run(given, given)
        assert all(torch.equal(ttnn.to_torch(each), times * x) for each in ttnn.get_device_tensors(given))
    ttnn.close_mesh_device(mesh)


@pytest.mark.parametrize("damage", [{"in_place": [1]}, {"copies": [0]}, {"copies": [7]}, {"updates": [[0, 3]]}])
def test_a_plan_whose_updates_are_damaged_is_refused(damage):
    plan = plan_of(into_part, whole(5, 32), whole(2, 32))
    assert (plan.updates, plan.in_place, len(plan.copies)) == (((0, 0),), (0,), 1)
    assert ProgramPlan.from_json(plan.to_json()) == plan
    with pytest.raises(InternalError):
        ProgramPlan.from_json({**plan.to_json(), **damage})


def plan_of(function: Any, *arguments: torch.Tensor) -> ProgramPlan:
    return compile_program(ttnn_jit.jit()(function).request(*arguments), use_disk=False).program.plan


@pytest.mark.parametrize(
    "written",
    [
        ttnn.softmax_in_place,
        lambda x: ttnn.transformer.attention_softmax_(x, head_size=64),
        lambda x: ttnn.add_(x, 1.0),
    ],
    ids=["softmax_in_place", "attention_softmax_", "add_"],
)
def test_a_tensor_that_fills_most_of_l1_is_written_in_place(written):
    device = ttnn.open_device(device_id=0, target="wormhole_b0")
    values = torch.full((1, 64, 768, 576), 0.5, dtype=torch.bfloat16)  # 0.9 of 1.4 MB of a core
    x = ttnn.from_torch(values, layout=ttnn.TILE_LAYOUT, device=device, memory_config=ttnn.L1_MEMORY_CONFIG)
    before = device.l1.view().used
    assert written(x) is x
    assert device.l1.view().used == before
    ttnn.close_device(device)


@pytest.mark.parametrize("jitted", [False, True])
def test_a_write_in_place_takes_no_l1(jitted, cpu_device):
    run = ttnn_jit.jit()(added) if jitted else ttnn.add_
    x = ttnn.from_torch(whole(64, 64), device=cpu_device, memory_config=ttnn.L1_MEMORY_CONFIG)
    y = ttnn.from_torch(whole(64, 64), device=cpu_device)
    before = cpu_device.l1.view().used
    for _ in range(4):
        assert run(x, x) is x
        assert run(x, y) is x
    assert cpu_device.l1.view().used == before
