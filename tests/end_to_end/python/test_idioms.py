"""What public programs write around their operations, inside jitted functions: as it is eagerly, in both frontends.

PYTEST_DONT_REWRITE: jitted functions here have assertions of their own.
"""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import functools
import math
import time
from typing import Any, cast

import pytest
import torch

from ttnn_jit import jit, ttnn
from ttnn_jit.diagnostics.errors import TtnnJitError

DEVICE = ttnn.open_device(device_id=0, target="cpu")


def on_device(x):
    return ttnn.from_torch(x, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=DEVICE)


class Mode(enum.Enum):
    PREFILL = "prefill"
    DECODE = "decode"


@dataclasses.dataclass
class Config:
    hidden: int = 64
    activation: str = "gelu"


class Layer:
    def __init__(self, weight):
        self.weight, self.config, self.scale = weight, Config(), 0.5

    def __call__(self, x):
        return self.forward(x)

    def forward(self, x, mask=None, *, mode="prefill"):
        y = ttnn.linear(x, self.weight)
        y = y if mask is None else ttnn.add(y, mask)
        return ttnn.relu(y) if mode == "prefill" else y


class Model:
    def __init__(self):
        weights = [on_device(torch.randn(64, 64, generator=torch.Generator().manual_seed(n))) for n in range(2)]
        self.layers = [Layer(weight) for weight in weights]
        self.device, self.named = DEVICE, dict(zip("ab", weights, strict=True))
        self.kernel_config = ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.HiFi2)
        self.state = None


MODEL = Model()
IDIOMS: dict[str, Any] = {}
REFUSED: dict[str, Any] = {}


def idiom(function):
    IDIOMS[function.__name__] = function
    return function


def refused(message):
    def keep(function):
        REFUSED[function.__name__] = function, message
        return function

    return keep


@idiom
def the_device_of_a_tensor(x):
    ones = ttnn.ones((1, 1, 64, 64), dtype=x.dtype, layout=x.layout, device=x.device())
    ttnn.synchronize_device(x.device())
    return ttnn.add(x, ones)


@idiom
def the_device_of_a_model(x):
    zeros = ttnn.zeros([1, 1, 64, 64], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=MODEL.device)
    ttnn.synchronize_device(MODEL.device)
    return ttnn.subtract(zeros, x)


@idiom
def the_grid_of_a_device(x):
    grid = MODEL.device.compute_with_storage_grid_size()
    own = x.device().core_grid
    assert (grid.x, grid.y) == (own.x, own.y)
    return ttnn.linear(x, MODEL.named["a"], core_grid=ttnn.CoreGrid(y=grid.y, x=grid.x))


@idiom
def what_device_it_is(x):
    is_one = MODEL.device.get_num_devices() == 1 and x.device().arch() == MODEL.device.arch()
    return ttnn.relu(x) if is_one and x.storage_type() == ttnn.StorageType.DEVICE and x.is_allocated() else x


@idiom
def asserted_shapes(x):
    assert len(x.shape) == 4 and x.shape[-1] == MODEL.layers[0].config.hidden, f"unexpected {x.shape}"  # noqa: PT018
    assert isinstance(x, ttnn.Tensor)
    return ttnn.relu(x)


@idiom
def early_returns(x):
    if x.shape[-2] > 1:
        if x.shape.rank == 4:
            return ttnn.relu(x)
        return ttnn.neg(x)
    return x


@idiom
def loops_over_layers(x):
    for number, (layer, scale) in enumerate(zip(MODEL.layers, (1.0, 2.0), strict=True)):
        x = ttnn.multiply(layer(x), scale)
        if number == 0:
            x = ttnn.gelu(x)
    for layer in reversed(MODEL.layers):
        x = layer.forward(x, mode="decode")
    return x


@idiom
def state_in_containers(x):
    state = {"hidden": ttnn.relu(x)}
    state["hidden"] = ttnn.multiply(state["hidden"], 2.0)
    outputs = []
    for layer in MODEL.layers:
        outputs.append(layer(state["hidden"]))
    pair = dict(first=outputs[0], last=outputs[-1])  # noqa: C408 - as it is written
    return ttnn.concat([*pair.values()], dim=-1)


@idiom
def comprehensions(x):
    found = {name: ttnn.linear(x, weight) for name, weight in MODEL.named.items()}
    return [found[name] for name in sorted(found)]


@idiom
def assignments_in_expressions(x):
    if (width := x.shape[-1]) > 3:
        return ttnn.multiply(x, width**-0.5)
    return x


@idiom
def partials_and_keywords(x):
    options = {"dtype": ttnn.bfloat16, "compute_kernel_config": MODEL.kernel_config}
    linear = functools.partial(ttnn.linear, **options)
    return functools.reduce(ttnn.add, [linear(x, MODEL.named["a"]), linear(x, MODEL.named.get("b"))])


@idiom
def nested_functions(x):
    def scaled(*args, factor=2.0, **kwargs):
        return ttnn.multiply(*args, factor, **kwargs)

    twice = lambda y: scaled(scaled(y), factor=0.5)  # noqa: E731 - as it is written
    return twice(x)


