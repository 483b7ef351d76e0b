"""Tensors that a jitted function finds by a path are inputs of its program: fetched at each call, kept by nobody."""

from __future__ import annotations

import dataclasses
import functools
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
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import (
    ArgumentError,
    CompileError,
    DeallocatedError,
    DTypeError,
    TtnnJitError,
    UnsupportedFunction,
)
from ttnn_jit.frontend import capture

BOTH = pytest.mark.parametrize("graph_capture", [False, True], ids=["ast", "capture"])
ANY_CACHE = pytest.mark.parametrize("cached", [False, True], ids=["memory", "disk"])
SHAPE = (32, 32)
_generator = torch.Generator().manual_seed(0)


def whole(*shape: int) -> torch.Tensor:
    """A torch tensor of small whole numbers: what is computed of them is exact."""
    return torch.randint(-4, 5, shape or SHAPE, generator=_generator).float()


def on_device(device: Any, tensor: torch.Tensor) -> Any:
    return ttnn.from_torch(tensor, layout=ttnn.TILE_LAYOUT, device=device)


def compiles() -> int:
    return ttnn_jit.cache_info().compiles


@pytest.fixture
def device():
    opened = ttnn.open_device(device_id=0)
    yield opened
    ttnn.close_device(opened)


FAMILIES = {
    "torch": (lambda _, tensor: tensor, lambda tensor: tensor),
    "numpy": (lambda _, tensor: tensor.numpy(), torch.as_tensor),
    "ttnn": (on_device, ttnn.to_torch),
}


class Layer:
    def __init__(self, weight: Any) -> None:
        self.weight = weight


class Model:
    """One weight, two layers of one weight each, a table of one."""

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


@pytest.mark.parametrize("family", FAMILIES)
@BOTH
@ANY_CACHE
def test_a_swapped_weight_is_used_and_freed(family, graph_capture, cached, device):
    wrap, values = FAMILIES[family]

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
def test_a_swap_for_other_metadata_is_compiled_anew_and_back_is_not(graph_capture):
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


