"""Membership in a container is guarded, also for tensors; a guard calls no method of a foreign object."""

from __future__ import annotations

import collections
import types
from typing import Any

import numpy
import pytest
import torch

import ttnn_jit
from tests.end_to_end.python.hidden_inputs import BOTH, compiles
from ttnn_jit import ttnn
from ttnn_jit.compiler.stored_programs import StoredPrograms
from ttnn_jit.runtime.native.generated import MISS


class Holding(dict):
    def __contains__(self, key: object) -> bool:
        return dict.__contains__(self, key)


class Plain:
    """An object with attributes."""


class Model(torch.nn.Module):
    """A module of torch, whose tables are dicts."""


MAKE = {
    "torch": lambda: torch.ones(2, 2),
    "numpy": lambda: numpy.ones((2, 2), dtype=numpy.float32),
}
WORLD = types.SimpleNamespace()


def start(tensor: Any) -> None:
    WORLD.table = {"w": tensor, "other": 1.0}
    WORLD.ordered = collections.OrderedDict(w=tensor)
    WORLD.nested = {"inner": {"w": tensor}}
    WORLD.holding = Holding(w=tensor)
    WORLD.object = Plain()
    WORLD.object.w = tensor
    WORLD.module = Model()
    as_parameter = torch.nn.Parameter(torch.ones(2, 2), requires_grad=False)
    WORLD.module.register_parameter("w", as_parameter)
    WORLD.module.register_buffer("b", torch.ones(2, 2))


PROGRAMS = {
    "in a dict": (lambda x: x + 1.0 if "w" in WORLD.table else x + 2.0, lambda: WORLD.table),
    "not in a dict": (lambda x: x + 1.0 if "w" not in WORLD.table else x + 2.0, lambda: WORLD.table),
    "in an ordered dict": (lambda x: x + 1.0 if "w" in WORLD.ordered else x + 2.0, lambda: WORLD.ordered),
    "in a nested dict": (lambda x: x + 1.0 if "w" in WORLD.nested["inner"] else x + 2.0, lambda: WORLD.nested["inner"]),
    "by a method of the user's": (lambda x: x + 1.0 if "w" in WORLD.holding else x + 2.0, lambda: WORLD.holding),
    "in own attributes": (
        lambda x: x + 1.0 if "w" in WORLD.object.__dict__ else x + 2.0,
        lambda: vars(WORLD.object),
    ),
    "hasattr": (lambda x: x + 1.0 if hasattr(WORLD.object, "w") else x + 2.0, lambda: vars(WORLD.object)),
    "getattr": (
        lambda x: x + 1.0 if getattr(WORLD.object, "w", None) is None else x + 2.0,
        lambda: vars(WORLD.object),
    ),
    "get": (lambda x: x + 1.0 if WORLD.table.get("w") is None else x + 2.0, lambda: WORLD.table),
    "get with a default": (lambda x: x + 1.0 if WORLD.table.get("w", 5.0) == 5.0 else x + 2.0, lambda: WORLD.table),
    "length": (lambda x: x * float(len(WORLD.table)), lambda: WORLD.table),
    "keys": (lambda x: x * float(len(list(WORLD.table.keys()))), lambda: WORLD.table),
    "a class": (lambda x: x + 1.0 if isinstance(WORLD.table.get("w"), type(None)) else x + 2.0, lambda: WORLD.table),
    "parameters": (lambda x: x + 1.0 if "w" in WORLD.module._parameters else x + 2.0, lambda: WORLD.module._parameters),
    "buffers": (lambda x: x + 1.0 if "b" in WORLD.module._buffers else x + 2.0, lambda: WORLD.module._buffers),
}


@BOTH
@pytest.mark.parametrize("library", MAKE)
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("cached", [False, True], ids=["memory", "disk"])
def test_an_added_or_removed_key_is_detected(name, library, cached, graph_capture):
    make = MAKE[library]
    start(make())
    function, table = PROGRAMS[name]
    key = "b" if name == "buffers" else "w"

    def jit() -> Any:
        return ttnn_jit.jit(graph_capture=graph_capture, enable_cache=cached)(function)

    def changes() -> Any:
        yield
        taken = table().pop(key)
        yield
        table()[key] = taken
        yield
        table().clear()
        yield
        table()[key] = None
        yield

    jitted = jit()
    for _ in changes():
        if name == "get with a default" and table().get(key) is not None:
            continue  # which compares a tensor
        for _ in range(3):
            jitted = jit() if cached else jitted
            assert jitted(make())[0, 0] == function(make())[0, 0]


