"""``@jit(fallback=True)`` with torch tensors and numpy arrays: the plain function on the caller's tensors."""

from __future__ import annotations

import dataclasses
import random
import warnings
from typing import NamedTuple

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import ttnn_jit
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import ArgumentError

pytestmark = pytest.mark.filterwarnings("ignore:.*runs as plain Python:UserWarning")
KINDS = {
    "torch": lambda tensor: tensor,
    "numpy": lambda tensor: tensor.float().numpy(),
}


def eager(function, *tensors, target="cpu", **keywords):
    """The result of the function on ttnn tensors, as torch tensors."""
    with ttnn.open_device(target=target) as device:
        layout = ttnn.ROW_MAJOR_LAYOUT if target == "cpu" else ttnn.TILE_LAYOUT
        moved = [ttnn.from_torch(tensor, layout=layout, device=device) for tensor in tensors]
        return ttnn.to_torch(function(*moved, **keywords))


def alias(x, y):
    return ttnn.mul(ttnn.exp(x), y)


def until_small(x, y):
    steps = 0
    while steps < random.randrange(3, 4):  # a call that cannot be compiled
        x, steps = ttnn.multiply(x, 0.5), steps + 1
    return ttnn.add(x, y)


def with_operators(x, y):
    return -ttnn.mul(x, 2.0) + y * 3.0 - ttnn.relu(y)


def with_a_truth_value(x, y):
    return ttnn.where(ttnn.mul(x, 1.0) > 0, x, y)


FUNCTIONS = [alias, until_small, with_operators, with_a_truth_value]
SHAPES = st.lists(st.integers(1, 40), min_size=1, max_size=3).map(tuple)


@pytest.mark.parametrize("function", FUNCTIONS)
@settings(deadline=None, max_examples=12)
@given(shape=SHAPES, seed=st.integers(0, 99), numpy=st.booleans(), strided=st.booleans())
def test_a_function_that_cannot_be_compiled_returns_the_results_of_eager_ttnn(function, shape, seed, numpy, strided):
    generator = torch.Generator().manual_seed(seed)
    x, y = (torch.randn(shape, generator=generator) for _ in "xy")
    if strided:
        x = torch.stack([x, y], -1)[..., 0]
    expected = eager(function, x, y)
    jitted = ttnn_jit.jit(fallback=True)(function)
    given_ = [tensor.numpy() if numpy else tensor for tensor in (x, y)]
    for _ in range(3):
        result = jitted(*given_)
        assert jitted.fallback_used
        assert type(result) is (np.ndarray if numpy else torch.Tensor)
        assert torch.equal(torch.as_tensor(result), expected)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_chips_rules_and_rounding_are_those_of_the_decorators_target(function, dtype):
    x, y = (torch.randn(64, 32, dtype=dtype) for _ in "xy")
    result = ttnn_jit.jit(fallback=True, target="wormhole_b0")(function)(x, y)
    assert result.dtype is dtype
    if function is not with_operators:  # operators of torch tensors are torch's
        assert torch.equal(result, eager(function, x, y, target="wormhole_b0"))


class Pair(NamedTuple):
    first: object
    second: object


@dataclasses.dataclass
class Record:
    first: object
    second: object = None


CONTAINERS = {
    "tuple": lambda x, y: (x, y),
    "list": lambda x, y: [x, y],
    "dict": lambda x, y: {"first": x, "second": y},
    "named tuple": Pair,
    "record": Record,
    "nested": lambda x, y: {"first": (x, [Pair(y, 1)]), "second": Record(y, None)},
}


def leaves(value):
    value = vars(value) if isinstance(value, Record) else value
    for item in value.values() if isinstance(value, dict) else value:
        yield from leaves(item) if isinstance(item, (tuple, list, dict, Record)) else [item]


@pytest.mark.parametrize("container", CONTAINERS.values(), ids=CONTAINERS)
@pytest.mark.parametrize("kind", KINDS)
def test_containers_of_tensors_are_arguments_and_results_of_the_callers_kind(container, kind):
    seen = []

    @ttnn_jit.jit(fallback=True)
    def function(argument, scale=1.0):
        seen.append(argument)
        x = next(leaf for leaf in leaves(argument) if hasattr(leaf, "shape"))
        return container(ttnn.mul(x, scale), ttnn.neg(x)), x, 7

    x, y = (KINDS[kind](torch.randn(3, 5)) for _ in "xy")
    argument = container(x, y)
    result, same, number = function(argument, scale=2.0)
    assert seen[0] is argument
    assert (same is x, number) == (True, 7)
    assert type(result) is type(container(x, y))
    assert all(type(leaf) is type(x) for leaf in leaves(result) if hasattr(leaf, "shape"))
    assert torch.equal(torch.as_tensor(next(leaves(result))), torch.as_tensor(x) * 2)


