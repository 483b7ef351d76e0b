"""A change of any value that a compile read makes its guard false, in both frontends."""
# ruff: noqa: ARG005 - programs are written as users write them

from __future__ import annotations

import functools
import types
from collections import OrderedDict
from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import NamedTuple

import pytest

from tests.unit.frontend.stand_in import BF16, StandInJit, lowered, ttnn
from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.guards.fingerprints import read_fingerprint
from ttnn_jit.guards.reads import compile_guard, resolve

BOTH = pytest.mark.parametrize("graph_capture", [False, True], ids=["ast", "capture"])

SCALE = 0.5
UNREAD = 1
LAYERS = [1.0, 2.0]
TABLE = {"act": ttnn.relu, "nested": {"n": [1]}}
module = types.ModuleType("constants")
module.N = 4
PARTIAL = functools.partial(ttnn.multiply, 2.0)


@dataclass(frozen=True)
class Frozen:
    scale: float = 2.0


class Level(Enum):
    LOW = 0.5

    @property
    def twice(self):
        return self.value * SCALE


class Sized(NamedTuple):
    size: float = 2.0

    def doubled(self):
        return self.size * SCALE


SIZED = Sized()


class Mutable:
    def __init__(self):
        self.scale = 2.0

    def __call__(self, x):
        return x * self.scale


FROZEN = Frozen()
MUTABLE = Mutable()


def helper(x, n=1.0, *, k=2.0):
    return x * SCALE * n * k


@StandInJit
def jitted(x):
    return helper(x)


def outer(x):
    return jitted(x)


def guard_and_result(function, graph_capture, *args):
    result = lowered(function, *args or (BF16,), graph_capture=graph_capture)
    guard = compile_guard(function, result.reads)
    assert guard()
    return guard, result


@BOTH
def test_a_global_that_was_read_is_recorded_and_one_that_was_not_is_not(monkeypatch, graph_capture):
    guard, _ = guard_and_result(lambda x: x * SCALE, graph_capture)
    monkeypatch.setitem(globals(), "UNREAD", 2)
    assert guard()
    monkeypatch.setitem(globals(), "SCALE", 0.25)
    assert not guard()


@BOTH
def test_a_closure_cell_is_recorded(graph_capture):
    n = 1.0

    def function(x):
        return x * n

    guard, _ = guard_and_result(function, graph_capture)
    n = 2.0
    assert not guard()


@BOTH
def test_a_helper_reached_through_two_others_is_recorded(monkeypatch, graph_capture):
    guard, _ = guard_and_result(outer, graph_capture)
    monkeypatch.setitem(globals(), "SCALE", 0.25)
    assert not guard()


@BOTH
def test_the_body_and_the_defaults_of_a_helper_are_recorded(monkeypatch, graph_capture):
    guard, _ = guard_and_result(outer, graph_capture)
    with monkeypatch.context() as patch:
        patch.setattr(helper, "__code__", (lambda x, n=1.0, *, k=2.0: x).__code__)
        assert not guard()
    assert guard()
    with monkeypatch.context() as patch:
        patch.setattr(helper, "__defaults__", (3.0,))
        assert not guard()
    assert guard()
    helper.__kwdefaults__["k"] = 9.0
    assert not guard()
    helper.__kwdefaults__["k"] = 2.0


@BOTH
def test_a_rebound_helper_is_recorded(monkeypatch, graph_capture):
    guard, _ = guard_and_result(outer, graph_capture)
    monkeypatch.setitem(globals(), "helper", lambda x: x)
    assert not guard()


@BOTH
def test_the_function_of_a_jitted_object_is_recorded(monkeypatch, graph_capture):
    guard, _ = guard_and_result(outer, graph_capture)
    monkeypatch.setattr(jitted, "__ttnn_jit_wrapped__", lambda x: x)
    assert not guard()


@BOTH
def test_a_monkeypatched_operation_is_recorded(monkeypatch, graph_capture):
    guard, _ = guard_and_result(lambda x: ttnn.exp(x), graph_capture)
    monkeypatch.setattr(ttnn, "exp", ttnn.neg)
    assert not guard()


@BOTH
def test_an_attribute_of_a_module_is_recorded(graph_capture, monkeypatch):
    guard, _ = guard_and_result(lambda x: x * module.N, graph_capture)
    monkeypatch.setattr(module, "N", 5)
    assert not guard()


@BOTH
def test_a_list_and_a_list_in_a_dict_are_recorded(graph_capture):
    def function(x):
        for layer in LAYERS:
            x = x * layer
        return TABLE["act"](x) * TABLE["nested"]["n"][0]

    guard, _ = guard_and_result(function, graph_capture)
    LAYERS.append(3.0)
    assert not guard()
    LAYERS.pop()
    assert guard()
    TABLE["nested"]["n"][0] = 2
    assert not guard()
    TABLE["nested"]["n"][0] = 1


class Kind(IntEnum):
    ONE = 1


