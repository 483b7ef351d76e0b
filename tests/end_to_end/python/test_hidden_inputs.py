"""Hidden inputs: tensors that a jitted function reads by a path are read at each call and kept alive by nobody."""

from __future__ import annotations

import importlib.util
import sys
import threading
import types
import weakref
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch

import ttnn_jit
from tests.end_to_end.python.hidden_inputs import BOTH, WEIGHT, Layer, compiles, whole
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import (
    ArgumentError,
    DeallocatedError,
    DTypeError,
    TtnnJitError,
    UnsupportedFunction,
)
from ttnn_jit.frontend import capture

ANY_CACHE = pytest.mark.parametrize("cached", [False, True], ids=["memory", "disk"])


def on_device(device: Any, tensor: torch.Tensor) -> Any:
    return ttnn.from_torch(tensor, layout=ttnn.TILE_LAYOUT, device=device)


@pytest.fixture
def device():
    opened = ttnn.open_device(device_id=0)
    yield opened
    ttnn.close_device(opened)


LIBRARIES = {
    "torch": (lambda _, tensor: tensor, lambda tensor: tensor),
    "numpy": (lambda _, tensor: tensor.numpy(), torch.as_tensor),
    "ttnn": (on_device, ttnn.to_torch),
}


class Model:
    """One weight, two layers with one weight each, and a table with one."""

    def __init__(self, make: Any) -> None:
        self.weight = make()
        self.layers = [Layer(make()), Layer(make())]
        self.table = {"bias": make()}

    def forward(self, x: Any) -> Any:
        for layer in self.layers:
            x = ttnn.multiply(x, layer.weight)
        return ttnn.add(ttnn.add(x, self.weight), self.table["bias"])

    def expected(self, x: Any, values: Any) -> torch.Tensor:
        for layer in self.layers:
            x = x * values(layer.weight)
        return x + values(self.weight) + values(self.table["bias"])


def jitted_model(graph_capture: bool, cached: bool, make: Any) -> Any:
    members = {"forward": ttnn_jit.jit(graph_capture=graph_capture, enable_cache=cached)(Model.forward)}
    return type("Jitted", (Model,), members)(make)


@pytest.mark.parametrize("library", LIBRARIES)
@BOTH
@ANY_CACHE
def test_a_swapped_weight_is_used_and_freed(library, graph_capture, cached, device):
    wrap, values = LIBRARIES[library]

    def make() -> Any:
        return wrap(device, whole())

    x = whole()
    model = jitted_model(graph_capture, cached, make)

    def check() -> None:
        for _ in range(3):
            assert torch.equal(values(model.forward(wrap(device, x))), model.expected(x, values))

    check()
    before = compiles()
    for swap in (swap_weight, swap_layers_weight, swap_item, swap_layer, swap_list, swap_dict):
        old = swap(model, make)
        assert [reference() for reference in old] == [None] * len(old), swap.__name__
        check()
    assert compiles() == before


def swap_weight(model, make):
    old = [weakref.ref(model.weight)]
    model.weight = make()
    return old


def swap_layers_weight(model, make):
    old = [weakref.ref(model.layers[0].weight)]
    model.layers[0].weight = make()
    return old


def swap_item(model, make):
    old = [weakref.ref(model.table["bias"])]
    model.table["bias"] = make()
    return old


def swap_layer(model, make):
    old = [weakref.ref(model.layers[1]), weakref.ref(model.layers[1].weight)]
    model.layers[1] = Layer(make())
    return old


def swap_list(model, make):
    old = [weakref.ref(layer.weight) for layer in model.layers]
    model.layers = [Layer(make()) for _ in range(2)]
    return old


def swap_dict(model, make):
    old = [weakref.ref(model.table["bias"])]
    model.table = {"bias": make()}
    return old


@BOTH
def test_a_weight_of_other_metadata_is_compiled_anew_and_the_old_one_is_not(graph_capture):
    holder = types.SimpleNamespace(weight=whole())
    scaled = ttnn_jit.jit(graph_capture=graph_capture, enable_cache=False)(lambda x: x * holder.weight)
    x, first = whole(), holder.weight
    assert torch.equal(scaled(x), x * first)
    for other in (whole(32, 1), whole().to(torch.bfloat16).float()[:, ::1].t(), whole(1, 32)):
        before = compiles()
        holder.weight = other
        assert torch.equal(scaled(x), x * other)
        assert torch.equal(scaled(x), x * other)
        assert compiles() == before + 1
    before = compiles()
    holder.weight = first
    assert torch.equal(scaled(x), x * first)
    assert compiles() == before


