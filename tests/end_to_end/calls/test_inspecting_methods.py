"""`ir`, `explain` and the like of a jitted method take the arguments of its call."""

from __future__ import annotations

import functools
import gc
import types
import weakref

import pytest
import torch

import ttnn_jit
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import ArgumentError

X = torch.randn(4, 6)


class Model(torch.nn.Module):
    factor = 2.0

    def __init__(self, shift):
        super().__init__()
        self.shift = shift
        self.weight = torch.nn.Parameter(torch.randn(6))

    @ttnn_jit.jit()
    def forward(self, x, times=1):
        return ttnn.exp(x) * self.weight * times + self.shift

    @ttnn_jit.jit(graph_capture=True)
    def traced(self, x, times=1):
        return ttnn.exp(x) * self.shift * times

    @ttnn_jit.jit(fallback=True)
    def fallen(self, x, times=1):
        return ttnn.exp(x) * self.shift * times

    @ttnn_jit.jit()
    def of_any(self, *args, **kwargs):
        return ttnn.exp(args[0]) * kwargs.get("times", 1) * self.shift

    @classmethod
    @ttnn_jit.jit()
    def of_class(cls, x, times=1):
        return ttnn.exp(x) * cls.factor * times

    @staticmethod
    @ttnn_jit.jit()
    def of_none(x, times=1):
        return ttnn.exp(x) * times


class Derived(Model):
    factor = 3.0

    @ttnn_jit.jit()
    def forward(self, x):
        return super().forward(x) + 1


class Slotted:
    __slots__ = ("__weakref__", "shift")

    @ttnn_jit.jit()
    def forward(self, x, times=1):
        return ttnn.exp(x) + self.shift * times


NAMES = ("forward", "traced", "fallen", "of_any", "of_class", "of_none")


@torch.no_grad()
@pytest.mark.parametrize("name", NAMES)
def test_explain_and_ir_of_a_method_take_the_arguments_of_its_call(name):
    first, second = Model(3.0), Model(5.0)
    for model in (first, second, first):
        method = getattr(model, name)
        for keywords in ({}, {"times": 2}):
            assert "ttnn.exp" in method.ir(X, **keywords)
            assert "ttir.exp" in method.ir(X, stage="convert-ttnn-to-ttir", **keywords)
            assert method.explain(X, **keywords).launches
            assert method.request(X, **keywords).options == method.request(X).options
        if name not in {"of_class", "of_none"}:
            assert f"{model.shift:e}".partition("e")[0][:1] in method.ir(X)
            assert method.ir(X) == getattr(Model, name).ir(model, X)
            assert method.ir(X) != method.ir(X, times=2)
    of_first, of_second = (getattr(model, name).ir(X) for model in (first, second))
    assert (of_first == of_second) == (name in {"forward", "of_class", "of_none"} and "5.0" not in of_second)


def test_two_bound_methods_can_be_inspected_in_any_order():
    of_first, of_second = Model(3.0).traced, Model(5.0).traced
    assert "3.0" in of_first.ir(X) or "3.000000e+00" in of_first.ir(X)
    texts = [method.ir(X) for method in (of_first, of_second, of_first)]
    assert texts[0] == texts[2] != texts[1]


@torch.no_grad()
def test_every_public_attribute_of_a_jitted_function_is_one_of_its_methods():
    model = Model(3.0)
    function = Model.__dict__["forward"]
    public = [name for name in dir(function) if not name.startswith("_")]
    assert {"ir", "explain", "request", "num_entries", "clear", "func", "fallback_used"} <= {*public}
    model.forward(X)
    for name in public:
        of_method = getattr(model.forward, name)
        of_function = getattr(function, name)
        assert callable(of_method) == callable(of_function)
        assert callable(of_method) or of_method == of_function
    assert model.forward.num_entries == 1
    model.forward.clear()
    assert model.forward.num_entries == Model.forward.num_entries == 0


def test_a_method_stays_a_method():
    model = Model(3.0)
    assert isinstance(model.forward, types.MethodType)
    assert model.forward.__self__ is model
    assert model.forward == model.forward != Model(3.0).forward
    assert model.traced.func is Model.traced.func


def test_methods_of_subclasses_classes_and_slots_can_be_inspected():
    with torch.no_grad():
        assert "ttnn.add" in Derived(3.0).forward.ir(X)
    assert Derived.of_class.ir(X) != Model.of_class.ir(X)
    slotted = Slotted()
    slotted.shift = 2.0
    assert slotted.forward.explain(X).launches


def test_a_partial_can_be_inspected_through_its_function():
    part = functools.partial(Model(3.0).traced, times=2)
    assert part.func.ir(X, **part.keywords) == Model(3.0).traced.ir(X, times=2)


def test_inspection_keeps_no_instance_alive():
    model = Model(3.0)
    model.traced.explain(X)
    alive = weakref.ref(model)
    del model
    gc.collect()
    assert alive() is None


def test_inspection_refuses_wrong_arguments_as_a_call_does():
    with pytest.raises(ArgumentError, match="missing a required argument: 'x'"):
        Model(3.0).traced.ir()
    with pytest.raises(ArgumentError):
        Model(3.0).traced.explain(X, 1, 2)
