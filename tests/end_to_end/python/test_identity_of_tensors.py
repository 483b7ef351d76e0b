"""Identity of tensors: a program that tests it is guarded by it, and others pay nothing."""

from __future__ import annotations

import itertools
import linecache
import types
from typing import Any

import numpy
import pytest
import torch

import ttnn_jit
from tests.end_to_end.python.hidden_inputs import BOTH, compiles
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import CompileError, UnsupportedFunction

SHAPE = (32, 32)
BODIES = {
    "is": "q + 1.0 if q is k else q + 2.0",
    "is not": "q + 1.0 if q is not k else q + 2.0",
    "any": "q + 1.0 if any(q is one for one in [k]) else q + 2.0",
    "tuple": "q + 1.0 if (q, 1) == (q, 1) and q is k else q + 2.0",
    "index": "q + float([k, q].index(k))",
    "a global": "q + 1.0 if q is GLOBAL else q + 2.0",
    "an attribute": "q + 1.0 if OBJECT.w is k else q + 2.0",
    "a global or an attribute": "q + 1.0 if GLOBAL is OBJECT.w else q + 2.0",
    "keys": "q * {q: 1.0, k: 2.0}[q]",
    "size": "q * float(len({q, k}))",
    "popped": "q * {q: 1.0}.pop(k, 3.0)",
    "contains": "q + 1.0 if k in {q} else q + 2.0",
    "a table outside": "q * TABLE.get(q, 5.0)",
    "in a table outside": "q + 1.0 if q in TABLE else q + 2.0",
}
HASHING = {"keys", "size", "popped", "contains", "a table outside", "in a table outside"}
FOUND = {"a global", "an attribute", "a table outside", "in a table outside"}
_numbers = itertools.count()


def program(body: str, *, has_source: bool = True) -> Any:
    """A function of `q` and `k`, and of the names of its module."""
    file, text = f"<identity {next(_numbers)}>", f"def program(q, k):\n    return {body}\n"
    if has_source:
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    module = types.ModuleType("identity")
    module.OBJECT = types.SimpleNamespace()
    exec(compile(text, file, "exec"), vars(module))
    return module.program


def put(function: Any, tensor: Any) -> None:
    """Binds its names to `tensor`."""
    function.__globals__["GLOBAL"] = function.__globals__["OBJECT"].w = tensor
    function.__globals__["TABLE"] = {tensor: 7.0} if type(tensor).__hash__ else {}


@pytest.fixture
def make(request):
    if request.param != "ttnn":
        yield lambda: torch.ones(SHAPE) if request.param == "torch" else numpy.ones(SHAPE, dtype=numpy.float32)
        return
    device = ttnn.open_device(device_id=0)
    yield lambda: ttnn.from_torch(torch.ones(SHAPE), dtype=ttnn.float32, layout=ttnn.TILE_LAYOUT, device=device)
    ttnn.close_device(device)


LIBRARIES = pytest.mark.parametrize("make", ["torch", "numpy", "ttnn"], indirect=True)


def number(result: Any) -> float:
    return float((ttnn.to_torch(result) if type(result) is ttnn.Tensor else result)[0, 0])


def calls(make: Any) -> list[tuple[Any, Any, Any]]:
    """Two arguments and the hidden tensor, in every combination of identities."""
    one, two, three = make(), make(), make()
    ways = [(one, one, three), (one, two, three), (one, two, one), (one, two, two), (one, one, one)]
    return [*ways, *ways, *reversed(ways)]


@BOTH
@LIBRARIES
@pytest.mark.parametrize("name", BODIES)
def test_a_program_that_tests_identity_is_compiled_for_each_answer(name, make, graph_capture):
    function = program(BODIES[name])
    jitted = ttnn_jit.jit(graph_capture=graph_capture)(function)
    for q, k, found in calls(make):
        put(function, found)
        if name in HASHING and isinstance(q, numpy.ndarray):
            with pytest.raises(CompileError, match=r"unhashable type: 'numpy\.ndarray'|a trace does not"):
                jitted(q, k)
            continue
        try:
            got = number(jitted(q, k))
        except UnsupportedFunction as error:
            assert graph_capture and name in FOUND and "a trace does not" in error.message  # noqa: PT017, PT018
            continue
        assert got == number(function(q, k))


