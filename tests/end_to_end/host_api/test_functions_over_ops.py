"""Host functions that programs may call have one implementation for eager calls and programs."""

from __future__ import annotations

import contextlib
import inspect
import threading
from operator import attrgetter

import pytest
import torch

from tests.host_calls import HOST, made
from ttnn_jit import jit, ttnn
from ttnn_jit.diagnostics.errors import CallError
from ttnn_jit.ops.host_ops import creation_of
from ttnn_jit.ttnn.calling.host_function import OPS, declaration_of
from ttnn_jit.ttnn.namespace.names_on_demand import declared_functions

DECLARED = [attrgetter(name)(ttnn) for name in declared_functions()]
MAKING = [function for function in DECLARED if declaration_of(function).takes_ops]


def on(device):
    return ttnn.from_torch(torch.ones(32, 32), layout=ttnn.TILE_LAYOUT, device=device)


def test_some_host_functions_allocate_tensors_and_most_of_them_run_in_programs():
    assert {ttnn.full, ttnn.rand, ttnn.to_layout, ttnn.conv2d} <= {*MAKING}
    assert sum(creation_of(function) is not None for function in MAKING) > 15


@pytest.mark.parametrize("function", DECLARED, ids=lambda each: each.__name__)
def test_the_hidden_first_parameter_is_not_in_any_signature(function):
    shown = inspect.signature(function)
    assert OPS not in shown.parameters
    assert OPS not in inspect.get_annotations(function)
    assert list(shown.parameters) == [each.name for each in declaration_of(function).parameters]


@pytest.mark.parametrize("function", MAKING, ids=lambda each: each.__name__)
def test_python_errors_about_a_call_show_the_visible_signature(function):
    shown = inspect.signature(function).parameters.values()
    bare = [
        each.replace(annotation=each.empty, default=each.default if each.default is each.empty else 0) for each in shown
    ]
    scope = {}
    exec(f"def {function.__name__}{inspect.Signature(bare)}: ...", scope)
    of_none = [((), {})] if any(each.default is each.empty for each in bare) else []
    for args, kwargs in (*of_none, (tuple(range(40)), {}), ((), {"nothing": 1}), ((), {OPS: 1})):
        with pytest.raises(TypeError) as pythons:
            scope[function.__name__](*args, **kwargs)
        with pytest.raises(CallError) as ours:
            function(*args, **kwargs)
        assert ours.value.message == str(pythons.value)


@pytest.mark.parametrize("capture", [False, True], ids=["ast", "capture"])
@pytest.mark.parametrize("where", ["named", "of a tensor", "omitted"])
def test_a_program_allocates_tensors_on_its_device_under_every_name(device, where, capture):
    def program(x):
        named = {"named": {"device": device}, "of a tensor": {"device": x.device()}, "omitted": {}}[where]
        rows = ttnn.arange(0, 32, dtype=ttnn.float32, **named)
        found = ttnn.add(x, ttnn.to_layout(ttnn.reshape(rows, (1, 32)), ttnn.TILE_LAYOUT))
        found = ttnn.add(found, ttnn.zeros((32, 32), ttnn.float32, ttnn.TILE_LAYOUT, **named))
        if not ttnn.is_tensor_storage_on_device(found):
            raise ValueError
        return ttnn.multiply(found, ttnn.full_like(x, 2.0))

    x = on(device)
    for _ in range(2):
        found = jit(graph_capture=capture)(program)(x)
        assert torch.equal(found.to_torch(), (torch.ones(32, 32) + torch.arange(32.0)) * 2)


def test_another_thread_calls_eagerly_while_one_traces(device):
    x, begun, done, made_there = on(device), threading.Event(), threading.Event(), []

    def beside():
        begun.wait(60)
        made_there.append(ttnn.full((32, 32), 3.0, ttnn.float32, ttnn.TILE_LAYOUT, device))
        done.set()

    def program(x):
        begun.set()
        done.wait(60)
        return ttnn.add(x, ttnn.full((32, 32), 2.0, ttnn.float32, ttnn.TILE_LAYOUT))

    other = threading.Thread(target=beside)
    other.start()
    found = jit(graph_capture=True)(program)(x)
    other.join()
    assert type(made_there[0]) is ttnn.Tensor
    assert torch.equal(made_there[0].to_torch(), torch.full((32, 32), 3.0))
    assert torch.equal(found.to_torch(), torch.full((32, 32), 3.0))


HELD = {}


def test_a_trace_that_deallocates_a_tensor_it_finds_leaves_it_to_its_owner(device):
    HELD["x"] = on(device)

    def program(y):
        found = ttnn.add(HELD["x"], y)
        ttnn.deallocate(HELD["x"])
        return found

    traced = jit(graph_capture=True)(program)
    for compiles in (True, False):
        said = (
            pytest.warns(UserWarning, match="an argument is not deallocated") if compiles else contextlib.nullcontext()
        )
        with said:
            assert torch.equal(traced(on(device)).to_torch(), torch.full((32, 32), 2.0))
    assert HELD["x"].is_allocated()


@pytest.mark.parametrize("name", ["clone", "full", "to_layout", "max_pool2d", "conv2d", "zeros"])
def test_a_new_observer_sees_functions_that_ran_before_with_their_original_arguments(device, name):
    function, told = getattr(ttnn, name), []
    first, *others = ((each, made(value, device)) for each, value in HOST[name].items())
    args, kwargs = ((), dict([first, *others])) if name == "conv2d" else ((first[1],), dict(others))
    for _ in range(3):
        function(*args, **kwargs)
        with ttnn.register_pre_operation_hook(lambda *call: told.append(call)):
            function(*args, **kwargs)
    assert [(operation, len(given), [*named]) for operation, given, named in told] == [
        (function, len(args), [*kwargs])
    ] * 3