def test_metadata_that_change_in_place_are_seen():
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
    """The module of a program with such weights, loaded as another process would, and its function never called."""
    file = folder / f"weights_{first}_{second}" / "of_a_model.py"
    file.parent.mkdir()
    file.write_text(PROGRAM.format(first=first, second=second))
    spec: Any = importlib.util.spec_from_file_location("of_a_model", file)
    module = sys.modules["of_a_model"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.Model.forward = ttnn_jit.jit(graph_capture=graph_capture)(module.Model.forward)
    return module


@BOTH
def test_another_process_finds_the_program_whatever_the_weights_hold(graph_capture, tmp_path):
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


# --- Where tensors are found ----------------------------------------------------------------------------------------


@dataclasses.dataclass
class Config:
    weight: Any
    scale: float = 2.0


class ParameterDict(dict):
    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


def affine(x: Any, weight: Any, bias: float = 1.0) -> Any:
    return ttnn.multiply(x, weight) + bias


def adding(weight: Any) -> Any:
    return lambda x: ttnn.add(x, weight)


WEIGHT = whole()
CONFIG = Config(whole())
NAMESPACE = types.SimpleNamespace(a=whole(), b=types.SimpleNamespace(c=whole()))
PARAMETERS = ParameterDict(linear=ParameterDict(weight=whole()))
TABLE = {"k": whole(), 3: whole(), ("a", 1): whole()}
PAIR = (whole(), whole())
ADDING = adding(whole())
PARTIAL = functools.partial(affine, weight=whole())


def with_default(x: Any, weight: Any = WEIGHT) -> Any:
    return ttnn.subtract(x, weight)


@ttnn_jit.tile_op
def cube(x: float) -> float:
    return x * x * x


@ttnn_jit.jit
def squared(x: Any) -> Any:
    return ttnn.multiply(x, x)


class Scale:
    def __init__(self) -> None:
        self.weight = whole()

    @ttnn_jit.jit
    def scaled(self, x: Any) -> Any:
        return ttnn.multiply(x, self.weight)


SCALE = Scale()
PLACES = {
    "a global": (lambda x: x * WEIGHT, lambda x: x * WEIGHT),
    "on the left": (lambda x: WEIGHT - x, lambda x: WEIGHT - x),
    "alone": (lambda x: ttnn.abs(WEIGHT) + x, lambda x: WEIGHT.abs() + x),
    "among themselves": (lambda x: WEIGHT * CONFIG.weight + x, lambda x: WEIGHT * CONFIG.weight + x),
    "with numbers": (lambda x: 2.0 - WEIGHT + x, lambda x: 2.0 - WEIGHT + x),
    "compared": (
        lambda x: ttnn.where(PAIR[0] > PAIR[1], x, WEIGHT), lambda x: torch.where(PAIR[0] > PAIR[1], x, WEIGHT)
    ),
    "a dataclass": (lambda x: x * CONFIG.weight * CONFIG.scale, lambda x: x * CONFIG.weight * CONFIG.scale),
    "namespaces": (lambda x: x * NAMESPACE.a + NAMESPACE.b.c, lambda x: x * NAMESPACE.a + NAMESPACE.b.c),
    "attributes of a dict": (lambda x: x + PARAMETERS.linear.weight, lambda x: x + PARAMETERS.linear.weight),
    "keys": (lambda x: x + TABLE["k"] * TABLE[3] + TABLE["a", 1], lambda x: x + TABLE["k"] * TABLE[3] + TABLE["a", 1]),
    "a tuple": (lambda x: x + PAIR[0] * PAIR[-1], lambda x: x + PAIR[0] * PAIR[-1]),
    "zip": (
        lambda x: sum([a * b for a, b in zip(PAIR, PAIR[::-1], strict=True)], x), lambda x: x + 2 * PAIR[0] * PAIR[1]
    ),
    "reduce": (lambda x: functools.reduce(ttnn.add, PAIR, x), lambda x: x + PAIR[0] + PAIR[1]),
    "a starred tuple": (lambda x: ttnn.add(*PAIR) + x, lambda x: x + PAIR[0] + PAIR[1]),
    "a list of an operation": (lambda x: ttnn.concat(PAIR, dim=0)[:32] + x, lambda x: PAIR[0] + x),
    "items of a dict": (
        lambda x: sum((v for _, v in PARAMETERS.linear.items()), x), lambda x: x + PARAMETERS.linear.weight
    ),
    "a closure": (lambda x: ADDING(x), lambda x: x + ADDING.__closure__[0].cell_contents),
    "a partial": (lambda x: PARTIAL(x), lambda x: x * PARTIAL.keywords["weight"] + 1.0),
    "an argument of a function": (lambda x: affine(x, WEIGHT), lambda x: x * WEIGHT + 1.0),
    "a default": (lambda x: with_default(x), lambda x: x - WEIGHT),
    "a tile operation": (lambda x: cube(WEIGHT) + x, lambda x: WEIGHT**3 + x),
    "a jitted function": (lambda x: squared(WEIGHT) + squared(x), lambda x: WEIGHT**2 + x**2),
    "a jitted method": (lambda x: SCALE.scaled(PAIR[0]) + x, lambda x: PAIR[0] * SCALE.weight + x),
    "metadata": (lambda x: x * WEIGHT.shape[-1] if WEIGHT.dtype == ttnn.float32 else x, lambda x: x * 32),
    "compared with None": (lambda x: x if WEIGHT is None else x + WEIGHT, lambda x: x + WEIGHT),
    "getattr": (lambda x: x + getattr(CONFIG, "weight", None), lambda x: x + CONFIG.weight),
}  # fmt: skip


@pytest.mark.parametrize("place", PLACES)
@BOTH
def test_a_tensor_is_found_wherever_python_finds_it(place, graph_capture):
    program, expected = PLACES[place]
    jitted = ttnn_jit.jit(graph_capture=graph_capture, enable_cache=False)(program)
    x = whole()
    for _ in range(4):
        assert torch.equal(jitted(x), expected(x))
    assert jitted.num_entries == 1


@pytest.mark.parametrize("place", PLACES)
def test_both_frontends_write_one_text(place):
    program, _ = PLACES[place]
    texts = [ttnn_jit.jit(graph_capture=graph_capture)(program).ir(whole()) for graph_capture in (False, True)]
    assert texts[0] == texts[1]


class Block(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(whole())
        self.register_buffer("offset", whole(32))
        self.bias = None

    def forward(self, x: Any) -> Any:
        x = x * self.weight + self.offset
        return x if self.bias is None else x + self.bias


class Network(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.blocks = torch.nn.ModuleList([Block(), Block()])
        self.table = torch.nn.ParameterDict({"a": whole()})
        self.several = torch.nn.ParameterList([whole()])

    def forward(self, x: Any) -> Any:
        for block in self.blocks:
            x = block.forward(x)
        return x * self.blocks[0].weight + self.table["a"] + self.table.a + self.several[0]


@BOTH
def test_modules_of_torch_compute_with_their_parameters(graph_capture):
    members = {"jitted": ttnn_jit.jit(graph_capture=graph_capture, enable_cache=False)(Network.forward)}
    network, x = type("Jitted", (Network,), members)(), whole()

    def check() -> None:
        with torch.no_grad():
            for _ in range(3):
                assert torch.equal(network.jitted(x), network.forward(x))

    check()
    before = compiles()
    network.blocks[1].weight = torch.nn.Parameter(whole())
    check()
    network.load_state_dict({name: value + 1 for name, value in network.state_dict().items()})
    check()
    network.blocks[0].weight.data = whole()
    check()
    network.blocks[1] = Block()
    check()
    assert compiles() == before
    network.blocks[1].bias = torch.nn.Parameter(whole(32))
    check()
    assert compiles() == before + 1


@BOTH
def test_what_hides_a_parameter_is_seen(graph_capture):
    class Hidden(Block):
        jitted = ttnn_jit.jit(graph_capture=graph_capture)(lambda self, x: x * self.weight)

    block, x = Hidden(), whole()
    hide, unhide = vars(block).__setitem__, vars(block).__delitem__
    changes = [
        lambda: hide("weight", whole()),
        lambda: unhide("weight"),
        lambda: setattr(Hidden, "weight", whole()),
        lambda: delattr(Hidden, "weight"),
        lambda: torch.nn.utils.parametrize.register_parametrization(block, "weight", torch.nn.Identity()),
    ]
    with torch.no_grad():
        for change in (lambda: None, *changes):
            change()
            for _ in range(3):
                assert torch.equal(block.jitted(x), x * block.weight)


def test_modules_in_a_list_are_told_by_their_place():
    class Stack(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.blocks = torch.nn.Sequential(Block(), Block(), Block())

        @ttnn_jit.jit
        def forward(self, x):
            return x * self.blocks[-1].weight + self.blocks[1].offset

    stack, x = Stack(), whole()

    def check() -> None:
        with torch.no_grad():
            for _ in range(3):
                assert torch.equal(stack(x), x * stack.blocks[-1].weight + stack.blocks[1].offset)

    check()
    for change in (
        lambda: stack.blocks.append(Block()),
        lambda: stack.blocks.pop(1),
        lambda: setattr(stack, "blocks", stack.blocks[:2]),
    ):
        change()
        check()


# --- One tensor, several paths --------------------------------------------------------------------------------------


@BOTH
def test_two_paths_to_one_tensor_are_one_input_until_they_part(graph_capture):
    tied = types.SimpleNamespace(a=whole(), b=None)
    tied.b = tied.a
    program = ttnn_jit.jit(graph_capture=graph_capture, enable_cache=False)(lambda x: x * tied.a + tied.b)
    x = whole()
    assert program.ir(x).count("ttir.name") == 1
    for change in ("nothing", "they part", "one again", "another one"):
        if change != "nothing":
            tied.b = tied.a if change == "one again" else whole()
        for _ in range(3):
            assert torch.equal(program(x), x * tied.a + tied.b)


@BOTH
def test_two_tensors_may_become_one(graph_capture):
    pair = types.SimpleNamespace(a=whole(), b=whole())
    program = ttnn_jit.jit(graph_capture=graph_capture, enable_cache=False)(lambda x: x * pair.a + pair.b)
    x, before = whole(), None
    for _ in range(2):
        for _ in range(3):
            assert torch.equal(program(x), x * pair.a + pair.b)
        before = before or compiles()
        pair.b = pair.a
    assert compiles() == before


@BOTH
def test_a_hidden_input_may_be_an_argument_too_and_a_result(graph_capture):
    holder = types.SimpleNamespace(weight=whole())
    program = ttnn_jit.jit(graph_capture=graph_capture)(lambda x: (x * holder.weight, holder.weight))
    for _ in range(3):
        product, same = program(holder.weight)
        assert torch.equal(product, holder.weight**2)
        assert same is holder.weight


@BOTH
def test_a_default_that_is_a_tensor_is_an_argument_and_not_kept_either(graph_capture):
    def plain(x, weight=None, scale=2.0):
        return x * weight * scale

    program, x = ttnn_jit.jit(graph_capture=graph_capture)(plain), whole()
    old = []
    for scale in (2.0, 2.0, 3.0):
        plain.__defaults__ = (whole(), scale)
        for _ in range(3):
            assert torch.equal(program(x), x * plain.__defaults__[0] * scale)
        assert [reference() for reference in old] == [None] * len(old)
        old.append(weakref.ref(plain.__defaults__[0]))


@BOTH
def test_an_array_of_numpy_may_be_a_tensor_and_a_table_of_numbers(graph_capture):
    table = whole(4, 4).numpy()
    program = ttnn_jit.jit(graph_capture=graph_capture)(lambda x: x * table + float(table[1, 2]) + table.shape[0])
    x = whole(4, 4).numpy()
    for _ in range(3):
        for _ in range(3):
            assert numpy.array_equal(program(x), x * table + table[1, 2] + 4)
        table[1, 2] += 1


@BOTH
def test_what_is_known_of_numpy_alone_is_no_constant(graph_capture):
    table = whole(4, 4).numpy()
    with pytest.raises(CompileError, match="no name, attribute or item leads to"):
        ttnn_jit.jit(graph_capture=graph_capture)(lambda x: ttnn.add(x, table.T))(whole(4, 4).numpy())


@BOTH
def test_a_branch_on_two_tensors_being_one_is_seen_to_change(graph_capture):
    pair = types.SimpleNamespace(a=whole(), b=whole())
    program = ttnn_jit.jit(graph_capture=graph_capture)(lambda x: x * pair.a if pair.a is pair.b else x + pair.b)
    x, other = whole(), pair.b
    for b in (other, pair.a, other, pair.a):
        pair.b = b
        for _ in range(3):
            assert torch.equal(program(x), x * pair.a if pair.a is pair.b else x + pair.b)


def test_an_object_that_is_a_key_is_told_by_its_identity_though_it_leads_to_a_tensor():
    layers = [Layer(whole()), Layer(whole())]
    scales, chosen = {layers[0]: 2.0}, types.SimpleNamespace(layer=layers[0])
    program = ttnn_jit.jit(lambda x: x * chosen.layer.weight * scales.get(chosen.layer, 3.0))
    x = whole()
    for layer in (*layers, *layers):
        chosen.layer = layer
        for _ in range(3):
            assert torch.equal(program(x), x * layer.weight * scales.get(layer, 3.0))


# --- What is refused ------------------------------------------------------------------------------------------------

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
def test_what_no_argument_may_be_no_hidden_input_may(graph_capture, device):
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
def test_rules_of_a_chip_name_the_path(graph_capture, device):
    row_major = ttnn.from_torch(whole(), device=device)
    HOLDER.layers[0].weight = row_major
    with pytest.raises(ArgumentError, match=r"`HOLDER.layers\[0\].weight`"):
        ttnn_jit.jit(graph_capture=graph_capture)(scaled)(on_device(device, whole()))


def test_a_gradient_is_refused_again_once_it_is_wanted():
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
def test_a_hidden_input_is_written_at_each_call_and_not_when_it_is_compiled(graph_capture):
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


def test_a_trace_is_refused_that_would_not_see_numpy_write():
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


# --- Beside ---------------------------------------------------------------------------------------------------------


def test_what_looks_into_a_program_names_its_hidden_inputs():
    program = ttnn_jit.jit(compile_only=True)(lambda x: x * CONFIG.weight + TABLE["k"])
    x = whole()
    assert '{ttir.name = "CONFIG.weight"}' in program.ir(x)
    assert "hidden input CONFIG.weight: TensorSpec([32, 32], f32" in str(program.explain(x))
    assert "hidden input TABLE[&#x27;k&#x27;]" in program.explain(x)._repr_html_()
    assert program(x).descriptors[0]["hidden_inputs"] == {"1": "CONFIG.weight", "2": "TABLE['k']"}


def test_the_weight_of_a_method_is_named_as_the_method_names_it():
    class Scale:
        def __init__(self):
            self.weight = whole()

        @ttnn_jit.jit
        def forward(self, x):
            return x * self.weight

    assert 'ttir.name = "self.weight"' in Scale.forward.ir(Scale(), whole())


def test_explain_miss_says_which_weight_changed(tmp_path):
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


def test_sharded_weights_lie_in_the_account_of_the_device(device):
    config = ttnn.create_sharded_memory_config((32, 32), ttnn.CoreGrid(y=1, x=1), ttnn.ShardStrategy.BLOCK)
    HOLDER.layers[0].weight = ttnn.to_memory_config(on_device(device, whole()), config)
    program = ttnn_jit.jit(scaled)
    x = ttnn.to_memory_config(on_device(device, whole()), config)
    expected = ttnn.to_torch(x) * ttnn.to_torch(HOLDER.layers[0].weight)
    for _ in range(3):
        assert torch.equal(ttnn.to_torch(program(x)), expected)


@pytest.mark.parametrize("family", FAMILIES)
@BOTH
def test_calls_see_whole_weights_while_another_thread_swaps_them(family, graph_capture, device):
    wrap, values = FAMILIES[family]
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
            if family == "ttnn":
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


def test_a_trace_during_which_a_weight_is_swapped_is_made_again(monkeypatch):
    holder = types.SimpleNamespace(weight=whole())
    run, swaps = capture._returned, iter([whole(), whole()])

    def while_another_swaps(*args: Any) -> Any:
        holder.weight = next(swaps, holder.weight)
        return run(*args)

    monkeypatch.setattr(capture, "_returned", while_another_swaps)
    x = whole()
    assert torch.equal(ttnn_jit.jit(graph_capture=True)(lambda x: x * holder.weight)(x), x * holder.weight)


def test_the_guard_of_a_program_without_hidden_inputs_fetches_nothing():
    program = ttnn_jit.jit(lambda x: x + 1.0)
    program(whole())
    variant = next(iter(program._variants._by_key.values()))[0]
    assert variant.hidden == ()
    assert variant.fetch() == ()
