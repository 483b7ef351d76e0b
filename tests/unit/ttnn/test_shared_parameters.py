"""Functions whose parameters are the fields of a dataclass, and calls whose arguments need no binding."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import KW_ONLY, FrozenInstanceError
from operator import attrgetter
from typing import get_type_hints

import numpy
import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st

from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import ArgumentError, CallError
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.ttnn.calling.host_function import declaration_of, host_function
from ttnn_jit.ttnn.calling.shared_parameters import takes


@dataclass(frozen=True)
class Shared:
    """Arguments of both functions.

    Attributes:
        extent: Of a side,
            in elements.
        padding: Around.
    """

    extent: int
    _: KW_ONLY
    padding: int | list[int] = 0


@dataclass(frozen=True)
class Own(Shared):
    """Arguments of one function.

    Attributes:
        steps: From one to the next.
        padding: On both sides.
    """

    steps: Sequence[int] = (1, 1)
    _: KW_ONLY
    scale: float

    @property
    def area(self):
        """The area of the square."""
        return self.extent**2


@host_function()
@takes(Own)
def square(given: Own) -> object:
    """A square.

    Returns:
        The arguments.
    """
    return given


@host_function(observed=False)
@takes(Own)
def unobserved(given: Own) -> object:
    """Another function."""
    return given


def written(extent: int, steps: Sequence[int] = (1, 1), *, padding: int | list[int] = 0, scale: float) -> object:
    """`square` with explicit parameters."""


@pytest.mark.parametrize("function", [square, unobserved])
def test_a_signature_is_that_of_the_function_with_explicit_parameters(function):
    assert inspect.signature(function) == inspect.signature(written)
    assert declaration_of(function).signature == inspect.signature(written)
    assert get_type_hints(function) == get_type_hints(written)
    assert function.__module__ == __name__


@pytest.mark.parametrize("name", ["conv1d", "prepare_conv_bias", "max_pool2d", "operations.moreh.norm"])
def test_annotations_of_fields_are_found_in_the_module_of_their_class(name):
    function = attrgetter(name)(ttnn)
    hints = get_type_hints(function)
    assert [*hints] == [*inspect.unwrap(function).__annotations__]
    assert ttnn.MemoryConfig in {hints.get("input_memory_config"), *getattr(hints.get("memory_config"), "__args__", ())}


def test_a_docstring_documents_every_parameter_by_the_nearest_class():
    assert inspect.getdoc(square) == (
        "A square.\n\nArgs:\n    extent: Of a side,\n        in elements.\n    steps: From one to the next.\n"
        "    padding: On both sides.\n\nReturns:\n    The arguments."
    )
    assert inspect.getdoc(unobserved).startswith("Another function.\n\nArgs:\n    extent: ")


@pytest.mark.parametrize("function", [square, unobserved])
def test_the_body_gets_an_instance_of_its_class(function):
    found = function(3, scale=0.5)
    assert (found, found.area) == (Own(3, scale=0.5), 9)
    assert function(3, [2, 2], scale=numpy.float32(0.5), padding=1) == Own(3, (2, 2), scale=0.5, padding=1)
    with pytest.raises(FrozenInstanceError):
        found.extent = 4


@pytest.mark.parametrize("function", [square, unobserved])
@pytest.mark.parametrize(
    ("args", "kwargs"), [((), {}), ((1,), {}), ((1, (2, 2), 3), {"scale": 1}), ((1,), {"scale": 1, "color": 2})]
)
def test_a_wrong_call_has_the_message_of_explicit_parameters(function, args, kwargs):
    with pytest.raises(TypeError) as pythons:
        written(*args, **kwargs)
    with pytest.raises(CallError) as refused:
        function(*args, **kwargs)
    assert refused.value.message == str(pythons.value).replace("written", function.__name__)
    assert refused.value.location.file == __file__


NUMBERS = st.one_of(st.integers(-9, 9), st.integers(-9, 9).map(numpy.int64), st.sampled_from([True, 1.5, "1", None]))


@pytest.mark.parametrize("made", [tuple, list, ttnn.Shape, iter])
@drawn(numbers=st.lists(NUMBERS, max_size=3))
def test_several_numbers_reach_the_body_as_a_tuple_of_pythons_or_not_at_all(made, numbers):
    whole = all(isinstance(each, int | numpy.int64) and each is not True for each in numbers)
    if made is ttnn.Shape and not whole:
        return
    for function in (square, unobserved):
        if not whole:
            with pytest.raises(ArgumentError, match=r"`steps` of (square|unobserved) must be a whole number"):
                function(1, made(numbers), scale=1)
            continue
        steps = function(1, made(numbers), scale=1).steps
        assert (type(steps), {*map(type, steps)} <= {int}, list(steps)) == (tuple, True, numbers)
