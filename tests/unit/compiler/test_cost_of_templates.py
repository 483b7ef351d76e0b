"""What the compile of a template costs beside the compile of one size: counted, not timed."""

import sys

import pytest
import torch

import ttnn_jit
from ttnn_jit import ttnn
from ttnn_jit.compiler import driver
from ttnn_jit.compiler.request import FunctionRequest
from ttnn_jit.compiler.stored_programs import StoredPrograms
from ttnn_jit.compiler.symbols import Symbols
from ttnn_jit.compiler.template import compile_template, sizes_of
from ttnn_jit.specs.options import CompileOptions
from ttnn_jit.specs.target import PRESETS
from ttnn_jit.specs.tensor_spec import DataType, TensorSpec


def elementwise(x, y):
    return ttnn.multiply(ttnn.add(ttnn.exp(x), y), ttnn.tanh(ttnn.subtract(x, y)))


def attention(x, y):
    """Two heads of 32, over the rows of `x`."""
    rows = x.shape[0]
    query, key, value = (ttnn.permute(ttnn.reshape(each, (rows, 2, 32)), (1, 0, 2)) for each in (x, y, ttnn.add(x, y)))
    scores = ttnn.softmax(ttnn.matmul(query, ttnn.permute(key, (0, 2, 1))), -1)
    return ttnn.reshape(ttnn.permute(ttnn.matmul(scores, value), (1, 0, 2)), (rows, 64))


def request_of(function, rows):
    spec = TensorSpec((rows, 64), DataType.FLOAT32)
    return FunctionRequest(function, {"x": spec, "y": spec}, PRESETS["cpu"], CompileOptions())


def compiled(function, rows):
    request = request_of(function, rows)
    return driver.compile_anew(request, StoredPrograms.none(request))


def template(function, rows):
    request = request_of(function, rows)
    symbols = Symbols.of(sizes_of(request), lambda place: place[1] == 0, lambda *_: True)
    made = compile_template(request, symbols, StoredPrograms.none(request))
    assert made is not None


def calls_of(compile_, function, rows):
    """The calls of Python functions by a compile of a size that no earlier compile had."""
    count = 0

    def count_call(_frame, event, _argument):
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(count_call)
    try:
        compile_(function, rows)
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize("function", [elementwise, attention])
def test_a_template_costs_at_most_a_quarter_more_than_a_program_of_one_size(function):
    for compile_, rows in ((compiled, 40), (template, 41)):  # one-time work of a process is done now
        compile_(function, rows)
    concrete, traced = (calls_of(compile_, function, rows) for compile_, rows in ((compiled, 42), (template, 43)))
    assert traced <= 1.25 * concrete, f"{traced} and {concrete} calls"


def layered(step, *, products):
    """Layers that multiply by a number and add another, between them matrix products or none."""

    def layers(x, y):
        for layer in range(30):
            x = ttnn.add(ttnn.multiply(x, 0.25 + step * layer), 0.5 + step * layer)
            x = ttnn.matmul(x, y) if products else x
        return x

    return layers


@pytest.mark.parametrize(("products", "most"), [(False, 1.2), (True, 1.5)])
def test_layers_with_numbers_of_their_own_cost_little_more_than_layers_with_one_number(products, most):
    """Each kernel between products is lowered by itself."""
    for step in (0.0, 0.001):
        compiled(layered(step, products=products), 64)
    one, each = (calls_of(compiled, layered(step, products=products), 64) for step in (0.0, 0.002))
    assert each <= most * one, f"{each} and {one} calls"


def test_a_template_of_a_chip_knows_its_circular_buffers_without_another_compile(monkeypatch):
    def lowered_again(_):
        raise AssertionError("the function was lowered for the descriptors of its launches")

    monkeypatch.setattr("ttnn_jit.compiler.template.descriptors_of", lowered_again)
    device = ttnn.open_device(device_id=0, target="wormhole_b0")
    jitted = ttnn_jit.jit(enable_cache=False, dynamic=True)(lambda x: ttnn.exp(ttnn.add(x, x)))
    for rows in (64, 128):
        config = ttnn.create_sharded_memory_config((rows, 64), ttnn.CoreGrid(x=2, y=1), ttnn.ShardStrategy.HEIGHT)
        on_cores = {"device": device, "memory_config": config}
        x = ttnn.from_torch(torch.zeros(rows, 64), ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, **on_cores)
        assert jitted(x).shape == x.shape
    ttnn.close_device(device)
