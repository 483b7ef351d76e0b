"""Methods read their instance and their class, and no call uses a stale value."""

from __future__ import annotations

import dataclasses
import functools
import gc

import pytest
import torch

import ttnn_jit
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import TtnnJitError

A, B = torch.randn(4, 6), torch.randn(4, 6)


class Layer:
    decay = 0.5

    def __init__(self, scale):
        self.scale = scale
        self.__hidden = 3.0

    @ttnn_jit.jit()
    def forward(self, x, shift=0.0):
        return self.inner(x) * self.scale + shift + self.__hidden

    @ttnn_jit.jit
    def inner(self, x):
        return ttnn.abs(x) * self.decay

    @ttnn_jit.jit(graph_capture=True)
    def traced(self, x):
        return self.inner(x) * self.scale

    @staticmethod
    @ttnn_jit.jit()
    def doubled(x):
        return x + x


def test_methods_read_their_instance_and_see_it_change():
    first, second = Layer(2.0), Layer(4.0)
    for _ in range(2):
        assert torch.equal(first.forward(A), A.abs() * 0.5 * 2.0 + 0.0 + 3.0)
        assert torch.equal(second.forward(A), A.abs() * 0.5 * 4.0 + 0.0 + 3.0)
    assert Layer.forward.num_entries == 2
    first.scale = 8.0
    assert torch.equal(first.forward(A, shift=1.0), A.abs() * 0.5 * 8.0 + 1.0 + 3.0)
    assert torch.equal(first.forward(A), A.abs() * 0.5 * 8.0 + 0.0 + 3.0)
    second.decay = 0.25
    assert torch.equal(Layer.forward(second, A), A.abs() * 0.25 * 4.0 + 0.0 + 3.0)
    assert "ttnn.abs" in Layer.forward.ir(first, A)
    assert torch.equal(Layer.doubled(A), A + A)


def test_a_traced_method_compiles_once_and_sees_its_instance_change():
    first, second = Layer(2.0), Layer(3.0)
    for _ in range(3):
        assert torch.equal(first.traced(A), A.abs() * 2.0 * 0.5)
        assert torch.equal(second.traced(A), A.abs() * 3.0 * 0.5)
    assert Layer.traced.num_entries == 2
    first.scale = 3.0
    assert torch.equal(first.traced(A), A.abs() * 3.0 * 0.5)
    first.decay = 0.25
    assert torch.equal(first.traced(A), A.abs() * 3.0 * 0.25)
    assert torch.equal(second.traced(A), A.abs() * 3.0 * 0.5)


class Careless:
    scale = 2.0
    calls = 0

    def scaled_by(self, x):
        return x * self.scale

    def passes_itself(self, x):
        return scaled(self, x)

    def writes(self, x):
        self.calls = 1
        return x * self.scale

    def keeps_count(self, x):
        self.calls = self.calls + 1
        return x * self.scale

    def hides_itself(self, x):
        return next(me.scale * x for me in [self])

    def nests_itself(self, x):
        def scaled_inside(y):
            return y * self.scale

        return scaled_inside(x)

    def passes_another(self, x):
        def scaled_by(self):
            return x * self.scale

        return scaled_by(OTHER)


class Other:
    scale = 2.0


OTHER = Other()


def scaled(model, x):
    return x * model.scale


def traced_model(name):
    """An instance of a class whose method `name` is traced, as by a decorator in the class body."""
    traced = ttnn_jit.jit(graph_capture=True)(getattr(Careless, name))
    model = type("Model", (Careless,), {name: traced})()
    return model, getattr(model, name)


GUARDED = ["scaled_by", "nests_itself", "passes_itself", "hides_itself"]


ANEW = ["writes"]


@pytest.mark.parametrize("name", GUARDED + ANEW)
@pytest.mark.filterwarnings("ignore:.*compiled at every call")
def test_no_use_of_its_instance_makes_a_traced_method_stale(name):
    model, method = traced_model(name)
    for scale in (2.0, 3.0, 3.0, 5.0):
        model.scale = scale
        assert torch.equal(method(A), A * scale)


@pytest.mark.parametrize("name", GUARDED)
def test_a_traced_method_that_uses_attributes_alone_compiles_once(name):
    _, method = traced_model(name)
    method(A)
    hits = ttnn_jit.cache_info().memory_hits
    for _ in range(3):
        method(A)
    assert ttnn_jit.cache_info().memory_hits == hits + 3