@LIBRARIES
@pytest.mark.filterwarnings("ignore:.* is compiled at every call:UserWarning")
@pytest.mark.parametrize("name", sorted(BODIES.keys() - HASHING))
def test_a_program_without_source_is_too(name, make):
    function = program(BODIES[name], has_source=False)
    jitted = ttnn_jit.jit(function)
    for q, k, found in calls(make):
        put(function, found)
        try:
            assert number(jitted(q, k)) == number(function(q, k))
        except UnsupportedFunction as error:
            assert "a trace does not see" in error.message  # noqa: PT017


@BOTH
def test_items_of_arguments_are_compared_as_they_are_now(graph_capture):
    @ttnn_jit.jit(graph_capture=graph_capture)
    def program(items, named):
        return items[0] + (1.0 if items[0] is items[1] else 2.0) * (3.0 if named["k"] is items[0] else 5.0)

    one, two = torch.ones(2, 2), torch.ones(2, 2)
    items, named = [one, two], {"k": two}
    assert number(program(items, named)) == 11.0
    items[0] = items[1]
    assert number(program(items, named)) == 4.0
    named["k"] = one
    assert number(program(items, named)) == 6.0


@BOTH
def test_three_tensors_in_a_set_keep_their_identity(graph_capture):
    @ttnn_jit.jit(graph_capture=graph_capture)
    def program(a, b, c):
        return a * float(len({a, b, c}))

    x, y, z = (torch.ones(2, 2) for _ in range(3))
    for given in itertools.product([x, y, z], repeat=3):
        assert number(program(*given)) == len(set(given))


@BOTH
def test_one_memory_is_not_one_object(graph_capture):
    @ttnn_jit.jit(graph_capture=graph_capture)
    def program(q, k):
        return q + 1.0 if q is k else q + 2.0

    x = torch.ones(2, 2)
    assert number(program(x, x[:])) == 3.0
    assert number(program(x, x)) == 2.0


@BOTH
def test_the_identity_of_tensors_in_one_written_memory_is_refused(graph_capture):
    @ttnn_jit.jit(graph_capture=graph_capture)
    def program(q, k):
        q.add_(1.0)
        return k + 1.0 if q is k else k + 2.0

    x = torch.ones(2, 2)
    assert number(program(x, x)) == 3.0
    with pytest.raises(UnsupportedFunction, match="in one memory that the function writes into"):
        program(x, x[:])
    assert number(program(x, torch.ones(2, 2))) == 3.0


def test_a_program_that_does_not_test_identity_serves_calls_with_one_tensor_and_with_two():
    @ttnn_jit.jit
    def program(q, k):
        return q + k if k is not None else q

    x, y = torch.ones(2, 2), torch.ones(2, 2)
    before = compiles()
    assert [number(program(*given)) for given in ((x, x), (x, y), (y, y))] == [2.0] * 3
    assert compiles() == before + 1


def test_a_program_on_disk_guards_identity_too():
    function = program(BODIES["is"])
    x, y = torch.ones(2, 2), torch.ones(2, 2)
    given = [(x, x), (x, y)]
    expected = [number(function(*each)) for each in given]
    assert [number(ttnn_jit.jit(function)(*each)) for each in given] == expected
    before = compiles()
    for order in (given, given[::-1]):
        jitted = ttnn_jit.jit(function)
        assert sorted(number(jitted(*each)) for each in order) == sorted(expected)
        assert [number(jitted(*each)) for each in given] == expected
    assert compiles() == before


@BOTH
def test_attention_of_torch_tests_whether_its_query_is_its_key(graph_capture):
    @ttnn_jit.jit(graph_capture=graph_capture)
    def attend(query, key, value):
        scale = 1.0 if query is key and key is value else 0.5
        return ttnn.matmul(query, key) * scale + value

    x, y, z = (torch.eye(32) for _ in range(3))
    assert [number(attend(*given)) for given in ((x, x, x), (x, y, y), (x, y, z), (x, x, x))] == [2.0, 1.5, 1.5, 2.0]


def test_id_is_refused_with_an_alternative():
    with pytest.raises(
        UnsupportedFunction, match=r"Function id not supported[\s\S]*help: `is` tells whether two tensors"
    ):
        ttnn_jit.jit(lambda q, k: q + 1.0 if id(q) == id(k) else q)(torch.ones(2, 2), torch.ones(2, 2))
