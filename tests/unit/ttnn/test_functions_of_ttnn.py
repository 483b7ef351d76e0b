"""Functions of the namespace are objects as in ttnn: one for all names of a function, which knows its own name."""

from __future__ import annotations

from operator import attrgetter
from types import FunctionType, ModuleType

import pytest
import torch

from ttnn_jit import jit, ttnn
from ttnn_jit.diagnostics.errors import UnsupportedFunction
from ttnn_jit.frontend.python.language import VALUE_MODULES
from ttnn_jit.ttnn.calling.host_function import declaration_of
from ttnn_jit.ttnn.namespace.names_on_demand import declared_functions

ONE_OBJECT = {
    "divide": "div", "sub": "subtract", "sub_": "subtract_", "mul": "multiply", "mul_": "multiply_", "div_": "divide_",
}  # fmt: skip
"""What ttnn/__init__.py of tt-metal assigns: another name -> the function."""

SHARED = ONE_OBJECT | {
    "moreh_cumsum": "operations.moreh.cumsum",
    "prepare_conv_transpose2d_bias": "prepare_conv_bias",
    "experimental.typecast": "typecast",
    "experimental.view": "view",
}
"""Name -> name of the function that it is here."""

MODULES = sorted(
    name
    for name in ttnn.__all__
    if isinstance(getattr(ttnn, name), ModuleType) and hasattr(getattr(ttnn, name), "__all__")
)
"""Modules of ttnn that are files here."""

SUBMODULES = ("experimental", "kv_cache", "operations.moreh", "transformer")


def functions():
    """Every public function of the namespace and of its submodules, by the name that users write."""
    for name in ttnn.__all__:
        yield name, getattr(ttnn, name)
    for home in SUBMODULES:
        module = attrgetter(home)(ttnn)
        yield from ((f"{home}.{name}", getattr(module, name)) for name in module.__all__)


NAMED = [name for name, value in functions() if callable(value) and not isinstance(value, type)]


@pytest.mark.parametrize(("name", "same"), ONE_OBJECT.items())
def test_one_object_of_ttnn_is_one_object_here(name, same):
    assert getattr(ttnn, name) is getattr(ttnn, same)
    assert getattr(ttnn, name).python_fully_qualified_name == f"ttnn.{same}"


def test_no_other_two_names_are_the_same_operation():
    found: dict[int, str] = {}
    for name, value in functions():
        if hasattr(value, "golden_call") and name not in ONE_OBJECT and name != "experimental.view":
            assert found.setdefault(id(value), name) == name
    assert len(found) > 300


@pytest.mark.parametrize("name", NAMED)
def test_a_function_knows_its_name_in_ttnn(name):
    function = attrgetter(name)(ttnn)
    known_as = function.python_fully_qualified_name.removeprefix("ttnn.")
    assert attrgetter(known_as)(ttnn) is function
    assert known_as == SHARED.get(name, name)


def test_every_declared_function_of_the_host_api_is_found_by_its_name_and_no_other_is_declared():
    declared = declared_functions()
    for name, module in declared.items():
        function = attrgetter(name)(ttnn)
        assert (function.python_fully_qualified_name, function.__module__) == (f"ttnn.{name}", module)
        assert declaration_of(function) is not None
    assert {*declared} >= {name for name in NAMED if declaration_of(attrgetter(name)(ttnn))} - {*SHARED}


def test_every_function_of_every_module_is_an_operation_or_declared_or_makes_plain_values():
    undeclared = {
        f"{module}.{name}"
        for module, home in [("ttnn", ttnn), *((name, attrgetter(name)(ttnn)) for name in MODULES)]
        for name in home.__all__
        if isinstance(value := getattr(home, name), FunctionType)
        and declaration_of(value) is None
        and value.__module__ not in VALUE_MODULES
    }
    of_operations = {"ttnn.get_fallback_function", "ttnn.get_golden_function"}
    assert undeclared == {*of_operations, "ttnn.set_printoptions", "core.set_printoptions"}


@pytest.mark.parametrize("graph_capture", [False, True])
def test_a_name_that_jit_refuses_is_refused_at_its_location_and_its_function_is_accepted(graph_capture):
    class Holder:
        mul = staticmethod(ttnn.multiply)

    holder, x = Holder(), torch.ones(2, 2)
    assert torch.equal(jit(graph_capture=graph_capture)(lambda x: holder.mul(x, x))(x), x)
    written = jit(graph_capture=graph_capture)(lambda x: ttnn.mul(x, x))
    if graph_capture:  # it sees the object, as ttnn.jit does
        assert torch.equal(written(x), x)
    else:
        with pytest.raises(UnsupportedFunction, match=r"Function mul not supported[^?]*did you mean `multiply`"):
            written(x)