NAMED = {(1, "a"): [1.0], 2.5: {"deep": [2.0]}, Kind.ONE: [3.0], None: [4.0], b"k": ([6.0],)}


@BOTH
@pytest.mark.parametrize(
    "holder", [NAMED[1, "a"], NAMED[2.5]["deep"], NAMED[Kind.ONE], NAMED[None], NAMED[b"k"][0]], ids=str
)
def test_lists_under_keys_of_any_kind_are_recorded(graph_capture, holder):
    def function(x):
        return x * NAMED[1, "a"][0] * NAMED[2.5]["deep"][0] * NAMED[Kind.ONE][0] * NAMED[None][0] * NAMED[b"k"][0][0]

    guard, result = guard_and_result(function, graph_capture)
    assert not result.opaque
    before = holder[0]
    holder[0] = 7.0
    assert not guard()
    holder[0] = before
    assert guard()
    for read in result.reads:
        assert resolve(function, read.path) == read.value


class Scaled(list):
    def __getitem__(self, index):
        return super().__getitem__(index) * SCALE


class Defaulting(dict):
    def __missing__(self, name):
        return SCALE


class Growing(float):
    def __mul__(self, other):
        return float(self) * SCALE * other


class Gains(dict):
    """Attributes are items, as in many configuration libraries."""

    def __getattr__(self, name):
        return self[name]

    def __repr__(self):
        return "Gains"


class Plain(dict):
    def __init__(self, **items):
        super().__init__(items)

    def __repr__(self):
        return "Plain"


SCALED, DEFAULTING, GROWING, GAINS, PLAIN = Scaled([2.0]), Defaulting(), Growing(2.0), Gains(gain=2.0), Plain(gain=2.0)
ORDERED = OrderedDict(gain=2.0)


@BOTH
@pytest.mark.parametrize(
    "function", [lambda x: x * SCALED[0], lambda x: x * DEFAULTING["k"], lambda x: x * (GROWING * 2.0)]
)
def test_the_reads_of_the_code_of_an_operator_are_recorded(monkeypatch, graph_capture, function):
    guard, result = guard_and_result(function, graph_capture)
    assert not result.opaque
    monkeypatch.setitem(globals(), "SCALE", 0.25)
    assert not guard()


@BOTH
@pytest.mark.parametrize(
    ("function", "holder"),
    [(lambda x: x * PLAIN["gain"], PLAIN), (lambda x: x * ORDERED.get("gain"), ORDERED)],
)
def test_a_dict_of_another_class_is_guarded_as_a_dict(graph_capture, function, holder):
    guard, result = guard_and_result(function, graph_capture)
    assert not result.opaque
    holder["gain"] = 3.0
    assert not guard()
    holder["gain"] = 2.0


def test_an_item_that_is_read_as_an_attribute_is_guarded():
    guard, result = guard_and_result(lambda x: x * GAINS.gain, False)
    assert not result.opaque
    GAINS["gain"] = 3.0
    assert not guard()
    GAINS["gain"] = 2.0


class Named(Enum):
    ITEM = [2.0]  # noqa: RUF012 - a value that can change
    OTHER = 1.0

    def __str__(self):
        return LABEL

    __format__ = lambda self, _: LABEL  # noqa: E731 - Python 3.11 and 3.12 differ in what an enum's format is


class Key:
    scale = 2.0


LABEL = "ab"
KEYS = {Key(): 1.0}


@BOTH
def test_the_list_that_is_the_value_of_an_enum_member_is_recorded(graph_capture):
    guard, _ = guard_and_result(lambda x: x * Named.ITEM.value[0], graph_capture)
    Named.ITEM.value[0] = 3.0
    held = guard()
    Named.ITEM.value[0] = 2.0
    assert not held


@BOTH
def test_the_reads_of_the_text_of_an_enum_member_are_recorded(monkeypatch, graph_capture):
    guard, result = guard_and_result(lambda x: x * len(f"{Named.OTHER}"), graph_capture)
    assert not result.opaque
    monkeypatch.setitem(globals(), "LABEL", "abc")
    assert not guard()
    assert not guard_and_result(lambda x: x * (2.0 if Named.OTHER == 1.0 else 3.0), graph_capture)[1].opaque


@BOTH
def test_reads_of_the_keys_of_a_dict_are_recorded(monkeypatch, graph_capture):
    guard, result = guard_and_result(lambda x: x * [key.scale for key in KEYS][0], graph_capture)  # noqa: RUF015
    assert not result.opaque
    monkeypatch.setattr(Key, "scale", 3.0)
    assert not guard()


@BOTH
def test_a_builtin_that_is_hidden_later_is_recorded(graph_capture, monkeypatch):
    guard, _ = guard_and_result(lambda x: x * max(1, 2), graph_capture)
    monkeypatch.setitem(globals(), "max", min)
    assert not guard()


@BOTH
def test_an_attribute_in_the_text_of_a_mutable_object_is_recorded(graph_capture, monkeypatch):
    guard, result = guard_and_result(lambda x: x * MUTABLE.scale, graph_capture)
    assert not result.opaque
    monkeypatch.setattr(MUTABLE, "scale", 3.0)
    assert not guard()