@pytest.mark.parametrize("kind", KINDS)
def test_functions_of_the_callers_library_and_operations_can_be_mixed(kind):
    library = {"torch": torch, "numpy": np}[kind]

    @ttnn_jit.jit(fallback=True)
    def function(x):
        return ttnn.add(library.tanh(ttnn.exp(x)), library.cos(x))

    x = torch.randn(4, 4)
    result = function(KINDS[kind](x))
    torch.testing.assert_close(torch.as_tensor(result), torch.tanh(torch.exp(x)) + torch.cos(x))


def test_a_function_of_torch_alone_runs_unchanged():
    x = torch.randn(4, 4, requires_grad=True)
    ttnn_jit.jit(fallback=True)(lambda x: torch.sin(x).sum())(x).backward()
    assert torch.equal(x.grad, torch.cos(x.detach()))


@pytest.mark.parametrize("kind", KINDS)
def test_methods_and_jitted_functions_inside_take_the_callers_tensors(kind):
    inner = ttnn_jit.jit()(lambda x: ttnn.exp(x) + 1.0)

    class Model:
        def __init__(self, weight):
            self.weight = weight

        @ttnn_jit.jit(fallback=True)
        def forward(self, x):
            return ttnn.mul(inner(x), self.weight), ttnn.exp(self.weight)

    x, weight = torch.randn(8, 8), torch.randn(8, 8)
    product, exponential = Model(KINDS[kind](weight)).forward(KINDS[kind](x))
    torch.testing.assert_close(torch.as_tensor(product), (torch.exp(x) + 1) * weight)
    torch.testing.assert_close(torch.as_tensor(exponential), torch.exp(weight))


@pytest.mark.parametrize("kind", KINDS)
def test_a_ttnn_tensor_that_the_function_created_is_returned_as_the_callers_kind(kind):
    @ttnn_jit.jit(fallback=True)
    def function(x):
        ones = ttnn.ones((4, 4), dtype=ttnn.bfloat16, device=DEVICE)
        return {"made": ttnn.mul(ones, 2.0), "mixed": [ttnn.add(ones, x), x]}

    x = KINDS[kind](torch.full((4, 4), 3.0))
    with ttnn.open_device(target="cpu") as DEVICE:
        result = function(x)
    assert type(result["made"]) is type(result["mixed"][0]) is type(x)
    assert result["mixed"][1] is x
    assert torch.equal(torch.as_tensor(result["mixed"][0]).float(), torch.full((4, 4), 4.0))


@pytest.mark.parametrize(
    ("tensor", "text"),
    [
        (torch.ones(4, dtype=torch.float64), "torch tensors of torch.float64 are not supported"),
        (torch.ones(4, dtype=torch.complex64), "torch tensors of torch.complex64 are not supported"),
        (torch.ones(4, requires_grad=True), "requires grad"),
        (torch.ones(4).to_sparse(), "dense on the CPU"),
        (np.ones(4), "numpy arrays of float64 are not supported"),
        (np.ma.masked_array(np.ones(4, np.float32), [0, 1, 0, 0]), "would lose its mask"),
    ],
)
def test_an_argument_that_no_operation_takes_is_refused_as_by_a_compile(tensor, text):
    with pytest.raises(ArgumentError, match=text) as plain:
        ttnn_jit.jit()(lambda x: ttnn.exp(x))(tensor)
    with pytest.raises(ArgumentError, match=text) as fallen:
        ttnn_jit.jit(fallback=True)(lambda x: ttnn.exp(x))(tensor)
    assert str(fallen.value).splitlines()[0] == str(plain.value).splitlines()[0]


def test_a_parameter_is_accepted_while_no_gradient_is_requested():
    weight = torch.nn.Parameter(torch.ones(3, 4))
    with torch.no_grad():
        result = ttnn_jit.jit(fallback=True)(alias)(weight.T, weight.T)
    assert torch.equal(result, eager(alias, *[weight.detach().T] * 2))