@pytest.mark.filterwarnings("ignore:.*compiled at every call")
def test_another_object_under_the_instances_name_is_not_mistaken_for_it(monkeypatch):
    _, method = traced_model("passes_another")
    for scale in (2.0, 3.0):
        monkeypatch.setattr(OTHER, "scale", scale)
        assert torch.equal(method(A), A * scale)


@pytest.mark.parametrize("name", ANEW)
def test_a_function_that_is_compiled_at_every_call_warns_once(name):
    _, method = traced_model(name)
    method(A)
    with pytest.warns(
        UserWarning,
        match=f"^{name} is compiled at every call, because .*{__file__}:\\d+.* pass the value as an argument",
    ):
        method(A)
    method(A)


@pytest.mark.filterwarnings("ignore:.*compiled at every call")
def test_a_traced_method_with_a_counter_counts_every_call():
    model, method = traced_model("keeps_count")
    for calls in (1, 2, 3):
        method(A)
        assert model.calls == calls


def test_a_method_keeps_no_instance_alive():
    layer = Layer(2.0)
    layer.forward(A)
    entries = Layer.forward.num_entries
    del layer
    gc.collect()
    assert Layer.forward.num_entries < entries


def test_a_second_process_would_find_a_methods_program_on_disk():
    Layer(7.0).forward(A)
    compiles = ttnn_jit.cache_info().compiles
    assert torch.equal(Layer(7.0).forward(A), A.abs() * 0.5 * 7.0 + 0.0 + 3.0)
    assert ttnn_jit.cache_info().compiles == compiles
    assert torch.equal(Layer(6.0).forward(A), A.abs() * 0.5 * 6.0 + 0.0 + 3.0)


class Plain:
    def plain(self, x):
        return x * self.scale


class Scaled(Layer, Plain):
    @ttnn_jit.jit(graph_capture=True)
    def above(self, x):
        return super().plain(x) + 1.0

    @ttnn_jit.jit()
    def named(self, x):
        return Plain.plain(self, x) + 1.0


@pytest.mark.filterwarnings("ignore:.*compiled at every call")
def test_reads_of_an_inherited_method_are_never_stale(monkeypatch):
    model = Scaled(2.0)
    for scale in (2.0, 3.0, 4.0):
        model.scale = scale
        for _ in range(3):
            assert torch.equal(model.above(A), A * scale + 1.0)
            assert torch.equal(model.named(A), A * scale + 1.0)
    monkeypatch.setattr(Plain, "plain", lambda self, x: x - self.scale)
    assert torch.equal(model.above(A), A - 4.0 + 1.0)
    assert torch.equal(model.named(A), A - 4.0 + 1.0)


class Schedule:
    rate = 2.0

    @classmethod
    @ttnn_jit.jit()
    def stepped(cls, x, by=1.0):
        return cls.scaled(x) + by

    @classmethod
    @ttnn_jit.jit(graph_capture=True)
    def scaled(cls, x):
        return x * cls.rate


class Faster(Schedule):
    rate = 5.0


def test_classmethods_read_their_class_and_see_it_change(monkeypatch):
    for _ in range(3):
        assert torch.equal(Schedule.stepped(A), A * 2.0 + 1.0)
        assert torch.equal(Faster.stepped(A, 3.0), A * 5.0 + 3.0)
        assert torch.equal(Faster().stepped(A, by=0.5), A * 5.0 + 0.5)
        assert torch.equal(Faster.scaled(A), A * 5.0)
    monkeypatch.setattr(Schedule, "rate", 3.0)
    assert torch.equal(Schedule.stepped(A), A * 3.0 + 1.0)
    assert torch.equal(Schedule.scaled(A), A * 3.0)
    assert torch.equal(Faster.stepped(A), A * 5.0 + 1.0)
    monkeypatch.delattr(Faster, "rate")
    assert torch.equal(Faster.stepped(A), A * 3.0 + 1.0)
    assert "ttnn.multiply" in Faster.scaled.ir(A)