def test_metadata_that_change_in_place_are_detected():
    holder = types.SimpleNamespace(weight=torch.nn.Parameter(whole()))
    scaled = ttnn_jit.jit(lambda x: x * holder.weight)
    x = whole()
    with torch.no_grad():
        for change in (whole(), whole(32, 1), whole().t(), whole()):
            holder.weight.data = change
            for _ in range(3):
                assert torch.equal(scaled(x), x * change)


PROGRAM = """\
import types, torch, ttnn_jit
from ttnn_jit import ttnn
WEIGHT = torch.full((4, 4), {first}.0)
class Model:
    def __init__(self):
        self.layers = [types.SimpleNamespace(weight=torch.full((4, 4), {second}.0))]
    def forward(self, x):
        return ttnn.multiply(x, self.layers[0].weight) + WEIGHT
"""


def loaded(folder: Path, first: int, second: int, graph_capture: bool) -> Any:
    """The module of a program with such weights, loaded as by another process; its function was never called."""
    file = folder / f"weights_{first}_{second}" / "of_a_model.py"
    file.parent.mkdir()
    file.write_text(PROGRAM.format(first=first, second=second))
    spec: Any = importlib.util.spec_from_file_location("of_a_model", file)
    module = sys.modules["of_a_model"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.Model.forward = ttnn_jit.jit(graph_capture=graph_capture)(module.Model.forward)
    return module


@BOTH
def test_another_process_finds_the_program_for_any_content_of_the_weights(graph_capture, tmp_path):
    x = torch.full((4, 4), 2.0)
    assert float(loaded(tmp_path, 3, 5, graph_capture).Model().forward(x)[0, 0]) == 13.0
    before = ttnn_jit.cache_info()
    assert float(loaded(tmp_path, 4, 7, graph_capture).Model().forward(x)[0, 0]) == 18.0
    after = ttnn_jit.cache_info()
    assert (after.compiles, after.disk_hits) == (before.compiles, before.disk_hits + 1)
    sys.modules.pop("of_a_model")


def test_a_program_on_disk_for_other_weights_is_not_taken(tmp_path):
    x = torch.full((4, 4), 2.0)
    loaded(tmp_path, 3, 5, graph_capture=False).Model().forward(x)
    module = loaded(tmp_path, 4, 7, graph_capture=False)
    module.WEIGHT = torch.full((4, 1), 4.0)
    before = compiles()
    assert float(module.Model().forward(x)[0, 0]) == 18.0
    assert compiles() == before + 1
    module.WEIGHT = numpy.full((4, 4), 4.0, numpy.float32)
    with pytest.raises(ArgumentError, match="`WEIGHT` is a numpy array"):
        module.Model().forward(x)
    sys.modules.pop("of_a_model")


# --- Refusals ---------------------------------------------------------------------------------------------------------


HOLDER = types.SimpleNamespace(layers=[types.SimpleNamespace(weight=None)])


def scaled(x):
    return ttnn.multiply(x, HOLDER.layers[0].weight)


def refusal(weight: Any, x: Any, graph_capture: bool) -> TtnnJitError:
    HOLDER.layers[0].weight = weight
    before = compiles()
    with pytest.raises(TtnnJitError) as raised:
        ttnn_jit.jit(graph_capture=graph_capture)(scaled)(x)
    assert compiles() == before
    assert raised.value.location.line == scaled.__code__.co_firstlineno + 1
    assert "`HOLDER.layers[0].weight`" in raised.value.message
    return raised.value


@BOTH
def test_a_tensor_that_is_refused_as_an_argument_is_refused_as_a_hidden_input(graph_capture, device):
    x, on_chip = whole(), on_device(device, whole())
    assert "a ttnn tensor, and its arguments are torch tensors" in refusal(on_chip, x, graph_capture).message
    assert "a numpy array, and its" in refusal(whole().numpy(), x, graph_capture).message
    assert "a torch tensor, and its arguments are ttnn tensors" in refusal(whole(), on_chip, graph_capture).message
    assert "is on the host" in refusal(ttnn.from_torch(whole()), on_chip, graph_capture).message
    assert "requires grad" in refusal(whole().requires_grad_(), x, graph_capture).message
    assert isinstance(refusal(whole().to(torch.complex64), x, graph_capture), DTypeError)
    assert "dense on the CPU" in refusal(whole().to_sparse(), x, graph_capture).message


@BOTH
def test_a_tensor_of_a_mesh_is_refused_by_its_path(graph_capture, device):
    mesh = ttnn.open_mesh_device(ttnn.MeshShape(1, 2))
    mapper = ttnn.ReplicateTensorToMesh(mesh)
    weight = ttnn.from_torch(whole(), layout=ttnn.TILE_LAYOUT, device=mesh, mesh_mapper=mapper)
    assert "a tensor of a mesh" in refusal(weight, on_device(device, whole()), graph_capture).message
    ttnn.close_mesh_device(mesh)


@BOTH
def test_errors_about_rules_of_a_chip_name_the_path(graph_capture, device):
    row_major = ttnn.from_torch(whole(), device=device)
    HOLDER.layers[0].weight = row_major
    with pytest.raises(ArgumentError, match=r"`HOLDER.layers\[0\].weight`"):
        ttnn_jit.jit(graph_capture=graph_capture)(scaled)(on_device(device, whole()))


def test_a_gradient_is_refused_again_once_it_is_required():
    HOLDER.layers[0].weight = torch.nn.Parameter(whole())
    program, x = ttnn_jit.jit(scaled), whole()
    for _ in range(2):
        with torch.no_grad():
            for _ in range(3):
                assert torch.equal(program(x), x * HOLDER.layers[0].weight)
        with pytest.raises(ArgumentError, match="requires grad"):
            program(x)


def test_a_weight_on_another_device_than_the_argument_is_refused_warm_and_cold(device):
    other = ttnn.open_device(device_id=1)
    HOLDER.layers[0].weight = on_device(device, whole())
    program, x = ttnn_jit.jit(scaled), on_device(device, whole())
    for _ in range(3):
        program(x)
        with pytest.raises(ArgumentError, match=r"different devices: `HOLDER.layers\[0\].weight` is on"):
            program(on_device(other, whole()))
    ttnn.close_device(other)


def test_a_deallocated_weight_is_refused_warm_and_cold(device):
    HOLDER.layers[0].weight = on_device(device, whole())
    program, x = ttnn_jit.jit(scaled), on_device(device, whole())
    for _ in range(3):
        program(x)
    ttnn.deallocate(HOLDER.layers[0].weight)
    for _ in range(2):
        with pytest.raises(DeallocatedError):
            program(x)
    with pytest.raises(DeallocatedError):
        ttnn_jit.jit(scaled)(x)


@BOTH
def test_a_call_without_any_tensor_among_its_arguments_is_still_refused(graph_capture):
    with pytest.raises(ArgumentError, match="there is no tensor among them"):
        ttnn_jit.jit(graph_capture=graph_capture)(lambda: ttnn.exp(WEIGHT))()


@BOTH
def test_a_hidden_input_is_written_at_each_call_and_not_by_the_compile(graph_capture):
    def writes(x):
        WEIGHT[0] = x
        WEIGHT[1] += x
        WEIGHT.mul_(2.0)
        return x

    before, x = WEIGHT.clone(), whole(32)
    try:
        jitted = ttnn_jit.jit(graph_capture=graph_capture)(writes)
        jitted.ir(x)
        assert torch.equal(WEIGHT, before)
        expected = before.clone()
        for _ in range(2):
            jitted(x)
            expected[0] = x
            expected[1] += x
            expected *= 2
            assert torch.equal(WEIGHT, expected)
    finally:
        WEIGHT.copy_(before)


def test_a_trace_that_would_not_record_a_write_of_numpy_is_refused():
    def writes(x):
        ARRAY[0] = 1.0
        return x

    def adds(x):
        array = ARRAY
        array += x
        return x

    for function in (writes, adds):
        with pytest.raises(UnsupportedFunction, match="a trace does not see numpy write"):
            ttnn_jit.jit(graph_capture=True)(function)(numpy.ones((3, 4), numpy.float32))
        assert not ARRAY.any()


ARRAY = numpy.zeros((3, 4), numpy.float32)


def test_explain_miss_names_the_weight_that_changed(tmp_path):
    module = loaded(tmp_path, 3, 5, graph_capture=False)
    model, x = module.Model(), torch.full((4, 4), 2.0)
    model.forward(x)
    module.WEIGHT = torch.full((4, 1), 4.0)
    assert ttnn_jit.explain_miss(type(model).forward, model, x).startswith("read WEIGHT: ")
    sys.modules.pop("of_a_model")


def test_a_function_that_falls_back_computes_with_its_weights():
    def clipped(x):
        return ttnn.multiply(x, WEIGHT) if float(WEIGHT[0, 0]) < 100 else x

    program = ttnn_jit.jit(fallback=True)(clipped)
    x = whole()
    with pytest.warns(UserWarning, match="runs as plain Python"):
        assert torch.equal(program(x), x * WEIGHT)
    plain = ttnn_jit.jit(fallback=True)(lambda x: x * WEIGHT)
    assert torch.equal(plain(x), x * WEIGHT)
    assert not plain.fallback_used


def test_sharded_weights_are_charged_to_the_account_of_the_device(device):
    config = ttnn.create_sharded_memory_config((32, 32), ttnn.CoreGrid(y=1, x=1), ttnn.ShardStrategy.BLOCK)
    HOLDER.layers[0].weight = ttnn.to_memory_config(on_device(device, whole()), config)
    program = ttnn_jit.jit(scaled)
    x = ttnn.to_memory_config(on_device(device, whole()), config)
    expected = ttnn.to_torch(x) * ttnn.to_torch(HOLDER.layers[0].weight)
    for _ in range(3):
        assert torch.equal(ttnn.to_torch(program(x)), expected)


@pytest.mark.parametrize("library", LIBRARIES)
@BOTH
def test_calls_see_complete_weights_while_another_thread_swaps_them(library, graph_capture, device):
    wrap, values = LIBRARIES[library]
    shape = (256, 256)
    weights = [wrap(device, torch.full(shape, float(number))) for number in range(2)]
    holder = types.SimpleNamespace(weight=weights[0])
    x = wrap(device, torch.ones(shape))
    program = ttnn_jit.jit(graph_capture=graph_capture, enable_cache=False)(lambda x: ttnn.multiply(x, holder.weight))
    stop, seen = threading.Event(), []

    def calls() -> None:
        try:
            for _ in range(60):
                result = values(program(x))
                seen.append(float(result.min()) == float(result.max()) in {0.0, 1.0})
        except BaseException as error:  # noqa: BLE001 - reported by the test
            seen.append(error)

    def swaps() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            old, holder.weight = holder.weight, wrap(device, torch.full(shape, float(number % 2)))
            if library == "ttnn":
                ttnn.deallocate(old)

    weights.clear()
    swapper, callers = threading.Thread(target=swaps), [threading.Thread(target=calls) for _ in range(2)]
    for thread in (swapper, *callers):
        thread.start()
    for thread in callers:
        thread.join()
    stop.set()
    swapper.join()
    kept = [each for each in seen if not isinstance(each, DeallocatedError)]
    assert set(kept) == {True}


def test_a_trace_during_which_a_weight_is_swapped_is_repeated(monkeypatch):
    holder = types.SimpleNamespace(weight=whole())
    run, swaps = capture._returned, iter([whole(), whole()])

    def while_another_swaps(*args: Any) -> Any:
        holder.weight = next(swaps, holder.weight)
        return run(*args)

    monkeypatch.setattr(capture, "_returned", while_another_swaps)
    x = whole()
    assert torch.equal(ttnn_jit.jit(graph_capture=True)(lambda x: x * holder.weight)(x), x * holder.weight)


def test_the_guard_of_a_program_without_hidden_inputs_reads_nothing():
    program = ttnn_jit.jit(lambda x: x + 1.0)
    program(whole())
    variant = next(iter(program._variants._by_key.values()))[0]
    assert variant.hidden == ()
    assert variant.fetch([]) == ()