@idiom
def memory_that_is_freed(x):
    y = ttnn.relu(x)
    z = ttnn.multiply(y, 2.0)
    ttnn.deallocate(y)
    w = ttnn.neg(z)
    z.deallocate(True)
    del z
    return w


@idiom
def contexts_without_effect(x):
    with torch.no_grad(), contextlib.nullcontext(2.0) as factor:
        y = ttnn.multiply(x, factor)
    with torch.inference_mode():
        return ttnn.relu(y)


@idiom
def shapes_that_are_computed(x):
    batch, channels, rows, columns = x.shape
    y = ttnn.reshape(x, (batch * channels, rows, columns))
    y = ttnn.reshape(y, [*list(x.shape[:2]), x.shape[2] * x.shape[3]])
    return ttnn.reshape(y, (1, math.prod(x.shape) // 64, 64))


@idiom
def slices_of_tensors(x):
    parts = [x[:, :, i * 32 : (i + 1) * 32, :] for i in range(x.shape[-2] // 32)]
    return ttnn.concat([ttnn.slice(part, [0, 0, 0, 0], [1, 1, 32, 32]) for part in parts], dim=2)


@idiom
def questions_about_layouts(x):
    if x.layout == ttnn.TILE_LAYOUT and x.get_layout() == ttnn.TILE_LAYOUT and x.dtype == ttnn.bfloat16:
        x = ttnn.typecast(x, ttnn.float32)
    if x.memory_config() != ttnn.L1_MEMORY_CONFIG and not x.is_sharded() and not ttnn.is_sharded(x):
        x = ttnn.to_memory_config(x, ttnn.L1_MEMORY_CONFIG)
    return ttnn.to_layout(x, ttnn.ROW_MAJOR_LAYOUT)


@idiom
def enums_and_texts(x):
    name = f"{'a'}_weight".split("_")[0]
    y = ttnn.linear(x, MODEL.named[name])
    return y if Mode("decode") is Mode.PREFILL else ttnn.softmax(y, dim=-1)


@idiom
def attributes_by_name(x):
    weight = getattr(MODEL.layers[0], "weight", None)
    return ttnn.linear(x, weight) if hasattr(MODEL, "layers") and weight is not None else x


@idiom
def loops_that_count(x):
    steps = 0
    while steps < 3:
        x += x
        steps += 1
    return cast("ttnn.Tensor", x)


@pytest.mark.parametrize("capture", [False, True], ids=["ast", "capture"])
@pytest.mark.parametrize("name", IDIOMS)
def test_programs_say_what_public_ones_say(name, capture):
    x = torch.randint(-2, 3, (1, 1, 64, 64), generator=torch.Generator().manual_seed(1)).float()
    eager, jitted = IDIOMS[name](on_device(x)), jit(graph_capture=capture)(IDIOMS[name])
    for _ in range(2):
        found = jitted(on_device(x))
        pairs = zip(eager, found, strict=True) if isinstance(eager, list) else [(eager, found)]
        for one, other in pairs:
            torch.testing.assert_close(ttnn.to_torch(other), ttnn.to_torch(one), rtol=2e-2, atol=2e-2)


@refused("Function perf_counter not supported")
def the_time(x):
    start = time.perf_counter()
    return ttnn.multiply(x, time.perf_counter() - start)


@refused("assigning to an attribute cannot be compiled")
def state_of_a_model(x):
    MODEL.state = ttnn.relu(x)
    return MODEL.state


@refused("Function to_torch not supported")
def what_is_read(x):
    return ttnn.from_torch(ttnn.to_torch(x))


@refused("`id` of a device is not known while a function is compiled")
def the_number_of_a_device(x):
    return ttnn.relu(x) if x.device().id() == 0 else x


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_says_where_and_what_to_do_instead(name):
    function, message = REFUSED[name]
    with pytest.raises(TtnnJitError, match=message) as error:
        jit(graph_capture=False)(function)(on_device(torch.ones(1, 1, 64, 64)))
    assert error.value.help is not None
    assert "^" in str(error.value)


@pytest.mark.parametrize("capture", [False, True], ids=["ast", "capture"])
@pytest.mark.parametrize("function", ["to_torch", "from_device"])
def test_functions_of_the_host_are_refused_by_name_in_both_frontends(function, capture):
    @jit(graph_capture=capture)
    def run(x):
        return getattr(ttnn, function)(x)

    with pytest.raises(TtnnJitError, match=f"Function {function} not supported") as error:
        run(on_device(torch.ones(1, 1, 64, 64)))
    assert "runs on the host" in error.value.help
    assert error.value.location.file == __file__


@pytest.mark.parametrize("capture", [False, True], ids=["ast", "capture"])
def test_an_argument_that_is_deallocated_stays_the_callers(capture):
    @jit(graph_capture=capture)
    def run(x):
        y = ttnn.relu(x)
        ttnn.deallocate(x)
        return y

    x = on_device(torch.ones(1, 1, 64, 64))
    with pytest.warns(UserWarning, match="its memory belongs to the caller"):
        assert torch.equal(ttnn.to_torch(run(x)), ttnn.to_torch(x))

    @jit(graph_capture=capture)
    def reads_it(x):
        ttnn.deallocate(x)
        return ttnn.relu(x)

    with pytest.raises(TtnnJitError, match="uses a tensor that was deallocated"):
        reads_it(x)