def test_operations_accept_foreign_tensors_only_inside_the_function():
    x = torch.ones(4, 4)

    @ttnn_jit.jit(fallback=True)
    def failing(x):
        ttnn.mul(x, 2.0)
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        failing(x)
    with pytest.raises(ArgumentError, match="make a ttnn tensor of it"):
        ttnn.exp(x)


def test_an_output_tensor_is_a_ttnn_tensor_and_nothing_is_written_into_a_copy():
    @ttnn_jit.jit(fallback=True)
    def function(x, out):
        return ttnn.mul(x, 2.0, output_tensor=out)

    with pytest.raises(ArgumentError, match=r"`output_tensor` must be a ttnn\.Tensor"):
        function(torch.ones(4, 4), torch.zeros(4, 4))


def test_a_function_compiled_inside_reads_no_global_tensor_as_a_constant():
    table = torch.zeros(4, 4)
    traced = ttnn_jit.jit(graph_capture=True)(lambda x: ttnn.add(x, ttnn.exp(table)))

    @ttnn_jit.jit(fallback=True)
    def outer(x):
        return traced(ttnn.mul(x, 1.0))

    x = torch.ones(4, 4)
    with pytest.warns(UserWarning, match="runs as plain Python"):
        assert torch.equal(outer(x), x + 1.0)
    table = torch.full((4, 4), float("-inf"))
    assert torch.equal(outer(x), x)


def test_ttnn_tensors_can_use_the_fallback_too(device):
    x = ttnn.from_torch(torch.ones(32, 32), layout=ttnn.TILE_LAYOUT, device=device)
    result = ttnn_jit.jit(fallback=True)(alias)(x, x)
    assert isinstance(result, ttnn.Tensor)
    assert result.device() is device


def test_the_first_fallback_warns_and_the_next_do_not():
    jitted = ttnn_jit.jit(fallback=True)(alias)
    x = torch.ones(4, 4)
    with pytest.warns(UserWarning, match="alias runs as plain Python: Function mul not supported"):
        jitted(x, x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        jitted(x, x)


class _Scale:
    def __init__(self, factor, flips):
        self.factor, self.flips = factor, flips

    @ttnn_jit.jit(fallback=True)
    def method(self, x):
        if self.flips:
            torch.flip(x, (0,))
        return ttnn.multiply(x, self.factor)


@ttnn_jit.jit(fallback=True)
def _of_object(x, scale):
    if scale.flips:
        torch.flip(x, (0,))
    return ttnn.multiply(x, scale.factor)


@pytest.mark.filterwarnings("ignore:.*runs as plain Python")
@pytest.mark.parametrize(
    ("function", "call"),
    [(_Scale.method, lambda scale, x: scale.method(x)), (_of_object, lambda scale, x: _of_object(x, scale))],
)
def test_fallback_used_is_of_the_last_call_whatever_objects_it_had(function, call):
    x, compiled, plain = torch.ones(2, 3), _Scale(2.0, False), _Scale(3.0, True)
    for scale in (compiled, plain, plain, compiled, compiled, compiled, plain):
        assert torch.equal(call(scale, x), x * scale.factor)
        assert function.fallback_used is scale.flips


@pytest.mark.parametrize("numpy", [False, True])
def test_views_are_views_where_a_function_runs_as_plain_python(numpy):
    def views(x):
        ttnn.add_(ttnn.reshape(x, (6,)), 1.0)
        permuted = ttnn.permute(x, (1, 0))
        permuted[0] = 5.0
        ttnn.multiply_(ttnn.split(x, 1, 0)[1], 2.0)
        return ttnn.unsqueeze(x, 0)

    def falls_back(x):
        torch.flip(torch.zeros(1), (0,))
        return views(x)

    results = []
    for function in (views, falls_back):
        x = torch.arange(6.0).reshape(2, 3)
        given_ = x.numpy() if numpy else x
        jitted = ttnn_jit.jit(fallback=True)(function)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = jitted(given_)
        assert jitted.fallback_used is (function is falls_back)
        results.append((torch.as_tensor(found), x))
    assert all(map(torch.equal, *results))
    assert torch.equal(results[0][1], torch.tensor([[5.0, 2.0, 3.0], [10.0, 10.0, 12.0]]))
