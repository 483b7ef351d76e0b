"""Operations whose indices depend on elements, and triangles, as in torch, in every executor and frontend."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.modules import parsed_module, scheduled_module
from ttnn_jit import jit, ttnn
from ttnn_jit.diagnostics.errors import TtnnJitError
from ttnn_jit.interpreters.tile_interpreter import interpret
from ttnn_jit.ops.reduction import scans
from ttnn_jit.ops.selection import selections

DTYPES = [torch.float32, torch.bfloat16, torch.int32]


def takers_of_integers(operations):
    return [operation for operation in operations if ttnn.int32 in operation.dtypes]


EXAMPLES = [
    pytest.param(operation, index, DTYPES[(number + index) % 3], id=f"{operation.ttnn_name}-{index}")
    for number, operation in enumerate((*selections.OPERATIONS, *takers_of_integers(scans.OPERATIONS)))
    for index, _ in enumerate(operation.examples)
]
LAYOUTS = (ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT)


def operands(operation, shapes, statics, dtype):
    """Small whole numbers, exact in every type; an `index` holds indices along the dimension of its attribute."""
    generator = torch.Generator().manual_seed(len(shapes[0]))
    for parameter, shape in zip(operation.operands, shapes, strict=True):
        if parameter.name == "index":
            yield torch.randint(0, shapes[0][statics[0]], shape, generator=generator, dtype=torch.int32)
        else:
            yield torch.randint(-3, 4, shape, generator=generator).to(dtype)


def array_of(x):
    return x.view(torch.int16).numpy().view("uint16") if x.dtype is torch.bfloat16 else x.numpy()


def listed(results):
    return [*results] if isinstance(results, (tuple, list)) else [results]


def assert_equal(results, want):
    for got, expected in zip(listed(results), listed(want), strict=True):
        assert got.shape == expected.shape
        assert torch.equal(got.double(), expected.double())


@pytest.mark.parametrize(("operation", "index", "dtype"), EXAMPLES)
def test_every_executor_and_frontend_sorts_as_torch_does(operation, index, dtype, device):
    shapes, statics = operation.examples[index]
    xs = [*operands(operation, shapes, statics, dtype)]
    names = [parameter.name for parameter in operation.attributes]
    keywords = {**dict(zip(names, statics, strict=True)), **operation.fixed_keywords}
    call, parameters = getattr(ttnn, operation.name), [parameter.name for parameter in operation.operands]

    def program(*tensors):
        return call(**dict(zip(parameters, tensors, strict=True)), **keywords)

    want = operation.golden(torch, *xs, *statics)
    for options in ({}, {"backend": "numba"})[: 2 if index == 0 else 1]:
        assert_equal(jit(**options)(program)(*xs), want)
    function, traced = jit()(program), jit(graph_capture=True)(program)
    assert traced.ir(*xs, stage="frontend") == function.ir(*xs, stage="frontend")
    module = (parsed_module if index == 0 else scheduled_module)(function, *xs)
    interpreted = interpret(module, [array_of(x) for x in xs])
    for got, expected in zip(interpreted, listed(want), strict=True):
        found = torch.from_numpy(np.array(got, order="C"))
        floats = found.view(torch.int16).view(torch.bfloat16) if found.dtype is torch.uint16 else found
        assert_equal(floats if expected.is_floating_point() else found, expected)
    for layout in LAYOUTS if index == 0 else ():
        tensors = [ttnn.from_torch(x, layout=layout, device=device) for x in xs]
        for _ in range(2):
            assert_equal([*map(ttnn.to_torch, listed(program(*tensors)))], want)
        assert_equal([*map(ttnn.to_torch, listed(jit()(program)(*tensors)))], want)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from([0.0, -0.0, 1.0, -2.0, torch.inf, -torch.inf, torch.nan]), max_size=40), st.booleans())
def test_a_sort_is_stable_and_treats_nan_as_the_largest_element(values, descending):
    x = torch.tensor(values)
    found, indices = jit()(lambda x: ttnn.sort(x, descending=descending))(x)
    keys, order = np.nan_to_num(x.numpy(), nan=0.0), np.isnan(x.numpy())
    want = np.lexsort((-keys, ~order) if descending else (keys, order))
    assert indices.tolist() == want.tolist()
    assert torch.equal(found.view(torch.int32), x.view(torch.int32)[want])


def test_unsigned_integers_are_sorted_as_such(device):
    patterns = [3, 2**32 - 1, 0, 2**31, 2**31 - 1]
    x = ttnn.from_torch(torch.tensor(patterns), dtype=ttnn.uint32, device=device)
    values, indices = ttnn.sort(x)
    assert ttnn.to_torch(values, dtype=torch.int64).tolist() == sorted(patterns)
    assert ttnn.to_torch(indices).tolist() == [2, 0, 4, 3, 1]


def test_a_scattered_nan_wins_and_sums_are_rounded_one_by_one():
    x, source = torch.tensor([1.0, torch.nan, 2.0]), torch.tensor([torch.nan, 5.0])
    index = torch.tensor([0, 1], dtype=torch.int32)
    for reduce in ("amax", "amin"):
        found = jit()(lambda x, i, s, reduce=reduce: ttnn.scatter(x, 0, i, s, reduce=reduce))(x, index, source)
        assert found.isnan().tolist() == [True, True, False]
    ones = torch.ones(300, dtype=torch.bfloat16)
    where = torch.zeros(300, dtype=torch.int32)
    total = jit()(lambda x, i, s: ttnn.scatter_add(x, 0, i, s))(torch.zeros(1, dtype=torch.bfloat16), where, ones)
    assert total.tolist() == [256.0]


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 4), st.integers(0, 4), st.sampled_from([-1, 1]))
def test_a_triangle_of_any_extents_has_the_corner_that_torch_gives(rows, columns, diagonal):
    x = torch.full((rows, columns), torch.nan)
    for name in ("tril", "triu"):
        found = jit()(lambda x, name=name: getattr(ttnn, name)(x, diagonal))(x)
        assert torch.equal(found.isnan(), getattr(torch.ones(rows, columns), name)(diagonal).bool())


def test_an_index_beyond_the_tensor_is_clamped_or_skipped_in_a_kernel():
    x, index = torch.arange(5.0), torch.tensor([-(2**31), -1, 4, 5, 2**31 - 1], dtype=torch.int32)
    assert jit()(lambda x, i: ttnn.gather(x, 0, i))(x, index).tolist() == [0.0, 0.0, 4.0, 4.0, 4.0]
    sevens = torch.full((5,), 7.0)
    assert jit()(lambda x, i, s: ttnn.scatter(x, 0, i, s))(x, index, sevens).tolist() == [0.0, 1.0, 2.0, 3.0, 7.0]
    assert jit()(lambda x, i: ttnn.index_fill(x, 0, i, torch.inf))(x, index).tolist() == [0.0, 1.0, 2.0, 3.0, torch.inf]


@pytest.mark.parametrize("wrong", [-1, 5])
def test_eagerly_an_index_beyond_the_tensor_is_an_error_that_names_it_at_every_call(wrong, device):
    x = ttnn.from_torch(torch.rand(3, 5), device=device)
    fine, index = (ttnn.from_torch(torch.full((3, 2), value, dtype=torch.int32), device=device) for value in (4, wrong))
    one = ttnn.from_torch(torch.tensor([wrong], dtype=torch.int32), device=device)
    calls = [
        lambda: ttnn.gather(x, 1, index),
        lambda: ttnn.scatter(x, -1, index, x),
        lambda: ttnn.scatter_add(x, -1, index, x),
        lambda: ttnn.index_fill(x, 1, one, 0.0),
    ]
    for call in calls * 2:
        ttnn.gather(x, 1, fine)
        with pytest.raises(TtnnJitError, match=f"there is no element {wrong} along dimension 1, of extent 5"):
            call()


INDICES = torch.zeros(2, 2, dtype=torch.int32)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x, i: ttnn.gather(x, 2, i), "`gather`: there is no dimension 2"),
        (lambda x, i: ttnn.gather(x[:1], 1, i), "`gather`: an index of shape .2, 2. does not fit"),
        (lambda x, _: ttnn.gather(x, 1, x), "`index` of `gather` does not take FLOAT32"),
        (lambda x, i: ttnn.scatter(x, 1, i, x[:, :1]), "`scatter`: an index of shape .2, 2. and a source of shape"),
        (lambda x, i: ttnn.scatter(x, 1, i, i), "`input` and `src` of `scatter` have different element types"),
        (lambda x, i: ttnn.scatter(x, 1, i, x, reduce="mean"), "does not support reduce='mean'"),
        (lambda x, i: ttnn.index_fill(x, 1, i, 0), "`index_fill`: the index has shape .2, 2."),
        (lambda _, i: ttnn.index_fill(i, 1, i[0], 1.5), "`value` is 1.5, and INT32 holds integers"),
        (lambda x, _: ttnn.sort(x, dim=-3), "`sort`: there is no dimension -3"),
        (lambda x, _: ttnn.tril(x[0]), "`tril`: a tensor of shape .4. has no diagonal"),
    ],
)
def test_wrong_arguments_are_refused_by_name_at_their_location(call, message):
    with pytest.raises(TtnnJitError, match=message) as raised:
        jit()(call)(torch.ones(2, 4), INDICES)
    assert "^" in str(raised.value)
