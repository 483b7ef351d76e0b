"""Views without dimensions of torch's tensors and numpy's arrays are tensors: writes reach what they lie in."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from ttnn_jit import jit
from ttnn_jit.specs.target import PRESETS
from ttnn_jit.ttnn.calling.foreign_operands import accepting_foreign_operands


def ellipsis(a):
    view = a[1, ...]
    view += 10.0
    return view


def squeezed(a):
    view = a[0:1].squeeze()
    view += 10.0
    return view


def reshaped(a):
    view = a[0:1].reshape(())
    view *= 3.0
    other = view
    other += 1.0
    return view


def assigned(a):
    view = a[1, ...]
    view[...] = 7.0
    return view * 2.0


def view_of_a_view(a):
    view = a[1, ...][...]
    view -= 1.0
    return view


def reshaped_twice(a):
    view = a[1, ...].reshape(1).reshape(())
    view += 1.0
    return view


def of_a_part(a):
    view, number = a[2:3][0, ...], a[2]
    view += 1.0
    return number + view


def element(a):
    number = a[1]
    number += 10.0
    return number


def element_of_a_view(a):
    number = a[1, ...][()]
    number += 10.0
    return number


def computed(a):
    number = a[1, ...] + 1.0
    other = number
    other += 5.0
    return number


def negated(a):
    number = -a[1, ...]
    number += 1.0
    return number


def assigned_computed(a):
    a[1, ...] = a[2] + 1.0
    return a


PROGRAMS = (
    ellipsis, squeezed, reshaped, assigned, view_of_a_view, reshaped_twice, of_a_part, element, element_of_a_view,
    computed, negated, assigned_computed,
)  # fmt: skip


def made(numpy):
    return np.array([1.0, 2.0, 3.0], np.float32) if numpy else torch.tensor([1.0, 2.0, 3.0])


@pytest.mark.parametrize("numpy", [False, True], ids=["torch", "numpy"])
@pytest.mark.parametrize("capture", [False, True, None], ids=["ast", "capture", "plain"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_a_write_reaches_what_its_library_writes(program, capture, numpy):
    with_library = made(numpy)
    expected = program(with_library)
    function = program if capture is None else jit(graph_capture=capture)(program)
    for _ in range(3):
        given = made(numpy)
        with accepting_foreign_operands(PRESETS["cpu"]):
            found = function(given)
        assert np.array_equal(np.asarray(found), np.asarray(expected))
        assert np.array_equal(np.asarray(given), np.asarray(with_library))


def test_a_copy_of_one_element_is_an_array_of_its_own():
    def program(a):
        copied = a[1, ...].copy()
        other = copied
        other += 1.0
        return copied + a[1]

    given = made(numpy=True)
    for capture in (False, True):
        assert jit(graph_capture=capture)(program)(given) == 5.0
    assert np.array_equal(given, made(numpy=True))


@pytest.mark.parametrize("numpy", [False, True], ids=["torch", "numpy"])
@pytest.mark.parametrize("capture", [False, True], ids=["ast", "capture"])
def test_an_argument_without_dimensions_is_written(capture, numpy):
    given = made(numpy)

    def program(x):
        x += 4.0
        return x

    view = given[1, ...]
    assert jit(graph_capture=capture)(program)(view) is view
    assert np.array_equal(np.asarray(given), [1.0, 6.0, 3.0])
