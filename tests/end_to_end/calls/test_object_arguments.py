"""Arguments that are objects of user classes: the attributes that a program reads are guarded, not parts of keys."""

import argparse
import functools
import gc
import itertools
import weakref
from dataclasses import dataclass

import pytest
import torch

import ttnn_jit
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import ArgumentError


class Config:
    def __init__(self, depth, scale=0.5):
        self.depth = depth
        self.scale = scale


class Parameters:
    def __init__(self, *layers):
        self.layers = layers


def block(config, x, *, parameters, factor=2.0):
    for weight in parameters.layers[: config.depth]:
        x = ttnn.matmul(x, weight) * config.scale
    return x * factor


def expected(config, x, *, parameters, factor=2.0):
    for weight in parameters.layers[: config.depth]:
        x = x @ weight * config.scale
    return x * factor


@pytest.fixture(params=[False, True], ids=["ast", "capture"])
def jitted(request):
    if request.param:
        return lambda function: ttnn_jit.jit(graph_capture=True)(function)
    return lambda function: ttnn_jit.jit()(function)


def integers(*shape):
    return torch.randint(-3, 4, shape).float()


def test_a_function_takes_objects_beside_tensors_by_position_and_by_keyword(jitted):
    function = jitted(block)
    config, parameters, x = Config(2), Parameters(integers(8, 8), integers(8, 8)), integers(4, 8)
    wanted = expected(config, x, parameters=parameters)
    assert torch.equal(function(config, x, parameters=parameters), wanted)
    assert torch.equal(function(x=x, parameters=parameters, config=config), wanted)
    assert torch.equal(function(config, x, factor=4.0, parameters=parameters), 2 * wanted)


def test_changed_attributes_of_an_object_are_detected_and_weights_are_no_part_of_the_program():
    function = ttnn_jit.jit()(block)
    config, parameters, x = Config(1), Parameters(integers(8, 8), integers(8, 8)), integers(4, 8)
    function(config, x, parameters=parameters)
    assert function.num_entries == 1
    parameters.layers = (integers(8, 8), parameters.layers[1])
    assert torch.equal(function(config, x, parameters=parameters), expected(config, x, parameters=parameters))
    assert function.num_entries == 1
    for change in ({"depth": 2}, {"scale": -1.0}, {"depth": 0}):
        vars(config).update(change)
        assert torch.equal(function(config, x, parameters=parameters), expected(config, x, parameters=parameters))


def test_every_object_has_its_own_programs_which_are_freed_with_it():
    function = ttnn_jit.jit()(block)
    parameters, x = Parameters(integers(8, 8)), integers(4, 8)
    configs = [Config(1, scale) for scale in (1.0, 2.0, -1.0)]
    for config in configs * 2:
        assert torch.equal(function(config, x, parameters=parameters), expected(config, x, parameters=parameters))
    assert function.num_entries == 3
    gone = weakref.ref(configs.pop())
    del config
    gc.collect()
    assert gone() is None
    assert function.num_entries == 2
    function.clear()
    assert function.num_entries == 0


def test_an_object_may_be_the_first_argument_of_a_function_that_is_no_method():
    function = ttnn_jit.jit()(lambda model, x: ttnn.relu(ttnn.add(ttnn.matmul(x, model.weight), model.bias)))
    model = argparse.Namespace(weight=integers(8, 8), bias=integers(8))
    linear = torch.nn.Linear(8, 8).requires_grad_(False)
    linear.weight.copy_(integers(8, 8))
    linear.bias.copy_(integers(8))
    x = integers(4, 8)
    for each in (model, linear) * 2:
        assert torch.equal(function(each, x), torch.relu(x @ each.weight + each.bias))


def test_a_jitted_function_with_objects_is_inlined_into_another():
    inner = ttnn_jit.jit()(block)
    config, parameters, x = Config(1), Parameters(integers(8, 8)), integers(4, 8)
    outer = ttnn_jit.jit()(lambda x, held: ttnn.neg(inner(config, x, parameters=held)))
    assert torch.equal(outer(x, parameters), -expected(config, x, parameters=parameters))
    assert torch.equal(outer(x, held=parameters), -expected(config, x, parameters=parameters))


def test_programs_with_objects_can_be_inspected_like_others():
    function = ttnn_jit.jit()(block)
    config, parameters, x = Config(1), Parameters(integers(8, 8)), integers(4, 8)
    assert "parameters.layers[0]" in function.ir(config, x, parameters=parameters)
    assert "matmul" in str(function.explain(config, x, parameters=parameters))


def test_a_second_function_finds_such_a_program_on_disk():
    config, parameters, x = Config(1), Parameters(integers(8, 8)), integers(4, 8)
    first = ttnn_jit.jit()(block)(config, x, parameters=parameters)
    before = ttnn_jit.cache_info()
    assert torch.equal(ttnn_jit.jit()(block)(Config(1), x, parameters=Parameters(*parameters.layers)), first)
    after = ttnn_jit.cache_info()
    assert (after.compiles, after.disk_hits) == (before.compiles, before.disk_hits + 1)


@dataclass(slots=True)
class Slotted:
    inner: Config


class Unreferenced:
    __slots__ = ("scale",)


def test_an_object_that_cannot_be_guarded_is_refused_with_an_alternative():
    function = ttnn_jit.jit()(lambda x, config: x * config.scale)
    with pytest.raises(ArgumentError, match=r"Unreferenced objects cannot be compiled.*\nhelp: add '__weakref__'"):
        function(integers(2, 2), Unreferenced())
    with pytest.raises(ArgumentError, match=r"a Config cannot be an argument .*\nhelp: .* an argument of its own"):
        function(integers(2, 2), [Config(1)])
    with pytest.raises(ArgumentError, match="a Config cannot be an argument"):
        function(integers(2, 2), Slotted(Config(1)))
    with pytest.raises(ArgumentError, match="a object cannot be an argument"):
        function(integers(2, 2), object())


class Model:
    def __init__(self, device):
        self.device = device

    def __call__(self, x, device):
        cores = self.device.compute_with_storage_grid_size()
        return x * (2.0 if device.arch() is ttnn.device.Arch.BLACKHOLE else 3.0) + float(cores.x * cores.y)


def test_the_attributes_of_a_device_that_a_function_reads_are_guarded(jitted):
    chips = [ttnn.open_device(device_id=0, target=target) for target in ("wormhole_b0", "blackhole")]
    function = jitted(lambda model, x, device: model(x, device))
    x = integers(4, 8)
    for model, device in itertools.product(map(Model, chips), chips):
        assert torch.equal(function(model, x, device), model(x, device))
    assert function.num_entries == 2  # their grids are equal
    for chip in chips:
        ttnn.close_device(chip)


def test_a_partial_is_found_on_disk_by_its_content():
    function = lambda x, scale: x * scale(1.0)  # noqa: E731 - a program
    for least in (3.0, 0.5, 3.0):
        x, scale = integers(2, 2), functools.partial(max, least)
        assert torch.equal(ttnn_jit.jit(function)(x, scale), x * max(least, 1.0))
