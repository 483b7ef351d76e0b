"""Hidden inputs are found through globals, closures, attributes, items and torch modules."""

from __future__ import annotations

import dataclasses
import functools
import types
import weakref
from typing import Any

import numpy
import pytest
import torch

import ttnn_jit
from tests.end_to_end.python.hidden_inputs import BOTH, WEIGHT, Layer, compiles, whole
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import (
    CompileError,
)

# --- Sources of tensors -----------------------------------------------------------------------------------------------


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


SOURCES = {
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


@pytest.mark.parametrize("source", SOURCES)
@BOTH
def test_a_tensor_is_found_wherever_python_finds_it(source, graph_capture):
    program, expected = SOURCES[source]
    jitted = ttnn_jit.jit(graph_capture=graph_capture, enable_cache=False)(program)
    x = whole()
    for _ in range(4):
        assert torch.equal(jitted(x), expected(x))
    assert jitted.num_entries == 1


@pytest.mark.parametrize("source", SOURCES)
def test_both_frontends_write_one_text(source):
    program, _ = SOURCES[source]
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
def test_an_attribute_that_hides_a_parameter_is_detected(graph_capture):
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


def test_modules_in_a_list_are_distinguished_by_their_index():
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
def test_two_paths_to_one_tensor_are_one_input_until_they_differ(graph_capture):
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
def test_two_tensors_may_become_the_same(graph_capture):
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
def test_a_default_that_is_a_tensor_is_an_argument_and_is_not_kept_alive(graph_capture):
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
def test_an_array_to_which_no_path_leads_is_refused(graph_capture):
    table = whole(4, 4).numpy()
    with pytest.raises(CompileError, match="no name, attribute or item leads to"):
        ttnn_jit.jit(graph_capture=graph_capture)(lambda x: ttnn.add(x, table.T))(whole(4, 4).numpy())


@BOTH
def test_a_branch_on_the_identity_of_two_tensors_is_guarded(graph_capture):
    pair = types.SimpleNamespace(a=whole(), b=whole())
    program = ttnn_jit.jit(graph_capture=graph_capture)(lambda x: x * pair.a if pair.a is pair.b else x + pair.b)
    x, other = whole(), pair.b
    for b in (other, pair.a, other, pair.a):
        pair.b = b
        for _ in range(3):
            assert torch.equal(program(x), x * pair.a if pair.a is pair.b else x + pair.b)


def test_an_object_that_is_a_key_is_guarded_by_identity_even_if_it_leads_to_a_tensor():
    layers = [Layer(whole()), Layer(whole())]
    scales, chosen = {layers[0]: 2.0}, types.SimpleNamespace(layer=layers[0])
    program = ttnn_jit.jit(lambda x: x * chosen.layer.weight * scales.get(chosen.layer, 3.0))
    x = whole()
    for layer in (*layers, *layers):
        chosen.layer = layer
        for _ in range(3):
            assert torch.equal(program(x), x * layer.weight * scales.get(layer, 3.0))


# --- Other values -----------------------------------------------------------------------------------------------------


def test_inspection_of_a_program_names_its_hidden_inputs():
    program = ttnn_jit.jit(compile_only=True)(lambda x: x * CONFIG.weight + TABLE["k"])
    x = whole()
    assert '{ttir.name = "CONFIG.weight"}' in program.ir(x)
    assert "hidden input CONFIG.weight: TensorSpec([32, 32], f32" in str(program.explain(x))
    assert "hidden input TABLE[&#x27;k&#x27;]" in program.explain(x)._repr_html_()
    assert program(x).descriptors[0]["hidden_inputs"] == {"1": "CONFIG.weight", "2": "TABLE['k']"}


def test_the_weight_of_a_method_has_the_name_that_the_method_uses():
    class Scale:
        def __init__(self):
            self.weight = whole()

        @ttnn_jit.jit
        def forward(self, x):
            return x * self.weight

    assert 'ttir.name = "self.weight"' in Scale.forward.ir(Scale(), whole())


class Scaled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.randn(6))

    def forward(self, x):
        return x * self.scale


@torch.no_grad()
@pytest.mark.parametrize("graph_capture", [False, True])
def test_modules_are_found_in_a_list_with_deleted_items(graph_capture):
    layers = torch.nn.ModuleList(Scaled() for _ in range(4))
    del layers[0]  # torch keeps an ordered dict

    @ttnn_jit.jit(graph_capture=graph_capture)
    def program(x):
        for layer in layers:
            x = layer.forward(x)
        return x

    x = torch.randn(4, 6)
    for count in (3, 2, 2, 1):
        del layers[count:]
        layers[0].scale = torch.nn.Parameter(torch.randn(6))
        assert torch.equal(program(x), functools.reduce(lambda y, layer: y * layer.scale, layers, x))
    assert program.num_entries == 3


class Once:
    """Comparisons in `sorted` are not followed: a program that sorts such objects serves one call."""

    def __lt__(self, _: object) -> bool:
        return False


ONCE = Once()


def default_weight(weight: Any = WEIGHT) -> Any:
    return weight


@pytest.mark.filterwarnings("ignore:.* is compiled at every call:UserWarning")
def test_a_program_that_serves_one_call_finds_tensors_through_its_arguments():
    module = torch.nn.Linear(4, 4).requires_grad_(False)

    @ttnn_jit.jit
    def program(x, weight, layers):
        for parameter in layers().parameters():
            x = x + parameter
        return x * weight() if sorted([ONCE, ONCE]) else x

    def layers(found=module):
        return found

    x = whole(4, 4)
    expected = x + module.weight + module.bias
    for weight in (whole(4, 4), whole(4, 4)):
        default_weight.__defaults__ = (weight,)
        assert torch.equal(program(x, default_weight, layers), expected * weight)