@BOTH
def test_a_key_that_is_added_and_removed_is_compiled_twice(graph_capture):
    start(torch.ones(2, 2))
    function, table = PROGRAMS["in a dict"]
    jitted, before = ttnn_jit.jit(graph_capture=graph_capture)(function), compiles()
    for _ in range(3):
        assert jitted(torch.ones(2, 2))[0, 0] == 2.0
        taken = table().pop("w")
        assert jitted(torch.ones(2, 2))[0, 0] == 3.0
        table()["w"] = taken
    assert compiles() == before + 2


# --- Calls of a guard -------------------------------------------------------------------------------------------------


class Recording:
    """Records calls of its methods."""

    asked: tuple[str, ...] = ()

    @property
    def w(self) -> torch.Tensor:
        Recording.asked += ("w",)
        return torch.ones(2, 2)

    def __getitem__(self, key: object) -> torch.Tensor:
        Recording.asked += (f"[{key!r}]",)
        return torch.ones(2, 2)

    def __lt__(self, _: object) -> bool:
        Recording.asked += ("<",)
        return True


class Missing(dict):
    """Records missing keys."""

    def __missing__(self, key: object) -> torch.Tensor:
        Recording.asked += (f"missing {key!r}",)
        return torch.ones(2, 2)


class Listed(list):
    """Records look-ups."""

    def __getitem__(self, key: Any) -> Any:
        Recording.asked += (f"[{key!r}]",)
        return list.__getitem__(self, key)


class Number(float):
    """A number of another class."""

    def __lt__(self, _: object) -> bool:
        Recording.asked += ("<",)
        return True


ASKING = {
    "an item": (lambda x: x + WORLD.table["w"], "table", (Recording, Missing, lambda: collections.defaultdict(list))),
    "an item behind an item": (
        lambda x: x + WORLD.nested["inner"]["w"],
        "nested",
        (lambda: {"inner": Recording()}, lambda: {"inner": Missing()}, Missing, lambda: {"inner": Listed([1.0])}),
    ),
    "an attribute": (lambda x: x + WORLD.object.w, "object", (Recording,)),
    "existence": (lambda x: x + 1.0 if hasattr(WORLD.object, "w") else x + 2.0, "object", (Recording,)),
    "membership": (
        lambda x: x + 1.0 if "w" in WORLD.table else x + 2.0,
        "table",
        (Missing, lambda: collections.defaultdict(list)),
    ),
    "a comparison": (lambda x: x + 1.0 if WORLD.number < 2.0 else x + 2.0, "number", (Recording, Number)),
}


@BOTH
@pytest.mark.parametrize("name", ASKING)
def test_a_guard_calls_no_method_of_an_object_of_another_class(name, graph_capture):
    function, attribute, makes = ASKING[name]
    for make in makes:
        start(torch.ones(2, 2))
        WORLD.number = 1.0
        jitted = ttnn_jit.jit(graph_capture=graph_capture)(function)
        for _ in range(3):
            jitted(torch.ones(2, 2))
        setattr(WORLD, attribute, made := make())
        guard = next(iter(jitted._variants._by_key.values()))[0].fetch
        Recording.asked = ()
        assert guard([torch.ones(2, 2)]) is None
        assert {call(torch.ones(2, 2)) for call in (*jitted._latest, *jitted._warm.values())} == {MISS}
        assert Recording.asked == ()
        assert not (isinstance(made, collections.defaultdict) and made)


def test_a_look_up_on_disk_calls_no_method_of_an_object_of_another_class():
    function, attribute, makes = ASKING["an item behind an item"]
    start(torch.ones(2, 2))
    ttnn_jit.jit(function)(torch.ones(2, 2))
    for make in makes[:2]:
        setattr(WORLD, attribute, make())
        Recording.asked = ()
        request = ttnn_jit.jit(function).request(torch.ones(2, 2))
        assert StoredPrograms.of(request, use_disk=True).find() is None
        assert Recording.asked == ()


def test_ttnn_tensors_can_be_added_and_removed():
    device = ttnn.open_device(device_id=0)
    tensor = ttnn.from_torch(torch.ones(32, 32), layout=ttnn.TILE_LAYOUT, device=device)
    start(tensor)
    function, table = PROGRAMS["in a dict"]
    jitted = ttnn_jit.jit(function)
    for expected in (2.0, 3.0, 2.0):
        for _ in range(3):
            assert ttnn.to_torch(jitted(tensor))[0, 0] == expected
        if expected == 2.0:
            taken = table().pop("w")
        else:
            table()["w"] = taken
    ttnn.close_device(device)