@pytest.mark.parametrize("times", [0, 1, 4])
def test_a_methods_defaults_and_code_that_are_replaced_are_noticed(times):
    class Model:
        gain = 2.0

        def apply(self, x, factor=3.0, *, shift=0.0):
            return x * factor * self.gain + shift

        def other(self, x, factor=3.0, *, shift=0.0):
            return x - factor + shift

        def plain(self, x, factor=3.0):
            return x * factor * self.gain

        def less(self, x, factor=3.0):
            return x - factor + self.gain - 1.0

        jitted, short = ttnn_jit.jit(apply), ttnn_jit.jit(plain)

    model, ones = Model(), torch.ones(4, 6)

    def results(count=3):
        return {float(method(ones)[0, 0]) for method in (model.jitted, model.short) for _ in range(count)}

    for _ in range(times):
        assert results(1) == {6.0}
    Model.apply.__defaults__ = Model.plain.__defaults__ = (4.0,)
    assert results() == {8.0}
    Model.apply.__kwdefaults__ = {"shift": 1.0}
    assert results() == {9.0, 8.0}
    Model.plain.__code__, Model.apply.__code__ = Model.less.__code__, Model.other.__code__
    assert results() == {-2.0}


def test_one_function_can_be_in_a_class_and_outside():
    @ttnn_jit.jit()
    def doubled(x):
        return x + x

    class Late:
        scale = 3.0

    class Early:
        scale = 4.0
        method = ttnn_jit.jit(lambda self, x: x * self.scale)
        not_a_method = staticmethod(doubled)
        by_itself = doubled

    Late.method = Early.__dict__["method"]
    assert torch.equal(Early().method(A), A * 4.0)
    assert torch.equal(Late().method(A), A * 3.0)
    assert torch.equal(Late.method(Early(), A), A * 4.0)
    for _ in range(3):
        assert torch.equal(doubled(A), A + A)
        assert torch.equal(Early.by_itself(A), A + A)
        assert torch.equal(Early().not_a_method(A), A + A)


def test_methods_without_a_named_first_parameter_work_or_name_what_is_missing():
    class Model:
        scale = 3.0

        @ttnn_jit.jit()
        def any_number(*everything):
            return everything[0].scale * everything[1]

        @ttnn_jit.jit()
        def none_at_all():
            return A

    assert torch.equal(Model().any_number(A), A * 3.0)
    with pytest.raises(TtnnJitError, match="none_at_all"):
        Model().none_at_all(A)


def test_the_programs_of_a_method_are_counted_once_and_forgotten_with_it():
    gc.collect()
    before = ttnn_jit.cache_info().memory_entries
    layer = Layer(11.0)
    layer.forward(A)
    entries = Layer.forward.num_entries
    assert ttnn_jit.cache_info().memory_entries == before + 1
    Layer.forward.clear()
    assert Layer.forward.num_entries == 0
    assert ttnn_jit.cache_info().memory_entries == before + 1 - entries
    assert torch.equal(layer.forward(A), A.abs() * 0.5 * 11.0 + 3.0)


@dataclasses.dataclass
class WithClassMembers:
    scale: float = 3.0
    gain = 2.0

    def method(self):
        return 2.0

    @functools.cached_property
    def cached(self):
        return 2.0


@pytest.mark.parametrize("calls", [1, 2, 5])
@pytest.mark.parametrize(
    ("program", "name", "value"),
    [
        (lambda x, a: x * a.gain, "gain", 5.0),
        (lambda x, a: x * a.method(), "method", lambda: 5.0),
        (lambda x, a: x * a.cached, "cached", 5.0),
    ],
)
def test_an_attribute_that_hides_a_member_of_the_class_is_detected_after_any_number_of_calls(
    program, name, value, calls
):
    function, argument, x = ttnn_jit.jit()(program), WithClassMembers(), torch.tensor([1.5])
    for _ in range(calls):
        assert function(x, argument).item() == 3.0
    setattr(argument, name, value)
    assert function(x, argument).item() == 7.5


@pytest.mark.parametrize("graph_capture", [False, True])
def test_super_finds_a_jitted_method_and_a_change_of_it_is_detected(graph_capture, monkeypatch):
    compiled = ttnn_jit.jit(graph_capture=graph_capture, enable_cache=False)

    class Base:
        scale = 2.0

        @compiled
        def forward(self, x):
            return ttnn.multiply(x, self.scale)

        @classmethod
        def gain(cls):
            return cls.scale

    class Derived(Base):
        scale = 3.0

        @compiled
        def forward(self, x):
            return ttnn.add(super().forward(x), super().gain())

    @compiled
    def less(self, x):
        return ttnn.subtract(x, self.scale)

    model = Derived()
    assert torch.equal(model.forward(A), A * 3.0 + 3.0)
    monkeypatch.setattr(Base, "forward", less)
    assert torch.equal(model.forward(A), A - 3.0 + 3.0)