@BOTH
def test_a_frozen_dataclass_passed_to_a_helper_is_recorded(graph_capture, monkeypatch):
    def scale_of(settings):
        return settings.scale

    guard, result = guard_and_result(lambda x: x * scale_of(FROZEN), graph_capture)
    assert not result.opaque
    monkeypatch.setitem(globals(), "FROZEN", Frozen(3.0))
    assert not guard()


@BOTH
def test_a_mutable_object_is_followed_through_a_helper(monkeypatch, graph_capture):
    guard, result = guard_and_result(lambda x: MUTABLE(x), graph_capture)
    assert not result.opaque
    monkeypatch.setattr(MUTABLE, "scale", 3.0)
    assert not guard()


@BOTH
def test_a_mutable_object_among_the_arguments_is_opaque(graph_capture):
    assert guard_and_result(lambda x, config: x * config.scale, graph_capture, BF16, MUTABLE)[1].opaque


def test_an_unknown_function_makes_a_trace_opaque_and_names_the_location():
    import random

    opaque = guard_and_result(lambda x: x * random.random(), True)[1].opaque
    assert opaque.location.file == __file__


@BOTH
def test_a_partial_is_recorded(graph_capture, monkeypatch):
    guard, _ = guard_and_result(lambda x: PARTIAL(x), graph_capture)
    monkeypatch.setitem(globals(), "PARTIAL", functools.partial(ttnn.multiply, 3.0))
    assert not guard()


def test_a_traced_function_that_assigns_a_global_is_refused_before_it_runs():
    def function(x):
        global UNREAD  # noqa: PLW0603
        UNREAD = 7
        return x

    with pytest.raises(CompileError, match="`global` cannot be compiled"):
        lowered(function, BF16, graph_capture=True)
    assert UNREAD == 1


@BOTH
def test_every_read_resolves_to_its_value_and_has_a_fingerprint(graph_capture):
    result = lowered(outer, BF16, graph_capture=graph_capture)
    for read in result.reads:
        if read.value is not None and "kwdefaults" not in str(read):
            assert resolve(outer, read.path) is read.value or resolve(outer, read.path) == read.value
        assert read_fingerprint(read.value)


@BOTH
@pytest.mark.parametrize("function", [lambda x: x * Level.LOW.twice, lambda x: x * SIZED.doubled()])
def test_the_reads_of_a_method_of_a_value_are_recorded(monkeypatch, graph_capture, function):
    guard, result = guard_and_result(function, graph_capture)
    assert not result.opaque
    monkeypatch.setitem(globals(), "SCALE", 0.25)
    assert not guard()


@BOTH
def test_fields_and_values_need_only_the_object(graph_capture):
    assert not guard_and_result(lambda x: x * SIZED.size, False)[1].opaque
    assert not guard_and_result(lambda x: x * module.N, graph_capture)[1].opaque


@BOTH
def test_a_tensor_being_compiled_is_a_tensor_to_isinstance(graph_capture):
    from ttnn_jit.runtime.tensors.tensor import Tensor

    result = lowered(lambda x: ttnn.exp(x) if isinstance(x, Tensor) else x, BF16, graph_capture=graph_capture)
    assert "ttnn.exp" in str(result.module)


@dataclass
class Settings:
    width: float = 4.0

    @functools.cached_property
    def rate(self):
        return self.width * SCALE


@BOTH
def test_a_cached_property_of_an_argument_is_recorded(monkeypatch, graph_capture):
    guard, result = guard_and_result(lambda x, settings: x * settings.rate, graph_capture, BF16, Settings())
    assert result.opaque is None
    with monkeypatch.context() as patch:
        patch.setitem(globals(), "SCALE", 0.25)
        assert not guard()
    assert guard()
    monkeypatch.setattr(vars(Settings)["rate"], "func", lambda self: 3.0)
    assert not guard()


class Disguised(list):
    @property
    def __class__(self):
        return float


def test_the_class_attribute_of_an_argument_does_not_decide_its_class():
    result = lowered(lambda x, a: x * (2.0 if isinstance(a, float) else 3.0), BF16, Disguised([1.0]))
    assert result.opaque is not None


class Silent:
    scale = 2.0

    @property
    def __class__(self):
        raise RuntimeError("nobody asked for it")


SILENT = Silent()


@BOTH
@pytest.mark.parametrize(
    "function",
    [
        lambda x: x * SILENT.scale,
        lambda x: x * getattr(SILENT, "scale", 3.0),
        lambda x: x * sum(item.scale for item in [SILENT]),
        lambda x: x * (2.0 if SILENT else 3.0),
        lambda x: x * (2.0 if SILENT is None else 3.0),
        lambda x: x * (2.0 if type(SILENT) is Silent else 3.0),
    ],
)
def test_type_is_read_and_never_the_class_attribute_of_an_object(function, graph_capture):
    _, result = guard_and_result(function, graph_capture)
    assert result.opaque is None
