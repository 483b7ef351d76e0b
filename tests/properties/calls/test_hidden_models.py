"""Random small models with tensors in attributes, containers, functions and globals, whose weights are swapped."""

from __future__ import annotations

import importlib.util
import random
import sys
import weakref
from pathlib import Path
from typing import Any

import pytest
import torch

import ttnn_jit

MODELS = 8
SWAPS = 8

PRELUDE = """\
import functools, types
from dataclasses import dataclass
import torch
state = torch.Generator().manual_seed({seed})
def new(*shape):
    return torch.randint(-2, 3, shape or (4, 4), generator=state).float()
class Layer:
    def __init__(self):
        self.weight, self.bias = new(), None
    def __call__(self, x):
        x = x * self.weight
        return x if self.bias is None else x + self.bias
class Module(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(new())
        self.register_buffer("shift", new(4))
    def apply(self, x):
        return x - self.weight + self.shift
@dataclass
class Record:
    weight: object
    scale: float = 2.0
class Table(dict):
    def __getattr__(self, name):
        return self[name]
G, H = new(), new(4, 1)
ROWS = [new(), new(1, 4)]
def helper(x, weight, other=H):
    return x + weight * other
def make(weight):
    return lambda x: x - weight
class Model:
    def __init__(self):
        self.a, self.b = new(), new()
        self.layers = [Layer(), Layer()]
        self.modules = torch.nn.ModuleList([Module()])
        self.record = Record(new())
        self.table = Table(k=new(), inner=Table(w=new()))
        self.pair = (new(), new())
        self.shifted = make(new())
        self.bound = functools.partial(helper, weight=new())
    def forward(self, x):
"""

STEPS = (
    "x = x + self.a", "x = self.b - x", "x = x * G", "x = H + x", "x = self.a * self.b + x",
    "x = 2.0 - self.a + x", "x = -self.pair[0] + x",
    "for layer in self.layers:\n            x = layer(x)", "x = self.layers[1](x)", "x = x - self.layers[0].weight",
    "for module in self.modules:\n            x = module.apply(x)", "x = self.modules[0].weight + x",
    "x = x + self.record.weight * self.record.scale", "x = x - self.table.k", "x = x + self.table['inner'].w",
    "x = sum(self.pair, x)", "for w in ROWS:\n            x = x - w", "x = x + [w * 2.0 for w in self.pair][1]",
    "first, second = self.pair\n        x = first + x - second", "x = helper(x, self.a)", "x = helper(x, G, self.b)",
    "x = self.shifted(x)", "x = self.bound(x)", "x = functools.reduce(lambda t, w: t + w, ROWS, x)",
    "x = x + self.a if self.a is self.b else x - self.b", "x = x + 1.0 if G is self.table.k else x - G",
    "x = x + len(self.pair) + self.a.shape[-1]", "x = x + getattr(self.record, 'weight', None)",
    "x = x + max(self.layers, key=lambda layer: layer.weight.shape[0]).weight",
    "for a, b in zip(self.pair, ROWS):\n            x = x + a - b", "x = (self.a > x) + x",
)  # fmt: skip

CHANGES = (
    "model.a = new()", "model.b = model.a", "model.a = model.pair[1]", "model.b = new()", "G = new()",
    "H = new(4, 1)", "G = model.table.k", "ROWS[0] = new()", "ROWS[:] = [new(), new()]", "ROWS = [new(1, 4), new()]",
    "model.layers[0].weight = new()", "model.layers[1] = Layer()", "model.layers.reverse()",
    "model.layers.append(Layer())", "model.layers[0].bias = new(4)", "model.layers[0].bias = None",
    "model.modules[0] = Module()", "model.modules[0].weight = torch.nn.Parameter(new())",
    "model.modules[0].weight.data = new()", "model.modules[0].load_state_dict(Module().state_dict())",
    "model.record = Record(new())", "model.record.weight = new()", "model.record.scale = 3.0",
    "model.table['k'] = new()", "model.table = Table(k=new(), inner=Table(w=new(1, 4)))",
    "model.pair = (new(), new(4, 1))", "model.shifted = make(new())",
    "model.bound = functools.partial(helper, weight=G)", "model.a.add_(1.0)",
    "model.a = torch.empty_strided((4, 4), (1, 4)).copy_(new())", "model.a = new(1, 4)",
    "helper.__defaults__ = (new(4, 1),)", "model = Model()",
)  # fmt: skip


@pytest.fixture(autouse=True)
def no_disk_cache() -> None:
    """A reloaded model finds its programs on disk."""


def written(seed: int) -> str:
    """The text of a model."""
    chosen = random.Random(seed).choices(STEPS, k=6)
    return PRELUDE.format(seed=seed) + "".join(f"        {step}\n" for step in (*chosen, "return x"))


def loaded(file: Path, graph_capture: bool) -> Any:
    """The module of a model as another process would load it, with functions that were never called."""
    spec: Any = importlib.util.spec_from_file_location("hidden_model", file)
    module = sys.modules["hidden_model"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.Model.jitted = ttnn_jit.jit(graph_capture=graph_capture)(module.Model.forward)
    module.model = module.Model()
    return module


def tensors_of(module: Any) -> list[torch.Tensor]:
    model = module.model
    layers = [part for layer in model.layers for part in (layer.weight, layer.bias) if part is not None]
    inner = [model.record.weight, model.table["k"], model.table["inner"]["w"], *model.pair, *module.ROWS]
    functions = [
        *model.bound.keywords.values(),
        model.shifted.__closure__[0].cell_contents,
        *module.helper.__defaults__,
    ]
    return [model.a, model.b, module.G, module.H, *layers, *inner, *functions, *model.modules.parameters()]


def agrees(module: Any, x: torch.Tensor) -> None:
    with torch.no_grad():
        expected = module.model.forward(x)
        for _ in range(3):
            assert torch.equal(module.model.jitted(x), expected)


@pytest.mark.parametrize("seed", range(MODELS))
@pytest.mark.parametrize("graph_capture", [False, True], ids=["ast", "capture"])
def test_a_model_computes_with_its_current_weights(seed, graph_capture, tmp_path):
    file = tmp_path / "hidden_model.py"
    file.write_text(written(seed))
    x = torch.randint(-2, 3, (4, 4), generator=torch.Generator().manual_seed(seed)).float()
    module = loaded(file, graph_capture)
    agrees(module, x)
    changes = random.Random(seed + MODELS).choices(CHANGES, k=SWAPS)
    tracked = {id(tensor): weakref.ref(tensor) for tensor in tensors_of(module)}
    for change in changes:
        exec(change, vars(module))
        tracked |= {id(tensor): weakref.ref(tensor) for tensor in tensors_of(module)}
        agrees(module, x)
    assert kept(tracked, module) == []
    before = ttnn_jit.cache_info().compiles
    agrees(loaded(file, graph_capture), x)
    assert ttnn_jit.cache_info().compiles == before
    sys.modules.pop("hidden_model")


def kept(tracked: dict[int, weakref.ref[torch.Tensor]], module: Any) -> list[torch.Tensor]:
    """Tensors that the model no longer has but that are still alive."""
    now = {id(tensor) for tensor in tensors_of(module)}
    return [tensor for reference in tracked.values() if (tensor := reference()) is not None and id(tensor) not in now]
