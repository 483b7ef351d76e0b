"""Which calls compile a program for many sizes: the option of the decorator, and extents that the user marks."""

import gc

import numpy
import pytest
import torch

import ttnn_jit
from ttnn_jit import ttnn
from ttnn_jit.cache.statistics import COUNTERS
from ttnn_jit.diagnostics.errors import ArgumentError, ShapeError
from ttnn_jit.runtime.tensors import dynamic_marks


def scaled(x):
    return ttnn.exp(ttnn.multiply(x, 0.5))


def compiles(function, *tensors):
    """The compiles of each call in turn, whose results are checked."""
    counts = []
    for x in tensors:
        before = COUNTERS.compiles
        result = function(x)
        counts.append(COUNTERS.compiles - before)
        assert torch.equal(torch.as_tensor(result), torch.as_tensor(ttnn_jit.jit(dynamic=False)(scaled)(x)))
    return counts


def jitted(**options):
    return ttnn_jit.jit(enable_cache=False, **options)(scaled)


@pytest.mark.parametrize(("dynamic", "expected"), [(None, [1, 1, 0, 0]), (True, [1, 0, 0, 0]), (False, [1, 1, 1, 1])])
def test_the_option_says_at_which_size_a_program_for_many_is_compiled(dynamic, expected):
    assert compiles(jitted(dynamic=dynamic), *(torch.randn(rows, 16) for rows in (5, 6, 7, 8))) == expected


@pytest.mark.parametrize("value", [0, 1, "yes", 2.0])
def test_the_option_takes_a_bool_or_none(value):
    with pytest.raises(ArgumentError, match=rf"dynamic is {value!r}.*\n?.*True, False or None"):
        ttnn_jit.jit(dynamic=value)


@pytest.mark.parametrize("dim", [0, -2, [0], (0, -2)])
def test_a_marked_extent_is_a_symbol_from_the_first_call_on(dim):
    first = torch.randn(5, 16)
    ttnn_jit.mark_dynamic(first, dim)
    function = jitted()
    assert compiles(function, first, *(torch.randn(rows, 16) for rows in (6, 7))) == [1, 0, 0]
    assert compiles(function, torch.randn(6, 15)) == [1], "the other extent is not marked"


def test_tensors_of_every_library_may_be_marked():
    device = ttnn.open_device(device_id=0, target="cpu")
    sizes = [numpy.ones((rows, 16), numpy.float32) for rows in (5, 6)]
    for first, other in (sizes, [ttnn.from_torch(torch.from_numpy(each), device=device) for each in sizes]):
        ttnn_jit.mark_dynamic(first, 0)
        function, before = jitted(), COUNTERS.compiles
        assert [tuple(function(x).shape) for x in (first, other)] == [(5, 16), (6, 16)]
        assert COUNTERS.compiles - before == 1
    ttnn.close_device(device)


def test_marks_of_several_calls_are_added_and_last_as_long_as_the_tensor():
    x = torch.randn(4, 8)
    ttnn_jit.mark_dynamic(x, 0)
    ttnn_jit.mark_dynamic(x, 1)
    assert dynamic_marks.marked_axes(x) == {0, 1}
    assert dynamic_marks.marked_axes(torch.randn(4, 8)) == frozenset()
    key = id(x)
    del x
    gc.collect()
    assert key not in dynamic_marks._MARKED


def test_a_mark_does_nothing_where_templates_are_turned_off_or_the_extent_is_1():
    for first, others, dynamic in ((torch.randn(5, 16), (6, 7), False), (torch.randn(1, 16), (6, 7), None)):
        ttnn_jit.mark_dynamic(first, 0)
        assert compiles(jitted(dynamic=dynamic), first, *(torch.randn(rows, 16) for rows in others))[:2] == [1, 1]


@pytest.mark.parametrize(
    ("tensor", "dim", "error", "message"),
    [
        (torch.ones(2, 3), 2, ShapeError, r"a tensor of shape \[2, 3\] has no dimension 2"),
        (torch.ones(2, 3), -3, ShapeError, r"has no dimension -3"),
        (torch.ones(2, 3), [0, 5], ShapeError, r"has no dimension 5"),
        (torch.tensor(1.0), 0, ShapeError, r"a tensor of shape \[\] has no dimension 0"),
        (torch.ones(2, 3), "0", ArgumentError, "`dim` is '0'"),
        (torch.ones(2, 3), True, ArgumentError, "`dim` is True"),
        (torch.ones(2, 3), None, ArgumentError, "`dim` is None"),
        ([1, 2], 0, ArgumentError, "mark_dynamic takes a tensor of ttnn, torch or numpy, got list"),
    ],
)
def test_a_mark_of_no_dimension_is_refused(tensor, dim, error, message):
    with pytest.raises(error, match=message):
        ttnn_jit.mark_dynamic(tensor, dim)


def test_numbers_that_a_frontend_fixes_have_programs_of_their_own_and_use_up_no_templates():
    function = ttnn_jit.jit(enable_cache=False, graph_capture=True)(lambda x, rate: x * rate)
    before = COUNTERS.compiles, COUNTERS.templates
    for rate in (0.3, 0.7, 1.3):
        x = torch.randn(40, 4)
        assert torch.equal(function(x, rate), x * rate)
    assert (COUNTERS.compiles - before[0], COUNTERS.templates - before[1]) == (3, 0)
    for rows in (41, 42, 43):
        function(torch.randn(rows, 4), 0.7)
    assert (COUNTERS.compiles - before[0], COUNTERS.templates - before[1]) == (4, 1)
